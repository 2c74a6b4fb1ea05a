"""Labels that follow a classifier's outputs within what the bags allow."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Part

TIE = 1e-9  # Bounds that differ by less do so by rounding.


def every_label_kept(bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
    """Choose the labels with the largest bounds so that every label of a bag's set has an instance (a constraint).

    Ties are decided by draws whose seed follows from the bounds, so that the same bounds give the same labels.

    Args:
        bounds: (n, L), -inf where a label is no candidate.
        part: candidates, bags and label sets.
    """
    seed = np.frombuffer(np.where(np.isfinite(bounds), bounds, 0.0).sum().tobytes(), dtype=np.uint32)
    return relabelled(bounds + TIE * np.random.default_rng(seed).random(bounds.shape), part, every_label=True)


def relabelled(scores: NDArray[np.floating], part: Part, every_label: bool) -> NDArray[np.intp]:
    """Give each instance the candidate label with the largest output.

    Args:
        scores: (n, L), or (n, 1) for two labels.
        part: candidates, bags and label sets.
        every_label: whether a label of a bag's set that no instance took goes to the one in which it falls short
            least, but never to the only instance of another label.
    """
    columns = np.concatenate([-scores, scores], axis=1) if scores.shape[1] == 1 else scores
    possible = np.where(part.space.candidates, columns, -np.inf)
    labels = np.asarray(possible.argmax(axis=1), dtype=np.intp)
    if not every_label:
        return labels
    shortfalls = possible.max(axis=1, keepdims=True) - possible
    for label in np.flatnonzero(part.space.class_of_label > 0):
        shortfall = np.where(_only_ones(labels, part), np.inf, shortfalls[:, label])
        labels[_lone(labels == label, shortfall, part.bags)] = label
    return labels


def _only_ones(labels: NDArray[np.intp], part: Part) -> NDArray[np.bool_]:
    """Say which instances are the only one of their bag with their label, which is not negative: they keep it."""
    key = part.bags.index * part.space.n_labels + labels
    return np.asarray((np.bincount(key)[key] == 1) & (part.space.class_of_label[labels] > 0))


def _lone(taken: NDArray[np.bool_], shortfall: NDArray[np.floating], bags: Bags) -> NDArray[np.bool_]:
    """Say which instance each bag without one that took the label should give it to; infinite ones never do."""
    least = bags.spread(bags.min(shortfall))
    return np.asarray(~bags.spread(bags.any(taken)) & (shortfall == least) & np.isfinite(shortfall))
