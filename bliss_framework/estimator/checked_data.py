"""Data that are checked once: rows, bags and weak labels, with the names of their columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels

N_NAMED = 5  # Columns that a message names.


@frozen(eq=False)
class CheckedData:
    """Rows, bags and weak labels that nobody needs to check again.

    Attributes:
        X: (n, d) float64 or float32 array, or CSR matrix of float64 with 32-bit indices.
        bags: the bags of its rows.
        weak: (B, ...) the weak label of each bag as the user gave it, in order of first appearance; None where there
            are none.
        columns: the name of each column, or None.
        carried: (n, ...) arrays that stay beside the rows, by name, such as ids of instances.
        read: what a regime made of the weak labels; see `read_by`.
    """

    X: Any = field()
    bags: Bags = field()
    weak: Any = field()
    columns: tuple[str, ...] | None = field(default=None)
    carried: Mapping[str, NDArray[Any]] = field(factory=dict)
    read: WeakLabels | None = field(default=None)

    @property
    def ids(self) -> NDArray[Any]:
        """(n,) the bag id of each row, as baselines take them."""
        return self.bags.spread(self.bags.ids)

    @property
    def labels(self) -> WeakLabels:
        """The weak labels as a regime read them."""
        if self.read is None:
            raise DataError("The weak labels of these data have not been read by a regime; call `read_by` first.")
        return self.read

    def read_by(self, regime: Regime) -> "CheckedData":
        """Let a regime check the weak labels for training, once.

        Raises:
            DataError: naming the bag, what was found and what is allowed.
        """
        return self if self.read is not None else evolve(self, read=regime.check(self.weak, self.bags))

    def take_bags(self, bags: NDArray[np.intp]) -> "CheckedData":
        """Keep some bags, their rows in the order that they have."""
        rows = self.bags.rows_of(bags)
        kept, positions = self.bags.take(rows)
        return evolve(
            self,
            X=self.X[rows],
            bags=kept,
            weak=None if self.weak is None else self.weak[positions],
            carried={name: values[rows] for name, values in self.carried.items()},
            read=None if self.read is None else self.read.take(positions, rows),
        )

    def with_columns_of(self, wanted: Sequence[str] | None, origin: str) -> tuple["CheckedData", tuple[str, ...]]:
        """Bring columns into the order of those that a model was trained on, by name.

        Args:
            wanted: the names in training, or None where they are not known.
            origin: of these data, for messages.

        Returns:
            The data, and a sentence about columns that are left out, if there are any.

        Raises:
            DataError: a column is missing, or has another name.
        """
        if wanted is None or self.columns is None or tuple(wanted) == self.columns:
            return self, ()
        places = {name: place for place, name in enumerate(self.columns)}
        missing = [name for name in wanted if name not in places]
        extra = [name for name in self.columns if name not in set(wanted)]
        if missing:
            raise DataError(_missing(missing, extra, origin))
        aligned = evolve(self, X=self.X[:, [places[name] for name in wanted]], columns=tuple(wanted))
        return aligned, (_left_out(extra, origin),) if extra else ()


def _missing(missing: Sequence[str], extra: Sequence[str], origin: str) -> str:
    others = f" It has {listed(extra)}, which the model does not know." if extra else ""
    hint = did_you_mean(missing[0], extra)
    return (
        f"{origin} has no column {listed(missing)}, on which the model was trained.{hint}{others} Columns are "
        f"matched by name; rename or add them."
    )


def _left_out(extra: Sequence[str], origin: str) -> str:
    return f"{origin} has {listed(extra)}, on which the model was not trained; left out."


def listed(names: Sequence[str]) -> str:
    """Write names one after the other, the first few of them."""
    more = f" and {len(names) - N_NAMED} more" if len(names) > N_NAMED else ""
    return ", ".join(f'"{name}"' for name in names[:N_NAMED]) + more
