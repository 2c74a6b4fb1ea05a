"""Kernels between whole bags: by their extremes, their pairs of instances, their nearness, and what labels say.

Distances are in units of the total variance of the training rows (or of what stands for the training bags), and the
width g is 1/2 throughout:

    k(x, x') = exp(-g |x - x'|^2 / v)
    K1 = exp(-g |e_B - e_B'|^2 / v_e)        e_B = smallest and largest value of each column (Gaertner et al., 2002)
    K2 = normalised sum of k over all pairs                                     the set kernel (the same paper)
    K3 = exp(-g |m_B - m_B'|^2 / v_m)        m_B = nearness to each training row (MILES, Chen et al., 2006)
    K4 = normalised sum of w_x w_x' k        w = graph weights (miGraph, Zhou et al., 2009)
    whole = (K1 + K2 + K3 + K4) / 4

and for each kind u of instance scores

    p_x = exp(2 u_x) / sum over B of exp(2 u)                                   how likely x is the witness of its bag
    K5 = normalised sum of p_x p_x' k        K6 = exp(-g |c_B - c_B'|^2 / v_p),   c_B = sum of p_x x
    K7 = exp(-g |q_B - q_B'|^2 / 5)          q_B = [max, mean, log-mean-exp(2 u) / 2, min, mean of the two largest]
    informed = (4 whole + 2 K5 + 2 K6 + 4 K7) / 12,                             K5 to K7 averaged over u

Both are averages over the scalings of rows, where there are several.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BagEvidence, Bags, Rows
from bliss_mil.bag_head.pair_sums import ExactPairs, LandmarkPairs, WeighedBags, graph_weights, pairs_of

WIDTH = 0.5
SURENESS = 2.0  # Of witnesses: how much more likely an instance is whose score is one deviation higher.
MOST_EXACT = 8000  # Rows up to which all pairs are compared.
N_LANDMARKS = 1000


@frozen(eq=False)
class Vectors:
    """What stands for each training bag in an RBF kernel, in units of its own total variance.

    Attributes:
        vectors: (B, m) array or CSR matrix.
        unit: total variance.
    """

    vectors: Any = field()
    unit: float = field()

    @classmethod
    def of(cls, vectors: Any, unit: float | None = None) -> "Vectors":
        """Keep vectors, with their own variance or a unit that is known."""
        return cls(vectors, total_variance(vectors) if unit is None else unit)

    def kernel(self, others: Any) -> NDArray[np.float64]:
        """Compare other bags with those of training: (B', B)."""
        return np.exp(-WIDTH / self.unit * squared_distances(others, self.vectors))


@frozen(eq=False)
class BagKernels:
    """The training bags, as other bags are compared with them.

    Attributes:
        pairs: sums over pairs of instances.
        norms: (k, B) roots of the sums of training bags with themselves.
        variance: total variance of the training rows.
        extremes, nearness: what K1 and K3 compare.
        centres, profiles: what K6 and K7 compare, for each kind of instance scores.
        means, units: of the columns of each profile.
    """

    pairs: ExactPairs | LandmarkPairs = field()
    norms: NDArray[np.float64] = field()
    variance: float = field()
    extremes: Vectors = field()
    nearness: Vectors = field()
    centres: tuple[Vectors, ...] = field()
    profiles: tuple[Vectors, ...] = field()
    means: NDArray[np.float64] = field()
    units: NDArray[np.float64] = field()


@frozen(eq=False)
class Grams:
    """Kernels (B', B) between some bags and those of training."""

    whole: NDArray[np.float64] = field()
    informed: NDArray[np.float64] = field()


def mean_of(grams: Sequence[Grams]) -> Grams:
    """Average kernels of rows that were scaled in several ways."""
    return Grams(*(np.mean([getattr(one, name) for one in grams], axis=0) for name in ("whole", "informed")))


def learnt(evidence: BagEvidence) -> tuple[BagKernels, Grams]:
    """Learn all units on the training bags, and compare these with one another."""
    rows, bags, scores = evidence.rows.array, evidence.bags, evidence.instance_scores
    variance = total_variance(rows)
    own = _weighed(rows, bags, scores, WIDTH / variance)
    pairs = pairs_of(own, WIDTH / variance, N_LANDMARKS, MOST_EXACT)
    near, sums = pairs.compare(own)
    norms = np.sqrt(pairs.within(own))
    profiles = [profile(one, bags) for one in scores]
    means = np.array([one.mean(axis=0) for one in profiles])
    units = np.array([np.where(one.std(axis=0) > 0, one.std(axis=0), 1.0) for one in profiles])
    kernels = BagKernels(
        pairs,
        norms,
        variance,
        Vectors.of(evidence.rows.bag_extremes(bags).array),
        Vectors.of(near),
        tuple(Vectors.of(one) for one in _centres(own)),
        tuple(
            Vectors.of((one - mean) / unit, float(one.shape[1]))
            for one, mean, unit in zip(profiles, means, units, strict=True)
        ),
        means,
        units,
    )
    return kernels, _grams(kernels, evidence, own, near, sums, norms)


def compared(kernels: BagKernels, evidence: BagEvidence) -> Grams:
    """Compare other bags with those of training."""
    own = _weighed(evidence.rows.array, evidence.bags, evidence.instance_scores, WIDTH / kernels.variance)
    near, sums = kernels.pairs.compare(own)
    return _grams(kernels, evidence, own, near, sums, np.sqrt(kernels.pairs.within(own)))


def _grams(
    kernels: BagKernels,
    evidence: BagEvidence,
    own: WeighedBags,
    near: NDArray[np.float64],
    sums: NDArray[np.float64],
    norms: NDArray[np.float64],
) -> Grams:
    tiny = np.finfo(np.float64).tiny
    sets = sums / np.maximum(norms[:, :, None] * kernels.norms[:, None, :], tiny)
    extremes = kernels.extremes.kernel(evidence.rows.bag_extremes(evidence.bags).array)
    whole = (extremes + sets[0] + kernels.nearness.kernel(near) + sets[1]) / 4.0
    centres = [one.kernel(centre) for one, centre in zip(kernels.centres, _centres(own), strict=True)]
    scores = zip(kernels.profiles, evidence.instance_scores, kernels.means, kernels.units, strict=True)
    profiles = [one.kernel((profile(own, evidence.bags) - mean) / unit) for one, own, mean, unit in scores]
    said = 2.0 * np.mean(sets[2:], axis=0) + 2.0 * np.mean(centres, axis=0) + 4.0 * np.mean(profiles, axis=0)
    return Grams(whole, (4.0 * whole + said) / 12.0)


def _weighed(rows: Any, bags: Bags, scores: tuple[NDArray[np.float64], ...], gamma: float) -> WeighedBags:
    """Weigh rows alike, by the graph of their bag, and by how likely each kind of scores makes them witnesses."""
    weights = [np.ones(bags.n_rows), graph_weights(rows, bags, gamma), *(witness_weights(one, bags) for one in scores)]
    return WeighedBags(rows, bags, np.array(weights))


def witness_weights(scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Return how likely each instance (n,) is the witness of its bag: they add up to 1 in a bag.

    >>> witness_weights(np.array([0.0, 0.0, 5.0]), Bags.from_ids([7, 7, 3])).tolist()
    [0.5, 0.5, 1.0]
    """
    chances = np.exp(SURENESS * (scores - bags.spread(bags.max(scores))))
    return np.asarray(chances / bags.spread(bags.sum(chances)))


def profile(scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Describe the scores of each bag by five numbers: (B, 5), q_B above.

    >>> profile(np.array([1.0, 3.0]), Bags.from_ids([7, 7])).round(2).tolist()
    [[3.0, 2.0, 2.66, 1.0, 2.0]]
    """
    largest = bags.max(scores)
    lift = bags.mean(np.exp(2.0 * (scores - bags.spread(largest))))
    order = np.lexsort((-scores, bags.index))
    rank = np.arange(bags.n_rows) - (np.cumsum(bags.sizes) - bags.sizes)[bags.index[order]]
    top = order[rank < 2]
    two = np.bincount(bags.index[top], scores[top]) / np.minimum(bags.sizes, 2)
    return np.stack([largest, bags.mean(scores), largest + np.log(lift) / 2.0, bags.min(scores), two], axis=1)


def _centres(weighed: WeighedBags) -> list[Any]:
    """Return the mean row of each bag, weighted by witness weights: one (B, d) array or CSR matrix for each of them."""
    return [add @ weighed.rows for add in weighed.sums()[2:]]


def total_variance(vectors: Any) -> float:
    """Return the sum of the variances of all columns of (n, d); 1 where nothing varies."""
    variance = float(Rows(vectors).column_variances().sum())
    return variance if variance > 1e-12 else 1.0


def squared_distances(some: Any, others: Any) -> NDArray[np.float64]:
    """Return squared distances (b, c) between vectors (b, d) and (c, d), dense or sparse."""
    products = some @ others.T
    products = np.asarray(products.todense() if sp.issparse(products) else products)
    norms = Rows(some).squared_norms()[:, None] + Rows(others).squared_norms()[None, :]
    return np.maximum(norms - 2.0 * products, 0.0)
