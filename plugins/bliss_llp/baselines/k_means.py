"""Clusters of rows, and the class of each cluster from the shares of bags."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from bliss_framework.plugin import Bags, validators
from bliss_llp.baselines.proportion_estimator import ProportionEstimator


class LlpKMeans(ProportionEstimator):
    """k-means on rows, then shares of the classes in each cluster by least squares on bags.

    The shares of a bag are taken for the mean shares of its rows' clusters. Source: after Chen, Liu, Qian and Zhang,
    Kernel k-means based framework for aggregate outputs classification, ICDM Workshops 2009, here with plain k-means.

    Args:
        n_clusters: None is four for each class.
        ridge: pulls the shares of each cluster to those of all rows, beside a squared loss in which each row counts 1.
        n_init: starts of k-means.
        scaling: see `Scaling`.
        classes: names of the classes; 0, 1, ... by default.
        random_state: seed of k-means.

    Attributes:
        cluster_shares_: (K, C) shares of the classes in each cluster.
        k_means_: the clusters.
    """

    allowed: ClassVar = {
        "n_clusters": validators.optional(validators.at_least(2)),
        "ridge": validators.positive,
        "n_init": validators.at_least(1),
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        ridge: float = 1.0,
        n_init: int = 10,
        scaling: str = "auto",
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.ridge = ridge
        self.n_init = n_init
        self.scaling = scaling
        self.classes = classes
        self.random_state = random_state

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Find clusters, then their shares."""
        wanted = 4 * shares.shape[1] if self.n_clusters is None else self.n_clusters
        n_clusters = min(wanted, rows.shape[0])
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self.k_means_ = KMeans(n_clusters, n_init=self.n_init, random_state=seed).fit(rows)
        histograms = bags.mean(np.eye(n_clusters)[self.k_means_.labels_])
        self.cluster_shares_ = cluster_shares(histograms, shares, bags.sizes, self.ridge)

    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,) for two classes, positive for class 1, else (n, C)."""
        shares = self.cluster_shares_[self.k_means_.predict(rows)]
        return np.asarray(shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares)


def cluster_shares(
    histograms: NDArray[np.float64], shares: NDArray[np.float64], sizes: NDArray[np.intp], ridge: float
) -> NDArray[np.float64]:
    """Solve shares of bags = histograms @ shares of clusters by non-negative least squares.

    Args:
        histograms: (B, K) the part of each bag that is in each cluster.
        shares: (B, C) shares of the classes in bags.
        sizes: (B,) rows of the bags, their weights.
        ridge: weight of the shares of all rows, as a guess for each cluster.

    Returns:
        (K, C) shares of the classes in clusters, each row summing to 1.
    """
    root = np.sqrt(sizes)[:, None]
    overall = sizes @ shares / sizes.sum()
    pull = np.sqrt(ridge) * np.eye(histograms.shape[1])
    left = np.vstack([root * histograms, pull])
    right = np.vstack([root * shares, pull.sum(axis=1)[:, None] * overall])
    found = np.stack([nnls(left, column)[0] for column in right.T], axis=1)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
