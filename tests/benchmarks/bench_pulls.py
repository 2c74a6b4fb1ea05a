"""What a pull costs: kernel ridge against an RBF SVM, the time that is not the classifier's, and whole runs.

Run it by hand: python tests/benchmarks/bench_pulls.py [FILE.npz ...]
MUSK1 comes first; a file is of the native format. What is compared is timed by turns, so that a busy machine slows both
alike.
"""

# ruff: noqa: T201

import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from attrs import fields
from threadpoolctl import threadpool_limits

from bliss_bandits.cucb import Cucb
from bliss_classifiers.ridge import KernelRidge
from bliss_classifiers.svm import RbfSvm
from bliss_framework import Bags, BlissClassifier, Part, Scaling, WeakDataset
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.kernel.arms import draw_labels
from bliss_framework.kernel.crossfit import cross_fit
from bliss_framework.kernel.fold_task import Components
from bliss_framework.kernel.folds import deal_folds
from bliss_framework.kernel.inference import InferenceSettings
from bliss_mil.baselines.mi_svm import MiSvm
from bliss_mil.datasets.musk1 import load_musk1
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.rewards.paper_reward import MilReward
from bliss_readers.npz import NpzReader

N_PAIRS = 100
N_RUNS = 5
WHOLE = {
    "bliss, default settings": lambda: BlissClassifier(random_state=0),
    "bliss, one inference, ridge at the end": lambda: BlissClassifier(
        random_state=0, n_folds=3, n_rounds=60, n_inferences=1, final_classifier="same", bag_threshold=0.0
    ),
    "bliss, settings chosen": lambda: BlissClassifier(settings="select", random_state=0),
    "mi-SVM": lambda: MiSvm(),
    "mi-SVM, C = 1": lambda: MiSvm(C=1.0),
}


GENERAL = {one.name: TABLE[one.name].default for one in fields(InferenceSettings)} | {"n_inferences": 1}


def settings_of(**chosen: Any) -> InferenceSettings:
    """Return settings of Algorithm 1, the general ones but for what is chosen."""
    return InferenceSettings(**{**GENERAL, **chosen})


def part_of(data: WeakDataset) -> tuple[MilRegime, Part]:
    """Scaled rows, as label inference sees them."""
    bags, regime = Bags.from_ids(data.bags), MilRegime()
    weak = regime.check(np.asarray(data.weak), bags)
    X = Scaling("auto").fit(data.X).transform(data.X)
    return regime, Part(X, bags, weak, regime.label_space(weak, bags))


def seconds_of(pull: Any, assignment: Any) -> float:
    """Time one pull."""
    start = perf_counter()
    pull(assignment[None], None)
    return perf_counter() - start


def pull_times(regime: MilRegime, data: Part, train_share: str) -> tuple[list[float], list[float]]:
    """Time both classifiers on the same random assignments of one fold of three."""
    rng = np.random.default_rng(0)
    folds = deal_folds(regime.strata(data.weak), 3, rng)
    inside, outside = (data.take(data.bags.rows_of(np.flatnonzero(which))) for which in (folds == 0, folds != 0))
    train, heldout = (inside, outside) if train_share == "one" else (outside, inside)
    ridge, svm = (classifier.prepare(train, heldout, rng) for classifier in (KernelRidge(), RbfSvm()))
    weights = train.space.draw_weights()
    pairs = []
    for _ in range(N_PAIRS):
        assignment = draw_labels(weights, rng)
        pairs.append((seconds_of(ridge.pull, assignment), seconds_of(svm.pull, assignment)))
    return [r for r, _ in pairs], [s for _, s in pairs]


def outside_shares(regime: MilRegime, data: Part, classifier: Any) -> dict[str, float]:
    """Run whole label inferences and return the median share of their time by kind."""
    strata, components = regime.strata(data.weak), Components(classifier, MilReward(), Cucb(), regime)
    shares: dict[str, list[float]] = {"classifier": [], "reward": [], "strategy": [], "all else": []}
    for seed in range(N_RUNS):
        start = perf_counter()
        found = cross_fit(components, data, strata, settings_of(n_rounds=100, n_folds=3), seed)
        total = perf_counter() - start
        for what, spent in found.seconds.items():
            shares[what].append(spent / total)
        shares["all else"].append(1 - sum(found.seconds.values()) / total)
    return {what: median(values) for what, values in shares.items()}


def seconds_of_ten_folds(data: WeakDataset) -> dict[str, list[float]]:
    """Fit every method on the training bags of each of ten folds, by turns."""
    regime, part = part_of(data)
    folds = part.bags.spread(deal_folds(regime.strata(part.weak), 10, np.random.default_rng(0)))
    weak = np.asarray(part.bags.spread(part.weak.values))
    seconds: dict[str, list[float]] = {name: [] for name in WHOLE}
    for fold in range(10):
        rows = folds != fold
        for name, make in WHOLE.items():
            start = perf_counter()
            make().fit(data.X[rows], weak[rows], bags=part.bags.index[rows])
            seconds[name].append(perf_counter() - start)
    return seconds


def main() -> None:
    """Print the tables of MUSK1 and of every file that is named."""
    for data in (load_musk1(), *(NpzReader().read(Path(name)) for name in sys.argv[1:])):
        print_tables(data)


def print_tables(data: WeakDataset) -> None:
    """Print what pulls and whole runs cost on one data set."""
    name = data.name
    regime, part = part_of(data)
    print(f"One pull on {name}, three folds, medians of {N_PAIRS} pairs")
    print(f"{'train on':<10}{'kernel-ridge ms':>17}{'svm-rbf ms':>12}{'ratio':>8}{'quartiles of the ratio':>25}")
    for train_on in ("one", "rest"):
        ridge, svm = pull_times(regime, part, train_on)
        ratios = [s / r for r, s in zip(ridge, svm, strict=True)]
        low, high = np.percentile(ratios, [25, 75])
        quartiles = f"{low:.1f} to {high:.1f}"
        print(
            f"{train_on:<10}{median(ridge) * 1e3:>17.3f}{median(svm) * 1e3:>12.3f}{median(ratios):>8.1f}{quartiles:>25}"
        )
    print(f"\nShares of the time of a label inference (100 rounds, three folds), medians of {N_RUNS} runs")
    print(f"{'classifier':<14}{'classifier':>12}{'reward':>9}{'strategy':>10}{'all else':>10}{'outside':>9}")
    for kind, classifier in (("kernel-ridge", KernelRidge()), ("svm-rbf", RbfSvm())):
        shares = outside_shares(regime, part, classifier)
        numbers = [*shares.values(), 1 - shares["classifier"]]
        print(f"{kind:<14}" + "".join(f"{v:>{w}.1%}" for v, w in zip(numbers, (12, 9, 10, 10, 9), strict=True)))
    print(f"\nTen fits on {name}, one on the training bags of each of ten folds")
    print(f"{'method':<42}{'seconds':>10}{'times mi-SVM':>14}")
    seconds = seconds_of_ten_folds(data)
    for method, own in seconds.items():
        ratio = median(a / b for a, b in zip(own, seconds["mi-SVM"], strict=True))
        print(f"{method:<42}{sum(own):>10.2f}{ratio:>14.1f}")
    print()


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
