"""What sums over rows, and pulls, cost on a torch device against NumPy: ratios inside one process.

Run it by hand: python tests/benchmarks/bench_torch.py [DEVICE], by default cpu. On a processor times are those of the
process with one thread, by turns; on another device they are those of the clock, from arrays of NumPy to arrays of
NumPy, and rows have been sent there before.
"""

# ruff: noqa: T201

import sys
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bliss_classifiers.ridge import Ridge
from bliss_framework import Bags, LabelSpace, Part, WeakLabels
from bliss_framework.plugin import Rows, gram, moments, outputs
from bliss_multiclass_mil.classifier.cooperative_softmax import CooperativeSoftmax
from bliss_torch.device import STORAGES, Device
from bliss_torch.ridge import TorchRidge
from bliss_torch.softmax import TorchSoftmax
from bliss_torch.sums import TorchSums

N_TURNS = 7
SIZES = ((200_000, 50), (50_000, 1024))  # Of sums, and of pulls of ridge.
SOFTMAX_SIZES = ((300, 20, 2, 1), (20_000, 100, 6, 1), (20_000, 100, 6, 8))  # Rows, columns, labels, assignments.


def main(device: str) -> None:
    """Print a ratio for each kind of work, size and storage."""
    clock = process_time if device == "cpu" else perf_counter
    print(f"device {device}: seconds of torch / seconds of NumPy in single precision, medians of {N_TURNS} turns")
    for what, by_storage in work(device):
        _, on_numpy = by_storage.pop("NumPy")
        ratios = []
        for storage, (_, on_torch) in by_storage.items():
            pairs = [(seconds(on_torch, clock), seconds(on_numpy, clock)) for _ in range(N_TURNS)]
            ratios.append(f"{storage} {median(a / b for a, b in pairs):.2f}")
        print(f"{what}: {', '.join(ratios)} (NumPy {median(b for _, b in pairs):.4f} s)")


def seconds(call: Callable[[], Any], clock: Callable[[], float]) -> float:
    """Return how long a call takes."""
    start = clock()
    call()
    return clock() - start


def work(device: str) -> Iterator[tuple[str, dict[str, tuple[Any, Callable[[], Any]]]]]:
    """Yield what is done, and for NumPy and each storage what it needs and a function that does it."""
    rng = np.random.default_rng(0)
    for n, d in SIZES:
        rows = Rows(rng.normal(size=(n, d)).astype(np.float32))
        targets, coefficients = (rng.normal(size=(rows_, 8)).astype(np.float32) for rows_ in (n, d + 1))
        on = {one: TorchSums(Device(device, one, "a benchmark")) for one in STORAGES}
        there = {one: sums.held(rows) for one, sums in on.items()}
        for name, plain, given in (
            ("Gram", gram, ()),
            ("moments of 8", moments, (targets,)),
            ("outputs of 8", outputs, (coefficients,)),
        ):
            method = name.split()[0].lower()
            calls = {one: (there[one], _call(getattr(on[one], method), there[one], *given)) for one in STORAGES} | {
                "NumPy": (rows, _call(plain, rows, *given))
            }
            yield f"{name}, {n} x {d}", calls
        part = _part(rows.array, 2)
        yield from _pulls(f"a pull of ridge, 1 assignment, {n} x {d}", Ridge(), _ridge(device), part, 1, rng)
    for n, d, n_labels, n_pulls in SOFTMAX_SIZES:
        part = _part(rng.normal(size=(n, d)).astype(np.float32), n_labels)
        what = f"a pull of the softmax, {n} x {d}, {n_labels} labels, {n_pulls} assignments"
        yield from _pulls(what, CooperativeSoftmax(), _softmax(device), part, n_pulls, rng)


def _pulls(
    what: str, plain: Any, make: Callable[[str], Any], part: Part, n_pulls: int, rng: np.random.Generator
) -> Iterator[Any]:
    assignments = rng.integers(0, part.space.n_labels, (n_pulls, part.n_rows))
    classifiers = {"NumPy": plain, **{one: make(one) for one in STORAGES}}
    few = part.take(np.arange(part.n_rows // 10))
    prepared = {name: one.prepare(part, few, np.random.default_rng(1)) for name, one in classifiers.items()}
    yield what, {name: (one, _call(one.pull, assignments, None)) for name, one in prepared.items()}


def _call(function: Callable[..., Any], *given: Any) -> Callable[[], Any]:
    return lambda: function(*given)


def _ridge(device: str) -> Callable[[str], TorchRidge]:
    return lambda storage: TorchRidge(1.0, device, storage)


def _softmax(device: str) -> Callable[[str], TorchSoftmax]:
    return lambda storage: TorchSoftmax(device=device, storage=storage)


def _part(rows: Any, n_labels: int) -> Part:
    n = len(rows)
    space = LabelSpace(np.ones((n, n_labels), dtype=bool), np.arange(n_labels))
    return Part(rows, Bags.from_ids(np.arange(n)), WeakLabels(np.zeros(n, dtype=np.int8), (0, 1)), space)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main(sys.argv[1] if len(sys.argv) > 1 else "cpu")
