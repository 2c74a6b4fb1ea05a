"""What every descent needs of its rows: their precision, a start, and the length of a safe first step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Rows

SMALL = 1e-3


def with_precision(rows: Any, precision: str) -> Any:
    """Return rows (n, d) as floats of a precision; memory-mapped rows stay on disk, at their own."""
    given = Rows(rows)
    return rows if given.is_mapped and given.dtype.kind == "f" else given.as_type(precision).array


def start(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw small coefficients (L, d + 1): at 0, labels of one group would all be the same."""
    return rng.normal(0.0, SMALL, shape)


def first_step(rows: Any, l2: float) -> float:
    """Return a step, in units of the gradient, that cannot overshoot: the softmax bends no more than |x|^2 / 2."""
    return float(1.0 / (0.5 * (Rows(rows).sum_of_squares() / rows.shape[0] + 1.0) + l2))
