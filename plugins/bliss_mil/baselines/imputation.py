"""What MIL support vector machines guess (instance labels, or witnesses), and guessing in turn with an SVM."""

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bliss_framework.plugin import Bags, Rows, bounded_svc

Guess = NDArray[Any]


class Problem(Protocol):
    """What is guessed, and what an SVM learns from a guess."""

    @property
    def points(self) -> Any:
        """The rows (m, d) that an SVM may be trained on."""

    def start(self) -> Guess:
        """Return the guess of the paper."""

    def training(self, guess: Guess) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the points trained on, and which of them are positive."""

    def improve(self, scores: NDArray[np.float64]) -> Guess:
        """Return the best guess for the scores (m,) of all points."""


@frozen(eq=False)
class InstanceLabels:
    """mi-SVM: a label for each instance of a positive bag, at least one of them positive.

    Attributes:
        points: (n, d) instances.
        bags: their B bags.
        weak: (B,) 0 or 1.
    """

    points: Any = field()
    bags: Bags = field()
    weak: NDArray[Any] = field()

    def start(self) -> Guess:
        """Call every instance of a positive bag positive."""
        return np.asarray(self.bags.spread(self.weak == 1))

    def training(self, guess: Guess) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Train on all instances."""
        return np.arange(self.bags.n_rows), guess

    def improve(self, scores: NDArray[np.float64]) -> Guess:
        """Label by sign; where that leaves a positive bag without a positive, its largest score is one."""
        labels = (scores > 0) & self.start()
        empty = (self.weak == 1) & ~self.bags.any(labels)
        labels[most_positive(scores, self.bags)[empty]] = True
        return labels


@define(eq=False)
class Witnesses:
    """MI-SVM: one point of each positive bag is its witness; instances of negative bags are all negative.

    Attributes:
        rows: (n, d) instances.
        bags: their B bags.
        weak: (B,) 0 or 1.
        points: (n + P, d) the instances, and the mean rows of the P positive bags.
    """

    rows: Any = field()
    bags: Bags = field()
    weak: NDArray[Any] = field()
    points: Any = field(init=False)
    _negatives: NDArray[np.intp] = field(init=False)

    def __attrs_post_init__(self) -> None:
        means = Rows(self.rows).bag_means(self.bags).array[self.weak == 1]
        self.points = Rows.stacked([self.rows, means]).array
        self._negatives = np.flatnonzero(self.bags.spread(self.weak == 0))

    def start(self) -> Guess:
        """Take the mean row of each positive bag."""
        return np.arange(self.bags.n_rows, self.points.shape[0])

    def training(self, guess: Guess) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Train on the witnesses and the instances of negative bags."""
        chosen = np.concatenate([guess, self._negatives])
        return chosen, np.arange(len(chosen)) < len(guess)

    def improve(self, scores: NDArray[np.float64]) -> Guess:
        """Take the instance with the largest score of each positive bag."""
        return np.asarray(most_positive(scores[: self.bags.n_rows], self.bags)[self.weak == 1])


def most_positive(scores: NDArray[np.float64], bags: Bags) -> NDArray[np.intp]:
    """Find the row (B,) with the largest score in each bag, the first of equal ones."""
    order = np.lexsort((-scores, bags.index))
    return order[np.flatnonzero(np.diff(bags.index[order], prepend=-1))]


@frozen(eq=False)
class Solution:
    """An SVM on some points.

    Attributes:
        support: (s,) points that are support vectors.
        coefficients: (s,) their dual coefficients, signed.
        intercept: of the decision function.
        scores: (m,) the decision function at all points.
        objective: |w|^2 / 2 + C times the sum of hinge losses.
    """

    support: NDArray[np.intp] = field()
    coefficients: NDArray[np.float64] = field()
    intercept: float = field()
    scores: NDArray[np.float64] = field()
    objective: float = field()


def solve(
    chosen: NDArray[np.intp], positive: NDArray[np.bool_], K: NDArray[np.float64], C: float, tol: float
) -> Solution:
    """Train an SVM on some points of a Gram matrix, and score all points.

    Args:
        chosen: (c,) the points trained on.
        positive: (c,) which of them are positive.
        K: (m, m) kernels of all points.
        C: inverse strength of regularisation.
        tol: of the solver.
    """
    # scikit-learn's solver takes no starting point; what is saved from one guess to the next is the Gram matrix.
    part = K if len(chosen) == len(K) else K[np.ix_(chosen, chosen)]
    svc = bounded_svc(C=C, kernel="precomputed", tol=tol).fit(part, positive)
    support, coefficients, intercept = chosen[svc.support_], svc.dual_coef_[0], float(svc.intercept_[0])
    projections = coefficients @ K[support]
    scores = projections + intercept
    hinge = np.maximum(0.0, 1.0 - np.where(positive, 1.0, -1.0) * scores[chosen]).sum()
    objective = float(coefficients @ projections[support]) / 2 + C * float(hinge)
    return Solution(support, coefficients, intercept, scores, objective)


@frozen(eq=False)
class Imputed:
    """Where guessing in turn ended: the last guess, the SVM trained on it, and how many SVMs it took."""

    guess: Guess = field()
    svm: Solution = field()
    n_iter: int = field()


def alternate(problem: Problem, train: Callable[..., Solution], start: Guess, max_iter: int) -> Imputed:
    """Train an SVM on a guess and improve the guess in turn, until a guess comes back.

    Neither step raises the objective, so only ties and the solver's tolerance can make guesses go round in circles;
    the first return to any earlier guess ends it.

    Args:
        problem: what is guessed.
        train: makes an SVM of points and their labels, as `solve` does.
        start: the first guess.
        max_iter: most SVMs trained.
    """
    guess, seen = start, set()
    for n_iter in range(1, max_iter + 1):
        svm = train(*problem.training(guess))
        seen.add(guess.tobytes())
        improved = problem.improve(svm.scores)
        if improved.tobytes() in seen:
            return Imputed(guess, svm, n_iter)
        if n_iter < max_iter:
            guess = improved
    warnings.warn(
        f"The guesses still changed after max_iter = {max_iter} SVMs; raise max_iter to let them settle.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return Imputed(guess, svm, max_iter)
