"""Bags of this regime: pairs that agree or differ, and single instances of a known class."""

import numpy as np

from bliss_framework.plugin import Bags

NEGATIVE, POSITIVE, AGREE, DIFFER = 0, 1, 2, 3
NAMES = {"negative": NEGATIVE, "positive": POSITIVE, "agree": AGREE, "differ": DIFFER}


def met(classes: np.ndarray, bags: Bags, weak: np.ndarray) -> np.ndarray:
    """Say for each bag whether classes (n,) of 0 and 1 meet its weak label: (B,) bool."""
    n_positive = bags.sum(classes)
    agree = (n_positive == 0) | (n_positive == bags.sizes)
    return np.select([weak == AGREE, weak == DIFFER], [agree, ~agree], default=(n_positive > 0) == (weak == POSITIVE))
