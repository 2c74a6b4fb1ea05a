"""The normal equations of least squares with a ridge: solved directly, or a step at a time where columns are many."""

import warnings
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from bliss_framework.errors import BlissWarning, DataError
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows
from bliss_framework.primal.sums import gram, moments, outputs

MOST_UNKNOWNS = 4000  # Of more a matrix would have 128 MB and take a minute to factorise.
MOST_ROWS = 5000  # Likewise, of rows by rows.
TOLERANCE = 1e-7  # Of the residual, beside the right side.
MOST_STEPS = 300
LOST = 8  # Roundings. Rows far from zero leave 0.5 to 6 by chance where the ridge is lost, and 20 where it is not.


def needs_products(n_rows: int, n_columns: int) -> bool:
    """Say whether linear least squares are best solved by the inner products of all rows, which are then the fewer.

    >>> needs_products(100, 166), needs_products(3000, 50), needs_products(100_000, 50_000)
    (True, False, False)
    """
    return n_rows <= MOST_ROWS and n_columns >= min(n_rows, MOST_UNKNOWNS)


def has_sums(n_columns: int) -> bool:
    """Say whether a matrix that has a row and a column for each column of the data can be factorised."""
    return n_columns < MOST_UNKNOWNS


class System(Protocol):
    """The matrix A = sum of w x x' + ridge, of which only solutions are asked for."""

    def solve(self, moments: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return A^-1 b for right sides (d + 1, T)."""


def system(rows: Rows | RowView, weights: NDArray[np.float64] | None, ridge: float) -> System:
    """Return the normal equations of some rows, in the form that fits the number of their columns.

    Args:
        rows: (n, d); a column of ones is added to them.
        weights: (n,), or None where all rows count alike.
        ridge: above 0.

    Raises:
        DataError: the ridge is lost beside values so large.
    """
    if has_sums(rows.shape[1]):
        return FactorisedSystem.of(gram(rows, weights), ridge)
    return SteppedSystem(rows, weights, ridge)


@frozen(eq=False)
class FactorisedSystem:
    """A Cholesky factor, made once.

    Attributes:
        factor: as `scipy.linalg.cho_solve` takes it.
    """

    factor: Any = field()

    @classmethod
    def of(cls, gram: NDArray[np.float64], ridge: float) -> "FactorisedSystem":
        """Factorise a sum of outer products (d + 1, d + 1) plus a ridge.

        >>> FactorisedSystem.of(np.array([[3.0, 0.0], [0.0, 1.0]]), ridge=1.0).solve(np.array([[4.0], [1.0]])).tolist()
        [[1.0], [0.5]]
        """
        return cls(factorised(gram, ridge))

    def solve(self, moments: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return A^-1 b for right sides (d + 1, T)."""
        return np.asarray(cho_solve(self.factor, moments.astype(np.float64, copy=False), check_finite=False))


@frozen(eq=False)
class SteppedSystem:
    """Conjugate gradients, in which the matrix is only multiplied with: two passes over the rows a step.

    Source: Hestenes and Stiefel, Methods of conjugate gradients for solving linear systems, 1952.

    Attributes:
        rows: (n, d).
        weights: (n,) or None.
        ridge: above 0.
    """

    rows: Rows | RowView = field()
    weights: NDArray[np.float64] | None = field()
    ridge: float = field()

    def solve(self, moments: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return A^-1 b for right sides (d + 1, T), each to within a tolerance; warn where it is not reached."""
        size = self.rows.shape[1] + 1
        matrix = LinearOperator((size, size), matvec=self._times, dtype=np.float64)
        right_sides = moments.astype(np.float64, copy=False).T
        solved = [cg(matrix, b, rtol=TOLERANCE, atol=0.0, maxiter=MOST_STEPS) for b in right_sides]
        if any(steps for _, steps in solved):
            warnings.warn(
                f"Least squares of {size - 1} columns were not solved to the end in {MOST_STEPS} steps, so their "
                f"outputs are rough. Scale the rows (scaling), or choose a larger ridge than {self.ridge:g}.",
                BlissWarning,
                stacklevel=2,
            )
        return np.stack([found for found, _ in solved], axis=1)

    def _times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        reached = outputs(self.rows, vector.reshape(-1, 1))
        if self.weights is not None:
            reached = reached * self.weights[:, None]
        return moments(self.rows, reached)[:, 0] + self.ridge * vector.ravel()


def factorised(K: NDArray[Any], penalty: NDArray[np.float64] | float) -> tuple[NDArray[Any], bool]:
    """Return the Cholesky factor of K + diag(penalty), as `scipy.linalg.cho_solve` takes it.

    Raises:
        DataError: rounding leaves no positive definite matrix: the penalty is lost beside the values of K.
    """
    # In the order of LAPACK, which would make another copy of any other.
    matrix = np.array(K, order="F")
    matrix[np.diag_indices(len(matrix))] += np.asarray(penalty, dtype=K.dtype)
    before = matrix.diagonal().copy()
    try:
        factor, lower = cho_factor(matrix, overwrite_a=True, check_finite=False)
        # What is left of the diagonal. Where it is rounding alone, one draw of rows in ten leaves it above 0.
        if (np.square(factor.diagonal()) > LOST * np.finfo(K.dtype).eps * before).all():
            return factor, bool(lower)
    except np.linalg.LinAlgError:
        pass
    raise DataError(
        f"The rows are so large that the ridge of {np.min(penalty):g} is lost beside products of up to "
        f"{np.abs(K).max():.2g}, and least squares cannot be solved. Scale the rows (scaling), take their mean off, or "
        f"choose a larger ridge."
    )
