"""What memory there is: read off files that look like those of Linux, and off the limits of a process."""

import resource
import subprocess
import sys

import numpy as np
import pytest

from bliss_framework.compute import memory
from bliss_framework.compute.empty_rows import empty_rows
from bliss_framework.compute.memory import Room, memory_in_use, memory_left

KB = 1024
LIMITED = """
import resource
from bliss_framework.compute.memory import memory_left
resource.setrlimit(resource.RLIMIT_DATA, (3 * 10**8, 3 * 10**8))
before = memory_left()[1].n_bytes
taken = bytearray(10**8)
print(before, memory_left()[1].n_bytes, memory_left()[1].why)
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that writes files of a machine with 8 GB left, in control groups."""
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(resource, "getrlimit", lambda what: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def write(cgroup="", **files):
        contents = {
            "proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n",
            "proc/self/cgroup": cgroup,
            "proc/self/status": "Name: python\nVmSize: 900 kB\nVmRSS: 700 kB\nVmData: 500 kB\n",
            **{f"cgroup/{name}": text for name, text in files.items()},
        }
        for name, text in contents.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return write


class TestMachine:
    def test_what_is_available(self, machine):
        """Without any limit it is what the system calls available."""
        machine()
        together, alone = memory_left()
        assert (together.n_bytes, together.why, alone) == (8_000_000 * KB, "on this machine", None)
        assert memory_in_use() == 700 * KB

    def test_a_system_that_says_nothing(self, monkeypatch, tmp_path):
        """Where there are no such files, it is the memory of the machine, and what a process has is not known."""
        monkeypatch.setattr(memory, "PROC", tmp_path)
        monkeypatch.setattr(memory, "CGROUP", tmp_path)
        assert memory_left()[0].n_bytes > 2**28
        assert memory_in_use() == 0

    def test_what_a_process_has(self):
        """Memory that is written to is in use."""
        before = memory_in_use()
        held = np.ones(10**7)
        assert 0.9 * held.nbytes < memory_in_use() - before < 1.5 * held.nbytes


class TestControlGroups:
    def test_the_second_version(self, machine):
        """What a group may have, less what it has, but pages of files can be had back."""
        machine(
            "0::/job\n",
            **{"job/memory.max": "3000\n", "job/memory.current": "1000\n", "job/memory.stat": "inactive_file 200\n"},
        )
        assert memory_left()[0].n_bytes == 3000 - 1000 + 200
        assert memory_left()[0].why == "in this container"

    def test_the_first_version(self, machine):
        """The same under other names, among groups for other things."""
        machine(
            "4:cpu,memory:/job\n3:cpuset:/\n",
            **{
                "memory/job/memory.limit_in_bytes": "3000\n",
                "memory/job/memory.usage_in_bytes": "1000\n",
                "memory/job/memory.stat": "inactive_file 7\ntotal_inactive_file 300\n",
            },
        )
        assert memory_left()[0].n_bytes == 3000 - 1000 + 300

    def test_a_group_above_is_tighter(self, machine):
        """Whatever a group may have, those above it must have it too."""
        machine(
            "0::/user/job\n",
            **{
                "user/job/memory.max": "max\n",
                "user/job/memory.current": "1\n",
                "user/memory.max": "900\n",
                "user/memory.current": "100\n",
            },
        )
        assert memory_left()[0].n_bytes == 800

    def test_inside_a_container(self, machine):
        """There the path is that of the host, and the root is the group itself."""
        machine("0::/docker/4f1c\n", **{"memory.max": "5000\n", "memory.current": "1000\n"})
        assert memory_left()[0].n_bytes == 4000

    @pytest.mark.parametrize("limit", ["9223372036854771712", "max", "", "many"])
    def test_no_limit(self, machine, limit):
        """The largest number, a word or nothing limit nothing."""
        machine("0::/\n", **{"memory.max": limit, "memory.current": "1000"})
        assert memory_left()[0].why == "on this machine"


class TestProcess:
    def test_limits(self, machine, monkeypatch):
        """The tighter of two limits counts, less what the process has of it."""
        machine()
        limits = {resource.RLIMIT_AS: 5000 * KB, resource.RLIMIT_DATA: 3000 * KB}
        monkeypatch.setattr(resource, "getrlimit", lambda what: (limits[what], -1))
        assert memory_left()[1].n_bytes == min(5000 - 900, 3000 - 500) * KB

    def test_a_real_limit(self):
        """A process that takes 100 MB of its 300 has 100 MB less left."""
        done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
        before, after, *why = done.stdout.split()
        assert 0.95e8 < int(before) - int(after) < 1.1e8
        assert 0 < int(before) < 3e8
        assert " ".join(why) == "by the limit of a process, ulimit"


@pytest.mark.parametrize(("n_rows", "mapped"), [(50, False), (51, True)])
def test_room_for_rows_is_in_memory_where_half_of_it_does(monkeypatch, n_rows, mapped):
    """Of 800 bytes that are left, 400 are taken; more rows are mapped from a file, and nothing else differs."""
    monkeypatch.setattr("bliss_framework.compute.empty_rows.memory_left", lambda: (None, Room(800, "here")))
    rows = empty_rows(n_rows, 2, np.float32)
    assert isinstance(rows, np.memmap) == mapped
    assert (rows.shape, rows.dtype) == ((n_rows, 2), np.float32)
