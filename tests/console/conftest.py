"""The command line in this process and in its own, recorded consoles, and plugins that exist for one test."""

import csv
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from rich.console import Console

from bliss_framework.console import main

COLOURS = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERMINAL_WIDTH")


@frozen
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder, and an environment in which nothing of the user's is found."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    # Set rather than deleted, so that what a command adds is undone.
    monkeypatch.setenv("BLISS_DATA", "")
    monkeypatch.setenv("BLISS_BLOCK_PLUGINS", "")
    # The command line shows warnings and takes Ctrl-C its own way for as long as its process lives.
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield folder
    for number, handler in heard.items():
        signal.signal(number, handler)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def cli(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """A function that runs a command in this process."""

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["bliss", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return Ended(left.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def spawn(here: Path) -> Callable[..., Ended]:
    """A function that runs a command in a process of its own, with no terminal."""

    def run(*words: str, program: tuple[str, ...] = ("-m", "bliss_framework"), **environ: str) -> Ended:
        command = [sys.executable, *program, *words]
        done = subprocess.run(
            command, env={**os.environ, **environ}, capture_output=True, timeout=120, stdin=subprocess.DEVNULL
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def table(here: Path, toy: Callable[..., Any]) -> Callable[..., Path]:
    """A function that writes a toy data set as a CSV file in the current folder."""

    def write(name: str = "toy.csv", truth: bool = False, **parameters: Any) -> Path:
        X, bags, weak = toy(**parameters)
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["bag", "label", *(["inst_y"] if truth else []), "a", "b"])
            for row, bag in enumerate(bags.tolist()):
                first = row == 0 or bags[row - 1] != bag
                known = [int(first and weak[bag] == 1)] if truth else []
                writer.writerow([bag, weak[bag], *known, *X[row].tolist()])
        return path

    return write


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A function that installs a distribution with one plugin, for this process and those that it starts."""

    def write(distribution: str, entry_point: str, modules: Mapping[str, str], version: str = "1.0") -> Path:
        root = tmp_path / "sites" / distribution
        info = root / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[bliss_framework]\n{entry_point}\n")
        for name, source in modules.items():
            (root / f"{name}.py").write_text(source, encoding="utf-8")
        monkeypatch.syspath_prepend(root)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]).rstrip(":"))
        return root

    return write


@pytest.fixture
def record() -> Callable[..., Console]:
    """A function that makes a console which draws into memory: plain text, and no look at the environment."""

    def make(width: int = 80, encoding: str = "utf-8", terminal: bool = True) -> Console:
        class Paper(StringIO):
            pass

        paper = Paper()
        Paper.encoding = property(lambda self: encoding)  # type: ignore[assignment]
        return Console(
            file=paper,
            width=width,
            height=30,
            force_terminal=terminal,
            color_system=None,
            legacy_windows=False,
            _environ={},
        )

    return make
