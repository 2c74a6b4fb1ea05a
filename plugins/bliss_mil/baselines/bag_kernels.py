"""SVMs on bags as a whole: the normalised set kernel, and the smallest and largest values of a bag."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Rows, bounded_svc, check_settings, in_own_order, validators
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.row_kernels import TOLERANCE, kernel_matrix, positive_or_scale, rbf_gamma, reduced_blocks
from bliss_mil.baselines.row_order import contiguous, first_rows


class SetKernelSvm(WholeBagScorer):
    """An SVM with the normalised set kernel: the sum of the kernels of all pairs of instances of two bags.

    K(B, B') is the sum of k(x, x')^p over x in B and x' in B', divided by sqrt(K(B, B) K(B', B')); k is the RBF kernel.
    An instance is a bag of one. Source: Gaertner, Flach, Kowalczyk and Smola, Multi-instance kernels, ICML 2002.

    Args:
        C: inverse strength of regularisation.
        gamma: of k(x, z) = exp(-gamma |x - z|^2) between scaled rows; "scale" is 1 / (d var), as in scikit-learn's
            `SVC`.
        power: p, an integer; with the RBF kernel it multiplies gamma.
        scaling: see `Scaling`; learnt on instances.
        positive_label: which weak label means positive, where it is not plain.
    """

    def __init__(
        self,
        C: float = 100.0,
        gamma: float | str = "scale",
        power: int = 1,
        scaling: str = "auto",
        positive_label: Any = None,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.power = power
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "SetKernelSvm":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, C=validators.positive, gamma=positive_or_scale, power=validators.at_least(1))
        rows, grouped, weak, _ = in_own_order(*self.learn(X, y, bags))
        self.gamma_ = self.power * rbf_gamma(rows, self.gamma)
        sums = summed_kernel(rows, grouped.index, rows, grouped.index, self.gamma_)
        norms = np.sqrt(np.diag(sums))
        svc = bounded_svc(C=self.C, kernel="precomputed", tol=TOLERANCE["rbf"]).fit(sums / norms[:, None] / norms, weak)
        # scikit-learn lists support vectors by class, and bags must ascend.
        by_bag = np.argsort(svc.support_)
        kept = svc.support_[by_bag]
        self.support_rows_, self.support_index_ = _rows_kept(rows, grouped, kept)
        self.weights_ = svc.dual_coef_[0, by_bag] / norms[kept]
        self.intercept_ = float(svc.intercept_[0])
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""
        rows, index = contiguous(rows, bags)
        sums = summed_kernel(rows, index, self.support_rows_, self.support_index_, self.gamma_)
        return np.asarray(sums @ self.weights_ / self_norms(rows, index, self.gamma_) + self.intercept_)


def summed_kernel(
    rows: Any, index: NDArray[np.intp], others: Any, other_index: NDArray[np.intp], gamma: float
) -> NDArray[np.float64]:
    """Sum RBF kernels over all pairs of rows of two bags: (B, B').

    Args:
        rows, others: (n, d) and (m, d) arrays or CSR matrices; the rows of a bag are together.
        index, other_index: (n,) and (m,) the bag of each row, ascending.
        gamma: of the kernel.
    """
    starts = first_rows(other_index)
    sums = np.zeros((index[-1] + 1, len(starts)))
    for bags, values in reduced_blocks(np.add, rows, index, others, gamma):
        sums[bags] += np.add.reduceat(values, starts, axis=1)
    return sums


def self_norms(rows: Any, index: NDArray[np.intp], gamma: float) -> NDArray[np.float64]:
    """Return the square root (B,) of each bag's summed kernel with itself; rows as in `summed_kernel`."""
    starts = first_rows(index)
    sizes = np.diff(starts, append=len(index))
    # The kernel of a row with itself is 1, and to score instances is to score many bags of one.
    sums = np.ones(len(starts))
    for bag in np.flatnonzero(sizes > 1):
        own = rows[starts[bag] : starts[bag] + sizes[bag]]
        sums[bag] = kernel_matrix(own, own, "rbf", gamma).sum()
    return np.sqrt(sums)


def _rows_kept(rows: Any, bags: Bags, kept: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
    chosen = bags.rows_of(kept)
    return rows[chosen], np.searchsorted(kept, bags.index[chosen])


class MinMaxSvm(WholeBagScorer):
    """An RBF SVM on the smallest and the largest value of each column in a bag, side by side.

    An instance is a bag of one. In sparse rows values that are not stored count as 0. Source: the minimax kernel of
    Gaertner, Flach, Kowalczyk and Smola, Multi-instance kernels, ICML 2002, with an RBF instead of a polynomial
    kernel.

    Args:
        C: inverse strength of regularisation.
        gamma: of exp(-gamma |a - b|^2) between the rows of bags (2 d columns); "scale" is 1 / (2 d var), as in
            scikit-learn's `SVC`.
        scaling: see `Scaling`; learnt on instances.
        positive_label: which weak label means positive, where it is not plain.
    """

    def __init__(
        self, C: float = 10.0, gamma: float | str = "scale", scaling: str = "auto", positive_label: Any = None
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "MinMaxSvm":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, C=validators.positive, gamma=positive_or_scale)
        rows, grouped, weak, _ = in_own_order(*self.learn(X, y, bags))
        self.svc_ = bounded_svc(C=self.C, gamma=self.gamma, tol=TOLERANCE["rbf"]).fit(
            Rows(rows).bag_extremes(grouped).array, weak
        )
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""
        return np.asarray(self.svc_.decision_function(Rows(rows).bag_extremes(bags).array))
