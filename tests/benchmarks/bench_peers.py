"""Side by side with other libraries for bags: seconds, memory, and the share of held-out bags that is right.

Run it by hand, with the Python of an environment for each library that shall take part:
    python tests/benchmarks/bench_peers.py --rows 10000 100000 --file musk2.npz --peer sawmil=A/bin/python
with `--peer mikit-learn=B/bin/python` and `--peer torchmil=C/bin/python` likewise, and `--only METHOD ...` for some.
Libraries that are not named are left out. All see the same rows: those of `bench_large.py`, or of a file with `X`,
`bag` and `y`. 70 % of the bags are for training, and rows are standardised by them. Every fit is a process of its own,
on one thread, with limits; what goes over a limit is said. Seconds are of the processor and leave imports out. For
files, what is printed are medians over splits, and the mean share of bags that are right with its least and most.
"""

# ruff: noqa: T201

import argparse
import functools
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
VERSIONS = {
    "bliss": ("bliss-framework", "numpy", "scikit-learn"),
    "sawmil": ("sawmil", "osqp", "gurobipy", "numpy"),
    "mikit-learn": ("mikit-learn", "torch", "scikit-learn"),
    "torchmil": ("torchmil", "torch"),
}
NO_MEMORY = ("MemoryError", "bad_alloc", "Unable to allocate", "can't allocate memory")


@dataclass(frozen=True)
class Side:
    """Rows (n, d) in the order of their bags, the label 0 or 1 of each bag, and how many rows it has."""

    X: Any
    y: Any
    sizes: Any

    def ids(self) -> Any:
        """Return the bag of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def bags(self) -> list[Any]:
        """Return the rows of each bag."""
        return np.split(self.X, np.cumsum(self.sizes)[:-1])


Steps = tuple[Callable[[], Any], Callable[[], Any]]


def main() -> None:
    """Run all, or one fit of it in a child."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[])
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--file", type=Path, nargs="*", default=[])
    parser.add_argument("--splits", type=int, default=3, help="of each file")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--only", nargs="*", help="methods, instead of all")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--gigabytes", type=int, default=8)
    parser.add_argument("--fit", nargs=2, metavar=("METHOD", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(measured(given.fit[0], Path(given.fit[1]))))
        return
    pythons = {"bliss": sys.executable, **dict(peer.split("=", 1) for peer in given.peer)}
    methods = [name for name in METHODS if name.split(":")[0] in pythons and (not given.only or name in given.only)]
    print("| data | method | fit, s | predict, s | peak, MB (before the fit) | bags right |\n" + "| --- " * 6 + "|")
    for data, splits in sources(given):
        with tempfile.TemporaryDirectory() as folder:
            places = [written(split, Path(folder) / str(i)) for i, split in enumerate(splits)]
            for name in methods:
                found = [child(given, pythons[name.split(":")[0]], name, place) for place in places]
                print(f"| {data} | {name} | {line(found)} |", flush=True)
    for peer in pythons:
        print(f"{peer}: {child(given, pythons[peer], f'{peer}:versions', Path())['versions']}")


def sources(given: argparse.Namespace) -> Iterator[tuple[str, list[tuple[Side, Side]]]]:
    """Yield the name of each data set, and its splits."""
    for n in given.rows:
        from bench_large import made

        X, y, bags, _ = made(n, given.columns, np.float64)
        yield f"{n:,} rows", [split(X, y, bags, 0)]
    for path in given.file:
        with np.load(path, allow_pickle=False) as arrays:
            X, y, bags = (arrays[name] for name in ("X", "y", "bag"))
        yield path.stem, [split(X.astype(np.float64), y, bags, seed) for seed in range(given.splits)]


def split(X: Any, y: Any, bags: Any, seed: int) -> tuple[Side, Side]:
    """Return 70 % of the bags and the others, standardised by the rows of the former."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    first, others = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X[np.isin(bags, first)])
    sizes = np.bincount(bags, minlength=len(y))
    train, test = (
        Side(scaler.transform(X[np.isin(bags, kept)]), y[kept].astype(int), sizes[kept])
        for kept in (np.sort(first), np.sort(others))
    )
    return train, test


def written(sides: tuple[Side, Side], folder: Path) -> Path:
    """Write both sides to files that a child of any environment reads."""
    folder.mkdir()
    for name, side in zip(("train", "test"), sides, strict=True):
        np.savez(folder / f"{name}.npz", X=side.X, y=side.y, sizes=side.sizes)
    return folder


def child(given: argparse.Namespace, python: str, name: str, folder: Path) -> dict[str, Any]:
    """Fit in a process of its own, or say why that went wrong."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (60 * given.minutes,) * 2)
        resource.setrlimit(resource.RLIMIT_DATA, (given.gigabytes * 2**30,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    words = [python, __file__, "--fit", name, str(folder)]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
            preexec_fn=limit,
            timeout=5 * 60 * given.minutes,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {given.minutes} minutes"}
    if not done.returncode:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"failed": f"over {given.minutes} minutes"}
    if any(word in done.stderr for word in NO_MEMORY):
        return {"failed": f"over {given.gigabytes} GB"}
    return {"failed": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]}


def line(found: list[dict[str, Any]]) -> str:
    """Return the cells of one method on one data set."""
    failed = [one["failed"] for one in found if "failed" in one]
    if failed:
        return f"{failed[0]} | | | "
    fit, predict, before, peak = (median(one[name] for one in found) for name in ("fit", "predict", "before", "peak"))
    right = [one["right"] for one in found]
    spread = "" if len(right) == 1 else f" ({min(right):.3f} to {max(right):.3f})"
    return f"{fit:.1f} | {predict:.2f} | {peak:.0f} ({before:.0f}) | {mean(right):.3f}{spread}"


def measured(name: str, folder: Path) -> dict[str, Any]:
    """Fit once in this process, and measure it."""
    if name.endswith(":versions"):
        return {"versions": ", ".join(versions(name.split(":")[0]))}
    sides = []
    for part in ("train", "test"):
        with np.load(folder / f"{part}.npz") as arrays:
            sides.append(Side(arrays["X"], arrays["y"], arrays["sizes"]))
    fit, predict = METHODS[name](*sides)
    before, start = peak(), seconds()
    fit()
    fitted = seconds()
    labels = np.asarray(predict())
    return {
        "fit": fitted - start,
        "predict": seconds() - fitted,
        "before": before,
        "peak": peak(),
        "right": float((labels == sides[1].y).mean()),
    }


def versions(peer: str) -> Iterator[str]:
    """Yield what is installed of a library and of what its seconds depend on."""
    for name in VERSIONS[peer]:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"no {name}"


def seconds() -> float:
    """Return the seconds of the processor of this process and of those it started."""
    return sum(os.times()[:4])


def peak() -> float:
    """Return the most memory that this process or one that it started had, in MB."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def bliss(train: Side, test: Side, **parameters: Any) -> Steps:
    """Prepare label inference with default settings."""
    model = importlib.import_module("bliss_framework").BlissClassifier(random_state=0, **parameters)

    def predict() -> Any:
        ids, labels = model.predict_bags(test.X, bags=test.ids())
        return labels[np.argsort(ids)]

    return lambda: model.fit(train.X, train.y, bags=train.ids()), predict


def sawmil(
    train: Side, test: Side, name: str, kernel: str = "Linear", everywhere: bool = False, **parameters: Any
) -> Steps:
    """Prepare an SVM of sawmil; `everywhere` has its first stage use OSQP as well, which sAwMIL does not hand on."""
    package = importlib.import_module("sawmil")
    if everywhere:
        module: Any = importlib.import_module("sawmil.sawmil")
        module.sMIL = functools.partial(package.sMIL, solver="osqp")
    # Version 0.2.1 takes names of kernels, as its default is, and fails on them: "'str' object has no attribute 'fit'".
    model = getattr(package, name)(kernel=getattr(package, kernel)(), solver="osqp", **parameters)
    bags, others = (
        [package.Bag(X=X, y=float(y)) for X, y in zip(side.bags(), side.y, strict=True)] for side in (train, test)
    )
    return lambda: model.fit(bags), lambda: model.predict(others)


def network(train: Side, test: Side, name: str, **parameters: Any) -> Steps:
    """Prepare a network of mikit-learn."""
    model = getattr(importlib.import_module("milearn.network.classifier"), name)(**parameters)
    bags, others = train.bags(), test.bags()
    return lambda: model.fit(bags, train.y), lambda: model.predict(others) > 0.5


def wrapper(train: Side, test: Side, name: str, pool: str) -> Steps:
    """Prepare an SVM of scikit-learn in a wrapper of mikit-learn."""
    svm = importlib.import_module("sklearn.svm").SVC()
    model = getattr(importlib.import_module("milearn.wrapper"), name)(svm, pool=pool)
    bags, others = train.bags(), test.bags()
    return lambda: model.fit(bags, train.y), lambda: model.predict(others)


def attention(train: Side, test: Side, rate: float, epochs: int) -> Steps:
    """Prepare attention over bags (ABMIL) and the training loop of torchmil, four bags at once as in its README."""
    torch, data, models, utils = map(
        importlib.import_module, ("torch", "torchmil.data", "torchmil.models", "torchmil.utils")
    )
    torch.manual_seed(0)
    model = models.ABMIL(in_shape=(train.X.shape[1],))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    trainer = utils.Trainer(model, optimizer, device="cpu", disable_pbar=True, verbose=False)
    loaders = [
        torch.utils.data.DataLoader(
            [
                {"X": torch.tensor(X, dtype=torch.float32), "Y": torch.tensor(int(y))}
                for X, y in zip(side.bags(), side.y, strict=True)
            ],
            batch_size=4,
            shuffle=side is train,
            collate_fn=data.collate_fn,
        )
        for side in (train, test)
    ]

    def predict() -> Any:
        model.eval()
        with torch.no_grad():
            outputs = [model(batch["X"], batch["mask"]) for batch in loaders[1]]
        return torch.cat(outputs).numpy() > 0

    return lambda: trainer.train(epochs, loaders[0]), predict


METHODS: dict[str, Callable[[Side, Side], Steps]] = {
    "bliss:defaults": bliss,
    "bliss:ridge": functools.partial(bliss, classifier="ridge"),
    "sawmil:NSK linear": functools.partial(sawmil, name="NSK"),
    "sawmil:NSK RBF": functools.partial(sawmil, name="NSK", kernel="RBF"),
    "sawmil:NSK RBF, C a bag": functools.partial(sawmil, name="NSK", kernel="RBF", scale_C=False),
    "sawmil:sMIL": functools.partial(sawmil, name="sMIL"),
    "sawmil:sMIL, C a bag": functools.partial(sawmil, name="sMIL", scale_C=False),
    "sawmil:sAwMIL": functools.partial(sawmil, name="sAwMIL"),
    "sawmil:sAwMIL, OSQP in both stages": functools.partial(sawmil, name="sAwMIL", everywhere=True),
    "mikit-learn:attention": functools.partial(network, name="AdditiveAttentionNetworkClassifier"),
    "mikit-learn:attention, 50 epochs": functools.partial(
        network, name="AdditiveAttentionNetworkClassifier", max_epochs=50
    ),
    "mikit-learn:instances, max, 50 epochs": functools.partial(
        network, name="InstanceNetworkClassifier", pool="max", max_epochs=50
    ),
    "mikit-learn:SVC on extremes": functools.partial(wrapper, name="BagWrapper", pool="extreme"),
    "mikit-learn:SVC on instances, max": functools.partial(wrapper, name="InstanceWrapper", pool="max"),
    "torchmil:ABMIL 1e-4, 20 epochs": functools.partial(attention, rate=1e-4, epochs=20),
    "torchmil:ABMIL 1e-3, 100 epochs": functools.partial(attention, rate=1e-3, epochs=100),
}


if __name__ == "__main__":
    main()
