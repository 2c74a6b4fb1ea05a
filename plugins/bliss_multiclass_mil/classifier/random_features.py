"""Random Fourier features: a linear classifier on them is nearly one with an RBF kernel.

Source: Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Rows

# The length of every feature row: that of images whose pixels lie in [0, 1], so that one penalty suits both.
LENGTH = 10.0


@frozen(eq=False)
class RandomFeatures:
    """LENGTH * sqrt(2 / D) * cos(directions x + phases).

    Attributes:
        directions: (d, D).
        phases: (D,).
    """

    directions: NDArray[np.floating] = field()
    phases: NDArray[np.floating] = field()

    @classmethod
    def drawn(cls, rows: Any, n_features: int, width: float, rng: np.random.Generator) -> "RandomFeatures":
        """Draw features for the kernel exp(-gamma |x - z|^2).

        Args:
            rows: (n, d) training rows.
            n_features: D.
            width: gamma in units of 1 / (half the mean squared distance between rows), as in `kernel-ridge`.
            rng: draws the same features from the same state.
        """
        gamma = width / max(Rows(rows).total_variance(), 1e-12)
        directions = rng.normal(0.0, np.sqrt(2 * gamma), (rows.shape[1], n_features))
        phases = rng.uniform(0.0, 2 * np.pi, n_features)
        return cls(directions.astype(rows.dtype), phases.astype(rows.dtype))

    def of(self, rows: Any) -> NDArray[np.floating]:
        """Return the features (n, D) of rows (n, d), at the precision of the rows."""
        angles = np.asarray(rows @ self.directions.astype(rows.dtype))
        angles += self.phases.astype(rows.dtype)
        np.cos(angles, out=angles)
        angles *= angles.dtype.type(LENGTH * np.sqrt(2.0 / len(self.phases)))
        return angles
