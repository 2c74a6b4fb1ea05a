"""What label inference teaches the networks that read bags of binary MIL, and whether they are asked.

Instance i is taught the chance that it is a witness, by scores of classifiers that have not seen its bag,

    t_i = max(0, (P(s_i) - q) / (1 - q)) in positive bags, else 0,

with P the logistic curve that tells instances of positive bags from others by their score, and q their share. Among
rows that say nothing P is q, so they are taught nothing.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from bliss_framework.plugin import Bags, BinaryReading, WeakLabels


def has_few_witnesses(scores: NDArray[np.float64], bags: Bags, weak: WeakLabels) -> bool:
    """Say whether few instances of positive bags score as positive, as `BinaryReading` has it.

    Args:
        scores: (n,) of instances, out of fold.
        bags: of the instances.
        weak: labels of the bags.
    """
    reading, inherit = BinaryReading(), bags.spread(weak.values == 1)
    above = scores > reading.instance_threshold(scores, bags, weak, None)
    return bool(above[inherit].mean() < reading.few_witnesses)


def taught_shares(scores: NDArray[np.float64], inherit: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the chance (n,) that an instance is a witness; see the formula above.

    Args:
        scores: (n,) of instances, out of fold.
        inherit: (n,) whether the bag is positive.

    >>> shares = taught_shares(np.array([0.0, 0.1, 0.2, 0.0, 0.1, 5.0]), np.array([0, 0, 0, 1, 1, 1], dtype=bool))
    >>> [round(float(one)) for one in shares]
    [0, 0, 0, 0, 0, 1]
    """
    column, share = scores[:, None], inherit.mean()
    chance = LogisticRegression(C=1000.0).fit(column, inherit).predict_proba(column)[:, 1]
    return np.where(inherit, np.maximum(0.0, (chance - share) / (1 - share)), 0.0)
