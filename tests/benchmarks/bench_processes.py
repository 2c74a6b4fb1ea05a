"""What a second process saves: defaults at 4,000 rows with ten folds, and experiments of the table of binary MIL.

Run it by hand, on a quiet machine:
    python tests/benchmarks/bench_processes.py [PAIRS]
    python tests/benchmarks/bench_processes.py [PAIRS] --data-dir DIR --sets musk1 elephant tst1
Each run is a command of its own, on one process and on two by turns, in seconds of the clock from start to end. Their
results are compared. Rows are those of bench_large.py, or the sets named, with settings chosen.
"""

# ruff: noqa: T201

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from bench_large import made

N_ROWS, N_COLUMNS, N_PAIRS = 4000, 50, 3
TABLE = Path(__file__).parents[2] / "docs" / "experiments" / "binary-mil.toml"
METHODS = "bliss,no-bandit,min-max-svm"


def main() -> None:
    """Print seconds on one process and on two, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=N_PAIRS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sets", nargs="+", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [_of_table(given, name) for name in given.sets] or [_of_rows(Path(folder))]
        totals = np.zeros((given.pairs, 2))
        for words in runs:
            pairs = np.array([pair_of(words) for _ in range(given.pairs)])
            tell("rows" if not given.sets else words[3], pairs)
            totals += pairs
    if len(runs) > 1:
        tell("all of them", totals)


def _of_rows(folder: Path) -> list[str]:
    X, y, bags, _ = made(N_ROWS, N_COLUMNS, np.float64)
    np.savez(folder / "rows.npz", X=X, y=y, bag=bags)
    return ["run", str(folder / "rows.npz"), "--cv", "10"]


def _of_table(given: argparse.Namespace, name: str) -> list[str]:
    words = ["compare", str(TABLE), "--only", name, "--methods", METHODS, "--repeats", "1"]
    return [*words, "--data-dir", str(given.data_dir)]


def pair_of(words: list[str]) -> tuple[float, float]:
    """Run a command on one process and on two, and return the seconds of both; stop where their results differ."""
    (one, alone), (two, together) = (ran(words, n_jobs) for n_jobs in (1, 2))
    if alone != together:
        sys.exit("Two processes lead to other results than one.")
    return one, two


def ran(words: list[str], n_jobs: int) -> tuple[float, Any]:
    """Run a command on some processes, and return its seconds of the clock and what it says of test bags."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "bliss_framework", *words, "--n-jobs", str(n_jobs), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    spent = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stderr)
    document = json.loads(done.stdout)
    return spent, document.get("evaluation") or document["methods"]


def tell(name: str, pairs: Any) -> None:
    """Print medians of both, and of paired ratios."""
    ratios = sorted(one / two for one, two in pairs)
    one, two = (median(column) for column in pairs.T)
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    print(f"{name}: one process {one:.1f} s, two {two:.1f} s, ratio {median(ratios):.2f} ({spread})")


if __name__ == "__main__":
    main()
