"""One process at a time on a directory or a file: a lock that says who is at work.

The lock is a file that appears whole, by a hard link, where none was: that holds on network file systems too, whose own
locks (flock, fcntl) may be missing, or may not reach other machines. Of a process that was killed the lock stays. On
its own machine that can be seen, and the next process takes the lock over; elsewhere a person has to delete the file.
"""

import errno
import getpass
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from bliss_framework.compute.processes import drop_shared_memory, is_running
from bliss_framework.errors import FileError, RunError
from bliss_framework.faults import in_words
from bliss_framework.runs.folder.atomic import make_folder, partial_of, sweep_beside

NAME = ".lock"
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)
ATTEMPTS = 5  # At taking over a lock, while others do the same.


@frozen
class Owner:
    """The process that is at work.

    Attributes:
        host: its machine.
        pid: its number there.
        user: whose it is.
        started: when it took the lock.
        born: when the process began, in ticks of its machine since that started; 0 where the system does not say.
    """

    host: str = field()
    pid: int = field()
    user: str = field()
    started: str = field()
    born: int = field(default=0)

    def __str__(self) -> str:
        """Say who it is."""
        return f"process {self.pid} of {self.user} on {self.host}, since {self.started}"

    @property
    def is_gone(self) -> bool:
        """Whether it was a process of this machine that is no longer there, its number taken by another one or not."""
        if self.host != socket.gethostname():
            return False
        if not is_running(self.pid):
            return True
        born = _born(self.pid)
        return self.born != 0 and born not in (0, self.born)


def this_process() -> Owner:
    """Return who this process is."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = "somebody"
    pid = os.getpid()
    return Owner(socket.gethostname(), pid, user, f"{datetime.now():%Y-%m-%d %H:%M:%S}", _born(pid))


def owner_of(lock: Path) -> Owner | None:
    """Return who holds a lock, None where nobody does.

    Raises:
        RunError: the lock cannot be read.
    """
    try:
        known = json.loads(lock.read_text(encoding="utf-8"))
        return Owner(
            str(known["host"]), int(known["pid"]), str(known["user"]), str(known["started"]), int(known["born"])
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(in_words(error, lock, "cannot be read")) from error
    except (ValueError, KeyError, TypeError):
        raise RunError(f"{lock} is damaged. If nobody is at work there, delete it and start again.") from None


def refuse_if_held(lock: Path, what: Path) -> None:
    """Refuse to touch what another process works on.

    Args:
        lock: that would be held.
        what: is worked on.

    Raises:
        RunError: naming who is at work.
    """
    owner = owner_of(lock)
    if owner is not None and not owner.is_gone:
        raise RunError(_at_work(what, lock, owner))


@contextmanager
def locked(lock: Path, what: Path) -> Iterator[tuple[str, ...]]:
    """Hold a lock for the length of a with block, and yield notes: whose lock was taken over.

    Args:
        lock: the file; its folder must be there.
        what: is worked on.

    Raises:
        RunError: another process is at work; it is named.
        FileError: nothing can be written there.
    """
    me = this_process()
    gone = _take(lock, what, me)
    notes: tuple[str, ...] = ()
    if gone is not None:
        drop_shared_memory(gone.pid)
        notes = (f"{what} was left by {gone}, which is no longer there; its lock was taken over.",)
    try:
        yield notes
    finally:
        with suppress(OSError, RunError):
            if owner_of(lock) == me:
                lock.unlink()


def _take(lock: Path, what: Path, me: Owner) -> Owner | None:
    """Take a lock, and return the process that held it when it died."""
    gone: Owner | None = None
    for _ in range(ATTEMPTS):
        if _create(lock, me):
            return gone
        owner = owner_of(lock)
        if owner is None:
            continue
        if not owner.is_gone:
            raise RunError(_at_work(what, lock, owner))
        gone = owner
        _set_aside(lock, owner)
    raise RunError(f"{what} is wanted by several processes at once. Try again, or choose another place with --output.")


def _create(lock: Path, me: Owner) -> bool:
    """Make the file of a lock, whole, where none is; say whether that was done."""
    partial = partial_of(lock)
    text = json.dumps(asdict(me)) + "\n"
    try:
        partial.write_text(text, encoding="utf-8")
        return _linked(partial, lock, text)
    except OSError as error:
        raise FileError(in_words(error, what_is_locked(lock), "cannot be written")) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _linked(partial: Path, lock: Path, text: str) -> bool:
    try:
        os.link(partial, lock)
    except FileExistsError:
        return False
    except FileNotFoundError:
        # Who holds the lock has swept the partial file away.
        if not lock.parent.is_dir():
            raise
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # Some file systems have no links; there the file is short-lived without its content.
        try:
            with lock.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except FileExistsError:
            return False
    return True


def _set_aside(lock: Path, gone: Owner) -> None:
    """Remove the lock of a process that is gone, but not one that somebody else has made meanwhile."""
    aside = partial_of(lock)
    try:
        lock.replace(aside)
    except OSError:
        return
    with suppress(OSError, RunError):
        if owner_of(aside) != gone:
            os.link(aside, lock)
    with suppress(OSError):
        aside.unlink()


def what_is_locked(lock: Path) -> Path:
    """Return the directory or the file that a lock is about."""
    return lock.parent if lock.name == NAME else lock.with_name(lock.name.removeprefix(".").removesuffix(NAME))


def lock_of_file(path: Path) -> Path:
    """Return the lock of a file that is to be written."""
    return path.with_name(f".{path.name}{NAME}")


def _at_work(what: Path, lock: Path, owner: Owner) -> str:
    elsewhere = owner.host != socket.gethostname()
    hint = f" If it is no longer at work there, delete {lock}." if elsewhere else ""
    return f"{what} is being worked on by {owner}. Wait for it, or choose another place with --output.{hint}"


def _born(pid: int) -> int:
    """Return when a process began, in ticks since its machine started: a number may belong to another one later."""
    try:
        after_name: Any = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        return int(after_name[19])
    except (OSError, ValueError, IndexError):
        return 0


@contextmanager
def reserved(path: Path) -> Iterator[tuple[str, ...]]:
    """Keep the place of a file that is to be written at the end of a with block, so that no work is done for nothing.

    Notes about how it was had are yielded.

    Raises:
        RunError: the file is there already, or another process is at work on it.
        FileError: it could not be written.
    """
    if os.path.lexists(path):
        raise RunError(f"{path} is already there. Choose another file with --output.")
    with made_folder(path.parent, path), locked(lock_of_file(path), path) as notes:
        sweep_beside(path)
        yield notes


@contextmanager
def made_folder(folder: Path, what: Path) -> Iterator[None]:
    """Make a directory with those above it for the length of a with block; where nothing is left in them they go again.

    Args:
        folder: to make.
        what: it is for.

    Raises:
        FileError: it cannot be made.
    """
    try:
        made = [one for one in (folder, *folder.parents) if not one.exists()]
        make_folder(folder)
    except OSError as error:
        raise FileError(in_words(error, what, "cannot be written")) from error
    try:
        yield
    finally:
        with suppress(OSError):
            for one in made:
                one.rmdir()
