"""What it costs to read a CSV table: the reader with and without pyarrow against pandas.read_csv.

Run it by hand: python tests/benchmarks/bench_read_csv.py
A table of 50,000 rows and 50 features, as a data frame writes it; CPU seconds of all threads, and ratios of pairs in
one process. The reader without pyarrow is run once.
"""

# ruff: noqa: T201

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from bliss_readers.tables.csv_reader import CsvReader

N_ROWS, N_FEATURES, N_RUNS = 50_000, 50, 5


def written(folder: Path) -> Path:
    """Write a table of bags of ten rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, N_FEATURES)).round(6), columns=[f"f{i}" for i in range(N_FEATURES)])
    frame.insert(0, "bag", [f"b{row // 10:04d}" for row in range(N_ROWS)])
    frame.insert(1, "label", [row // 10 % 2 for row in range(N_ROWS)])
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def seconds_of(task: Callable[[], Any]) -> float:
    """Time a task in CPU seconds."""
    start = process_time()
    task()
    return process_time() - start


def main() -> None:
    """Print seconds and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder))
        CsvReader().read(path)
        pairs = [
            (seconds_of(lambda: pd.read_csv(path)), seconds_of(lambda: CsvReader().read(path))) for _ in range(N_RUNS)
        ]
        with mock.patch.dict(sys.modules, {"pyarrow.csv": None}):
            slow = seconds_of(lambda: CsvReader().read(path))
    pandas, reader = (median(times) for times in zip(*pairs, strict=True))
    print(f"{N_ROWS:,} rows of {N_FEATURES} features, medians of {N_RUNS} pairs, CPU seconds")
    print(f"{'':<22}{'s':>8}{'to pandas':>11}")
    print(f"{'pandas.read_csv':<22}{pandas:>8.3f}{1:>11.2f}")
    print(f"{'reader, pyarrow':<22}{reader:>8.3f}{median(b / a for a, b in pairs):>11.2f}")
    print(f"{'reader, no pyarrow':<22}{slow:>8.3f}{slow / pandas:>11.2f}")
    print(f"pyarrow is {slow / reader:.1f} times as fast as without")


if __name__ == "__main__":
    main()
