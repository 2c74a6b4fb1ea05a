"""Whatever a plugin's code raises is attributed to the plugin, and costs the plugin alone."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from typing import Any

from bliss_framework.extension.loading.reports import Stage
from bliss_framework.faults import is_fault

MOST = 10_000  # Components of a plugin.


class StageError(Exception):
    """A plugin cannot pass a stage of loading.

    Attributes:
        stage: at which it was stopped.
        reason: what happened, without a full stop.
        hint: what to do; None where a newer version or none of the plugin is all that helps.
    """

    def __init__(self, stage: Stage, reason: str, hint: str | None = None) -> None:
        """Keep why the plugin cannot pass."""
        super().__init__(reason)
        self.stage = stage
        self.reason = reason
        self.hint = hint


@contextmanager
def attributing_errors(stage: Stage, what: str = "", hint: Callable[[str], str | None] | None = None) -> Iterator[None]:
    """Turn whatever a plugin's code raises into a StageError, and keep what it prints out of standard output.

    Results, `--json` documents among them, go to standard output; a plugin that prints must not spoil them. Ctrl-C is
    the user's and comes through. Nothing else does: a plugin that calls sys.exit must not end the run.

    Args:
        stage: of loading.
        what: is called, for the reason; empty where the stage says enough.
        hint: from the text of the error to what to do.

    Raises:
        StageError: with the plugin's own exception as its cause; faults of the machine, such as a lack of memory, are
            no plugin's and come through.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (KeyboardInterrupt, StageError):
        raise
    except BaseException as error:
        if is_fault(error):
            raise
        text = describe(error)
        reason = f"{what} raised {text}" if what else text
        raise StageError(stage, reason, hint(text) if hint else None) from error


def call_hook(hook: str, function: Callable[..., Any], **given: Any) -> list[Any]:
    """Call one implementation of a hook and list its answer.

    Raises:
        StageError: at "call", where it raises or its answer cannot be listed.
    """
    with attributing_errors("call", f"hook {hook}"):
        answer = function(**given)
        if isinstance(answer, Iterable):
            listed = list(islice(answer, MOST + 1))
            if len(listed) > MOST:
                raise StageError("call", f"hook {hook} returned more than {MOST:,} things, perhaps without an end")
            return listed
    raise StageError("call", f"hook {hook} returned {shown(answer)}; it must return a list")


def describe(error: BaseException) -> str:
    """Return the type and text of an exception in one line without a full stop.

    >>> describe(ValueError("too long."))
    'ValueError: too long'
    """
    name = type(error).__name__
    try:
        text = " ".join(str(error).split()).rstrip(".")
    except Exception:  # The text of a plugin's exception is code of the plugin as well.
        return f"{name}, whose text cannot be read"
    return f"{name}: {text}" if text else name


def written(value: object) -> str:
    """Return the `repr` of a value, or where that raises its type."""
    try:
        return repr(value)
    except Exception:
        return type(value).__name__


def shown(value: object) -> str:
    """Return what a plugin returned in a few words, also where its `repr` raises."""
    try:
        return "None" if value is None else f"{type(value).__name__} {value!r}"[:80]
    except Exception:
        return type(value).__name__
