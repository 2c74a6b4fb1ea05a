"""How the command line ends: exit codes, one paragraph for errors that a user can mend, a log file for our bugs."""

import os
import platform
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NoReturn

import rich_click as click
from click.exceptions import Exit

from bliss_framework.errors import BlissError
from bliss_framework.version import __version__

DONE, MENDABLE, USAGE, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130
PATIENCE = 5.0  # Seconds that worker processes have to stop after Ctrl-C.
TWICE = 1.0  # Seconds within which a second Ctrl-C means the same as the first.
LOGGED = ("numpy", "scipy", "scikit-learn", "joblib", "pluggy", "entrypoints", "attrs", "rich", "rich-click")


class Interrupted(Exception):
    """Ctrl-C in the middle of work; the text says what to type to go on."""


def leave(command: Callable[..., Any]) -> NoReturn:
    """Run a click command and exit: 0 done, 1 an error to mend, 2 usage, 3 a bug of ours, 130 interrupted."""
    warnings.showwarning = _show_warning
    # Joblib warns of work that Ctrl-C cuts short, which is what the user wants.
    warnings.filterwarnings("ignore", message=r"\d+ tasks (have been successfully|which were still)")
    take_any_text()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, PatientInterrupt())
    sys.exit(_outcome(command))


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


def _outcome(command: Callable[..., Any]) -> int:
    try:
        code = command(standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except (KeyboardInterrupt, click.Abort, Interrupted) as interrupt:
        _stop_soon()
        _say(str(interrupt) or "Interrupted.")
        return INTERRUPTED
    except Exit as early:
        return int(early.exit_code)
    except click.ClickException as usage:
        usage.show()
        return USAGE
    except BlissError as error:
        _say(f"Error: {_with_notes(error)}")
        return MENDABLE
    except Exception as bug:
        _say(f"This is a bug of bliss: {type(bug).__name__}: {bug}\nPlease report it, with the file {_log(bug)}.")
        return OUR_BUG


def take_any_text() -> None:
    """Let standard output and error write what their encoding lacks as an escape, instead of ending the run."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _with_notes(error: BaseException) -> str:
    return " ".join([str(error), *getattr(error, "__notes__", [])])


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
