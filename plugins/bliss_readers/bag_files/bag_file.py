"""One opened file of a bag: what it says of itself was checked, its rows are read when there is a place for them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

# Rows that are copied at a time where a format is read in pieces.
BLOCK_BYTES = 1 << 24
Copy = Callable[[NDArray[Any]], None]


@frozen(eq=False)
class BagFile:
    """A file of one bag.

    Attributes:
        path: of the file, whose stem is the bag id.
        shape: (n, d) of its rows.
        stored: the type of its values, as the file says.
        copy: writes the rows into an array (n, d).
        columns: the names of the columns, or None.
        beside: (n,) arrays of numbers or text that are no features, by name.
        instance_labels: (n,) true classes, or None.
        text: the columns beside the rows that hold words, of which categories may be made.
        notes: sentences for the user.
    """

    path: Path = field()
    shape: tuple[int, int] = field()
    stored: np.dtype[Any] = field()
    copy: Copy = field()
    columns: tuple[str, ...] | None = field(default=None)
    beside: Mapping[str, NDArray[Any]] = field(factory=dict)
    instance_labels: NDArray[Any] | None = field(default=None)
    text: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())

    @property
    def id(self) -> str:
        """The bag id."""
        return self.path.stem

    @property
    def precision(self) -> np.dtype[Any]:
        """The type of the rows in memory: float32 for float32 and float16, else float64."""
        return np.dtype(np.float32 if self.stored.str[1:] in ("f4", "f2") else np.float64)
