"""What the user says of single columns: features, categories, what is carried, and what is left out."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from attrs import field, frozen

from bliss_framework.plugin import DataError, did_you_mean
from bliss_readers.tables.cell_table import CellTable, listed

Names = str | Sequence[str]


@frozen
class Wanted:
    """What the user says of columns; a name may be a pattern such as "f*", where no column is called so.

    Attributes:
        features: columns that are features; None for all that can be.
        categorical: columns that are categories, whatever is in them.
        carry: columns that stay beside the rows.
        ignore: columns to leave out.
        trained_on: the columns of a model that is to predict: all of them are needed, and no other is a feature.
    """

    features: Names | None = field(default=None)
    categorical: Names = field(default=())
    carry: Names = field(default=())
    ignore: Names = field(default=())
    trained_on: Sequence[str] | None = field(default=None)

    def in_table(self, table: CellTable) -> "Wanted":
        """Replace patterns by the columns that they mean.

        Raises:
            DataError: there is no such column, or one has two roles.
        """
        if self.trained_on is not None:
            return self._for_model(table, self.trained_on)
        given = {"features": self.features, "categorical": self.categorical, "carry": self.carry, "ignore": self.ignore}
        found = {option: _columns(table, names or (), option) for option, names in given.items()}
        _refuse_two_roles(table, found)
        features = None if self.features is None else [*found["features"], *found["categorical"]]
        return Wanted(features, found["categorical"], found["carry"], found["ignore"])

    def _for_model(self, table: CellTable, needed: Sequence[str]) -> "Wanted":
        """Take what a model needs; what was once said of other columns may be of some that are not here."""
        _require(table, needed)
        ignored = [name for name in table.header if name not in needed and _is_meant(name, _as_list(self.ignore))]
        return Wanted(needed, [name for name in _as_list(self.categorical) if name in needed], (), ignored, needed)

    def among(self, names: Sequence[str]) -> "Wanted":
        """Keep what is said of some columns, as names."""
        said = self.features if self.trained_on is None else self.trained_on
        categorical = [name for name in names if _is_meant(name, _as_list(self.categorical))]
        if said is None:
            return Wanted(categorical=categorical)
        features = [name for name in names if name in categorical or _is_meant(name, _as_list(said))]
        return Wanted(features, categorical, trained_on=self.trained_on)

    @property
    def spoken_for(self) -> tuple[str, ...]:
        """Columns that are no label, since the user says what they are."""
        return (*(self.features or ()), *self.categorical)

    @property
    def beside(self) -> tuple[str, ...]:
        """Columns that are no features."""
        return (*self.carry, *self.ignore)


def _as_list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _columns(table: CellTable, names: Names, option: str) -> list[str]:
    """Return the columns that names and patterns mean, each once."""
    found: list[str] = []
    for name in _as_list(names):
        matches = [] if name in table.header else [one for one in table.header if fnmatchcase(one, name)]
        found += matches or [table.require(name, option)]
    return list(dict.fromkeys(found))


def _is_meant(column: str, names: Sequence[str]) -> bool:
    return any(column == name or fnmatchcase(column, name) for name in names)


def _refuse_two_roles(table: CellTable, found: dict[str, list[str]]) -> None:
    first: dict[str, str] = {}
    for option, names in found.items():
        for name in names:
            other = first.setdefault(name, option)
            if {other, option} not in ({option}, {"features", "categorical"}):
                raise DataError(
                    f'{table.path}: the {table.noun} "{name}" is named by both {other} and {option}; leave one out.'
                )


def _require(table: CellTable, needed: Sequence[str]) -> None:
    """Name the columns of a model that are missing, and the one that was probably meant by the first."""
    missing = [name for name in needed if name not in table.header]
    if not missing:
        return
    others = [name for name in table.header if name not in needed]
    has = f" It has {quoted(others)}, which the model does not know." if others else ""
    raise DataError(
        f"{table.path} has no {table.noun} {quoted(missing)}, on which the model was trained."
        f"{did_you_mean(missing[0], others)}{has} Columns are matched by name; rename or add them."
    )


def quoted(names: Sequence[str]) -> str:
    """Write names of columns one after the other, the first few of them."""
    return listed([f'"{name}"' for name in names], 5)
