"""Which settings a run that goes on may change: those on which nothing that is finished depends."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from bliss_framework.estimator.parameters import SEED, TABLE, named
from bliss_framework.runs.evaluation.methods import CONTROL, OWN

# How work runs changes nothing, and data are known by their digest. Versions have rules of their own.
FREE_TO_CHANGE = (
    *(f"bliss.{name}" for name in named("run") if name != SEED),
    "data.source",
    "data.test.source",
    "record.versions",
    "record.components",
    "record.resumed_from",
)
DIGEST = "record.data_sha256"
# What says on which bags methods are tested, beside the keys of the test set in "data.test".
OF_TESTING = ("evaluation.cv", "evaluation.test_share", "record.test_sha256")
SELECTION = "selection-"  # Pieces of a choice of settings.
FIT = re.compile(r"(?P<method>.+)-repeat\d+-fold\d+")


@frozen
class Finished:
    """What of a run is finished.

    Attributes:
        result: whether there is a result: then everything is.
        pieces: the names of the pieces of its state.
    """

    result: bool = field()
    pieces: frozenset[str] = field()

    @classmethod
    def of(cls, result: Path, state: Path) -> "Finished":
        """Look for the result and the pieces of a run."""
        pieces = frozenset(path.stem for path in state.glob("*.json")) if state.is_dir() else frozenset()
        return cls(result.exists(), pieces)

    @property
    def methods(self) -> frozenset[str]:
        """The methods of which a fit of the evaluation is finished."""
        found = (FIT.fullmatch(name) for name in self.pieces)
        return frozenset(one["method"] for one in found if one)

    @property
    def chosen(self) -> bool:
        """Whether a part of a choice of settings is finished, in which final classifiers were scored."""
        return any(name.startswith(SELECTION) for name in self.pieces)

    def decides(self, key: str, before: Any, now: Any) -> bool:
        """Say whether anything that is finished depends on a setting.

        Args:
            key: of the setting, as "table.key".
            before: its value in the run, None where it was not set.
            now: its value now.
        """
        table, _, name = key.partition(".")
        row = TABLE.get(name.partition(".")[0]) if table == "bliss" else None
        if self.result:
            return True
        if row is not None:
            # The labels of all rows are inferred without the final classifier, and baselines know neither.
            return bool({OWN, CONTROL} & self.methods) or self.chosen if row.when == "final" else bool(self.pieces)
        if key in OF_TESTING or key.startswith("data.test."):
            return bool(self.methods)
        if key == "compare":
            return not _changed_methods(before, now).isdisjoint(self.methods)
        # A repeat and a method have pieces of their own; without the list of methods a run is no comparison.
        return key != "evaluation.repeats" and not (key == "methods" and before is not None and now is not None)


def _changed_methods(before: Any, now: Any) -> set[str]:
    """Return the methods that are compared with before and now, but with other parameters."""
    old, new = ({str(row.get("label", row["method"])): row for row in rows or ()} for rows in (before, now))
    return {name for name, row in old.items() if name in new and row != new[name]}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings that a run has now otherwise than before, but those that change nothing.

    Args:
        before: tables, as in run.toml.
        now: the same.

    Returns:
        The two values by "table.key", None where it is not set.
    """
    old, new = dict(_flat(before)), dict(_flat(now))
    keys = [key for key in sorted({**old, **new}) if old.get(key) != new.get(key)]
    return {key: (old.get(key), new.get(key)) for key in keys if not key.startswith(FREE_TO_CHANGE)}


def words_of(changed: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Say what a run that goes on would do otherwise than it did before."""
    data = ["the data changed since the run started"] if DIGEST in changed else []
    return data + [
        f"{key} was {_shown(before)} and is now {_shown(now)}"
        for key, (before, now) in changed.items()
        if key != DIGEST
    ]


def refused(changed: Mapping[str, tuple[Any, Any]], finished: Finished) -> Sequence[str]:
    """Say which changes cannot be, because something that is finished depends on them."""
    return words_of({key: pair for key, pair in changed.items() if finished.decides(key, *pair)})


def _shown(value: Any) -> str:
    return "not set" if value is None else repr(value)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
