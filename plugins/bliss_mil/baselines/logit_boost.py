"""LogitBoost with decision stumps, all attributes and cuts of a round at once."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

# A bag that is called right with certainty would have no weight, and one that is called wrong would have too much say.
SMALLEST_WEIGHT = 1e-6
LARGEST_RESPONSE = 3.0
# Gains that differ by less are equal: the same split by another attribute differs in last bits.
SLACK = 1e-10

Stumps = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]


def boost(values: NDArray[np.float64], labels: NDArray[np.intp], n_rounds: int) -> Stumps:
    """Learn a sum of stumps that is the log-odds of class 1.

    In each round a stump is fitted by weighted least squares to the working responses of logistic regression. Source:
    Friedman, Hastie and Tibshirani, Additive logistic regression: a statistical view of boosting, Annals of Statistics
    28 (2000), algorithm 3.

    Args:
        values: (B, A) attributes.
        labels: (B,) 0 or 1.
        n_rounds: stumps R.

    Returns:
        Of each stump the attribute (R,), the cut (R,), and what it adds up to the cut and above it (2, R).
    """
    splits = Splits.of(values)
    log_odds = np.zeros(len(values))
    stumps = []
    for _ in range(n_rounds):
        chance = 1.0 / (1.0 + np.exp(-log_odds))
        weights = np.maximum(chance * (1.0 - chance), SMALLEST_WEIGHT)
        responses = np.clip((labels - chance) / weights, -LARGEST_RESPONSE, LARGEST_RESPONSE)
        attribute, cut, below, above = splits.best(weights, responses)
        log_odds += np.where(values[:, attribute] > cut, above, below)
        stumps.append((attribute, cut, below, above))
    attributes, cuts, *steps = np.array(stumps).T
    return attributes.astype(np.intp), cuts, np.stack(steps)


@frozen(eq=False)
class Splits:
    """All ways to cut rows in two by one attribute.

    Attributes:
        order: (B, A) the rows in ascending order of each attribute.
        cuts: (B - 1, A) the values half-way between neighbours in that order.
        possible: (B - 1, A) where neighbours differ.
    """

    order: NDArray[np.intp] = field()
    cuts: NDArray[np.float64] = field()
    possible: NDArray[np.bool_] = field()

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Splits":
        """Sort the rows by each attribute (B, A)."""
        order = np.argsort(values, axis=0, kind="stable")
        ascending = np.take_along_axis(values, order, axis=0)
        return cls(order, (ascending[1:] + ascending[:-1]) / 2.0, ascending[1:] > ascending[:-1])

    def best(self, weights: NDArray[np.float64], responses: NDArray[np.float64]) -> tuple[int, float, float, float]:
        """Find the stump with the least weighted squared error: attribute, cut, and its values up to it and above.

        Among equally good ones it is the one of the first attribute, and there the lowest cut. Where nothing can be cut
        it is a constant.

        Args:
            weights, responses: (B,) of the rows.
        """
        total, sum_of_all = weights.sum(), (weights * responses).sum()
        if not self.possible.any():
            return 0, 0.0, sum_of_all / total, sum_of_all / total
        below = np.cumsum(weights[self.order], axis=0)[:-1]
        sums = np.cumsum((weights * responses)[self.order], axis=0)[:-1]
        gains = sums**2 / below + (sum_of_all - sums) ** 2 / np.maximum(total - below, SMALLEST_WEIGHT / 2)
        gains = np.where(self.possible, gains, -np.inf).T
        attribute, at = np.unravel_index(np.argmax(gains >= gains.max() * (1.0 - SLACK)), gains.shape)
        left, left_sum = below[at, attribute], sums[at, attribute]
        values = left_sum / left, (sum_of_all - left_sum) / (total - left)
        return int(attribute), float(self.cuts[at, attribute]), float(values[0]), float(values[1])
