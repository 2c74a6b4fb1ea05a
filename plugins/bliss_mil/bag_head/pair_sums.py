"""Weighted sums of kernels over all pairs of instances of two bags: exactly, or by way of landmarks.

    S_w(B, B') = sum over x in B, x' in B' of w_x w_x' k(x, x')            k(x, x') = exp(-gamma |x - x'|^2)

Both ways also say how near a bag comes to each of some rows, m(B, x_j) = max over x in B of k(x, x_j): those of
training, or landmarks.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Landmarks, Rows, kernel_blocks, rbf_kernel

WHOLE_BAGS = 512  # Rows that are compared with one another at a time; more where a bag has more.


@frozen(eq=False)
class WeighedBags:
    """Rows that count more or less.

    Attributes:
        rows: (n, d) array or CSR matrix; those of a bag are beside each other, in the order of bags.
        bags: their bags.
        weights: (k, n) one or more weights of each row.
    """

    rows: Any = field()
    bags: Bags = field()
    weights: NDArray[np.float64] = field()

    def sums(self) -> list[Any]:
        """Return for each weight the sparse matrix (B, n) that adds weighted rows up."""
        places = (self.bags.index, np.arange(self.bags.n_rows))
        shape = (self.bags.n_bags, self.bags.n_rows)
        return [sp.csr_matrix((own, places), shape=shape) for own in self.weights]


@frozen(eq=False)
class ExactPairs:
    """Sums over all pairs of rows; it takes time and no memory that grows with the number of pairs.

    Attributes:
        training: the bags that all others are compared with.
        gamma: of the kernel.
    """

    training: WeighedBags = field()
    gamma: float = field()

    def compare(self, others: WeighedBags) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the nearness (B', n) of bags to the training rows, and weighted sums (k, B', B)."""
        adding = self.training.sums()
        index = others.bags.index
        near = np.zeros((others.bags.n_bags, self.training.bags.n_rows))
        sums = np.zeros((len(adding), others.bags.n_bags, self.training.bags.n_bags))
        for block in kernel_blocks(len(index), self.training.bags.n_rows):
            values = rbf_kernel(others.rows[block], self.training.rows, self.gamma)
            heads = np.flatnonzero(np.diff(index[block], prepend=-1))
            own = index[block][heads]
            # A bag that is cut by a block comes twice.
            near[own] = np.maximum(near[own], np.maximum.reduceat(values, heads, axis=0))
            for number, add in enumerate(adding):
                summed = (add @ values.T).T * others.weights[number, block, None]
                sums[number, own] += np.add.reduceat(summed, heads, axis=0)
        return near, sums

    def within(self, others: WeighedBags) -> NDArray[np.float64]:
        """Return the weighted sums (k, B') of bags with themselves."""
        sums = np.zeros((len(others.weights), others.bags.n_bags))
        for place, kernel, same in blocks_within(others.rows, others.bags, self.gamma):
            values = np.where(same, kernel, 0.0)
            for own, weights in zip(sums, others.weights[:, place], strict=True):
                own += np.bincount(others.bags.index[place], weights * (values @ weights), minlength=others.bags.n_bags)
        return sums


@frozen(eq=False)
class LandmarkPairs:
    """The same sums between features of rows, which take time that grows with the number of rows.

    Attributes:
        training: (k, B, p) sums of the features of the training bags.
        landmarks: that make features.
    """

    training: NDArray[np.float64] = field()
    landmarks: Landmarks = field()

    def compare(self, others: WeighedBags) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the nearness (B', r) of bags to the landmarks, and weighted sums (k, B', B)."""
        near, features = self._embedded(others)
        return near, np.einsum("kbp,kcp->kbc", features, self.training)

    def within(self, others: WeighedBags) -> NDArray[np.float64]:
        """Return the weighted sums (k, B') of bags with themselves."""
        return np.asarray((self._embedded(others)[1] ** 2).sum(axis=2))

    def _embedded(self, others: WeighedBags) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return embedded(others, self.landmarks)


def embedded(bags: WeighedBags, landmarks: Landmarks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nearness (B, r) of bags to landmarks, and the weighted sums (k, B, p) of features of their rows."""
    index, n_bags = bags.bags.index, bags.bags.n_bags
    near = np.zeros((n_bags, landmarks.rows.shape[0]))
    sums = np.zeros((len(bags.weights), n_bags, landmarks.n_features))
    for block in kernel_blocks(len(index), landmarks.rows.shape[0]):
        values = rbf_kernel(bags.rows[block], landmarks.rows, landmarks.gamma)
        heads = np.flatnonzero(np.diff(index[block], prepend=-1))
        own = index[block][heads]
        near[own] = np.maximum(near[own], np.maximum.reduceat(values, heads, axis=0))
        features = values @ landmarks.basis
        for number, weights in enumerate(bags.weights[:, block]):
            sums[number, own] += np.add.reduceat(features * weights[:, None], heads, axis=0)
    return near, sums


def blocks_within(
    rows: Any, bags: Bags, gamma: float
) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.bool_]]]:
    """Yield runs of whole bags, the kernel (b, b) between their rows, and which pairs are of one bag.

    Args:
        rows: (n, d) array or CSR matrix; those of a bag are beside each other, in the order of bags.
        bags: their bags.
        gamma: of the kernel.
    """
    ends = np.cumsum(bags.sizes)
    start = 0
    while start < bags.n_rows:
        fitting = np.searchsorted(ends, start + WHOLE_BAGS, side="right")
        stop = int(ends[max(fitting - 1, np.searchsorted(ends, start, side="right"))])
        place = slice(start, stop)
        own = bags.index[place]
        yield place, rbf_kernel(rows[place], rows[place], gamma), own[:, None] == own[None, :]
        start = stop


def graph_weights(rows: Any, bags: Bags, gamma: float) -> NDArray[np.float64]:
    """Weigh each row (n,) by 1 / the number of rows of its bag that are no farther than is usual in the bag.

    So many like instances count as one. Source: Zhou, Sun and Li, Multi-instance learning by treating instances as
    non-i.i.d. samples, ICML 2009 (miGraph).

    Args:
        rows, bags, gamma: as in `blocks_within`; gamma gives distances their scale, which does not matter.
    """
    weights = np.empty(bags.n_rows)
    for place, kernel, same in blocks_within(rows, bags, gamma):
        distances = np.sqrt(np.maximum(-np.log(np.maximum(kernel, np.finfo(float).tiny)), 0.0))
        n_same = same.sum(axis=1)
        of_row = np.where(same, distances, 0.0).sum(axis=1)
        own = bags.index[place] - bags.index[place.start]
        usual = (np.bincount(own, of_row) / np.bincount(own, n_same))[own]
        weights[place] = 1.0 / (same & (distances <= usual[:, None] * (1.0 + 1e-9) + 1e-9)).sum(axis=1)
    return weights


def pairs_of(training: WeighedBags, gamma: float, n_landmarks: int, most_rows: int) -> ExactPairs | LandmarkPairs:
    """Compare with training bags exactly up to some number of rows, and by landmarks above it."""
    if training.bags.n_rows <= most_rows:
        return ExactPairs(training, gamma)
    landmarks = Landmarks.drawn(Rows(training.rows), n_landmarks, gamma, np.random.default_rng(0))
    return LandmarkPairs(embedded(training, landmarks)[1], landmarks)
