"""The linter, the formatter, the type checker and the import rules, so that one test command runs them all."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = {
    "ruff check": ["ruff", "check", "--no-cache", "."],
    "ruff format": ["ruff", "format", "--no-cache", "--check", "."],
    "mypy": ["mypy"],
    "lint-imports": ["lint-imports", "--no-cache"],
}


@pytest.mark.parametrize("name", TOOLS)
def test_tool_has_no_complaint(name: str) -> None:
    """The code is formatted, lints clean, is typed, and imports point one way."""
    program, *arguments = TOOLS[name]
    beside_python = Path(sys.executable).with_name(program)
    found = str(beside_python) if beside_python.exists() else shutil.which(program)
    assert found, f"{program} is not installed; it is part of the test extra"
    done = subprocess.run([found, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
