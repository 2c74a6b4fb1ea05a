"""Large runs on the command line: what is said before, what is refused, and what is kept where memory runs out."""

import os
import resource
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from bliss_framework import ComputeError, MemoryNeededError
from bliss_framework.console.exits import exit_codes
from bliss_framework.faults import worker_lost
from bliss_framework.runs import forecast

QUICK = ("--n-rounds", "3", "--n-folds", "3")
# A kernel of all rows with all rows, where landmarks would need much less.
ALL_PAIRS = ("--set", "classifier.n_landmarks=0")
LIMIT = 450_000_000  # Enough for Python and label inference, and too little for a table of all pairs of 6,000 rows.


@pytest.fixture
def many_rows(here):
    """A file of 6,000 rows in bags of ten; the first row of every second bag is far from the others."""
    X = np.random.default_rng(0).normal(size=(6000, 2))
    bags = np.arange(6000) // 10
    y = np.arange(600) % 2
    X[::10, 0] += 5.0 * y
    np.savez(here / "many.npz", X=X, bag=bags, y=y)
    return here / "many.npz"


@pytest.fixture
def limited(here):
    """A function that runs a command in a process whose data may not be larger than the limit."""

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "bliss_framework", *words],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=200,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)),
        )
        return done.returncode, done.stderr

    return run


class TestBefore:
    def test_a_line(self, cli, table, monkeypatch):
        """A run that takes much says so in one line on standard error, and --quiet silences it."""
        monkeypatch.setattr(forecast, "MUCH", 1)
        table()
        loud = cli("run", "toy.csv", *QUICK, "--output", "loud").err
        assert "48 rows in 12 bags: about " in loud
        assert "of memory" in loud
        assert "rows in" not in cli("run", "toy.csv", *QUICK, "--quiet", "--output", "quiet").err

    def test_too_little_memory(self, cli, table, here):
        """A run that is allowed less than it needs ends with exit code 1 and one paragraph, and leaves nothing."""
        table()
        ended = cli("run", "toy.csv", *QUICK, "--max-memory", "1MB", "--output", "out", "--quiet")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("Error: This needs about ")
        assert "and nothing is left of the 1.0 MB of max_memory." in ended.err
        assert ended.err.count("\n") == 1
        assert not (here / "out").exists()

    @pytest.mark.parametrize("size", ["much", "-1", "4GiB"])
    def test_what_is_no_size(self, cli, table, size):
        """It is refused with an example."""
        table()
        ended = cli("run", "toy.csv", *QUICK, f"--max-memory={size}")
        assert (ended.code, ended.err) == (
            1,
            f"Error: max_memory must be a size such as 500MB or 4GB; got {size!r}.\n",
        )

    def test_the_setting_in_options(self, capsys):
        """The setting that fits is said as it is typed."""
        with exit_codes() as ending:
            raise MemoryNeededError("This needs 9 GB.", {"final_classifier": "ridge", "n_jobs": 1}, "1 GB")
        said = "Error: This needs 9 GB. With --final-classifier ridge --n-jobs 1 it needs about 1 GB.\n"
        assert (ending.code, capsys.readouterr().err) == (1, said)


class TestMemoryRunsOut:
    def test_under_a_limit_of_the_system(self, limited, many_rows, here):
        """A run that does not fit under ulimit is refused before it begins, with a setting that does."""
        words = ["run", str(many_rows), *QUICK, "--train-on", "one", "--n-folds", "10", "--quiet", "--output", "out"]
        code, said = limited(*words, *ALL_PAIRS)
        assert code == 1
        assert "MB of it for the final fit on all rows, and only " in said
        assert "more are left by the limit of a process, ulimit. With --final-classifier " in said
        name = said.split("--final-classifier ")[1].split()[0]
        assert limited(*words, *ALL_PAIRS, "--final-classifier", name) == (0, "")

    def test_in_the_final_fit(self, limited, many_rows, here):
        """Exit code 1, labels are there, and --resume with another final classifier infers nothing anew."""
        words = ["run", str(many_rows), *QUICK, "--train-on", "one", "--n-folds", "10", "--output", "out"]
        words += ["--max-memory", "90GB", *ALL_PAIRS]
        code, said = limited(*words, "--quiet")
        assert code == 1
        assert said.startswith("Error: There is not enough memory: Unable to allocate 275. MiB")
        kept = (
            "What was finished is kept in out, and labels are inferred, so the run may go on with another --final-cla"
        )
        assert f"{kept}ssifier. To go on: bliss run " in said
        assert said.endswith("--resume\n")
        written = here / "out" / "labels.csv"
        labels = written.read_bytes()
        assert labels.count(b"\n") == 6001
        code, said = limited(*words, "--resume", "--final-classifier", "balanced-ridge")
        assert code == 0
        assert "goes on with other settings: bliss.final_classifier was 'same'" in said
        assert "fold" not in said
        # What was inferred is as it was; scores of the final classifier have joined.
        columns = [[line.split(b",")[:7] for line in text.splitlines()] for text in (labels, written.read_bytes())]
        assert columns[0] == columns[1]
        assert (here / "out" / "model.skops").exists()


class TestWorkers:
    @pytest.mark.parametrize("method", ["bliss", "bag-mean-svm"])
    def test_a_killed_process(self, cli, table, here, monkeypatch, method):
        """A worker that is killed in the evaluation ends a run with exit code 1, and says how to go on."""
        table()
        words = ["run", "toy.csv", *QUICK, "--cv", "2", "--quiet", "--output", "out"]
        straight = cli(*words[:-1], "straight").out

        def lost(n_jobs, function, arguments):
            for one in arguments:
                if one[1].method.name == method:
                    raise ComputeError(worker_lost(BrokenProcessPool("gone")))
                yield function(*one)

        with monkeypatch.context() as patched:
            patched.setattr("bliss_framework.runs.evaluation.fits.in_parallel", lost)
            patched.setattr("bliss_framework.runs.evaluation.fits.several", lambda n_jobs: True)
            ended = cli(*words)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("Error: A process that helped with the work was killed from outside, or could not")
        other = ", and labels are inferred, so the run may go on with another --final-classifier"
        kept = f"What was finished is kept in out{other if method == 'bliss' else ''}. To go on: "
        assert kept in ended.err
        again = "bliss run toy.csv --n-rounds 3 --n-folds 3 --cv 2 --quiet --output out --resume"
        assert ended.err.endswith(f"To go on: {again}\n")
        assert cli(*words, "--resume").out == straight.replace("straight", "out")
