"""How the command line ends: exit codes, one paragraph for errors that a user can fix, a log file for our bugs."""

import os
import platform
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import rich_click as click
from attrs import define, field
from click.exceptions import Exit

from bliss_framework.errors import BlissError, ParameterNeededError
from bliss_framework.version import __version__

USER_ERROR, USAGE, OUR_BUG, INTERRUPTED = 1, 2, 3, 130
PATIENCE = 5.0  # Seconds that worker processes have to stop after Ctrl-C.
TWICE = 1.0  # Seconds within which a second Ctrl-C means the same as the first.
LOGGED = ("numpy", "scipy", "scikit-learn", "joblib", "pluggy", "entrypoints", "attrs", "rich", "rich-click")


class Interrupted(Exception):
    """Ctrl-C in the middle of work; the text says what to type to go on."""


@define
class Ending:
    """The exit code of a command."""

    code: int = field(default=0)


@contextmanager
def exit_codes() -> Iterator[Ending]:
    """Say what ended a command, and yield its exit code: 0 done, 1 a user error, 2 usage, 3 our bug, 130 interrupted.

    Nothing is raised from within, which would keep the frames of the command alive, and with them its processes.
    """
    warnings.showwarning = _show_warning
    # Joblib warns of work that Ctrl-C cuts short, which is what the user wants.
    warnings.filterwarnings("ignore", message=r"\d+ tasks (have been successfully|which were still)")
    take_any_text()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, PatientInterrupt())
    ending = Ending()
    try:
        yield ending
    except (KeyboardInterrupt, click.Abort, Interrupted) as interrupt:
        _stop_soon()
        _say(str(interrupt) or "Interrupted.")
        ending.code = INTERRUPTED
    except Exit as early:
        ending.code = int(early.exit_code)
    except click.ClickException as usage:
        usage.show()
        ending.code = USAGE
    except BlissError as error:
        _say(f"Error: {_with_notes(error)}")
        ending.code = USER_ERROR
    except Exception as bug:
        _say(f"This is a bug of bliss: {type(bug).__name__}: {bug}\nPlease report it, with the file {_log(bug)}.")
        ending.code = OUR_BUG


class PatientInterrupt:
    """Raises KeyboardInterrupt, but not again while the first one is being dealt with."""

    def __init__(self) -> None:
        self.last = float("-inf")

    def __call__(self, signal_number: int, frame: Any) -> None:
        """Take a signal."""
        now = time.monotonic()
        if now - self.last >= TWICE:
            self.last = now
            raise KeyboardInterrupt


def take_any_text() -> None:
    """Let standard output and error write what their encoding lacks as an escape, instead of ending the run."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _with_notes(error: BaseException) -> str:
    return " ".join([_in_console_words(error), *getattr(error, "__notes__", [])])


def _in_console_words(error: BaseException) -> str:
    """Say how to answer with an option where the error itself says how to answer in Python."""
    if not isinstance(error, ParameterNeededError):
        return str(error)
    from bliss_framework.console.options import how_to_set

    return f"{error.question} Say so with {how_to_set(error.component, error.parameter, error.example)}."


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _show_warning(message: Any, *args: Any, **kwargs: Any) -> None:
    _say(f"Warning: {message}")


def _stop_soon() -> None:
    """Make sure that leaving takes no longer than worker processes deserve, whatever they wait for."""
    # Another Ctrl-C could only disturb what tidies up now.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    last_resort = threading.Timer(PATIENCE, os._exit, (INTERRUPTED,))
    last_resort.daemon = True
    last_resort.start()


def _log(bug: BaseException) -> Path:
    name = f"bliss-error-{datetime.now():%Y%m%d-%H%M%S}.log"
    lines = [
        f"bliss_framework {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{package} {_version(package)}" for package in LOGGED),
        f"command: {sys.argv[1:]}",
        "",
        "".join(traceback.format_exception(bug)),
    ]
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        try:
            path = folder / name
            path.write_text("\n".join(lines), encoding="utf-8", errors="backslashreplace")
        except OSError:
            continue
        return path
    return Path(name)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
