"""How far it is from the command line to the formula of a reward: files of ours that a newcomer reads on the way."""

import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import bliss_framework
from bliss_framework.console import main

FRAMEWORK = Path(bliss_framework.__file__).parent
LIMIT = 10
PLUGIN = """
import sys
import numpy as np
from bliss_framework.plugin import Component, Reward, RewardFunction, hookimpl

WALKS = set()


class Recorded(RewardFunction):
    def __call__(self, outcome):
        walk, frame = [], sys._getframe(1)
        while frame is not None:
            walk.append(frame.f_code.co_filename)
            frame = frame.f_back
        WALKS.add(tuple(reversed(walk)))
        return (outcome.assignment == outcome.labels).astype(float)


class Recording(Reward):
    def prepare(self, fold, classifier):
        return Recorded()

    def __call__(self, outcome):
        raise AssertionError("a prepared reward is called")


@hookimpl
def bliss_rewards():
    return [Component("recording", Recording)]
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A plugin with a reward that writes down who called it, and an empty current folder."""
    info = tmp_path / "site" / "bliss_walk-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bliss-walk\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[bliss_framework]\nwalk = bliss_walk\n")
    (info.parent / "bliss_walk.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(info.parent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield tmp_path
    for number, handler in heard.items():
        signal.signal(number, handler)
    sys.modules.pop("bliss_walk", None)


def test_from_the_command_to_the_reward(installed, monkeypatch, capsys):
    """From `bliss run` to the call of a reward, ten files of the framework are on the stack, counted once each."""
    words = ["bliss", "run", "generated-mil", "--reward", "recording", "--n-rounds", "2", "--n-folds", "2"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0, capsys.readouterr().err
    walks = sys.modules["bliss_walk"].WALKS
    assert walks
    for walk in walks:
        own = [Path(name).relative_to(FRAMEWORK).as_posix() for name in walk if Path(name).is_relative_to(FRAMEWORK)]
        files = list(dict.fromkeys(own))
        assert len(files) <= LIMIT, f"{len(files)} files in {len(own)} frames: {' > '.join(files)}"
