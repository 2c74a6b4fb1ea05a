"""The bag head of label sets: what instance scores say of each label, and networks that are taught inferred labels.

Of the classes that an instance can have, which are the labels of its bag and the negative class, networks are taught
the one that classifiers which have not seen the bag score best. Bags are read by

    w_0 a_instances + w_1 a_network 1 + w_2 a_network 2 + w_3 a_network 3

for each label, with the same weights for all labels: see `stack_weights`. Networks that are taught more are not always
better, so each has a weight of its own.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bliss_framework.plugin import (
    MOST_NETWORK_COLUMNS,
    BagEvidence,
    BagHead,
    Bags,
    FittedBagHead,
    HeadFit,
    ProblemSize,
    Scaling,
    WeakLabels,
    centred_stack,
    network_memory,
    taught_networks,
)

MOST_ROWS = 100_000
INSTANCES, NETWORK = "instances", "network"


@frozen
class LabelStack(BagHead):
    """Weighs what instance scores say of the labels of a bag, and what each of three networks does.

    Args:
        kind: "stack" weighs both, "network" is the networks alone.
    """

    kind: str = field(default="stack")

    def refusal(self, bags: Bags, weak: WeakLabels, folds: NDArray[np.intp]) -> str | None:
        """Refuse bags of one instance, and very many rows."""
        if bags.n_bags == bags.n_rows:
            return "every bag has one instance"
        if bags.n_rows > MOST_ROWS:
            return f"there are {bags.n_rows:,} rows, and it takes at most {MOST_ROWS:,}"
        return None

    def memory(self, size: ProblemSize, n_bags: int) -> int:
        """Return what networks take; see `BagHead`. Rows with too many columns for them are read from scores alone."""
        return network_memory(size) if size.n_columns <= MOST_NETWORK_COLUMNS else 0

    def fit(self, evidence: BagEvidence, weak: WeakLabels, folds: NDArray[np.intp]) -> HeadFit:
        """Learn from training bags; see `BagHead`."""
        there, rows = weak.values, evidence.rows.array
        scaling = networks = None
        said: dict[str, NDArray[np.float64]] = {}
        if self.kind == "stack" or rows.shape[1] > MOST_NETWORK_COLUMNS:
            said[INSTANCES] = evidence.bag_scores[None]
        if rows.shape[1] <= MOST_NETWORK_COLUMNS:
            scaling = Scaling("auto").fit(rows)
            labels = taught_labels(evidence, there)
            taught = taught_networks(scaling.transform(rows), evidence.bags, there, labels, folds)
            networks, said[NETWORK] = taught.networks, taught.bag_scores
        pairs = np.concatenate([one.reshape(len(one), -1) for one in said.values()]).T
        weights, means = centred_stack(pairs, there.ravel())
        fitted = FittedLabelStack(scaling, networks, weights, means, list(said))
        return HeadFit(fitted, fitted.weighed(said))


class FittedLabelStack(FittedBagHead, BaseEstimator):  # type: ignore[misc]
    """A trained `LabelStack`.

    Args:
        scaling: of rows, fitted; None where there are no networks.
        networks: `BagNetworks`, or None.
        weights: (h,) of all scores.
        means: (h,) of all scores, out of fold over the training bags and labels.
        kinds: of evidence, the instance scores first.
    """

    def __init__(self, scaling: Any, networks: Any, weights: Any, means: Any, kinds: Any) -> None:
        self.scaling = scaling
        self.networks = networks
        self.weights = weights
        self.means = means
        self.kinds = kinds

    def parts(self, evidence: BagEvidence) -> Mapping[str, NDArray[np.float64]]:
        """Return what each kind of evidence says of each label, beside the mean of all training bags and labels."""
        said = {INSTANCES: evidence.bag_scores[None]}
        if self.networks is not None:
            said[NETWORK] = self.networks.bag_scores(self.scaling.transform(evidence.rows.array), evidence.bags)
        return self.weighed({kind: said[kind] for kind in self.kinds})

    def weighed(self, said: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """Weigh scores (K, B, C) of each kind, and add up those of one kind: (B, C)."""
        ends = np.cumsum([len(one) for one in said.values()])
        places = [slice(end - len(one), end) for end, one in zip(ends, said.values(), strict=True)]
        return {
            kind: np.einsum("k,kbc->bc", self.weights[own], one - self.means[own][:, None, None])
            for (kind, one), own in zip(said.items(), places, strict=True)
        }


def taught_labels(evidence: BagEvidence, there: NDArray[Any]) -> NDArray[np.float64]:
    """Return what instances are taught, (n, C) of 0 and 1: the label that is scored best of those that they can have.

    Args:
        evidence: with scores (n, C + 1), the first of them of the negative class, or (n,) of one label.
        there: (B, C) whether a bag has a label.
    """
    scores = evidence.instance_scores[0]
    scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    possible = np.concatenate(
        [np.ones((evidence.bags.n_rows, 1), dtype=bool), evidence.bags.spread(there == 1)], axis=1
    )
    best = np.where(possible, scores, -np.inf).argmax(axis=1)
    return np.asarray(best[:, None] == np.arange(1, scores.shape[1]), dtype=np.float64)
