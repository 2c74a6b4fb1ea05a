"""MI-SVM on boxes (Andrews et al., 2003): the detector and one box of each positive image in turn."""

from collections.abc import Callable

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.detector.mined_svm import Detector
from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.balanced_ridge import BalancedLeastSquares
from bliss_detection.inference.picks import Candidates, Picks
from bliss_framework.plugin import at_least, positive

Score = Callable[[Picks], NDArray[np.float64]]


@frozen
class Alternation:
    """Boxes are chosen in turn with a classifier that is trained on them, from the whole image on.

    Args:
        n_rounds: turns at most; it ends before where no choice changes.
        ridge: of the least squares of MI-ridge.
        share: what all positives of MI-ridge weigh together, in units of all negatives.
        alike: overlap with the chosen box from which on a box of its image is positive too.
    """

    n_rounds: int = field(default=10, validator=at_least(1))
    ridge: float = field(default=1e-3, validator=positive)
    share: float = field(default=0.1, validator=positive)
    alike: float = field(default=0.5)

    def picks(self, candidates: Candidates, score: Score) -> Picks:
        """Alternate, and return the last choice.

        Args:
            candidates: the images of a class.
            score: trains on the picked boxes, and scores all boxes (N,).
        """
        starts = candidates.described.starts
        picks = {int(i): int(starts[i]) for i in candidates.images}
        for _ in range(self.n_rounds):
            chosen = candidates.best(score(picks))
            if chosen == picks:
                break
            picks = chosen
        return picks

    def svm(self, candidates: Candidates, column: int, seed: int) -> Picks:
        """MI-SVM with the detector's own linear machine."""
        described, detector = candidates.described, Detector()

        def score(picks: Picks) -> NDArray[np.float64]:
            boxes = {i: described.boxes[pick : pick + 1] for i, pick in picks.items()}
            return detector.scores(described, column, boxes, seed)

        return self.picks(candidates, score)

    def least_squares(self, candidates: Candidates, column: int) -> Picks:
        """The same with class-balanced least squares; boxes of images without the class are negative."""
        described = candidates.described
        negatives = negative_rows(described, column)

        def score(picks: Picks) -> NDArray[np.float64]:
            positives = np.flatnonzero(candidates.near(picks, self.alike))
            return fitted_scores(described, positives, negatives, self.ridge, self.share)

        return self.picks(candidates, score)


def negative_rows(described: Described, column: int) -> NDArray[np.intp]:
    """Return the boxes of the training images that do not show a class."""
    photos = described.photos
    return np.flatnonzero((photos.train & (photos.labels[:, column] == -1))[described.image])


def fitted_scores(
    described: Described,
    positives: NDArray[np.intp],
    negatives: NDArray[np.intp],
    ridge: float,
    share: float | None = None,
) -> NDArray[np.float64]:
    """Train balanced least squares on two sets of boxes, and score all boxes (N,).

    Args:
        described: all boxes.
        positives, negatives: rows to train on.
        ridge: of the classifier.
        share: what all positives weigh in the covariance, in units of all negatives; None lets each box count alike.
    """
    rows = np.concatenate([positives, negatives])
    labels = np.concatenate([np.ones(len(positives), dtype=np.intp), np.zeros(len(negatives), dtype=np.intp)])
    weights = None
    if share is not None:
        weights = np.where(labels == 1, share / max(len(positives), 1), 1 / max(len(negatives), 1))
    return BalancedLeastSquares(ridge).fit(described.X[rows], labels, weights).decision_function(described.X)
