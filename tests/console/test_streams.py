"""The command line as a process of its own: what goes where, in which encoding, and what is not imported."""

import json
import re
import time

import pytest

from bliss_framework import __version__

QUICK = ("--n-rounds", "4", "--n-folds", "3", "--n-inferences", "1")
HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "joblib",
    "pluggy",
    "skops",
    "bliss_mil",
    "bliss_bandits",
    "bliss_readers",
)
LIGHT = """
import sys
sys.argv = ["bliss", *sys.argv[1:]]
from bliss_framework.console import main
try:
    main()
finally:
    print("LOADED", *sorted({name.partition(".")[0] for name in sys.modules}))
    print("OWN", *sorted(name for name in sys.modules if name.startswith("bliss_framework")))
"""
CHATTY = """
import os, sys
from bliss_framework import Component, Reward, hookimpl
from rich.progress import track

class Chatty(Reward):
    def __call__(self, outcome):
        print("printed by Python")
        os.write(1, b"written by compiled code\\n")
        return [0.5 for _ in track(outcome.assignment, description="own bar")]

@hookimpl
def bliss_rewards():
    return [Component("chatty", Chatty)]
"""


@pytest.mark.parametrize("words", [["--version"], ["--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(spawn, words):
    """The version and the list of commands come without plugins, numpy or scikit-learn, and at once."""
    began = time.perf_counter()
    ended = spawn(*words, program=("-c", LIGHT))
    assert time.perf_counter() - began < 3.0
    assert ended.code == 0
    *_, loaded, own = ended.out.splitlines()
    assert [name for name in HEAVY if name in loaded.split()] == []
    assert "bliss_framework.estimator.bliss_classifier" not in own.split()
    if words == ["--version"]:
        assert ended.out.splitlines()[0] == f"bliss {__version__}"


def test_results_and_messages_are_apart(spawn, table):
    """Results go to standard output and progress to standard error; where there is no terminal both are plain text."""
    table()
    ended = spawn("run", "toy.csv", *QUICK, "--cv", "2", TERM="xterm-256color")
    assert ended.code == 0
    assert ended.out.startswith("toy: 12 bags, 48 instances, 2 features\n")
    assert "╭" in ended.out
    assert ended.err.startswith("toy (toy.csv): 12 bags, 48 instances, 9 fits\n")
    assert "\x1b" not in ended.out + ended.err
    assert "\r" not in ended.out + ended.err


def test_json_alone_whatever_plugins_print(spawn, table, install):
    """--json prints one document: what a reward prints, also in worker processes, goes to standard error."""
    install("bliss-chatty", "chatty = chatty_hooks", {"chatty_hooks": CHATTY})
    table()
    ended = spawn("run", "toy.csv", *QUICK, "--reward", "chatty", "--json", "--cv", "2", "--n-jobs", "2")
    assert ended.code == 0
    assert json.loads(ended.out)["settings"]["bliss"]["reward"] == "chatty"  # It has no parameters.
    assert "printed by Python" in ended.err
    assert "written by compiled code" in ended.err


def test_ascii(spawn, table):
    """In a locale that knows ASCII only, boxes are of ASCII, and letters that it lacks are escapes; JSON stays JSON."""
    table("tüy[x].csv")
    poor = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    ended = spawn("run", "tüy[x].csv", *QUICK, "--cv", "2", **poor)
    assert ended.code == 0
    assert (ended.out + ended.err).isascii()
    assert "t\\xfcy[x]: 12 bags" in ended.out
    assert "| BLISS" in ended.out
    ended = spawn("run", "tüy[x].csv", *QUICK, "--json", **poor)
    assert ended.code == 0
    assert ended.out.isascii()
    assert json.loads(ended.out)["name"] == "tüy[x]"


def test_narrow(spawn):
    """In forty columns nothing is wider, and no name is broken in two."""
    ended = spawn("plugins", COLUMNS="40")
    assert max(map(len, ended.out.splitlines())) <= 40
    assert "baseline" in ended.out
    assert "inherited-label-svm" in ended.out
    helped = spawn("--help", COLUMNS="40")
    assert max(map(len, helped.out.splitlines())) <= 40


@pytest.mark.parametrize("name", ["data[/x].csv", "run[old].csv"])
def test_names_with_square_brackets(spawn, table, name):
    """A file name with square brackets appears complete and ends nothing."""
    table(name)
    ended = spawn("run", name, *QUICK)
    assert ended.code == 0
    assert f"({name}): 12 bags" in ended.err
    assert "MarkupError" not in ended.err


def test_the_script(here):
    """The console script of the distribution is this command line."""
    from importlib.metadata import entry_points

    (script,) = [one for one in entry_points(group="console_scripts") if one.name == "bliss"]
    assert script.value == "bliss_framework.console:main"


def test_a_pipe_that_closes(spawn, table, here):
    """A reader that has seen enough, such as head, causes no traceback."""
    import os
    import subprocess
    import sys

    command = f"{sys.executable} -m bliss_framework plugins --json | head -c 1 > first"
    done = subprocess.run(["sh", "-c", command], env=os.environ, capture_output=True, text=True, timeout=60)
    assert re.search("Traceback|bug of bliss", done.stderr) is None
    assert (here / "first").read_text() == "{"
