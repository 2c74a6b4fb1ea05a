"""Claims: entry points that want to be plugins; which of them are blocked, and the doors before registration."""

import inspect
import os
from collections.abc import Collection
from typing import Any

from bliss_framework.extension.loading.discovery import Found, Unreadable
from bliss_framework.extension.loading.remedies import import_remedy
from bliss_framework.extension.loading.reports import Refusal, describe
from bliss_framework.extension.names import is_own, normalise

BLOCK_VARIABLE = "BLISS_BLOCK_PLUGINS"

Claim = Found | Unreadable


def blocked_names(block: Collection[str]) -> frozenset[str]:
    """Return the given names and those of BLISS_BLOCK_PLUGINS, normalised."""
    given = [block] if isinstance(block, str) else block
    names = [*given, *os.environ.get(BLOCK_VARIABLE, "").split(",")]
    return frozenset(normalise(one.strip()) for one in names if one.strip())


def is_blocked(claim: Claim, blocked: frozenset[str]) -> bool:
    """Say whether the plugin or its distribution is among the blocked names."""
    return not blocked.isdisjoint({normalise(claim.name), normalise(claim.distribution)})


def built_in_first(claim: Claim) -> tuple[bool, str, str]:
    """Return a sorting key: built-in plugins, then strangers by name."""
    return not is_own(claim.distribution), name_of(claim), claim.distribution


def name_of(claim: Claim) -> str:
    """Return the plugin's name; where a whole file is malformed, its distribution's, which can be blocked as well."""
    return claim.name or claim.distribution


def check_metadata(claim: Claim, claims: Collection[Claim]) -> Found:
    """Return the claim where its entry point is readable and its name its own among the claims.

    Raises:
        Refusal: at "metadata".
    """
    if isinstance(claim, Unreadable):
        raise Refusal("metadata", claim.reason) from claim.cause
    rivals = [one for one in claims if isinstance(one, Found) and one.name == claim.name and one != claim]
    if not rivals or is_own(claim.distribution):
        return claim
    others = " and by ".join(f"{one.distribution} {one.version}" for one in rivals)
    built_in = any(is_own(one.distribution) for one in rivals)
    fate = "a built-in plugin is never replaced" if built_in else "none of them is loaded"
    reason = f'the name "{claim.name}" is claimed by {claim.distribution} {claim.version} and by {others}, and {fate}'
    raise Refusal("metadata", reason, f"--block-plugin {claim.distribution}")


def import_plugin(found: Found) -> Any:
    """Import a plugin, whatever its code does.

    Raises:
        Refusal: at "import", or at "register" for a class.
    """
    try:
        plugin = found.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A plugin that calls sys.exit must not end the run.
        raise Refusal("import", describe(error), import_remedy(error, found)) from error
    if inspect.isclass(plugin):
        reason = f"its entry point names the class {plugin.__name__}; allowed are a module or an instance"
        instance = f'plugin = {plugin.__name__}() and {found.name} = "{found.module}:plugin"'
        raise Refusal("register", reason, f"write {instance}")
    return plugin
