"""How the command line ends: exit codes, one paragraph for errors that a user can mend, a log file for our bugs."""

import os
import platform
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import rich_click as click
from click.exceptions import Exit

from bliss_framework.errors import BlissError
from bliss_framework.version import __version__

DONE, MENDABLE, USAGE, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130


def leave(command: Callable[..., Any]) -> NoReturn:
    """Run a click command and exit: 0 done, 1 an error to mend, 2 usage, 3 a bug of ours, 130 interrupted."""
    warnings.showwarning = _show_warning
    try:
        code = command(standalone_mode=False)
    except (KeyboardInterrupt, click.Abort) as interrupt:
        _stop_workers()
        _say(getattr(interrupt, "message", None) or "Interrupted.")
        _exit_at_once(INTERRUPTED)
    except Exit as early:
        code = early.exit_code
    except click.ClickException as usage:
        usage.show()
        code = USAGE
    except BlissError as error:
        _say(f"Error: {_with_notes(error)}")
        code = MENDABLE
    except BrokenPipeError:
        _exit_at_once(DONE)
    except Exception as bug:
        _say(f"This is a bug of bliss: {type(bug).__name__}: {bug}\nPlease report it, with the file {_log(bug)}.")
        code = OUR_BUG
    sys.exit(code if isinstance(code, int) else DONE)


def _with_notes(error: BaseException) -> str:
    return " ".join([str(error), *getattr(error, "__notes__", [])])


def _say(text: str) -> None:
    """Write to standard error whatever its encoding can say."""
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stderr.flush()


def _show_warning(message: Any, *args: Any, **kwargs: Any) -> None:
    _say(f"Warning: {message}")


def _stop_workers() -> None:
    if "joblib" not in sys.modules:
        return
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor
    if executor is not None:
        executor.shutdown(wait=False, kill_workers=True)


def _exit_at_once(code: int) -> NoReturn:
    """Leave without waiting for workers that were told to stop."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue
    os._exit(code)


def _log(bug: BaseException) -> Path:
    name = f"bliss-error-{datetime.now():%Y%m%d-%H%M%S}.log"
    lines = [
        f"bliss_framework {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {sys.argv[1:]}",
        "",
        "".join(traceback.format_exception(bug)),
    ]
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        try:
            path = folder / name
            path.write_text("\n".join(lines), encoding="utf-8")
        except OSError:
            continue
        return path
    return Path(name)
