"""Dense rows for the baselines that learn something about every column, and an order of rows that is theirs alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

from bliss_framework.plugin import Bags, Rows

Columns = tuple[NDArray[np.intp], NDArray[np.float64] | None]


def learn_columns(X: Any, n_components: int) -> Columns:
    """Choose the columns that vary in training; for wide sparse rows, also a projection to a few dense columns.

    Dense rows are never reduced. Sparse rows with more than `n_components` columns that vary become their
    `n_components` leading singular components (latent semantic analysis); narrower ones become dense as they are.

    Args:
        X: (n, d) array or CSR matrix.
        n_components: columns that wide sparse rows are reduced to.

    Returns:
        The columns kept (k,), and a projection (k, n_components) or None.
    """
    varies = Rows(X).column_ranges() > 0
    if not varies.any():
        varies[0] = True
    kept = np.flatnonzero(varies)
    if not Rows(X).is_sparse or min(X.shape[0], len(kept)) <= n_components:
        return kept, None
    # The randomised solver would make the components depend on the order of rows.
    svd = TruncatedSVD(n_components, algorithm="arpack", random_state=0).fit(X[:, kept])
    return kept, np.ascontiguousarray(svd.components_.T)


def on_columns(X: Any, kept: NDArray[np.intp], projection: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return dense rows (n, d') of the columns that `learn_columns` chose."""
    rows = Rows(X).columns(kept)
    return rows.dense() if projection is None else np.asarray(rows.array @ projection)


def in_canonical_order(
    rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]
) -> tuple[NDArray[np.float64], Bags, NDArray[Any]]:
    """Sort rows by their values, and bags by their first row, so that a fit does not depend on the caller's order.

    Args:
        rows: (n, d) dense rows.
        bags: B bags of n rows.
        weak: (B,) weak labels.
    """
    order = np.lexsort((weak[bags.index], *rows.T[::-1]))
    grouped, positions = bags.take(order)
    return rows[order], grouped, weak[positions]
