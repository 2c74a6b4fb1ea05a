"""Weak labels and true classes out of the cells of a table."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, near_miss
from bliss_readers.tables.cell_table import (
    MISSING_NAMES,
    TRUTH,
    CellTable,
    Entries,
    as_number,
    is_missing,
    is_number,
    listed,
)
from bliss_readers.tables.id_text import check_ids
from bliss_readers.tables.label_sets import alike_note, entries_of, unsplit_note
from bliss_readers.tables.number_format import POINT


@frozen(eq=False)
class LabelColumn:
    """Where the weak labels are: in the table of the instances, or in a second one.

    Attributes:
        table: holds one line for each instance, or one for each bag.
        bag: the name of its bag column.
        label: the name of its weak label column.
        sets: whether a cell holds a set of names, or None to find out from the cells.
        separator: between the names of a set; None, or one that no cell holds, finds out.
        advice: what to do where the cells of a bag differ.
        may_be_empty: whether an empty cell is a weak label of which nothing is known, and becomes None.
    """

    table: CellTable = field()
    bag: str = field()
    label: str = field()
    sets: bool | None = field(default=None)
    separator: str | None = field(default=None, kw_only=True)
    advice: str = field(default="a label of single instances is named by the option instance_label")
    may_be_empty: bool = field(default=False, kw_only=True)

    @property
    def label_names(self) -> None:
        """No names but those that occur."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user about the labels."""
        if self._entries is None:
            return tuple(unsplit_note(self.table, self.label, self._cells))
        return tuple(alike_note(self.table, self.label, self._entries))

    @property
    def regime(self) -> str:
        """The regime that labels of this form are for, where the user names none."""
        if self._entries is None:
            return "mil"
        return "llp" if self._entries.are_shares() else "multiclass-mil"

    @cached_property
    def _cells(self) -> list[str]:
        cells, form = self.table.column(self.label), self.table.form
        return [form.plain(cell) for cell in cells] if form != POINT and self.table.is_numeric(self.label) else cells

    @cached_property
    def _entries(self) -> Entries | None:
        return entries_of(self.table, self.label, self.sets, self.separator)

    def of_bags(self, bags: Bags) -> NDArray[Any]:
        """Return the weak label of each bag.

        Args:
            bags: of the instances, with text ids.

        Returns:
            (B,) int64, float64 or text, in which "" stands for an empty cell among names; an object array of frozensets
            of names; or (B, C) numbers, where the cells are lists of shares, or of 0 and 1 for each label.

        Raises:
            DataError: a bag has no weak label, or two different ones, or there is no instance of a labelled bag.
        """
        values = self._scalars(self._cells) if self._entries is None else collected(self._entries)
        ids = self.table.column(self.bag)
        check_ids(self.table, self.bag, ids)
        labelled = Bags.from_ids(np.array(ids))
        first = np.unique(labelled.index, return_index=True)[1]
        differs = values != values[first][labelled.index]
        self._refuse_conflicts(differs if differs.ndim == 1 else differs.any(axis=1), labelled, first)
        self._refuse_unmatched_bags(labelled.ids.tolist(), bags.ids.tolist())
        position = dict(zip(labelled.ids.tolist(), first, strict=True))
        return values[[position[bag] for bag in bags.ids.tolist()]]

    def _scalars(self, cells: list[str]) -> NDArray[Any]:
        missing = first_missing(cells, empty=self.sets is None)
        if missing is None and not (self.may_be_empty and "" in cells):
            return typed(cells)
        if self.may_be_empty:
            return np.array(with_none(cells), dtype=object)
        hint = " Where empty means the empty label set, set label_sets = true." if self.sets is None else ""
        raise DataError(
            f"{self.table.at(missing, self.label)}: bag {self.table.column(self.bag)[missing]!r} has no weak label "
            f"({cells[missing]!r}); every bag needs one.{hint}"
        )

    def _refuse_conflicts(self, differs: NDArray[np.bool_], labelled: Bags, first: NDArray[np.intp]) -> None:
        if not differs.any():
            return
        cells = self._cells
        row = int(np.flatnonzero(differs)[0])
        bag = labelled.index[row]
        raise DataError(
            f"{self.table.at(row, self.label)}: bag {str(labelled.ids[bag])!r} has the weak label {cells[row]!r}, but "
            f"{cells[first[bag]]!r} in {self.table.place(first[bag])}. A weak label is the same over its bag; "
            f"{self.advice}."
        )

    def _refuse_unmatched_bags(self, labelled: list[str], present: list[str]) -> None:
        without, unknown = _without(present, labelled), _without(labelled, present)
        if without:
            raise DataError(
                f"{self.table.path} has no weak label for bag {without[0]!r}; every bag needs one."
                f"{_both_sides(without, unknown, len(present))}"
            )
        if unknown:
            raise DataError(
                f"{self.table.path} has a weak label for bag {unknown[0]!r}, of which there is no instance."
            )


def _both_sides(without: list[str], unknown: list[str], n_bags: int) -> str:
    """Say how many bags have no label, and which ids of the labels are left over."""
    count = f" There are {len(without)} such bags of {n_bags}." if len(without) > 1 else ""
    alike = near_miss(without[0], unknown)
    if alike or not unknown:
        return f"{alike}{count}"
    return f"{count} It has labels of bags that have no instance, such as {listed([repr(one) for one in unknown], 3)}."


def typed(cells: Sequence[str]) -> NDArray[Any]:
    """Turn cells into integers if all are, else into numbers if all are, else leave them text; true and false are 1, 0.

    >>> typed(["1", "-1"]).tolist(), typed(["1", "0.5"]).tolist(), typed(["1", "b"]).tolist()
    ([1, -1], [1.0, 0.5], ['1', 'b'])
    >>> typed(["True", "FALSE"]).tolist()
    [1, 0]
    """
    words = list(dict.fromkeys(cells))  # Few, as a rule.
    if not all(map(is_number, words)):
        return np.array(cells)
    try:
        values = np.array([int(TRUTH.get(word.casefold(), word)) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.array([as_number(word) for word in words], dtype=np.float64)
    place = {word: at for at, word in enumerate(words)}
    return values[np.fromiter(map(place.__getitem__, cells), dtype=np.intp, count=len(cells))]


def with_none(cells: Sequence[str]) -> list[Any]:
    """Read cells as `typed` does, and say None of empty ones.

    >>> with_none(["1", "", "0.5"])
    [1.0, None, 0.5]
    """
    given = [cell.casefold() not in MISSING_NAMES for cell in cells]
    values = iter(typed([cell for cell, there in zip(cells, given, strict=True) if there]).tolist())
    return [next(values) if there else None for there in given]


def as_truth(labels: NDArray[Any]) -> NDArray[Any]:
    """Turn booleans, and texts that are all "true" or "false", into 1 and 0; leave other labels as they are."""
    if labels.dtype.kind == "b":
        return labels.astype(np.int64)
    if (
        labels.dtype.kind == "U"
        and len(labels)
        and all(one.strip().casefold() in TRUTH for one in set(labels.tolist()))
    ):
        return typed([one.strip() for one in labels.tolist()])
    return labels


def first_missing(cells: Sequence[str], empty: bool = False) -> int | None:
    """Return the first row without a value, or None. Among names, "NA" is a name too.

    Args:
        cells: of a column of labels.
        empty: whether an empty cell among names is a value; the regime says what it means.
    """
    distinct = set(cells)
    if all(map(is_number, distinct)):
        words = {cell for cell in distinct if is_missing(cell)}
    else:
        words = distinct & (MISSING_NAMES - {""} if empty else MISSING_NAMES)
    return next((row for row, cell in enumerate(cells) if cell in words), None) if words else None


def collected(entries: Entries) -> NDArray[Any]:
    """Return frozensets of names (n,), or the numbers (n, C) of shares, or of 0 and 1 for each label."""
    if entries.is_matrix():
        kind = np.float64 if entries.are_shares() else np.int64
        return np.array([[float(one) for one in row] for row in entries.cells]).astype(kind)
    sets = np.empty(len(entries.cells), dtype=object)
    sets[:] = [frozenset(map(_as_label, row) if entries.numbers else row) for row in entries.cells]
    return sets


def _as_label(number: str) -> str:
    """Write the number of a label as an integer where it is one: data frames turn integers into floats."""
    return str(int(float(number))) if float(number).is_integer() else number


def _without(bags: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [bag for bag in bags if bag not in known]
