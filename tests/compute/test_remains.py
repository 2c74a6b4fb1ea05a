"""What a command leaves running is ended, however the command itself ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bliss_framework.compute.remains import MARK, PROCESSES, Started, end_started, ending_remains

pytestmark = pytest.mark.skipif(not PROCESSES.is_dir(), reason="the environment of other processes cannot be read here")

SLEEP = "import time; time.sleep(60)"
COMMAND = f"""
import subprocess, sys, time
from bliss_framework.compute.remains import ending_remains
with ending_remains():
    child = subprocess.Popen([sys.executable, "-c", {SLEEP!r}], start_new_session=True)
    print(child.pid, flush=True)
    time.sleep(60)
"""


def running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def has_ended(number: int) -> bool:
    last = time.monotonic() + 30
    while running(number) and time.monotonic() < last:
        time.sleep(0.1)
    return not running(number)


def test_what_a_killed_command_started_is_ended() -> None:
    command = subprocess.Popen([sys.executable, "-c", COMMAND], stdout=subprocess.PIPE)
    assert command.stdout is not None
    started = int(command.stdout.readline())
    assert running(started)
    command.send_signal(signal.SIGKILL)
    command.wait()
    command.stdout.close()
    assert has_ended(started)


def test_only_what_has_the_mark_is_ended_and_what_it_started() -> None:
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEP!r}], env={{}})"
    started = Started("mine")
    with subprocess.Popen([sys.executable, "-c", SLEEP]) as other:
        with subprocess.Popen([sys.executable, "-c", starts], env={**os.environ, MARK: "mine"}) as mine:
            while len(started.look()) < 2:
                time.sleep(0.05)
            child = max(started.look())
            assert set(started.look()) == {mine.pid, child}
            end_started(started, patience=0.0)
            assert mine.wait() == -signal.SIGKILL
            assert has_ended(child)
        assert other.poll() is None
        other.kill()


def test_the_mark_is_gone_after_the_block() -> None:
    with ending_remains():
        inside = os.environ[MARK]
        with ending_remains():
            assert os.environ[MARK] != inside
        assert os.environ[MARK] == inside
    assert MARK not in os.environ
