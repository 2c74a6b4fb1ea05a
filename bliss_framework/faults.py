"""Faults of the machine: no space, no permission, no memory. They are no bugs, and each has words and a way out."""

import errno
import os
import re
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)
# What to do, by the number of the error; the same error has the same way out wherever it happens.
HINTS = {
    errno.ENOSPC: "Free some space, or choose a place that has it.",
    errno.EDQUOT: "Your quota is used up: delete something, or choose another place.",
    errno.EFBIG: "A file must not be that large there: raise the limit (ulimit -f), or choose another place.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.EACCES: "Choose a place that you may use, or ask its owner for the permission.",
    errno.EPERM: "Choose a place that you may use, or ask its owner for the permission.",
    errno.EROFS: "The place is read-only; choose another.",
    errno.EMFILE: "Too many files are open: raise the limit (ulimit -n).",
    errno.ENFILE: "Too many files are open on this machine; end other programs.",
    errno.EIO: "The device has a fault; choose another place.",
    errno.ENODEV: "The device is gone; choose another place.",
    errno.ENXIO: "The device is gone; choose another place.",
    errno.ESTALE: "The network file system has lost it; try again, or choose another place.",
    errno.ETIMEDOUT: "It did not answer in time; try again.",
    errno.ENOTDIR: "A part of the path is a file; choose another path.",
    errno.EISDIR: "There is a directory of that name; choose another name.",
    errno.EEXIST: "A file or a symbolic link that leads nowhere has that name; choose another.",
    errno.ELOOP: "Symbolic links lead in a circle there; choose another place.",
    errno.ENOLCK: "The file system has no locks left; try again, or choose another place.",
    errno.EAGAIN: "The machine has too many processes or too little memory now; try again, or use fewer processes.",
    errno.ENOMEM: "The machine has too little memory now; end other programs, or use fewer processes.",
}
# Whoever meets these on the way has done nothing wrong, neither bliss nor the plugin whose code was running.
BLAMELESS = (*FULL, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE, errno.ENOMEM)

NO_MODULE = re.compile(r"No module named '([\w.]+)'")

# What the loader of shared libraries says where memory runs out while one is imported.
UNMAPPED = ("failed to map segment", "cannot allocate memory")


# What engines raise where a process of theirs is gone, by package; they are not imported to be recognised.
LOST = {
    "joblib": ("TerminatedWorkerError", "BrokenProcessPool"),
    "concurrent": ("BrokenExecutor",),
    "distributed": ("KilledWorker", "CommClosedError", "FutureCancelledError", "ClosedClientError"),
    "ray": (
        "RayActorError",
        "ActorDiedError",
        "OutOfMemoryError",
        "WorkerCrashedError",
        "NodeDiedError",
        "ObjectLostError",
        "RaySystemError",
    ),
}


def is_lost_worker(error: BaseException) -> bool:
    """Say whether an exception means that a process which helped with the work, or its cluster, is gone.

    >>> from concurrent.futures.process import BrokenProcessPool
    >>> is_lost_worker(BrokenProcessPool("gone")), is_lost_worker(ValueError("no"))
    (True, False)
    """
    return any(cls.__name__ in LOST.get(cls.__module__.partition(".")[0], ()) for cls in type(error).__mro__)


def is_fault(error: BaseException) -> bool:
    """Say whether an exception is a fault of the machine, for which the code that was running is not to blame.

    >>> is_fault(OSError(28, "No space left on device")), is_fault(OSError(2, "No such file"))
    (True, False)
    """
    return is_lack_of_memory(error) or (isinstance(error, OSError) and error.errno in BLAMELESS)


def is_lack_of_memory(error: BaseException) -> bool:
    """Say whether an exception means that memory ran out, while something was computed or a library was loaded.

    >>> is_lack_of_memory(ImportError("libx.so: failed to map segment from shared object"))
    True
    """
    unmapped = isinstance(error, ImportError) and any(words in str(error).lower() for words in UNMAPPED)
    return unmapped or isinstance(error, MemoryError)


def reason(error: OSError) -> str:
    """Return what the system says of an error, without a full stop.

    >>> reason(OSError(28, "No space left on device"))
    'No space left on device'
    """
    return (error.strerror or str(error) or type(error).__name__).rstrip(".")


def in_words(error: OSError, what: str | Path | None = None, cannot: str = "cannot be used") -> str:
    """Say which thing met an error of the system, what the error is, and what to do.

    Args:
        error: of the system.
        what: the thing, with its path; None for what the error itself names.
        cannot: what could not be done with it.

    >>> in_words(OSError(36, "File name too long"), "out/x", "cannot be written")
    'out/x cannot be written: File name too long. Choose a shorter name.'
    """
    named = what if what is not None else _named(error)
    said = f"{named} {cannot}: {reason(error)}." if named else f"The system refused something: {reason(error)}."
    hint = HINTS.get(error.errno or 0)
    return f"{said} {hint}" if hint else said


def worker_lost(error: BaseException) -> str:
    """Say that a process which helped with the work is gone, and what helps."""
    package = type(error).__module__.partition(".")[0]
    lost = {
        "distributed": "A worker of the dask cluster was killed, or the cluster went away",
        "ray": "A worker of the ray cluster was killed, or the cluster went away",
    }.get(package, "A process that helped with the work was killed from outside, or could not be started")
    return (
        f"{lost} ({type(error).__name__}). Most often memory has run out: use fewer processes (n_jobs), or more folds "
        f"(n_folds)."
    )


def missing_on_worker(error: BaseException) -> str | None:
    """Say which module a worker could not import, and what helps; None for other errors.

    What is sent to a worker is put together there before any code of ours runs, so clusters raise this in their own
    words: Dask an Exception with the text of the error, Ray an error of its system.

    >>> missing_on_worker(ModuleNotFoundError("No module named 'own'")).partition(".")[0]
    "A worker cannot import 'own'"
    >>> missing_on_worker(ValueError("no")) is None
    True
    """
    found = NO_MODULE.search(str(error))
    if found is None or (not isinstance(error, ImportError) and ModuleNotFoundError.__name__ not in str(error)):
        return None
    return (
        f"A worker cannot import {found[1]!r}. Workers need the packages that are in use here, plugins "
        f"included, in the same versions: install them there, and start the workers anew."
    )


def out_of_memory(error: BaseException) -> str:
    """Say that memory ran out, and what needs less of it."""
    text = " ".join(str(error).split()).rstrip(".")
    return (
        f"There is not enough memory{f': {text}' if text else ''}. A fit needs less with more folds (n_folds), with "
        f'fewer rows in each training part (train_on = "one"), with a classifier that holds no table of all pairs of '
        f"rows (classifier = ridge, linear final classifiers), or with fewer processes (n_jobs)."
    )


def _named(error: OSError) -> str:
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    return " or ".join(dict.fromkeys(names))
