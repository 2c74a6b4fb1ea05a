"""Room for rows that are about to be read: in memory, or in a file where memory would not do."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bliss_framework.compute.memory import memory_left
from bliss_framework.kernel.row_view import rows_in_a_file

MOST = 0.5  # Of the memory that is left: what is made of rows needs some, too.


def empty_rows(n_rows: int, n_columns: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array (n_rows, n_columns) to be written to, for readers of files that cannot be mapped.

    Where it would take more than half of the memory that is left it is mapped from a temporary file, which goes when
    the array does. Everything after the reader takes a mapped array a block at a time.

    Args:
        n_rows, n_columns: its shape.
        dtype: float32 or float64.

    Raises:
        OSError: there is no space for it where temporary files are (TMPDIR).

    >>> rows = empty_rows(2, 3, np.float32)
    >>> rows.shape, rows.dtype.name
    ((2, 3), 'float32')
    """
    left = min((room.n_bytes for room in memory_left() if room is not None), default=None)
    if left is not None and n_rows * n_columns * np.dtype(dtype).itemsize > MOST * left:
        return rows_in_a_file((n_rows, n_columns), dtype)
    return np.empty((n_rows, n_columns), dtype)
