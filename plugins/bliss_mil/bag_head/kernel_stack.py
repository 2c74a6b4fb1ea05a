"""The bag head of MIL: a stack of what instance scores say, SVMs on kernels between whole bags, and networks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from bliss_framework.plugin import (
    MOST_NETWORK_COLUMNS,
    BagEvidence,
    BagHead,
    Bags,
    FittedBagHead,
    HeadFit,
    ProblemSize,
    Rows,
    Scaling,
    WeakLabels,
    bounded_svc,
    centred_stack,
    network_memory,
    taught_networks,
)
from bliss_mil.bag_head.bag_kernels import MOST_EXACT, N_LANDMARKS, Grams, compared, learnt, mean_of
from bliss_mil.bag_head.witnesses import has_few_witnesses, taught_shares

C = 10.0
MOST_ROWS = 100_000
N_SUMS = 4  # Over pairs of instances: alike, by graph, and by two kinds of instance scores.
BLOCKS = 4 << 25  # Bytes of the blocks of a kernel.
INSTANCES, SHAPE, WITNESSES, NETWORK = "instances", "shape", "witnesses", "network"
SVMS = {SHAPE: "whole", WITNESSES: "informed"}
STACK = "stack"
HEADS = {STACK: (INSTANCES, SHAPE, WITNESSES), "whole": (SHAPE,), "informed": (WITNESSES,), NETWORK: (NETWORK,)}


@frozen
class KernelStack(BagHead):
    """Weighs kinds of evidence: instance scores, the shape of bags, shape with likely witnesses, and networks.

    Args:
        kind: "stack" weighs the first three, and networks where few instances of positive bags are witnesses;
            "whole" is an SVM on kernels between whole bags, "informed" one on those and kernels that likely witnesses
            weigh, "network" networks alone that are taught instance scores.
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
        kernels = 8 * (2 * N_SUMS * n_bags**2 + 8 * n_bags**2 + 3 * n_bags * n_others + sums) + BLOCKS
        asked = self.kind == NETWORK or (self.kind == STACK and size.n_columns <= MOST_NETWORK_COLUMNS)
        return kernels + (network_memory(size) if asked else 0)

    def fit(self, evidence: BagEvidence, weak: WeakLabels, folds: NDArray[np.intp]) -> HeadFit:
        """Learn from training bags; see `BagHead`."""
        wanted, y = self._wanted(evidence, weak), weak.values
        scalings = [Scaling(mode).fit(evidence.rows.array) for mode in _scalings(evidence.rows)]
        found = [learnt(_scaled(evidence, one)) for one in scalings]
        grams, kernels = mean_of([one for _, one in found]), [one for one, _ in found]
        said = {name: _out_of_fold(_gram(grams, name), y, folds) for name in wanted if name in SVMS}
        machines = {name: _svm().fit(_gram(grams, name), y) for name in said}
        networks = of_rows = None
        if NETWORK in wanted:
            rows = scalings[-1].transform(evidence.rows.array)
            witnesses = taught_shares(evidence.instance_scores[0], evidence.bags.spread(y == 1))
            taught = taught_networks(rows, evidence.bags, (y == 1)[:, None], witnesses[:, None], folds)
            networks, said[NETWORK] = taught.networks, _averaged(taught.bag_scores)
            of_rows = _averaged(taught.instance_scores)
        columns = [{**said, INSTANCES: evidence.bag_scores}[name] for name in wanted]
        scores = np.stack(columns, axis=1)
        weights, means = centred_stack(scores, y)
        fitted = FittedKernelStack(scalings, kernels, machines, networks, weights, means, list(wanted))
        return HeadFit(fitted, fitted.weighed(columns), of_rows)

    def _wanted(self, evidence: BagEvidence, weak: WeakLabels) -> tuple[str, ...]:
        """Return the kinds of evidence in use; where many instances tell, networks add cost and nothing else."""
        if self.kind != STACK or evidence.rows.shape[1] > MOST_NETWORK_COLUMNS:
            return HEADS[self.kind]
        few = has_few_witnesses(evidence.instance_scores[0], evidence.bags, weak)
        return (*HEADS[STACK], NETWORK) if few else HEADS[STACK]


class FittedKernelStack(FittedBagHead, BaseEstimator):  # type: ignore[misc]
    """A trained `KernelStack`.

    Args:
        scalings: of rows, fitted.
        kernels: that compare bags with those of training, for each of the scalings.
        machines: SVMs by the kind of evidence.
        networks: `BagNetworks`, or None.
        weights: (h,) of all scores.
        means: (h,) of all scores, out of fold over the training bags.
        kinds: of evidence, one for each score.
    """

    def __init__(
        self, scalings: Any, kernels: Any, machines: Any, networks: Any, weights: Any, means: Any, kinds: Any
    ) -> None:
        self.scalings = scalings
        self.kernels = kernels
        self.machines = machines
        self.networks = networks
        self.weights = weights
        self.means = means
        self.kinds = kinds

    def parts(self, evidence: BagEvidence) -> Mapping[str, NDArray[np.float64]]:
        """Return what each kind of evidence says, beside the mean training bag."""
        scaled = [_scaled(evidence, scaling) for scaling in self.scalings]
        grams = mean_of([compared(kernels, one) for kernels, one in zip(self.kernels, scaled, strict=True)])
        said = {INSTANCES: evidence.bag_scores}
        for kind, machine in self.machines.items():
            said[kind] = machine.decision_function(_gram(grams, kind))
        if self.networks is not None:
            said[NETWORK] = _averaged(self.networks.bag_scores(scaled[-1].rows.array, evidence.bags))
        return self.weighed([said[kind] for kind in self.kinds])

    def instance_scores(self, rows: Rows) -> NDArray[np.float64] | None:
        """Score instances by the networks, where there are some."""
        if self.networks is None:
            return None
        return _averaged(self.networks.instance_scores(self.scalings[-1].transform(rows.array)))

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


def _averaged(of_networks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average what networks say of the only label: (K, m, 1) -> (m,)."""
    return np.asarray(of_networks.mean(axis=0)[:, 0])


def _svm() -> SVC:
    return bounded_svc(C=C, kernel="precomputed")


def _out_of_fold(gram: NDArray[np.float64], y: NDArray[Any], folds: NDArray[np.intp]) -> NDArray[np.float64]:
    """Score each bag (B,) by an SVM that was trained on the other folds."""
    scores = np.empty(len(y))
    for fold in np.unique(folds):
        train, heldout = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        machine = _svm().fit(gram[np.ix_(train, train)], y[train])
        scores[heldout] = machine.decision_function(gram[np.ix_(heldout, train)])
    return scores
