"""The README is short and true: its blocks run as written."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code blocks in a language."""
    return [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)]


def test_readme_is_short() -> None:
    """The README has at most 120 lines."""
    assert len(README.splitlines()) <= 120


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """`.ci/run` takes the second console block, which is one command line."""
    assert "\n" not in blocks("console")[1]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extraction = re.search(r"command=\$\((awk .*)\)", script)
    assert extraction
    done = subprocess.run(["bash", "-c", extraction.group(1)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == blocks("console")[1]


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="installs from a package index; set CI=true to run it")
def test_install_command_works_in_a_clone(tmp_path: Path) -> None:
    """The first block makes a virtual environment, installs, and runs MUSK1, from a clone with nothing else."""
    command = blocks("console")[0]
    assert "\n" not in command
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")], check=True)
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path / "clone", env=clean, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "musk1: 92 bags, 476 instances" in done.stdout


def test_python_example_runs() -> None:
    """The Python blocks run as written, and the example explains its first row."""
    namespace: dict[str, object] = {"__name__": "readme"}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)
    assert len(namespace["labels"]) == 30  # type: ignore[arg-type]


@pytest.mark.parametrize("line", [line for line in blocks("console")[2].splitlines() if line.strip()])
def test_console_example_runs(line: str, tmp_path: Path) -> None:
    """Every command of the console block ends with exit code 0."""
    words = shlex.split(line, comments=True)
    assert words[0] == "bliss"
    done = subprocess.run(
        [sys.executable, "-m", "bliss_framework", *words[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
