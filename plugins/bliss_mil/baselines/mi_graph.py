"""An SVM on the miGraph kernel: instances of a bag that are alike count as one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Rows, bounded_svc, check_settings, in_own_order, kernel_blocks, validators
from bliss_mil.bag_head.pair_sums import ExactPairs, WeighedBags, graph_weights
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.row_kernels import TOLERANCE


class MiGraphSvm(WholeBagScorer):
    """An SVM on the miGraph kernel: the mean kernel of pairs of instances, where many like instances count as one.

        K(B, B') = sum of w_x w_x' k(x, x') over x in B, x' in B' / (sum of w_x * sum of w_x')
        k(x, x') = exp(-gamma |x - x'|^2)

    w_x is 1 over the number of instances of x's bag, x among them, that are no farther from x than instances of the bag
    are on average. An instance is a bag of one. Source: Zhou, Sun and Li, Multi-instance learning by treating instances
    as non-i.i.d. samples, ICML 2009; settings were chosen on twelve sets that are not those of the paper's table.

    Args:
        C: inverse strength of regularisation.
        width: gamma times the total variance of the scaled rows, which is half their mean squared distance.
        scaling: see `Scaling`; learnt on instances.
        positive_label: which weak label means positive, where it is not plain.
    """

    def __init__(
        self, C: float = 10.0, width: float = 0.5, scaling: str = "clipped", positive_label: Any = None
    ) -> None:
        self.C = C
        self.width = width
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "MiGraphSvm":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        check_settings(self, C=validators.positive, width=validators.positive)
        rows, grouped, weak, _ = in_own_order(*self.learn(X, y, bags))
        self.gamma_ = Rows(rows).gamma_by_distance(self.width)
        own = shared_weights(rows, grouped, self.gamma_)
        svc = bounded_svc(C=self.C, kernel="precomputed", tol=TOLERANCE["rbf"]).fit(
            graph_kernel(own, own, self.gamma_), weak
        )
        # scikit-learn lists support vectors by class, and bags must ascend.
        by_bag = np.argsort(svc.support_)
        kept = grouped.rows_of(svc.support_)
        self.support_rows_, self.support_weights_ = rows[kept], own.weights[0, kept]
        self.support_index_ = np.searchsorted(svc.support_[by_bag], grouped.index[kept])
        self.weights_ = svc.dual_coef_[0, by_bag]
        self.intercept_ = float(svc.intercept_[0])
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d): (B,), positive above 0."""
        order = np.argsort(bags.index, kind="stable")
        own = shared_weights(rows[order], Bags.from_ids(bags.index[order]), self.gamma_)
        support = WeighedBags(self.support_rows_, Bags.from_ids(self.support_index_), self.support_weights_[None])
        return np.asarray(graph_kernel(own, support, self.gamma_) @ self.weights_ + self.intercept_)


def shared_weights(rows: Any, bags: Bags, gamma: float) -> WeighedBags:
    """Weigh rows by the graph of their bag, so that the weights of a bag add up to 1.

    Args:
        rows: (n, d) array or CSR matrix; those of a bag are beside each other, in the order of bags.
        bags: their bags.
        gamma: gives distances their scale, which does not matter.
    """
    weights = graph_weights(rows, bags, gamma)
    return WeighedBags(rows, bags, (weights / bags.spread(bags.sum(weights)))[None])


def graph_kernel(some: WeighedBags, others: WeighedBags, gamma: float) -> NDArray[np.float64]:
    """Add up weighted RBF kernels over all pairs of rows of two bags: (B, B').

    Bags are taken some at a time, because the comparison also holds a number for each bag and row of the others.
    """
    pairs = ExactPairs(others, gamma)
    starts = np.cumsum(some.bags.sizes) - some.bags.sizes
    parts = []
    for block in kernel_blocks(some.bags.n_bags, others.bags.n_rows):
        chosen = np.arange(some.bags.n_bags)[block]
        rows = slice(starts[chosen[0]], starts[chosen[-1]] + some.bags.sizes[chosen[-1]])
        own = WeighedBags(some.rows[rows], Bags.from_ids(some.bags.index[rows]), some.weights[:, rows])
        parts.append(pairs.compare(own)[1][0])
    return np.concatenate(parts)
