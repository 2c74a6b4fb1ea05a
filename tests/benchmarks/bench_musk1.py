"""What ten folds of MUSK1 with default settings cost against mi-SVM in fifteen lines, in the same process.

Run it by hand: python tests/benchmarks/bench_musk1.py [PAIRS]
Both fit the training bags of each of ten folds and score the held-out bags, by turns, in times of the process with one
thread of linear algebra. What is printed is the median of paired ratios, and how the time of a fit is divided.
"""

# ruff: noqa: T201

import sys
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bliss_framework import Bags, BlissClassifier
from bliss_framework.kernel.folds import deal_folds
from bliss_mil.datasets.musk1 import load_musk1

N_PAIRS = 9
Fold = tuple[NDArray[np.float64], NDArray[np.intp], Bags, NDArray[np.float64], Bags]


def mi_svm(X: Any, y: NDArray[np.intp], bags: Bags, others: Any, other_bags: Bags) -> NDArray[np.float64]:
    """Alternate between an SVM and the labels that it gives the instances of positive bags (Andrews et al., 2003)."""
    scaler, rows = StandardScaler().fit(X), np.flatnonzero(bags.spread(y == 1))
    X, (own, _) = scaler.transform(X), bags.take(rows)
    labels = bags.spread(y == 1)
    for _ in range(50):
        svm = SVC(C=10.0, gamma="scale").fit(X, labels)
        scores = svm.decision_function(X[rows])
        # A positive bag in which none is found keeps its best instance.
        found = (scores > 0) | (own.spread(~own.any(scores > 0)) & (scores == own.spread(own.max(scores))))
        if (found == labels[rows]).all():
            break
        labels[rows] = found
    return np.asarray(other_bags.max(svm.decision_function(scaler.transform(others))))


def bliss(X: Any, y: NDArray[np.intp], bags: Bags, others: Any, other_bags: Bags) -> NDArray[np.float64]:
    """Fit with default settings and score other bags."""
    model = BlissClassifier(random_state=0).fit(X, bags.spread(y), bags=bags.index)
    return np.asarray(model.score_bags(others, bags=other_bags.index)[1])


def folds_of_musk1() -> list[tuple[Fold, NDArray[np.bool_]]]:
    """Return rows, labels and bags of ten folds, and the truth of the bags that each holds out."""
    data = load_musk1()
    bags, y = Bags.from_ids(data.bags), np.asarray(data.weak).astype(np.intp)
    fold_of_row = bags.spread(deal_folds(y, 10, np.random.default_rng(0)))
    folds = []
    for fold in range(10):
        inside, outside = np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
        (own, positions), (other, held) = bags.take(inside), bags.take(outside)
        folds.append(((data.X[inside], y[positions], own, data.X[outside], other), y[held] == 1))
    return folds


def seconds_of(method: Any, folds: list[tuple[Fold, NDArray[np.bool_]]]) -> tuple[float, float]:
    """Run a method on all folds; return its seconds and the share of held-out bags that it gets right."""
    start = process_time()
    right = [(method(*fold) > 0) == truth for fold, truth in folds]
    return process_time() - start, float(np.concatenate(right).mean())


def main(n_pairs: int) -> None:
    """Print both times, the ratio, and what a fit with default settings spends on what."""
    folds = folds_of_musk1()
    for method in (bliss, mi_svm):
        seconds_of(method, folds[:1])
    pairs = [(seconds_of(bliss, folds), seconds_of(mi_svm, folds)) for _ in range(n_pairs)]
    own, loop = (median(one[position][0] for one in pairs) for position in (0, 1))
    ratios = sorted(b[0] / s[0] for b, s in pairs)
    print(f"Ten folds of MUSK1, medians of {n_pairs} pairs")
    print(f"bliss, default settings   {own:.3f} s, {pairs[0][0][1]:.1%} of bags right")
    print(f"mi-SVM in fifteen lines   {loop:.3f} s, {pairs[0][1][1]:.1%} of bags right")
    print(f"ratio                     {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    (X, y, bags, _, _), _ = folds[0]
    start = process_time()
    spent = BlissClassifier(random_state=0).fit(X, bags.spread(y), bags=bags.index).inference_["seconds"]
    whole = process_time() - start
    shares = {what: seconds / whole for what, seconds in spent.items()}
    print("of one fit                " + ", ".join(f"{what} {share:.0%}" for what, share in shares.items()))


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else N_PAIRS)
