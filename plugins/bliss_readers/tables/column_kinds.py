"""What the columns of a table hold that are no bag and no label: numbers, categories, or what names rows.

A column of words is a category where it has at most 20 different words, two or more, and where no more than one row in
ten has a word that only one bag has. Every other column of words is carried: names, free text, ids with leading zeros.
Dates are carried, too. A column of numbers in which some cells are no numbers is refused, because it is a feature that
somebody has to correct.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import DataError
from bliss_readers.tables.cell_table import MISSING_NAMES, CellTable
from bliss_readers.tables.index_columns import index_columns
from bliss_readers.tables.wanted_columns import Wanted, quoted

MOST_WORDS = 20
LARGEST_LONE_SHARE = 0.1  # Of rows whose word only one bag has, in a category.
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?(?:Z|[+-]\d{2}:?\d{2})?"
_DATES = re.compile(rf"{_DATE}(?:[T ]{_TIME})?|{_TIME}")
# What somebody meant as a number, and as nothing else.
_ALMOST = re.compile(r"[<>~]?\s?[+-]?(?:[\d.,' \xa0\u202f]*\d[\d.,' \xa0\u202f]*%?|\d{1,3}(?:_\d{3})+)")


@frozen
class Kinds:
    """What columns hold.

    Attributes:
        features: in the order of the table: numbers, and categories.
        categories: the words of each category, in alphabetical order.
        carried: columns that stay beside the rows.
        ignored: columns that are left out.
        index: columns that number the rows, as data-frame libraries write them, and are left out.
        why: the reason for each of them.
        notes: a sentence for the user about all columns of a kind.
    """

    features: list[str] = field(factory=list)
    categories: dict[str, tuple[str, ...]] = field(factory=dict)
    carried: list[str] = field(factory=list)
    ignored: list[str] = field(factory=list)
    index: list[str] = field(factory=list)
    why: dict[str, str] = field(factory=dict)
    notes: tuple[str, ...] = field(default=())


TOLD = "as you say"
FEW = "few words, each in several bags"
NAMES = "names or free text"
SAME = "the same word in every row"
DATES = "dates or times"
ZEROS = "numbers with leading zeros, so ids"
EMPTY = "every cell is empty"
OTHER = "not among the features that are named"
UNKNOWN = "no column of the model"
NUMBERS = "numbers"
WRONG = "numbers, and what is none"


def kinds_of(table: CellTable, names: Sequence[str], ids: NDArray[Any], wanted: Wanted) -> Kinds:
    """Find out what columns hold.

    Args:
        table: of the instances.
        names: of the columns that have no other role.
        ids: (n,) the bag of each row.
        wanted: what the user says, without patterns.

    Raises:
        DataError: a column of numbers has a cell that is none, or a feature that is named can be none.
    """
    kinds = Kinds(carried=list(wanted.carry), ignored=list(wanted.ignore))
    kinds.why.update(dict.fromkeys([*kinds.carried, *kinds.ignored], TOLD))
    kinds.index.extend(index_columns(table, [name for name in names if name not in wanted.spoken_for]))
    bag_of_row = np.unique(ids, return_inverse=True)[1]
    wrong: list[tuple[int, str, str]] = []
    for name in names:
        if name in kinds.why or name in kinds.index:
            continue
        why = _kind(table, name, bag_of_row, wanted)
        kinds.why[name] = why
        if why == WRONG:
            wrong.append(_first_wrong(table, name))
        elif why in (NUMBERS, FEW) or (why == TOLD and name in wanted.categorical):
            kinds.features.append(name)
        elif why == EMPTY:
            kinds.ignored.append(name)
        else:
            kinds.carried.append(name)
        if name in kinds.features and why != NUMBERS:
            kinds.categories[name] = tuple(sorted(set(table.column(name)) - MISSING_NAMES))
    if wrong:
        raise table.no_number(*min(wrong, key=lambda one: one[0]))
    # In the order of the table, whoever named them.
    place = {name: at for at, name in enumerate(table.header)}
    for one in (kinds.carried, kinds.ignored):
        one.sort(key=lambda name: place[name])
    return evolve(kinds, notes=tuple(_notes(table, kinds)))


def rows_of(table: CellTable, features: Sequence[str], categories: Mapping[str, Sequence[str]]) -> NDArray[np.floating]:
    """Return features as numbers (n, d): of a category the place of its word, NaN where a cell is empty."""
    if not categories:
        return table.numbers(features)
    plain = [name for name in features if name not in categories]
    rows = np.empty((len(table.column(next(iter(categories)))), len(features)))
    if plain:
        rows[:, [features.index(name) for name in plain]] = table.numbers(plain)
    for name, words in categories.items():
        place = {word: float(at) for at, word in enumerate(words)}
        rows[:, features.index(name)] = [place.get(cell, np.nan) for cell in table.column(name)]
    return rows


def carried_values(table: CellTable, name: str) -> NDArray[Any]:
    """Return a carried column (n,): whole numbers, numbers, or text where it is not all numbers."""
    if not table.is_numeric(name) or table.has_leading_zeros(name):
        return np.array(table.column(name))
    values = np.asarray(table.numbers([name])[:, 0], dtype=np.float64)
    whole = np.isfinite(values).all() and (values == np.round(values)).all() and np.abs(values).max(initial=0) < 2**53
    return values.astype(np.int64) if whole else values


def _kind(table: CellTable, name: str, bag_of_row: NDArray[np.intp], wanted: Wanted) -> str:
    """Say what a column holds, one of the words above."""
    if name in wanted.categorical:
        return TOLD
    is_named = wanted.features is not None and name in wanted.features
    if wanted.features is not None and not is_named:
        return OTHER if wanted.trained_on is None else UNKNOWN
    if table.lists(name) is not None:
        return NUMBERS  # Which the table refuses in words of its own.
    if not table.is_of_dates(name) and table.is_numeric(name) and (is_named or not table.has_leading_zeros(name)):
        return NUMBERS if is_named or not _is_empty(table, name) else EMPTY
    cells = np.array(table.column(name))
    words, index = np.unique(cells, return_inverse=True)
    known = np.array([word not in MISSING_NAMES for word in words.tolist()])
    why = _kind_of_words(table, name, words[known].tolist(), index, known, bag_of_row)
    if is_named and (why == WRONG or wanted.trained_on is not None):
        return WRONG  # A model learnt numbers of it.
    if is_named and why != FEW:
        if why in (DATES, ZEROS) or known.sum() > MOST_WORDS:
            raise DataError(_no_feature(table, name, why, words[known].tolist()))
        return FEW
    return why


def _kind_of_words(
    table: CellTable,
    name: str,
    words: list[str],
    index: NDArray[np.intp],
    known: NDArray[np.bool_],
    bag_of_row: NDArray[np.intp],
) -> str:
    if not words:
        return EMPTY
    if table.is_of_dates(name) or all(map(_DATES.fullmatch, words)):
        return DATES
    counts = np.bincount(index, minlength=len(known))
    numbers = [table.form.is_number(word) or _ALMOST.fullmatch(word) is not None for word in words]
    is_leading = all(map(str.isdecimal, words))
    if not is_leading and 2 * counts[known][numbers].sum() >= counts[known].sum():
        return WRONG
    if 1 < len(words) <= MOST_WORDS and _is_shared(index, known, counts, bag_of_row):
        return FEW
    return ZEROS if is_leading else SAME if len(words) == 1 else NAMES


def _is_shared(
    index: NDArray[np.intp], known: NDArray[np.bool_], counts: NDArray[np.intp], bag_of_row: NDArray[np.intp]
) -> bool:
    """Say whether nearly all rows have a word that several bags have."""
    n_words = len(known)
    pairs = np.unique(bag_of_row * n_words + index)
    lone = known & (np.bincount(pairs % n_words, minlength=n_words) == 1)
    return bool(counts[lone].sum() <= LARGEST_LONE_SHARE * counts[known].sum())


def _first_wrong(table: CellTable, name: str) -> tuple[int, str, str]:
    """Return the first cell of a column of numbers that is none: its row, the column and the cell."""
    cells = table.column(name)
    known = {cell: table.form.is_number(cell) for cell in set(cells)}
    row = next(row for row, cell in enumerate(cells) if not known[cell])
    return row, name, cells[row]


def _is_empty(table: CellTable, name: str) -> bool:
    return bool(np.isnan(table.numbers([name])).all())


def _no_feature(table: CellTable, name: str, why: str, words: Sequence[str]) -> str:
    if why in (DATES, ZEROS):
        holds = f"holds {why}, such as {words[0]!r}"
    else:
        holds = f"holds {len(words)} different words, such as {words[0]!r}"
    what = "Write days since some day, as a number" if why == DATES else "Say categorical, for a column of each word"
    return f'{table.path}: the {table.noun} "{name}" {holds}, and is named by features. {what}, or carry it.'


def _notes(table: CellTable, kinds: Kinds) -> Iterator[str]:
    """Say of all columns of a kind what they are taken for; what the user said is not said again."""
    name = table.path.name
    of = {why: [one for one, own in kinds.why.items() if own == why] for why in dict.fromkeys(kinds.why.values())}
    if of.get(FEW):
        yield f"{name}: {quoted(of[FEW])} {_holds(of[FEW])} {FEW}, and {_are(of[FEW], 'a category', 'categories')}"
    for why in (NAMES, DATES, ZEROS, SAME):
        if of.get(why):
            hint = "; categorical makes features of words" if why == NAMES else ""
            held = f"{quoted(of[why])} {_holds(of[why])} {why}"
            yield f"{name}: {held}, and {_are(of[why])} carried beside the rows{hint}"
    if of.get(OTHER):
        yield f"{name}: {quoted(of[OTHER])} {_are(of[OTHER])} {OTHER}, and {_are(of[OTHER])} carried beside the rows"
    if of.get(UNKNOWN):
        columns = _are(of[UNKNOWN], UNKNOWN, UNKNOWN.replace("column", "columns"))
        yield f"{name}: {quoted(of[UNKNOWN])} {columns}, and {_are(of[UNKNOWN])} carried beside the rows"
    if of.get(EMPTY):
        yield f"{name}: {quoted(of[EMPTY])} {_are(of[EMPTY])} empty and left out"


def _holds(names: Sequence[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


def _are(names: Sequence[str], one: str = "", many: str = "") -> str:
    return f"{'is' if len(names) == 1 else 'are'} {one if len(names) == 1 else many}".rstrip()
