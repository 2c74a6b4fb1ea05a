"""How time and memory grow with the number of rows: in memory, from a mapped file, and on the workers of Dask.

Run it by hand:
    python tests/benchmarks/bench_large.py growth --rows 1000 10000 100000
    python tests/benchmarks/bench_large.py mapped --rows 1000000 --columns 1024 --megabytes 2048 --classifier ridge
    python tests/benchmarks/bench_large.py mapped --rows 58157 --columns 1024 --bags 40 --megabytes 2048
    python tests/benchmarks/bench_large.py dask --rows 1000000 --columns 1024 --megabytes 2000 --n-rounds 10
Every fit is a process of its own, so that its peak is its own. Seconds are those of the process; on Dask they are
those of the clock, by turns, and mean something on a quiet machine only. A worker is killed in one more fit. Data are
MIL with bags of 5 to 100 rows, half of them positive, and a fifth of the rows of those shifted by four deviations
along one direction. `--bags` makes so many bags of one size instead.
"""

# ruff: noqa: T201

import argparse
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

BLOCK = 100_000
SHIFT = 4.0
KILLED_AT = 40  # Questions.


def main() -> None:
    """Run one of the three, or one fit of it in a child."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["growth", "mapped", "dask", "fit"])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--bags", type=int, default=None)
    parser.add_argument("--megabytes", type=int, default=0, help="that a fit may take of its own")
    parser.add_argument("--classifier", default=None)
    parser.add_argument("--n-rounds", type=int, default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    if given.what == "fit":
        print(json.dumps(fitted(given)))
        return
    {"growth": growth, "mapped": mapped, "dask": on_dask}[given.what](given)


def growth(given: argparse.Namespace) -> None:
    """Print time, memory and accuracy of the defaults, and exponents from one size to the next."""
    before: dict[str, Any] | None = None
    for n in given.rows:
        now = child(given, n)
        exponent = "" if before is None else f", exponent {_exponent(before, now):.2f}"
        print(
            f"{now['rows']:>9,} rows: {now['seconds']:8.1f} s{exponent}, {now['peak'] - now['start']:6.0f} MB above "
            f"{now['start']:.0f}, instance AUC {now['auc']:.4f}, bags {now['bags']:.4f}, {now['pulls']} pulls"
        )
        before = now


def mapped(given: argparse.Namespace) -> None:
    """Print what rows in a file take, and whether they lead to the bits of the same rows in memory."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        written(given, Path(folder))
        found = {way: child(given, given.rows[0], Path(folder), way) for way in ("mapped", "memory")}
    for way, one in found.items():
        memory = f"at most {one['own']:.0f} MB of its own and {one['peak']:.0f} in all"
        print(f"{way}: {one['seconds']:.1f} s, {memory}, AUC {one['auc']:.4f}")
    print("the same bits" if found["mapped"]["bits"] == found["memory"]["bits"] else "OTHER BITS")


def on_dask(given: argparse.Namespace) -> None:
    """Print how much faster two workers are than one, what travels, and whether bits differ, also if one is killed."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        written(given, Path(folder))
        pairs = [[child(given, given.rows[0], Path(folder), f"dask {n}") for n in (1, 2)] for _ in range(given.repeats)]
        killed = child(given, given.rows[0], Path(folder), "dask 2 killed")
    for one, two in pairs:
        print(f"one worker {one['clock']:.1f} s, two {two['clock']:.1f} s")
    faster = median(one["clock"] / two["clock"] for one, two in pairs)
    print(f"two are {faster:.2f} times as fast; with one killed {killed['clock']:.1f} s")
    found = pairs[0][1]
    print(
        f"{found['questions']} questions to {found['blocks']} blocks; {found['asked'] / 1e6:.1f} MB came from them, "
        f"{found['answered'] / 1e6:.1f} MB went to them, {found['largest'] / 1e6:.2f} MB at most from a block at once"
    )
    print("the same bits" if len({one["bits"] for pair in [*pairs, [killed]] for one in pair}) == 1 else "OTHER BITS")


def child(given: argparse.Namespace, n: int, folder: Path | None = None, way: str = "memory") -> dict[str, Any]:
    """Fit in a process of its own."""
    words = [sys.executable, __file__, "fit", "--rows", str(n), "--columns", str(given.columns)]
    words += [] if given.classifier is None else ["--classifier", given.classifier]
    words += [] if given.n_rounds is None else ["--n-rounds", str(given.n_rounds)]
    words += ["--megabytes", str(given.megabytes)] if way != "memory" else []
    words += [] if folder is None else ["--folder", f"{folder}={way}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def fitted(given: argparse.Namespace) -> dict[str, Any]:
    """Fit once in this process, and measure it."""
    from bliss_framework import BlissClassifier
    from bliss_framework.compute.engines import engine

    place, _, way = (str(given.folder) if given.folder else "").partition("=")
    if place:
        sides = np.load(Path(place) / "sides.npz")
        X = np.load(Path(place) / "X.npy", mmap_mode=None if way == "memory" else "r")
        y, bags, truth = (sides[name] for name in ("y", "bags", "truth"))
    else:
        X, y, bags, truth = made(given.rows[0], given.columns, np.float64)
    if given.megabytes and not way.startswith("dask"):
        resource.setrlimit(resource.RLIMIT_DATA, (given.megabytes * 2**20,) * 2)
    own = [0.0]
    threading.Thread(target=watch, args=(own,), daemon=True).start()
    parameters = {
        name: value
        for name, value in (("classifier", given.classifier), ("n_rounds", given.n_rounds))
        if value is not None
    }
    start, seconds, clock = peak(), time.process_time(), time.perf_counter()
    model = BlissClassifier(random_state=0, **parameters)
    travelled = Travelled()
    if way.startswith("dask"):
        with cluster_of(int(way.split()[1]), given.megabytes) as cluster, engine("dask", cluster.scheduler_address):
            travelled.watch(cluster if way.endswith("killed") else None)
            clock = time.perf_counter()
            model.fit(X, y, bags=bags)
            clock = time.perf_counter() - clock
    else:
        model.fit(X, y, bags=bags)
        clock = time.perf_counter() - clock
    seconds = time.process_time() - seconds
    ids, labels = model.predict_bags(X[: 10 * BLOCK], bags[: 10 * BLOCK])
    digest = hashlib.sha256(model.label_means_.tobytes() + model.training_scores_.tobytes()).hexdigest()
    return {
        "rows": len(bags),
        "seconds": seconds,
        "clock": clock,
        "start": start,
        "peak": peak(),
        "own": own[0],
        "auc": float(roc_auc_score(truth, model.training_scores_)),
        "bags": float((labels == y[ids]).mean()),
        "pulls": model.inference_["n_pulls"],
        "bits": digest,
        **travelled.counts,
    }


class Travelled:
    """Counts what travels between blocks and their centre, and kills a worker in the middle."""

    def __init__(self) -> None:
        self.counts = {"questions": 0, "blocks": 0, "asked": 0, "answered": 0, "largest": 0}

    def watch(self, cluster: Any) -> None:
        """Count from now on.

        Args:
            cluster: of which a worker is killed in the middle; None to let all live.
        """
        from bliss_framework.lockstep.centre import Centre

        plain = Centre.answer

        def answer(centre: Any, questions: Any) -> Any:
            counts, n_bytes = self.counts, centre.n_bytes
            sizes = [0]
            answered = plain(centre, _counting(questions, sizes))
            counts["questions"] += 1
            counts["blocks"] = len(sizes) - 1
            counts["asked"] += centre.n_bytes - n_bytes
            parts = answered if isinstance(answered, tuple) else (answered,)
            counts["answered"] += counts["blocks"] * sum(part.nbytes for part in parts if part is not None)
            counts["largest"] = max(counts["largest"], *sizes)
            if cluster is not None and counts["questions"] == KILLED_AT:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            return answered

        Centre.answer = answer


def _counting(questions: Any, sizes: list[int]) -> Any:
    for one in questions:
        sizes.append(one.sums.nbytes)
        yield one


def cluster_of(n_workers: int, megabytes: int) -> Any:
    """Start a cluster of single-threaded workers on this machine, each with a limit of memory."""
    from distributed import LocalCluster

    limit = f"{megabytes}MB" if megabytes else "auto"
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, memory_limit=limit, dashboard_address="127.0.0.1:0", silence_logs=40
    )


def made(n: int, d: int, dtype: Any, out: Any = None, n_bags: int | None = None) -> tuple[Any, Any, Any, Any]:
    """Make n rows (n, d) in bags, the weak label of each bag, the bag of each row, and which rows are positive."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 101, n // 40 + 10)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n) + 1]
    sizes[-1] -= sizes.sum() - n
    if n_bags is not None:
        sizes = np.diff(np.linspace(0, n, n_bags + 1).astype(int))
    bags = np.repeat(np.arange(len(sizes)), sizes)
    y = np.arange(len(sizes)) % 2
    truth = ((rng.random(n) < 0.2) & (y[bags] == 1)).astype(np.int8)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    truth[first[y == 1]] = 1
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    X = np.empty((n, d), dtype) if out is None else out
    for start in range(0, n, BLOCK):
        stop = min(n, start + BLOCK)
        rows = rng.standard_normal((stop - start, d), dtype=np.float32)
        X[start:stop] = rows + SHIFT * truth[start:stop, None] * direction
    return X, y, bags, truth


def written(given: argparse.Namespace, folder: Path) -> None:
    """Write such data to files."""
    shape = given.rows[0], given.columns
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=shape)
    _, y, bags, truth = made(*shape, np.float32, X, given.bags)
    X.flush()
    np.savez(folder / "sides.npz", y=y, bags=bags, truth=truth)


def peak() -> float:
    """Return the most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def watch(own: list[float]) -> None:
    """Note the most memory that belongs to this process and to no file, in MB."""
    while True:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                own[0] = max(own[0], int(line.split()[1]) / 1024)
        time.sleep(0.1)


def _exponent(before: dict[str, Any], now: dict[str, Any]) -> float:
    return math.log(now["seconds"] / before["seconds"]) / math.log(now["rows"] / before["rows"])


if __name__ == "__main__":
    main()
