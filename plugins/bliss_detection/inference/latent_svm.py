"""A latent SVM, smoothed so that a quasi-Newton method can train it (Song et al., 2014, after Nesterov, 2005).

    |w|^2 / 2 + C * sum over images of weight * h(y * m(w . x_1, ..., w . x_k))

y is 1 or -1 as the image shows the class.

m is the largest score of the image's windows, h the hinge 1 - z where that is above 0. Both are smoothed by a strongly
convex term: m(s) = max over a in the simplex of a . s - smoothness / 2 |a|^2, whose gradient a is the projection of
s / smoothness onto the simplex, and h is quadratic in a margin of the same width.
"""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.picks import Picks
from bliss_framework.plugin import at_least, positive

N_START = 10_000  # Negatives of the machine that the training starts from.


@frozen
class SmoothedLatentSvm:
    """Trains on whole images, from a start that says where the objects are.

    Args:
        C: inverse strength of regularisation; images with and without the class count alike in sum.
        smoothness: of the largest score and of the hinge.
        max_iter: steps of L-BFGS.
    """

    C: float = field(default=10.0, validator=positive)
    smoothness: float = field(default=0.1, validator=positive)
    max_iter: int = field(default=100, validator=at_least(1))

    def scores(self, described: Described, column: int, start: NDArray[np.float64], bias: float) -> NDArray[np.float64]:
        """Train, and score all boxes.

        Args:
            described: all boxes.
            column: of the class.
            start: (d,) first weights.
            bias: first bias.

        Returns:
            (N,) decision values.
        """
        problem = _Problem(self, described, column)
        found = minimize(
            problem.value_and_slope,
            np.append(start, bias),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter},
        ).x
        return np.asarray(described.X @ found[:-1].astype(np.float32) + found[-1], dtype=np.float64)

    def start(self, described: Described, column: int, picks: Picks) -> tuple[NDArray[np.float64], float]:
        """Return first weights and a bias: a linear machine on picked boxes, against those of images without the class.

        Args:
            described: all boxes.
            column: of the class.
            picks: a box of each image that shows it.
        """
        positives = np.array(sorted(picks.values()), dtype=np.intp)
        negatives = np.flatnonzero(
            (described.photos.train & (described.photos.labels[:, column] == -1))[described.image]
        )
        rows = np.concatenate([positives, negatives[:: max(len(negatives) // N_START, 1)]])
        machine = LinearSVC(C=1.0, class_weight="balanced", dual="auto", tol=1e-3, random_state=0)
        machine.fit(described.X[rows], np.isin(rows, positives))
        return machine.coef_[0], float(machine.intercept_[0])


class _Problem:
    def __init__(self, settings: SmoothedLatentSvm, described: Described, column: int) -> None:
        photos = described.photos
        images = np.flatnonzero(photos.train & (photos.labels[:, column] != 0))
        self.settings = settings
        self.sign = photos.labels[images, column].astype(np.float64)
        shown = self.sign > 0
        self.weight = np.where(shown, 0.5 / shown.sum(), 0.5 / (~shown).sum())
        lengths = np.diff(described.starts)[images]
        self.X = np.concatenate([described.X[described.of(i)] for i in images.tolist()])
        self.place = np.repeat(np.arange(len(images)), lengths)
        self.rank = np.arange(len(self.X)) - np.repeat(np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        self.shape = (len(images), int(lengths.max()))

    def value_and_slope(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective and its gradient (d + 1,)."""
        w, bias = parameters[:-1], parameters[-1]
        smoothness = self.settings.smoothness
        scores = np.full(self.shape, -np.inf)
        scores[self.place, self.rank] = self.X @ w.astype(np.float32)
        shares = projected(scores / smoothness)
        largest = (shares * np.where(shares > 0, scores, 0.0)).sum(axis=1) - smoothness / 2 * (shares**2).sum(axis=1)
        loss, slope = _hinge(self.sign * (largest + bias), smoothness)
        of_image = self.settings.C * self.weight * self.sign * slope
        of_window = (of_image[:, None] * shares)[self.place, self.rank]
        gradient = np.append(w + self.X.T @ of_window.astype(np.float32), of_image.sum())
        return float(w @ w / 2 + self.settings.C * self.weight @ loss), gradient


def projected(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project each row (n, k) onto the simplex of shares that sum to 1; -inf stands for entries that are not there.

    >>> projected(np.array([[0.9, 0.7, -np.inf]])).round(3).tolist()
    [[0.6, 0.4, 0.0]]
    """
    ordered = -np.sort(-values, axis=1)
    finite = np.where(np.isfinite(ordered), ordered, 0.0)
    level = (np.cumsum(finite, axis=1) - 1.0) / np.arange(1, values.shape[1] + 1)
    kept = (ordered > level).sum(axis=1)
    return np.asarray(np.maximum(values - level[np.arange(len(values)), kept - 1][:, None], 0.0))


def _hinge(margin: NDArray[np.float64], width: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smoothed hinge and its slope: quadratic where the hinge is between 0 and `width`, then linear."""
    short = 1.0 - margin
    loss = np.where(short <= 0, 0.0, np.where(short < width, short**2 / (2 * width), short - width / 2))
    return loss, -np.clip(short / width, 0.0, 1.0)
