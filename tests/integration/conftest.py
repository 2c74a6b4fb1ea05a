"""Building and installing without a network, as a third party would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
OFFLINE = ("--no-index", "--no-build-isolation", "--no-deps", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def pip() -> Callable[..., None]:
    """A function that runs pip without a network."""
    pytest.importorskip("hatchling", reason="the build backend is part of the test extra")

    def run(command: str, *words: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "pip", command, *OFFLINE, *words], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="session")
def wheel(pip: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this repository."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def bliss_at(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs the command line with a folder of installed packages before all others."""

    def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("BLISS_")}
        environ |= {"PYTHONPATH": str(site), "XDG_DATA_HOME": str(tmp_path / "nothing"), "COLUMNS": "100"}
        return subprocess.run(
            [sys.executable, "-m", "bliss_framework", *words],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def toy_file(tmp_path: Path, toy: Callable[..., tuple[np.ndarray, np.ndarray, dict[str, int]]]) -> Path:
    """A native data file with twelve bags."""
    X, bags, weak = toy()
    path = tmp_path / "toy.npz"
    np.savez(path, X=X, bag=bags, y=np.array(list(weak.values())))
    return path
