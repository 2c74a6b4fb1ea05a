"""How small bags are read: by the word that allows the classes of their rows."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BagReading, Bags, Outcome, WeakLabels
from bliss_weak_labels.likelihood.patterns import places_in, rows_by_bag

Relations = Callable[[int], Mapping[str, NDArray[np.float64]]]


@frozen
class PatternReading(BagReading):
    """A single row has its class; a bag has the first word of its size that allows the classes of its rows.

    Args:
        relations: a function from the number of classes to the patterns that each word allows.
    """

    from_instances: ClassVar[bool] = True
    relations: Relations = field()

    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Average the scores of a bag: (n,) -> (B,), or (n, C) -> (B, C)."""
        return bags.mean(scores)

    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the word of each bag: (B,) codes, first those of classes."""
        classes = (scores > threshold).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        n_classes = 2 if scores.ndim == 1 else scores.shape[1]
        places = places_in(bags)
        first = np.flatnonzero(places == 0)
        codes = np.empty(bags.n_bags, dtype=np.intp)
        codes[bags.index[first]] = classes[first]
        for code, allowed in reversed(list(enumerate(self.relations(n_classes).values(), n_classes))):
            own = np.flatnonzero(bags.sizes == allowed.ndim)
            met = allowed[tuple(classes[rows_by_bag(bags, places, own)].T)] > 0 if len(own) else np.zeros(0, dtype=bool)
            codes[own] = np.where(met | (codes[own] < n_classes), code, codes[own])
        return codes

    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Return the share of held-out bags whose word is predicted."""
        heldout = outcome.fold.heldout
        scores = outcome.heldout_scores[:, 0] if outcome.heldout_scores.shape[1] == 1 else outcome.heldout_scores
        return {"met": float((self.bag_labels(scores, heldout.bags, 0.0) == heldout.weak.values).mean())}

    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Return the share of bags whose word is predicted."""
        return {"met": float((predicted == weak.values).mean())}
