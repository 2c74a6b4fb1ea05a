"""How the memory that classifiers say they take compares with what they do take.

    python tests/benchmarks/bench_memory.py [NAME ...]

Names are those of CLASSIFIERS or ON_A_DEVICE; without any, all of the former are measured.
Each line is a process of its own: a classifier, a size, the peak in MB of `prepare` with a pull and of the final fit
with its scores, and the estimate divided by the peak. A ratio from 1 to 1.25 is what is wanted; small peaks are noise.
"""

import gc
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bliss_framework.extension.contracts import ProblemSize
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.testing.examples import plain_part

CLASSIFIERS = ("kernel-ridge", "ridge", "svm-rbf", "svm-linear", "logistic", "balanced-ridge", "cooperative-softmax")
ON_A_DEVICE = ("torch-ridge", "torch-softmax")  # Measured where torch is installed, by their names.
# Rows to train on, rows held out, columns, whether sparse.
SIZES = ((2000, 2000, 50, 0), (4000, 4000, 50, 0), (1500, 13500, 50, 0), (6000, 3000, 20, 0), (4000, 2000, 2000, 1))
RESET = Path("/proc/self/clear_refs")


def memory(what: str) -> float:
    """Return a figure of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:"))


def peak(work) -> float:
    """Run some work, and return how much memory it took at its peak."""
    gc.collect()
    RESET.write_text("5")
    before = memory("VmRSS")
    work()
    return memory("VmHWM") - before


def measure(name: str, n: int, m: int, d: int, sparse: int, n_pulls: int = 4) -> str:
    """Measure one classifier at one size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + m, d))
    if sparse:
        X = sp.random(n + m, d, density=0.02, format="csr", random_state=0) + sp.csr_matrix((n + m, d))
    classifier = default_plugins().registry.create("classifier", name)
    row_bytes = (X.data.nbytes + X.indices.nbytes) / (n + m) if sparse else 8 * d
    labels = rng.integers(0, 2, (n_pulls, n))

    def prepare_and_pull(few: slice = slice(None)) -> None:
        train, heldout = plain_part(X[:n][few], 2), plain_part(X[n:][few], 2)
        prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
        prepared.pull(labels[:, few], None)
        _ = prepared.smoother

    def fit_and_score(few: slice = slice(None)) -> None:
        y = labels[0][few]
        fitted = classifier.estimator(0).fit(X[:n][few], y)
        fitted.decision_function(X[few])

    few = slice(0, 60)
    prepare_and_pull(few), fit_and_score(few)
    said = (
        classifier.memory(ProblemSize(n, m, d, row_bytes, bool(sparse), 2, n_pulls)),
        classifier.final_memory(ProblemSize(n, n + m, d, row_bytes, bool(sparse))),
    )
    taken = peak(prepare_and_pull), peak(fit_and_score)
    shown = [f"{t / 1e6:8.0f} {s / max(t, 1.0):6.2f}" for s, t in zip(said, taken, strict=True)]
    return f"{name:20s} {n:6d} {m:6d} {d:6d} {'sparse' if sparse else 'dense':7s} {shown[0]} {shown[1]}"


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(words: list[str]) -> None:
    """Measure in processes of their own, or here what the words say."""
    if len(words) > 1 and words[1].isdigit():
        warnings.simplefilter("ignore")
        say(measure(words[0], *map(int, words[1:])))
        return
    say(f"{'classifier':20s} {'train':>6s} {'held':>6s} {'cols':>6s} {'rows':7s} {'pull MB':>8s} {'ratio':>6s} final")
    for name in words or CLASSIFIERS:
        for size in SIZES:
            command = [sys.executable, __file__, name, *map(str, size)]
            done = subprocess.run(command, capture_output=True, text=True)
            say(done.stdout.rstrip() or f"{name} {size}: {done.stderr[-300:]}")


if __name__ == "__main__":
    main(sys.argv[1:])
