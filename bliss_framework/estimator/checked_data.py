"""Data that are checked once: rows, bags and weak labels, with the names of their columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.naming import did_you_mean, near_miss
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.row_view import RowView, as_rows
from bliss_framework.kernel.rows import Rows
from bliss_framework.kernel.words import listed

N_NAMED = 5  # Columns that a message names.


@frozen(eq=False)
class CheckedData:
    """Rows, bags and weak labels that nobody needs to check again.

    Attributes:
        rows: (n, d) of a float64 or float32 array, or of a CSR matrix of float64 with 32-bit indices; or a view of
            some of them. The argument is called X.
        bags: the bags of its rows.
        weak: (B, ...) the weak label of each bag as the user gave it, in order of first appearance; None where there
            are none.
        columns: the name of each column, or None.
        carried: (n, ...) arrays that stay beside the rows, by name, such as ids of instances.
        categories: the words of columns that hold places in such a list, by the name of the column; NaN where there is
            none. See `Preparation`.
        empty_cells: whether some rows may hold NaN, which is an empty cell.
        read: what a regime made of the weak labels; see `read_by`.
        label_names: what the columns of `weak` are called, where it is a table with names.
        weights: (n,) positive weights of the rows, of mean 1, or None where all count alike.
    """

    rows: Rows | RowView = field(alias="X", converter=as_rows)
    bags: Bags = field()
    weak: Any = field()
    columns: tuple[str, ...] | None = field(default=None)
    carried: Mapping[str, NDArray[Any]] = field(factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(factory=dict)
    empty_cells: bool = field(default=False)
    read: WeakLabels | None = field(default=None)
    label_names: tuple[Any, ...] | None = field(default=None)
    weights: NDArray[np.float64] | None = field(default=None)

    @property
    def X(self) -> Any:
        """(n, d) array or CSR matrix, all of it in memory."""
        return self.rows.array

    @property
    def view(self) -> Rows | RowView:
        """The rows, dense ones as a view, so that taking some of them copies nothing."""
        if isinstance(self.rows, RowView) or self.rows.is_sparse:
            return self.rows
        return RowView.of(self.rows)

    @property
    def facts(self) -> dict[str, Any]:
        """What the data say of the regime: the names of labels, its parameter `label_names` or `classes`."""
        return {} if self.label_names is None else {name: list(self.label_names) for name in ("label_names", "classes")}

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
        if self.read is not None:
            return self
        own = self.with_labels_of(regime)
        return evolve(own, read=regime.check(own.weak, own.bags))

    def with_labels_of(self, regime: Regime) -> "CheckedData":
        """Bring the columns of weak labels into the order that a regime says, by name, where both have names.

        Raises:
            DataError: the names are others.
        """
        wanted, own = regime.label_columns, self.label_names
        if wanted is None or own is None or np.ndim(self.weak) != 2 or tuple(wanted) == tuple(own):
            return self
        if sorted(map(repr, own)) != sorted(map(repr, wanted)):
            raise DataError(_other_labels(own, wanted))
        places = [list(own).index(one) for one in wanted]
        return evolve(self, weak=self.weak[:, places], label_names=tuple(wanted))

    def take_bags(self, bags: NDArray[np.intp]) -> "CheckedData":
        """Keep some bags, their rows in the order that they have."""
        rows = self.bags.rows_of(bags)
        kept, positions = self.bags.take(rows)
        return evolve(
            self,
            X=self.view.take(rows),
            bags=kept,
            weak=None if self.weak is None else self.weak[positions],
            carried={name: values[rows] for name, values in self.carried.items()},
            read=None if self.read is None else self.read.take(positions, rows),
            weights=None if self.weights is None else self.weights[rows],
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


def _other_labels(own: Sequence[Any], wanted: Sequence[Any]) -> str:
    absent = next((one for one in wanted if one not in own), None)
    like = "" if absent is None else near_miss(absent, own)
    return (
        f"The columns of the weak labels are called {', '.join(map(repr, own))}, and the regime has the labels "
        f"{', '.join(map(repr, wanted))}.{like} Columns are matched by name; give both the same names."
    )


def _missing(missing: Sequence[str], extra: Sequence[str], origin: str) -> str:
    others = f" It has {in_quotes(extra)}, which the model does not know." if extra else ""
    hint = did_you_mean(missing[0], extra)
    return (
        f"{origin} has no column {in_quotes(missing)}, on which the model was trained.{hint}{others} Columns are "
        f"matched by name; rename or add them."
    )


def _left_out(extra: Sequence[str], origin: str) -> str:
    return f"{origin} has {in_quotes(extra)}, on which the model was not trained; left out."


def in_quotes(names: Sequence[str]) -> str:
    """Write the names of columns one after the other, the first few of them."""
    return listed([f'"{name}"' for name in names], N_NAMED)
