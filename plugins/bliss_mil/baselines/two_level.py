"""TLC: a tree divides the space of instances, and boosted stumps look at how many of a bag fall into each part."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, check_settings, validators
from bliss_mil.baselines.bag_classifier import WholeBagScorer
from bliss_mil.baselines.instance_tree import Tree, grow
from bliss_mil.baselines.logit_boost import boost
from bliss_mil.baselines.settled_rows import settled
from bliss_mil.baselines.working_columns import learn_columns, on_columns


class TwoLevel(WholeBagScorer):
    """Two-level classification: counts of instances in the nodes of a tree, and LogitBoost on those.

    The tree is one of instances with the label of their bag, in which each bag has the same weight; it splits as C4.5
    does and is not pruned. Each of its nodes, the root among them, is an attribute of a bag: how many of its instances
    reach the node. LogitBoost with decision stumps learns from these. The score is the logarithm of a bag's odds; an
    instance is a bag of one. Source: Weidmann, Frank and Pfahringer, A two-level learning method for generalized
    multi-instance problems, ECML 2003 (without the selection of attributes).

    Args:
        min_leaf: least weight of a leaf, where instances weigh 1 on average.
        n_stumps: rounds of LogitBoost.
        n_components: singular components that wide sparse rows are reduced to; see `learn_columns`.
        scaling: see `Scaling`; units of columns do not matter to a tree, and clipped values are equal for it.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        columns_, tree_cuts_, children_: the tree, on columns that vary in training, after scaling, or on singular
            components; see `Tree`.
        nodes_, cuts_: (R,) of each stump: the node, and the count up to which it says `steps_[0]`.
        steps_: (2, R) what a stump adds to the log-odds of bags up to the cut, and above it.
    """

    def __init__(
        self,
        min_leaf: float = 2.0,
        n_stumps: int = 30,
        n_components: int = 50,
        scaling: str = "standard",
        positive_label: Any = None,
    ) -> None:
        self.min_leaf = min_leaf
        self.n_stumps = n_stumps
        self.n_components = n_components
        self.scaling = scaling
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "TwoLevel":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        one = validators.at_least(1)
        check_settings(self, min_leaf=validators.positive, n_stumps=one, n_components=one)
        scaled, given, labels = self.learn(X, y, bags)
        self.kept_, self.projection_ = learn_columns(scaled, self.n_components)
        rows, grouped, weak = settled(on_columns(scaled, self.kept_, self.projection_), given, labels)
        weights = grouped.spread(grouped.n_rows / grouped.n_bags / grouped.sizes)
        tree = grow(rows, grouped.spread(weak), weights, self.min_leaf)
        # As plain arrays, which a file can hold without code.
        self.columns_, self.tree_cuts_, self.children_ = tree.columns, tree.cuts, tree.children
        counts = tree.counts(rows, grouped, np.arange(len(tree.columns)))
        self.nodes_, self.cuts_, self.steps_ = boost(counts, weak, self.n_stumps)
        return self

    def score_grouped(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Score the bags of scaled rows (n, d) by their log-odds: (B,)."""
        dense = on_columns(rows, self.kept_, self.projection_)
        wanted, place = np.unique(self.nodes_, return_inverse=True)
        counts = Tree(self.columns_, self.tree_cuts_, self.children_).counts(dense, bags, wanted)
        said = np.where(counts[:, place] > self.cuts_, self.steps_[1], self.steps_[0])
        return np.asarray(said.sum(axis=1))
