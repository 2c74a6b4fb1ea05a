"""Sums over rows, a block at a time: all that least squares in the primal needs of them.

With rows x of which 1 is a further column, weights w and targets t,

    gram = sum of w x x',    moments = sum of w x t',    outputs = x W

Blocks have a size of their own and are added up in order, so the bits do not depend on who computes them.
"""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.kernel.row_view import PASS_VALUES, RowView, for_passes, numbered_blocks
from bliss_framework.kernel.rows import Rows


def gram(rows: Rows | RowView, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the weighted sum of outer products (d + 1, d + 1); the last row and column belong to the constant 1.

    Args:
        rows: `Rows` (n, d) or a view of them.
        weights: (n,), or None where all rows count alike.

    >>> gram(Rows(np.array([[2.0], [3.0]]))).tolist()
    [[13.0, 5.0], [5.0, 2.0]]
    """
    d = rows.shape[1]
    total = np.zeros((d + 1, d + 1))
    for place, block in numbered_blocks(rows):
        own = np.ones(block.shape[0]) if weights is None else weights[place]
        total[:d, :d] += _dense(block.T @ block) if weights is None else _weighted(block, own)
        total[:d, d] += _sums(block, own[:, None])[:, 0]
        total[d, d] += own.sum()
    total[d, :d] = total[:d, d]
    return total


def moments(rows: Rows | RowView, targets: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the sums of rows times targets (n, T): (d + 1, T); the last row belongs to the constant 1."""
    total = np.zeros((rows.shape[1] + 1, targets.shape[1]))
    for place, block in numbered_blocks(rows, PASS_VALUES):
        total[:-1] += _sums(block, targets[place])
        total[-1] += targets[place].sum(axis=0, dtype=np.float64)
    return total


def outputs(rows: Rows | RowView, coefficients: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return rows times coefficients (d + 1, T): (n, T), in the precision of the rows."""
    found = np.empty((rows.shape[0], coefficients.shape[1]), dtype=rows.dtype)
    slopes, constant = coefficients[:-1].astype(rows.dtype), coefficients[-1].astype(rows.dtype)
    for place, block in numbered_blocks(rows, PASS_VALUES):
        found[place] = block @ slopes
        found[place] += constant
    return found


def _sums(block: Any, targets: NDArray[np.floating]) -> NDArray[Any]:
    return _dense(block.T @ targets.astype(block.dtype, copy=False))


def _weighted(block: Any, weights: NDArray[np.float64]) -> NDArray[Any]:
    return Rows(block).weighted_gram(weights.astype(block.dtype))


def _dense(product: Any) -> NDArray[Any]:
    return np.asarray(product.todense() if sp.issparse(product) else product)


class RowSums(Protocol):
    """What sums over rows: NumPy, or a device that holds them. It is sent to workers, and what it holds is not."""

    def held(self, rows: Rows | RowView) -> Any:
        """Return rows (n, d) in the form that the other methods take, for many passes over them.

        It has `take(rows)` for positions, and a `dtype` in which targets are made.
        """

    def gram(self, held: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the weighted sum of outer products (d + 1, d + 1), as `gram`."""

    def moments(self, held: Any, targets: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the sums of rows times targets (n, T): (d + 1, T), as `moments`."""

    def outputs(self, held: Any, coefficients: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return rows times coefficients (d + 1, T): (n, T), as `outputs`."""


@frozen
class NumpySums:
    """The sums of this module."""

    def held(self, rows: Rows | RowView) -> Rows | RowView:
        """Return the rows, in memory unless they are mapped from a file."""
        return for_passes(rows)

    def gram(self, held: Rows | RowView, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Call `gram`."""
        return gram(held, weights)

    def moments(self, held: Rows | RowView, targets: NDArray[np.floating]) -> NDArray[np.float64]:
        """Call `moments`."""
        return moments(held, targets)

    def outputs(self, held: Rows | RowView, coefficients: NDArray[np.floating]) -> NDArray[np.floating]:
        """Call `outputs`."""
        return outputs(held, coefficients)
