"""Who hears the signals that ask processes to end: the process of the command, and never what works for it."""

import multiprocessing.resource_tracker
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from joblib.externals.loky.backend import resource_tracker

# What a terminal or a batch system sends to all processes of a command; who started a worker stops it.
NOT_FOR_WORKERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGTERM") if hasattr(signal, name))
TRACKED = "ignore:resource_tracker:UserWarning"  # What joblib says of semaphores that a stopped process left behind.


def ignore_signals() -> None:
    """Leave what a terminal or a batch system sends to all processes to the one that started this worker."""
    for number in NOT_FOR_WORKERS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def signals_kept_from_children() -> Iterator[None]:
    """Start processes in a with block that never hear Ctrl-C and the like, which a terminal sends to them too.

    A process that begins while signals are held back goes on holding them back; this one hears them after the block, so
    that none is lost. Who started a process stops it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Once they run nobody starts them, which would let signals through again, before the workers have begun.
    with _own_words_alone():
        multiprocessing.resource_tracker.ensure_running()
        resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, NOT_FOR_WORKERS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _own_words_alone() -> Iterator[None]:
    """Start processes that tidy up after others, and say nothing on the terminal of a command that was interrupted."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = TRACKED if not before else f"{before},{TRACKED}"
    try:
        yield
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


@contextmanager
def signals_put_off() -> Iterator[None]:
    """Hear signals after a with block in which a library starts processes and takes signals over, as ray does.

    A start that is broken off in the middle leaves processes behind, which nobody knows of yet.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # No other thread hears them, or may take them over.
        return
    put_off: list[int] = []
    before = {number: signal.getsignal(number) for number in NOT_FOR_WORKERS}
    for number, heard in before.items():
        if heard not in (None, signal.SIG_IGN):
            signal.signal(number, lambda number, _: put_off.append(number))
    try:
        yield
    finally:
        for number, heard in before.items():
            if heard is not None:  # None: not set from Python.
                signal.signal(number, heard)
        for number in put_off:
            signal.raise_signal(number)
