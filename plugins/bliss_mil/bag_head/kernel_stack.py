"""The bag head of MIL: a stack of what instance scores say, and of SVMs on kernels between whole bags."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from bliss_framework.plugin import BagEvidence, BagHead, Bags, FittedBagHead, ProblemSize, Rows, Scaling, WeakLabels
from bliss_mil.bag_head.bag_kernels import MOST_EXACT, N_LANDMARKS, Grams, compared, learnt, mean_of
from bliss_mil.bag_head.stacking import stack_weights

C = 10.0
MOST_ROWS = 100_000
N_SUMS = 4  # Over pairs of instances: alike, by graph, and by two kinds of instance scores.
BLOCKS = 4 << 25  # Bytes of the blocks of a kernel.
INSTANCES, SHAPE, WITNESSES = "instances", "shape", "witnesses"
SVMS = {SHAPE: "whole", WITNESSES: "informed"}
HEADS = {"stack": (INSTANCES, SHAPE, WITNESSES), "whole": (SHAPE,), "informed": (WITNESSES,)}


@frozen
class KernelStack(BagHead):
    """Weighs three kinds of evidence: instance scores, the shape of bags, and shape with likely witnesses.

    Args:
        kind: "stack" weighs all three; "whole" is an SVM on kernels between whole bags, "informed" one on those and
            kernels that likely witnesses weigh.
    """

    kind: str = field(default="stack")

    def refusal(self, bags: Bags, weak: WeakLabels, folds: NDArray[np.intp]) -> str | None:
        """Refuse bags of one instance, very many rows, and folds without which there is one class."""
        if bags.n_bags == bags.n_rows:
            return "every bag has one instance"
        if bags.n_rows > MOST_ROWS:
            return f"there are {bags.n_rows:,} rows, and it takes at most {MOST_ROWS:,}"
        if any(len(np.unique(weak.values[folds != fold])) < 2 for fold in np.unique(folds)):
            return "without one of the folds all bags are of one class"
        return None

    def memory(self, size: ProblemSize, n_bags: int) -> int:
        """Return what kernels between bags take, and how near bags come to rows or landmarks; see `BagHead`."""
        exact = size.n_train <= MOST_EXACT
        n_others = size.n_train if exact else N_LANDMARKS
        sums = 0 if exact else N_SUMS * n_bags * n_others
        # Kernels in use at one time, beside the sums that they are made of.
        return 8 * (2 * N_SUMS * n_bags**2 + 8 * n_bags**2 + 3 * n_bags * n_others + sums) + BLOCKS

    def fit(
        self, evidence: BagEvidence, weak: WeakLabels, folds: NDArray[np.intp]
    ) -> tuple[FittedBagHead, Mapping[str, NDArray[np.float64]]]:
        """Learn from training bags; see `BagHead`."""
        wanted, y = HEADS[self.kind], weak.values
        scalings = [Scaling(mode).fit(evidence.rows.array) for mode in _scalings(evidence.rows)]
        found = [learnt(_scaled(evidence, one)) for one in scalings]
        grams, kernels = mean_of([one for _, one in found]), [one for one, _ in found]
        columns = [
            _out_of_fold(_gram(grams, name), y, folds) if name in SVMS else evidence.bag_scores for name in wanted
        ]
        scores = np.stack(columns, axis=1)
        means, units = scores.mean(axis=0), np.where(scores.std(axis=0) > 0, scores.std(axis=0), 1.0)
        weights = stack_weights((scores - means) / units, y) / units
        machines = {name: _svm().fit(_gram(grams, name), y) for name in wanted if name in SVMS}
        fitted = FittedKernelStack(scalings, kernels, machines, weights, means, list(wanted))
        return fitted, fitted.weighed(columns)


class FittedKernelStack(FittedBagHead, BaseEstimator):  # type: ignore[misc]
    """A trained `KernelStack`.

    Args:
        scalings: of rows, fitted.
        kernels: that compare bags with those of training, for each of the scalings.
        machines: SVMs by the kind of evidence.
        weights: (h,) of all scores.
        means: (h,) of all scores, out of fold over the training bags.
        kinds: of evidence, one for each score.
    """

    def __init__(self, scalings: Any, kernels: Any, machines: Any, weights: Any, means: Any, kinds: Any) -> None:
        self.scalings = scalings
        self.kernels = kernels
        self.machines = machines
        self.weights = weights
        self.means = means
        self.kinds = kinds

    def parts(self, evidence: BagEvidence) -> Mapping[str, NDArray[np.float64]]:
        """Return what instances, the shape of the bag, and likely witnesses say, beside the mean training bag."""
        pairs = zip(self.kernels, self.scalings, strict=True)
        grams = mean_of([compared(kernels, _scaled(evidence, scaling)) for kernels, scaling in pairs])
        columns = [
            self.machines[kind].decision_function(_gram(grams, kind)) if kind in SVMS else evidence.bag_scores
            for kind in self.kinds
        ]
        return self.weighed(columns)

    def weighed(self, columns: Sequence[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """Weigh scores (B,), one of each kind."""
        weighed = zip(self.kinds, columns, self.weights, self.means, strict=True)
        return {kind: weight * (scores - mean) for kind, scores, weight, mean in weighed}


def _scalings(rows: Rows) -> tuple[str, ...]:
    """Return how rows are scaled: sparse ones may be texts, which want unit length, or counts of something else."""
    return ("unit", "clipped") if rows.is_sparse else ("clipped",)


def _scaled(evidence: BagEvidence, scaling: Scaling) -> BagEvidence:
    return evolve(evidence, rows=Rows(scaling.transform(evidence.rows.array)))


def _gram(grams: Grams, name: str) -> NDArray[np.float64]:
    return np.asarray(getattr(grams, SVMS[name]))


def _svm() -> SVC:
    return SVC(C=C, kernel="precomputed")


def _out_of_fold(gram: NDArray[np.float64], y: NDArray[Any], folds: NDArray[np.intp]) -> NDArray[np.float64]:
    """Score each bag (B,) by an SVM that was trained on the other folds."""
    scores = np.empty(len(y))
    for fold in np.unique(folds):
        train, heldout = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        machine = _svm().fit(gram[np.ix_(train, train)], y[train])
        scores[heldout] = machine.decision_function(gram[np.ix_(heldout, train)])
    return scores
