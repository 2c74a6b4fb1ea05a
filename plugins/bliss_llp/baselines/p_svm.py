"""Alternating proportion SVM: an SVM, and labels that keep the counts of bags, in turn."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bliss_framework.plugin import Bags, DataError, bounded_svc, validators
from bliss_llp.baselines.kernel_estimator import KernelEstimator

# The loss counts little at first, so that labels may still change.
ANNEALING = (0.01, 0.03, 0.1, 0.3, 1.0)
DEFAULT_C = {"rbf": 10.0, "linear": 0.1}

Relabel = Callable[[NDArray[np.float64]], NDArray[np.bool_]]


@frozen(eq=False)
class Found:
    """An SVM and the labels that it led to.

    Attributes:
        labels: (n,) bool.
        dual: (n,) coefficients of rows.
        intercept: of scores.
        objective: |w|^2 / 2 + C times the sum of hinge losses.
    """

    labels: NDArray[np.bool_] = field()
    dual: NDArray[np.float64] = field()
    intercept: float = field()
    objective: float = field()


class AlternatingSvm(KernelEstimator):
    """An SVM on instances and a guess of their labels in turn, from several random guesses.

    A guess gives each bag its whole count of class 1 (share times size, rounded): to the instances that lose least by
    it. The weight of the loss is raised in five steps from 1 % to all of it, and the smallest objective wins. Source:
    Yu, Liu, Kumar, Jebara and Chang, Proportion-SVM for learning with label proportions, ICML 2013, algorithm 1
    (alter-pSVM), with shares that are met exactly. For two classes. The Gram matrix takes 8 n^2 bytes.

    Args:
        C: inverse strength of regularisation; None is 10 for the RBF and .1 for the linear kernel.
        kernel: "rbf" or "linear" (inner products in units of the mean squared length of rows).
        width: of the RBF kernel: its gamma is the width divided by half the mean squared distance between rows.
        n_starts: random first guesses.
        max_iter: most SVMs trained in each step.
        scaling: see `Scaling`.
        classes: names of the classes; 0 and 1 by default.
        random_state: seed of the first guesses.

    Attributes:
        objective_: of the start that won.
    """

    binary = True
    allowed: ClassVar = {
        **KernelEstimator.allowed,
        "C": validators.optional(validators.positive),
        "n_starts": validators.at_least(1),
        "max_iter": validators.at_least(1),
    }

    def __init__(
        self,
        C: float | None = None,
        kernel: str = "rbf",
        width: float = 0.5,
        n_starts: int = 3,
        max_iter: int = 4,
        scaling: str = "auto",
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.width = width
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.scaling = scaling
        self.classes = classes
        self.random_state = random_state

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Alternate from each start, and keep the best."""
        counts = whole_counts(shares[:, 1], bags)
        self.measure(rows)
        gram = self.gram(rows)
        C = DEFAULT_C[self.kernel] if self.C is None else self.C
        random = check_random_state(self.random_state)

        def relabel(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
            return leading(hinge_gain(scores), bags, counts)

        starts = [leading(random.random_sample(len(gram)), bags, counts) for _ in range(self.n_starts)]
        ends = [alternate(gram, start, relabel, C, self.max_iter) for start in starts]
        best = min(ends, key=lambda found: found.objective)
        self.objective_ = best.objective
        self.remember_rows(rows, best.dual, best.intercept)


def alternate(gram: NDArray[np.float64], labels: NDArray[np.bool_], relabel: Relabel, C: float, most: int) -> Found:
    """Train an SVM and guess labels in turn while the weight of the loss rises.

    Args:
        gram: (n, n).
        labels: (n,) the first guess.
        relabel: returns the best guess for scores (n,).
        C: the last weight of the loss.
        most: SVMs at each weight.
    """
    for step in ANNEALING:
        for _ in range(most):
            found = _trained(gram, labels, relabel, C * step, C)
            settled = (found.labels == labels).all()
            labels = found.labels
            if settled:
                break
    return found


def _trained(gram: NDArray[np.float64], labels: NDArray[np.bool_], relabel: Relabel, weight: float, C: float) -> Found:
    # Without a state SVC moves numpy's global generator.
    svc = bounded_svc(C=weight, kernel="precomputed", random_state=0).fit(gram, labels)
    dual = np.zeros(len(gram))
    dual[svc.support_] = svc.dual_coef_[0]
    fitted = gram @ dual
    scores = fitted + svc.intercept_[0]
    labels = relabel(scores)
    hinge = np.maximum(0, 1 - np.where(labels, scores, -scores)).sum()
    return Found(labels, dual, float(svc.intercept_[0]), float(dual @ fitted / 2 + C * hinge))


def hinge_gain(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the hinge loss gains when an instance is called class 1 rather than 0; ties go by score."""
    return np.maximum(0, 1 + scores) - np.maximum(0, 1 - scores) + 1e-9 * scores


def leading(values: NDArray[np.float64], bags: Bags, counts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark in each bag as many of the largest values as it has counts.

    Args:
        values: (n,).
        bags: with an ascending index.
        counts: (B,).
    """
    order = np.lexsort((-values, bags.index))
    rank = np.arange(len(values)) - bags.spread(np.cumsum(bags.sizes) - bags.sizes)
    marked = np.zeros(len(values), dtype=bool)
    marked[order] = rank < bags.spread(counts)
    return marked


def whole_counts(shares: NDArray[np.float64], bags: Bags) -> NDArray[np.intp]:
    """Return how many instances of each bag are of class 1.

    Raises:
        DataError: if after rounding only one class is left.
    """
    counts = np.round(shares * bags.sizes).astype(np.intp)
    if counts.sum() in (0, bags.n_rows):
        raise DataError(
            "AlternatingSvm needs whole counts, and the shares of all bags round to instances of one class only; use "
            "larger bags, or a baseline that takes shares as they are (proportion-matching)."
        )
    return counts
