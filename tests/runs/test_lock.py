"""One process at a time on a directory or a file, and who is at work."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bliss_framework import FileError, RunError
from bliss_framework.runs.folder import lock as locks
from bliss_framework.runs.folder.lock import (
    Owner,
    lock_of_file,
    locked,
    owner_of,
    refuse_if_held,
    reserved,
    this_process,
)

WANTING = """
import sys, time
from pathlib import Path
from bliss_framework.errors import RunError
from bliss_framework.runs.folder.lock import locked

folder = Path(sys.argv[1])
try:
    with locked(folder / ".lock", folder):
        (folder / "alone").mkdir()
        time.sleep(0.2)
        (folder / "alone").rmdir()
    print("done")
except RunError:
    print("refused")
"""


@pytest.fixture
def lock(tmp_path):
    """Where the lock of a directory is."""
    return tmp_path / ".lock"


@pytest.fixture
def dead():
    """The number of a process that is no longer there."""
    return int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True).stdout)


def write(lock, **changes):
    """Write the lock of another process."""
    known = {
        "host": socket.gethostname(),
        "pid": os.getppid(),
        "user": "ann",
        "started": "2026-01-02 03:04:05",
        "born": 0,
    }
    lock.write_text(json.dumps({**known, **changes}))


def test_a_lock_is_there_as_long_as_the_block(lock, tmp_path):
    """Inside the block the file names this process, and nothing else lies there; after it there is nothing."""
    with locked(lock, tmp_path) as notes:
        assert notes == ()
        assert json.loads(lock.read_text())["pid"] == os.getpid()
        assert json.loads(lock.read_text())["host"] == socket.gethostname()
        assert [one.name for one in tmp_path.iterdir()] == [".lock"]
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_reads_who_is_at_work(lock, tmp_path):
    """It is told the number, the user, the machine and the time, and the lock stays."""
    write(lock)
    with pytest.raises(RunError) as caught, locked(lock, tmp_path):
        raise AssertionError("two at once")
    assert str(caught.value) == (
        f"{tmp_path} is being worked on by process {os.getppid()} of ann on {socket.gethostname()}, since 2026-01-02 "
        f"03:04:05. Wait for it, or choose another place with --output."
    )
    assert owner_of(lock).user == "ann"


def test_the_same_process_twice(lock, tmp_path):
    """Two runs of one process are two, as well."""
    with locked(lock, tmp_path):
        with pytest.raises(RunError, match=f"is being worked on by process {os.getpid()} of "), locked(lock, tmp_path):
            raise AssertionError("two at once")
        assert lock.exists()


def test_a_dead_owner(lock, tmp_path, dead, monkeypatch):
    """The lock of a process of this machine that is gone is taken over with a note, and its shared memory goes."""
    dropped = []
    monkeypatch.setattr(locks, "drop_shared_memory", dropped.append)
    write(lock, pid=dead)
    refuse_if_held(lock, tmp_path)
    with locked(lock, tmp_path) as notes:
        assert owner_of(lock).pid == os.getpid()
    assert notes == (
        f"{tmp_path} was left by process {dead} of ann on {socket.gethostname()}, since 2026-01-02 03:04:05, which is "
        f"no longer there; its lock was taken over.",
    )
    assert dropped == [dead]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say when a process began")
def test_a_number_that_was_given_again(lock):
    """A process that has the number of the owner, but began at another time, is not the owner."""
    me = this_process()
    assert me.born > 0
    assert not me.is_gone
    assert Owner(me.host, me.pid, me.user, me.started, me.born + 1).is_gone


def test_what_a_living_process_has_in_memory_stays(dead, tmp_path):
    """A lock may name a number that another process has by now, whose memory stays; that of a dead one goes."""
    place = Path(tempfile.gettempdir())
    mine, left = (place / f"joblib_memmapping_folder_{pid}_test_lock" for pid in (os.getpid(), dead))
    try:
        for folder in (mine, left):
            folder.mkdir()
        for pid, born in ((os.getpid(), 1), (dead, 0)):
            write(tmp_path / ".lock", pid=pid, born=born)
            with locked(tmp_path / ".lock", tmp_path) as notes:
                assert "its lock was taken over" in notes[0]
        assert mine.exists()
        assert not left.exists()
    finally:
        shutil.rmtree(mine, ignore_errors=True)


@pytest.mark.parametrize("pid", [2**31, 10**30])
def test_a_number_that_no_process_can_have(lock, tmp_path, pid):
    """A lock that somebody wrote by hand is taken over."""
    write(lock, pid=pid)
    with locked(lock, tmp_path) as notes:
        assert f"was left by process {pid} of ann" in notes[0]


def test_an_owner_on_another_machine(lock, tmp_path):
    """Whether it is at work cannot be seen from here, so a person decides, and reads which file to delete."""
    write(lock, host="elsewhere", pid=1)
    with pytest.raises(RunError, match=rf"If it is no longer at work there, delete {lock}\.$"):
        refuse_if_held(lock, tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"host": "x"}'])
def test_a_damaged_lock(lock, tmp_path, content):
    """It is kept, and a person is told what to do."""
    lock.write_text(content)
    with pytest.raises(RunError, match=r"is damaged\. If nobody is at work there, delete it"), locked(lock, tmp_path):
        raise AssertionError("nobody knows whose it is")
    assert lock.read_text() == content


def test_where_there_are_no_links(lock, tmp_path, monkeypatch):
    """A file system without hard links has locks too: the second one is refused."""

    def refuse(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with locked(lock, tmp_path), pytest.raises(RunError, match="is being worked on by"), locked(lock, tmp_path):
        raise AssertionError("two at once")
    assert not lock.exists()


def test_a_place_that_takes_no_lock(tmp_path, monkeypatch):
    """A full disk is said of the directory, not of the lock in it."""

    def refuse(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", refuse)
    said = rf"^{tmp_path} cannot be written: No space left on device\. Free some space"
    with pytest.raises(FileError, match=said), locked(tmp_path / ".lock", tmp_path):
        raise AssertionError("without a lock")
    assert list(tmp_path.iterdir()) == []


def test_many_processes_want_what_a_dead_one_left(lock, tmp_path, dead):
    """Of four that come at once each is either refused or alone."""
    write(lock, pid=dead)
    started = [
        subprocess.Popen([sys.executable, "-c", WANTING, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [one.communicate()[0].strip() for one in started]
    assert set(said) <= {"done", "refused"}
    assert "done" in said
    assert list(tmp_path.iterdir()) == []


class TestReserved:
    def test_a_file_that_is_there(self, tmp_path):
        """It is refused before any work, a link that leads nowhere too."""
        (tmp_path / "link.toml").symlink_to("nowhere")
        with pytest.raises(RunError, match=r"link\.toml is already there"), reserved(tmp_path / "link.toml"):
            raise AssertionError("it would be overwritten")

    def test_a_second_process(self, tmp_path):
        """It reads who is about to write the file."""
        path = tmp_path / "deep" / "best.toml"
        with reserved(path):
            write(lock_of_file(path))
            with pytest.raises(RunError, match=r"best\.toml is being worked on by process"), reserved(path):
                raise AssertionError("two at once")
            lock_of_file(path).unlink()

    def test_nothing_is_left(self, tmp_path):
        """Folders that were made for a file that was not written go again, and parts of dead processes go."""
        with pytest.raises(KeyboardInterrupt), reserved(tmp_path / "a" / "b" / "best.toml"):
            raise KeyboardInterrupt
        (tmp_path / ".best.toml.123.part").write_text("[bli")
        (tmp_path / ".other.toml.123.part").write_text("[bli")
        with reserved(tmp_path / "best.toml"):
            pass
        assert [one.name for one in tmp_path.iterdir()] == [".other.toml.123.part"]

    def test_a_place_below_a_file(self, tmp_path):
        """It is refused before any work, with the path that was asked for."""
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "best.toml"
        with pytest.raises(FileError, match=r"file/best\.toml cannot be written: Not a directory"), reserved(path):
            raise AssertionError("it could not be written")
