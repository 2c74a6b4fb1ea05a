"""The scripts that disturb runs, with a few cases each; `python tests/fuzz/kills.py --n 300` is the long form."""

import subprocess
import sys
from pathlib import Path

import pytest

FORKED = pytest.mark.skipif(sys.platform == "win32", reason="needs processes that fork")


def disturb(script: str, *options: str) -> str:
    """Run a script of this folder, and return its last line."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


@FORKED
def test_killed_runs_end_with_equal_bits() -> None:
    """Runs and comparisons that are killed, ended or left by their reader at any moment go on to the same bits."""
    assert disturb("kills.py", "--n", "6", "--kinds", "run,compare").endswith("wrong 0")


@FORKED
def test_runs_on_a_full_disk_end_with_equal_bits() -> None:
    """A run of which an operation on files fails ends with a sentence, and goes on to the same bits."""
    assert disturb("full_disk.py", "--step", "30", "--kinds", "run").endswith("wrong 0")
