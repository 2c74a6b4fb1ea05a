"""The object detector that is trained on boxes: a linear support vector machine with hard negative mining."""

from collections.abc import Mapping

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from bliss_detection.boxes.geometry import Boxes, overlaps
from bliss_detection.features.described_boxes import Described
from bliss_framework.plugin import at_least, between, positive

MARGIN = -1.0


@frozen
class Detector:
    """A linear SVM for one class, trained on boxes of the training images.

    Args:
        C: inverse strength of regularisation.
        n_negatives: random negatives to start with, and the most that a round of mining adds.
        n_minings: rounds in which the negatives that are hardest for the last machine join.
        alike: overlap with a chosen box from which on a box is positive.
        different: overlap below which a box of an image with the class is negative; between the two it is left out.
    """

    C: float = field(default=0.1, validator=positive)
    n_negatives: int = field(default=4000, validator=at_least(1))
    n_minings: int = field(default=1, validator=at_least(0))
    alike: float = field(default=0.5, validator=between(0.0, 1.0))
    different: float = field(default=0.3, validator=between(0.0, 1.0))

    def scores(self, described: Described, column: int, chosen: Mapping[int, Boxes], seed: int) -> NDArray[np.float64]:
        """Train on chosen boxes and score all boxes.

        Classes are not balanced: precision among the best detections is what counts.

        Args:
            described: all boxes.
            column: of the class.
            chosen: for each training image that shows it, boxes (k, 4) that are taken for true.
            seed: draws the first negatives.

        Returns:
            (N,) decision values.
        """
        positives, negatives = self.examples(described, column, chosen)
        rng = np.random.default_rng(seed)
        current = np.sort(rng.choice(negatives, min(self.n_negatives, len(negatives)), replace=False))
        scores = self._trained(described, positives, current)
        for _ in range(self.n_minings):
            hardest = negatives[np.argsort(-scores[negatives], kind="stable")[: self.n_negatives]]
            current = np.union1d(current, hardest[scores[hardest] > MARGIN])
            scores = self._trained(described, positives, current)
        return scores

    def examples(
        self, described: Described, column: int, chosen: Mapping[int, Boxes]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positive and the negative boxes of the training images."""
        photos = described.photos
        positives, negatives = [], []
        for i in np.flatnonzero(photos.train & (photos.labels[:, column] != 0)).tolist():
            own = described.of(i)
            rows = np.arange(own.start, own.stop)
            if photos.labels[i, column] == -1:
                negatives.append(rows)
                continue
            if i not in chosen or len(chosen[i]) == 0:
                continue
            best = overlaps(described.boxes[own], chosen[i]).max(axis=1)
            positives.append(rows[best >= self.alike])
            negatives.append(rows[best < self.different])
        return np.concatenate(positives), np.concatenate(negatives)

    def _trained(
        self, described: Described, positives: NDArray[np.intp], negatives: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        rows = np.concatenate([positives, negatives])
        labels = np.concatenate([np.ones(len(positives)), -np.ones(len(negatives))])
        machine = LinearSVC(C=self.C, dual="auto", tol=1e-3, random_state=0).fit(described.X[rows], labels)
        weights, bias = machine.coef_[0].astype(np.float32), float(machine.intercept_[0])
        return np.asarray(described.X @ weights, dtype=np.float64) + bias
