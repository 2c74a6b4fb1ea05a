"""How the command line ends: exit codes, one paragraph for errors that a user can fix, a log file for our bugs.

Faults of the machine, such as a full disk, are no bugs: they have a paragraph too. Signals that ask a process to end
are taken like Ctrl-C: what is finished is on disk, workers are stopped, and the code is 128 and the signal's number.
"""

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
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from traceback import walk_tb
from typing import Any

import rich_click as click
from attrs import define, field
from click.exceptions import Exit

from bliss_framework.console import INTERRUPTED
from bliss_framework.console.streams import OutputLost, guard_streams
from bliss_framework.errors import BlissError, MemoryNeededError, ParameterNeededError
from bliss_framework.faults import in_words, is_lack_of_memory, out_of_memory
from bliss_framework.version import __version__

USER_ERROR, USAGE, OUR_BUG = 1, 2, 3
# Ctrl-C; `kill` or a batch system; a terminal that goes away.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
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
    """Say what ended a command, and yield its exit code.

    0 done, 1 an error that the user can fix, 2 usage, 3 our bug, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).

    Nothing is raised from within, which would keep the frames of the command alive, and with them its processes.
    """
    warnings.showwarning = _show_warning
    # Joblib warns of work that Ctrl-C cuts short, which is what the user wants.
    warnings.filterwarnings("ignore", message=r"\d+ tasks (have been successfully|which were still)")
    guard_streams()
    patient = PatientInterrupt()
    _hear(patient)
    ending = Ending()
    try:
        yield ending
    except (KeyboardInterrupt, click.Abort, Interrupted) as interrupt:
        ending.code = patient.code
        _stop_soon(ending.code)
        _say(str(interrupt) or "Interrupted.")
    except Exit as early:
        ending.code = int(early.exit_code)
    except OutputLost as lost:
        if not lost.silent:
            _say(f"Error: {_with_notes(lost)}")
        ending.code = USER_ERROR
    except click.ClickException as usage:
        usage.show()
        ending.code = USAGE
    except BlissError as error:
        _say(f"Error: {_with_notes(error)}")
        ending.code = USER_ERROR
    except OSError as fault:
        _say(f"Error: {_noted(in_words(fault), fault)}")
        ending.code = USER_ERROR
    except SystemExit as left:
        ending.code = _of_sys_exit(left)
    except BaseException as error:
        ending.code = _told_of(error)
    ending.code = _flushed(ending.code)


def _of_sys_exit(left: SystemExit) -> int:
    """Return the code of a program that was ended: click ends it where a shell completes words, and nobody else may."""
    *_, (frame, line) = walk_tb(left.__traceback__)
    if frame.f_globals.get("__name__", "").partition(".")[0] in ("click", "rich_click"):
        return int(left.code or 0)
    where = f"{frame.f_code.co_filename}, line {line}"
    _say(f"Error: The program was ended by sys.exit({left.code!r}) in {where}, before there was a result.")
    return USER_ERROR


def _told_of(error: BaseException) -> int:
    """Say that memory ran out, or else that bliss has a bug, and return the exit code."""
    if is_lack_of_memory(error):
        _say(f"Error: {_noted(out_of_memory(error), error)}")
        return USER_ERROR
    told = f"This is a bug of bliss: {type(error).__name__}: {error}\nPlease report it, with the file {_log(error)}."
    _say(_noted(told, error))
    return OUR_BUG


class PatientInterrupt:
    """Raises KeyboardInterrupt, but not again while the first one is being dealt with.

    Attributes:
        code: with which a command ends that was interrupted so.
    """

    def __init__(self) -> None:
        self.last = float("-inf")
        self.code = INTERRUPTED

    def __call__(self, signal_number: int, frame: Any) -> None:
        """Take a signal."""
        self.code = 128 + signal_number
        now = time.monotonic()
        if now - self.last >= TWICE:
            self.last = now
            raise KeyboardInterrupt


def _hear(interrupt: PatientInterrupt) -> None:
    """Take the signals that end a process, but those that whoever started it wants ignored, as nohup does."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)


def _flushed(code: int) -> int:
    """Write what is still held back for standard output, and return the exit code after that."""
    try:
        sys.stdout.flush()
    except OutputLost as lost:
        if not lost.silent:
            _say(f"Error: {lost}")
        return code or USER_ERROR
    except (OSError, ValueError):
        return code
    return code


def _with_notes(error: BaseException) -> str:
    return _noted(_in_console_words(error), error)


def _in_console_words(error: BaseException) -> str:
    """Say how to answer with an option where the error itself says how to answer in Python."""
    from bliss_framework.console.options import how_to_set, how_to_type

    if isinstance(error, MemoryNeededError) and error.settings:
        return error.words(" ".join(how_to_type(name, value) for name, value in error.settings.items()))
    if not isinstance(error, ParameterNeededError):
        return str(error)
    return f"{error.question} Say so with {how_to_set(error.component, error.parameter, error.example)}."


def _noted(text: str, error: BaseException) -> str:
    return " ".join([text, *getattr(error, "__notes__", [])])


def _say(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def _show_warning(message: Any, *args: Any, **kwargs: Any) -> None:
    _say(f"Warning: {message}")


def _stop_soon(code: int) -> None:
    """Make sure that leaving takes no longer than worker processes deserve, whatever they wait for."""
    # Another signal could only disturb what tidies up now.
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    last_resort = threading.Timer(PATIENCE, os._exit, (code,))
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
    except (MemoryError, OSError):
        # The fault itself is worth more than the version of a package.
        return "unknown"
