"""`bliss plugins --check` runs the kit on what is installed."""

import json
import os
import subprocess
import sys

BROKEN = """
import numpy as np
from attrs import frozen
from bliss_framework import Component, Reward, hookimpl


@frozen
class TooMuch(Reward):
    def __call__(self, outcome):
        return np.full(len(outcome.assignment), 2.0)


@hookimpl
def bliss_rewards():
    return [Component("too-much", TooMuch)]
"""


def check(path, *words):
    """Run `bliss plugins --check` with a folder on the path."""
    command = [sys.executable, "-m", "bliss_framework", "plugins", "--check", *words]
    environment = {**os.environ, "PYTHONPATH": str(path), "COLUMNS": "200"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_strategies_pass(tmp_path):
    """The components of one plugin are checked, and exit code 0 says that none failed."""
    done = check(tmp_path, "bandits", "--json")
    assert done.returncode == 0, done.stderr
    found = {(one["name"], one["state"]) for one in json.loads(done.stdout)["checks"]}
    assert found == {("cucb", "passed"), ("kl-ucb", "passed")}


def test_a_component_that_fails(tmp_path):
    """A reward above 1 fails, is named with what is wrong, and the exit code is 1."""
    info = tmp_path / "bliss_loud-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bliss-loud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[bliss_framework]\nloud = bliss_loud\n")
    (tmp_path / "bliss_loud.py").write_text(BROKEN)
    done = check(tmp_path, "loud")
    assert done.returncode == 1
    assert "too-much" in done.stdout
    assert "one-number-in-0-1-for-each-instance" in done.stdout
    assert "1 of 1 components fail the kit: reward too-much" in done.stderr


def test_an_unknown_plugin(tmp_path):
    """A plugin that is not installed is refused with the nearest name."""
    done = check(tmp_path, "bandit")
    assert done.returncode == 1
    assert 'Did you mean "bandits"' in done.stderr
