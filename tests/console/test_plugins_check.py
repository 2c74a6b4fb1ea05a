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


def distribution(folder, name, source):
    """Write a distribution with one plugin of its own name."""
    info = folder / f"bliss_{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: bliss-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[bliss_framework]\n{name} = bliss_{name}\n")
    (folder / f"bliss_{name}.py").write_text(source)


HONEST = BROKEN.replace("2.0", "1.0").replace("too-much", "honest")
HEAD = "from bliss_framework import Component, Regime, Strategy, hookimpl\n"


def test_a_neighbour_is_none_of_ones_business(tmp_path):
    """A stranger's regime that cannot be made, or raises when it is asked, does not fail the check of a reward."""
    distribution(tmp_path, "good", HONEST)
    for name, breaks in (
        ("one", "def __init__(self): raise ValueError('no')"),
        ("two", "presets = property(lambda self: 1 / 0)"),
    ):
        hook = f"@hookimpl\ndef bliss_regimes():\n    return [Component('{name}', Bad)]\n"
        distribution(
            tmp_path, name, f"{HEAD}class Bad(Regime):\n    reading = check = label_space = None\n    {breaks}\n{hook}"
        )
    done = check(tmp_path, "good")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_a_class_that_cannot_be_made(tmp_path):
    """A method that was forgotten is a failure, and no reason to skip the class."""
    hook = "@hookimpl\ndef bliss_strategies():\n    return [Component('half', Half)]\n"
    distribution(tmp_path, "half", f"{HEAD}class Half(Strategy):\n    pass\n{hook}")
    done = check(tmp_path, "half")
    assert done.returncode == 1
    assert "bounds" in done.stdout
    assert "1 of 1 components fail the kit: strategy half" in done.stderr


def test_a_plugin_that_cannot_be_loaded(tmp_path):
    """There is nothing to check, and that is a failure."""
    distribution(tmp_path, "gone", "import nothing_of_that_name\n")
    done = check(tmp_path, "gone")
    assert done.returncode == 1
    assert 'Error: Plugin "gone" from bliss-gone 1.0 is not loaded' in done.stderr


def test_pages_of_a_plugin(cli, install):
    """The pages that its metadata name are listed, and what is no address of a page is not."""
    root = install(
        "bliss-page", "page = page_hooks", {"page_hooks": f"{HEAD}@hookimpl\ndef bliss_rewards(): return []\n"}
    )
    metadata = root / "bliss_page-1.0.dist-info" / "METADATA"
    pages = "Project-URL: Documentation, https://example.org/docs\nProject-URL: Bad, javascript:alert(1)\n"
    metadata.write_text(f"{metadata.read_text()}Home-page: https://example.org\n{pages}")
    out = cli("plugins", "page").out
    assert out.splitlines()[-2:] == ["Homepage: https://example.org", "Documentation: https://example.org/docs"]


def test_a_default_that_cannot_be_written(cli, install):
    """A parameter whose `repr` raises is shown by its type."""
    source = """
from bliss_framework import Component, Strategy, hookimpl

class Shy:
    def __repr__(self):
        raise RuntimeError("no")

class Own(Strategy):
    def __init__(self, of=Shy()):
        pass

    def bounds(self, arms, round, rng):
        return arms.means

@hookimpl
def bliss_strategies():
    return [Component("own", Own)]
"""
    install("bliss-shy", "shy = shy_hooks", {"shy_hooks": source})
    ended = cli("plugins", "own")
    assert (ended.code, "of = Shy" in ended.out) == (0, True), ended


def test_entry_points_that_others_cannot_read(spawn, install, table):
    """scikit-learn reads the entry points of everybody; the user's data are not blamed for what it finds there."""
    table()
    root = install("bliss-odd", "odd = odd_hooks", {})
    (root / "bliss_odd-1.0.dist-info" / "entry_points.txt").write_bytes(b"[bliss_framework]\nodd = \xff\xfe\n")
    ended = spawn("run", "toy.csv", "--n-rounds", "2", "--n-folds", "2")
    assert ended.code == 1
    assert f"They lie in bliss-odd in {root}" in ended.err.replace("\n", " ")
