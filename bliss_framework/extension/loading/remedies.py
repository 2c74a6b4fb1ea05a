"""What a user can do about a plugin that was stopped."""

import re

from bliss_framework.extension.loading.discovery import NAMELESS, Found
from bliss_framework.extension.names import is_own

_MISSING_MODULE = re.compile(r"No module named '(\w+)")


def remedy(distribution: str, first: str | None = None) -> str:
    """Return what to do: the first remedy, else an upgrade; a stranger's distribution can be uninstalled as well.

    >>> remedy("bliss-audio", "pip install librosa")
    'pip install librosa, or pip uninstall bliss-audio'
    """
    if is_own(distribution):
        return first or reinstall(distribution)
    return f"{first or f'pip install --upgrade {distribution}'}, or pip uninstall {distribution}"


def reinstall(distribution: str) -> str:
    """Return the command that puts back what a distribution should consist of."""
    return f"pip install --force-reinstall {distribution}"


def metadata_remedy(distribution: str) -> str:
    """Return what to do about entry points that cannot be read."""
    if distribution == NAMELESS:
        return "delete what is left of that distribution and install it again"
    return remedy(distribution, reinstall(distribution))


def import_remedy(error: BaseException, found: Found) -> str | None:
    """Return the command for an import that failed because a module is missing, else None."""
    missing = _MISSING_MODULE.search(str(error))
    if missing is None:
        return None
    if missing[1] == found.module.partition(".")[0]:
        return reinstall(found.distribution)
    return f"pip install {missing[1]}"
