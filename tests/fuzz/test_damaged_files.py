"""A short run of the script beside this file; `python tests/fuzz/damaged_files.py --n 20000` is the long one."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory and time are those of Linux")
def test_damaged_files_end_in_an_error_that_can_be_mended() -> None:
    """Sixty damaged files: exit code 0, 1 or 2, no traceback, nobody blamed, less than 1 GB, no hang."""
    script = Path(__file__).with_name("damaged_files.py")
    words = [sys.executable, str(script), "--n", "60", "--quick", "--seed", "7"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "60 files\n0 problems" in done.stdout
