"""A plugin that breaks in the middle of a run: who, where and when is said, and what was finished is kept."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FRAGILE = '''
import os
import time

import numpy as np
from attrs import field, frozen
from bliss_framework import Component, Reward, RewardFunction, hookimpl, resolve


@frozen
class Fragile(Reward):
    """The MIL reward, until it breaks in round 37 of the second fold."""

    def prepare(self, fold, classifier):
        Counted.folds += 1
        return Counted(resolve("reward", "mil"), Counted.folds)

    def __call__(self, outcome):
        return resolve("reward", "mil")(outcome)


class Counted(RewardFunction):
    folds = 0

    def __init__(self, inner, fold):
        self.inner, self.fold, self.calls = inner, fold, 0

    def __call__(self, outcome):
        self.calls += 1
        breach = os.environ.get("BREACH")
        if breach and self.fold == 2 and self.calls == 2 + 37:
            if breach == "raises":
                raise ZeroDivisionError("of its own")
            if breach == "forever":
                print("hanging", flush=True)
                time.sleep(600)
            return np.full(len(outcome.assignment), 1.5)
        return self.inner(outcome)


@hookimpl
def bliss_rewards():
    return [Component("fragile", Fragile, "Breaks in round 37")]
'''
QUICK = [
    "--reward",
    "fragile",
    "--n-inferences",
    "1",
    "--n-folds",
    "3",
    "--n-rounds",
    "60",
    "--output",
    "out",
    "--json",
]


def install(folder: Path) -> Path:
    """Make a folder with the distribution bliss-fragile."""
    info = folder / "bliss_fragile-0.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bliss-fragile\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text("[bliss_framework]\nfragile = bliss_fragile\n")
    (folder / "bliss_fragile.py").write_text(FRAGILE)
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the distribution bliss-fragile."""
    return install(tmp_path / "site")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The result of a run in which nothing breaks, without what differs from run to run."""
    out, err = (process := start(install(tmp_path_factory.mktemp("whole") / "site"), "")).communicate(timeout=120)
    assert process.returncode == 0, err
    return lasting(json.loads(out))


def start(site: Path, breach: str, *more: str) -> subprocess.Popen[str]:
    """Start `bliss run musk1` with the fragile reward."""
    environment = {**os.environ, "PYTHONPATH": str(site), "BREACH": breach}
    command = [sys.executable, "-m", "bliss_framework", "run", "musk1", *QUICK, *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=site.parent, env=environment, **pipes)


def resumed(site: Path) -> dict[str, object]:
    """Go on with the mended plugin, and return the result without what differs from run to run."""
    process = start(site, "", "--resume")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return lasting(json.loads(out))


def lasting(document: dict[str, object]) -> dict[str, object]:
    """Leave out of a result what differs from run to run."""
    return {key: document[key] for key in ("inference", "data")}


@pytest.mark.parametrize(
    ("breach", "said"),
    [
        ("raises", "the reward raised ZeroDivisionError in round 37: of its own"),
        ("above", "the reward returned 1.5 for training instance 0 in round 37"),
    ],
)
def test_a_reward_that_breaks_in_round_37(site: Path, undisturbed: dict[str, object], breach: str, said: str) -> None:
    """The error names component, plugin, distribution, round and fold, and a mended plugin goes on from there."""
    process = start(site, breach)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert out == ""
    assert 'reward "fragile" (plugin "fragile" from bliss-fragile' in err
    assert said in err
    assert "fold 2 of 3" in err
    assert "Traceback" not in err
    kept = sorted(path.name for path in (site.parent / "out" / "state").iterdir())
    assert kept == ["inference-pass1-fold1.json"]

    assert resumed(site) == undisturbed


def test_a_reward_that_takes_forever(site: Path) -> None:
    """Ctrl-C ends a run that hangs in a plugin; what was finished is kept and can be gone on with."""
    process = start(site, "forever")
    assert process.stderr is not None
    while "hanging" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "--resume" in err
    assert (site.parent / "out" / "state" / "inference-pass1-fold1.json").exists()
    resumed(site)
