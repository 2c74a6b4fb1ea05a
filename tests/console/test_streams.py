"""The command line as a process of its own: what goes where, in which encoding, and what is not imported."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from attrs import frozen

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
    """The version and the list of commands come without plugins, numpy or scikit-learn."""
    ended = spawn(*words, program=("-c", LIGHT))
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
def test_names_with_square_brackets(cli, table, name):
    """A file name with square brackets appears complete and ends nothing."""
    table(name)
    ended = cli("run", name, *QUICK)
    assert ended.code == 0
    assert f"({name}): 12 bags" in ended.err
    assert "MarkupError" not in ended.err


def test_the_script(here):
    """The console script of the distribution is this command line."""
    from importlib.metadata import entry_points

    (script,) = [one for one in entry_points(group="console_scripts") if one.name == "bliss"]
    assert script.value == "bliss_framework.console:main"


@frozen
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


CLOSED = "Error: Standard output is closed, so nothing can be printed there."
FULL = "Error: Standard output cannot be written: No space left on device."


def in_shell(words, redirected):
    """Run a command in a shell, where streams can be closed, and return its code, output and messages."""
    command = f"{shlex.join([sys.executable, '-m', 'bliss_framework', *words])} {redirected}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("words", ["plugins --json", "--help", "--version"])
@pytest.mark.parametrize(("redirected", "said"), [("> /dev/full", FULL), (">&-", CLOSED)])
def test_an_output_that_takes_nothing(here, words, redirected, said):
    """A full or closed standard output is an error with one sentence, and no bug."""
    ended = in_shell(words.split(), redirected)
    assert (ended.code, ended.err) == (1, f"{said}\n")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("redirected", ["> /dev/full", ">&-", ">&- 2>&-", "> /dev/full 2> /dev/full"])
def test_a_run_whose_output_takes_nothing(here, table, redirected):
    """Results are complete on disk before they are printed, and the error says where they are."""
    table()
    ended = in_shell(["run", "toy.csv", *QUICK, "--json", "--quiet", "--output", "out"], redirected)
    assert ended.code == 1
    if "2>" not in redirected:
        assert ended.err.endswith(" The results are complete in out.\n")
    assert json.loads((here / "out" / "result.json").read_text())["name"] == "toy"
    assert not (here / "out" / "state").exists()


@pytest.mark.parametrize("redirected", ["2>&-", "2> /dev/full", "<&-"])
def test_messages_that_nobody_takes(here, table, redirected):
    """They are dropped, and the run ends well."""
    table()
    ended = in_shell(["run", "toy.csv", *QUICK, "--json", "--output", "out"], redirected)
    assert ended.code == 0
    assert json.loads(ended.out) == json.loads((here / "out" / "result.json").read_text())


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_a_reader_of_messages_that_left(here, table, install, n_jobs):
    """A run goes on to its end where nobody reads its progress any more, nor what plugins print, here or in workers."""
    # Every word is more than a buffer holds.
    source = CHATTY.replace('os.write(1, b"written by compiled code\\n")', 'print("x" * 20_000, flush=True)')
    assert "20_000" in source
    install("bliss-chatty", "chatty = chatty_hooks", {"chatty_hooks": source})
    table()
    words = ["run", "toy.csv", *QUICK, "--reward", "chatty", "--cv", "2", "--n-jobs", n_jobs, "--json"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "bliss_framework", *words], stdout=subprocess.PIPE, stderr=writing, timeout=120
    )
    os.close(writing)
    assert done.returncode == 0
    assert json.loads(done.stdout)["evaluation"]["cv"] == 2


def test_a_comparison_that_was_to_be_printed_only(here, table):
    """Where it cannot be printed it goes to a file, which is named: it was hours of work."""
    table()
    words = ["compare", "toy.csv", *QUICK, "--cv", "2", "--methods", "bag-mean-svm", "--quiet"]
    ended = in_shell(words, "> /dev/full")
    (file,) = here.glob("bliss-compare-*.json")
    assert (ended.code, ended.err) == (1, f"{FULL} The comparison was written to {file}.\n")
    assert [one["name"] for one in json.loads(file.read_text())["methods"]] == ["bag-mean-svm"]


def test_a_file_of_fewer_bytes_than_the_model(here, table, spawn, cli):
    """Under a limit on the size of files a run stops with what it has kept, and goes on to its end without it."""
    table()
    words = ["run", "toy.csv", *QUICK, "--quiet", "--output", "out"]
    command = f"ulimit -f 20; exec {shlex.join([sys.executable, '-m', 'bliss_framework', *words])}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: out/model.skops cannot be written: File too large. A file must not be that")
    assert f"To go on: bliss {shlex.join(words)} --resume" in done.stderr
    assert cli(*words, "--resume").code == 0
    assert (here / "out" / "model.skops").exists()


def test_a_pipe_that_closes(spawn, table, here):
    """A reader that has seen enough, such as head, causes no traceback."""
    command = f"{sys.executable} -m bliss_framework plugins --json | head -c 1 > first"
    done = subprocess.run(["sh", "-c", command], env=os.environ, capture_output=True, text=True, timeout=60)
    assert re.search("Traceback|bug of bliss", done.stderr) is None
    assert (here / "first").read_text() == "{"
