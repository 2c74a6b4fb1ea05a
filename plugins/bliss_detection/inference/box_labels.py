"""Label inference on boxes, one class at a time, through the public function of the host."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.balanced_ridge import BalancedLeastSquares
from bliss_framework import infer_labels
from bliss_framework.plugin import at_least, between, positive


@frozen
class Inference:
    """How labels of boxes are inferred; the settings of `BlissClassifier` that differ from its defaults.

    Attributes:
        n_rounds, n_folds, n_inferences, n_neighbors, strategy: as in `BlissClassifier`.
        alpha: recall from which on precision counts, in the MIL reward.
        ridge: of the classifier.
        recall: share of held-out positive bags that its threshold lets be found; 0 for half way between the classes.
        prior: whether the reward is multiplied by the detection prior.
        n_negatives: boxes that are drawn of each image without the class, and of the ruled out boxes of one with it.
    """

    n_rounds: int = field(default=20, validator=at_least(1))
    n_folds: int = field(default=3, validator=at_least(2))
    n_inferences: int = field(default=1, validator=at_least(1))
    n_neighbors: int = field(default=50, validator=at_least(1))
    strategy: Any = field(default="cucb")
    alpha: float = field(default=0.9, validator=between(0.0, 1.0))
    ridge: float = field(default=1.0, validator=positive)
    recall: float = field(default=0.0, validator=between(0.0, 1.0))
    prior: bool = field(default=True)
    n_negatives: int = field(default=150, validator=at_least(1))

    def parameters(self, seed: int) -> dict[str, Any]:
        """Return the parameters of `infer_labels`."""
        reward: Mapping[str, Any] = {"name": "mil", "alpha": self.alpha}
        return {
            "regime": {"name": "mil", "weights": "instance"},
            "classifier": {"name": "balanced-ridge", "ridge": self.ridge, "recall": self.recall},
            "reward": {"name": "detection-prior", "reward": reward} if self.prior else reward,
            "strategy": self.strategy,
            "n_rounds": self.n_rounds,
            "n_folds": self.n_folds,
            "train_on": "one",
            "n_inferences": self.n_inferences,
            "n_neighbors": self.n_neighbors,
            "scaling": "none",
            "random_state": seed,
        }


def infer_boxes(
    described: Described, column: int, allowed: NDArray[np.bool_] | None, inference: Inference, seed: int
) -> NDArray[np.float64]:
    """Infer which boxes of the training images that show a class show it well.

    Each such image is a positive bag of its allowed boxes. Its other boxes, if any, are a bag of their own that is
    negative, as is every image without the class. Images that say nothing of the class are left out.

    Args:
        described: all boxes.
        column: of the class.
        allowed: (N,) boxes that may be positive; None for all.
        inference: settings.
        seed: of the inference.

    Returns:
        (N,) mean reward of the positive label less that of the negative one; NaN for boxes that had no choice.
    """
    rows, bags, weak = binary_bags(described, column, allowed, inference.n_negatives, seed)
    found = infer_labels(described.X[rows], weak, bags, **inference.parameters(seed))
    lead = np.full(len(described.boxes), np.nan)
    own = found.means[:, 1] - found.means[:, 0]
    lead[rows] = np.where(found.known, np.nan, own)
    return lead


def inferred_scores(described: Described, column: int, lead: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Rank boxes by the classifier that learns the inferred labels, weighted by confidence (paper, "Algorithm").

    Args:
        described: all boxes.
        column: of the class.
        lead: (N,) as `infer_boxes` returns it. Boxes of the class's own images that had no choice are negative.
        ridge: of the classifier.

    Returns:
        (N,) decision values of the boxes that had a choice, NaN for all others.
    """
    photos = described.photos
    known = np.isnan(lead)
    rows = np.flatnonzero(photos.train[described.image] & (photos.labels[described.image, column] != 0))
    labels = np.where(known, 0, lead > 0)[rows].astype(np.intp)
    weights = np.where(known, 1.0, np.abs(lead))[rows]
    if len(np.unique(labels[weights > 0])) < 2:
        return lead
    model = BalancedLeastSquares(ridge).fit(described.X[rows], labels, weights)
    return np.where(known, np.nan, model.decision_function(described.X))


def binary_bags(
    described: Described, column: int, allowed: NDArray[np.bool_] | None, n_negatives: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of one class's MIL problem, the bag of each row, and the weak label of each row."""
    photos = described.photos
    image = described.image
    label = photos.labels[image, column]
    possible = np.ones(len(image), dtype=bool) if allowed is None else allowed
    shown = photos.train[image] & (label == 1) & possible
    # Drawn, and not the first ones: large boxes come first, and small ones alone would look positive.
    drawn = _drawn(image, photos.train[image] & (label != 0) & ~shown, n_negatives, np.random.default_rng(seed))
    rows = np.flatnonzero(shown | drawn)
    positive = shown[rows]
    bags = 2 * image[rows] + ((label[rows] == 1) & ~possible[rows])
    return rows, bags, positive.astype(np.intp)


def _drawn(
    image: NDArray[np.intp], candidates: NDArray[np.bool_], n: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw up to n of the candidates of each image: (N,) bool."""
    rows = np.flatnonzero(candidates)
    rows = rows[np.lexsort([rng.random(len(rows)), image[rows]])]
    of_row = image[rows]
    rank = np.arange(len(rows)) - np.searchsorted(of_row, of_row)
    drawn = np.zeros(len(image), dtype=bool)
    drawn[rows[rank < n]] = True
    return drawn
