"""Preparation of rows: empty cells are filled and categories become columns, as the training rows teach it.

The work is done by scikit-learn: `SimpleImputer` and `OneHotEncoder` in a `ColumnTransformer`. It is part of the model,
so that new rows are given as they come.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from bliss_framework.errors import DataError
from bliss_framework.estimator.checked_data import CheckedData, in_quotes
from bliss_framework.estimator.row_settings import AUTO, FILLINGS
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows
from bliss_framework.kernel.words import listed

LARGEST = np.finfo(np.float64).max / 2**20  # Beyond it a few values add up to infinity.
MOST_VALUES = 1 << 22  # Of more values without an empty cell nothing is learnt for the empty cells of new rows.


class Preparation(BaseEstimator):  # type: ignore[misc]
    """Fill empty cells and make a column of 0 and 1 of each word of a category.

    Columns of numbers come first, in their order, then those of the categories, words in alphabetical order. A word
    that training rows lack, and an empty cell of a category, is 0 in all columns of the category. A column that is
    empty in training is 0.

    Args:
        missing: what an empty cell of numbers becomes: the "median", the "mean" or the "most_frequent" value of the
            column in training.
        indicators: whether columns with empty cells in training get another one, 1 where the cell was empty.

    >>> from bliss_framework.kernel.bags import Bags
    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [5.0, 0.0]])
    >>> words = {"hue": ("blue", "red")}
    >>> data = CheckedData(X, Bags.from_ids([1, 1, 2]), None, ("size", "hue"), categories=words)
    >>> ready = Preparation().fit(data).transform(data)
    >>> ready.X.tolist(), ready.columns
    ([[1.0, 1.0, 0.0], [3.0, 0.0, 1.0], [5.0, 1.0, 0.0]], ('size', 'hue=blue', 'hue=red'))
    """

    def __init__(self, missing: str = "median", indicators: bool = False) -> None:
        self.missing = missing
        self.indicators = indicators

    def fit(self, data: CheckedData) -> "Preparation":
        """Learn what fills cells, and which words there are.

        Args:
            data: rows (n, d), in which NaN is an empty cell.
        """
        self.words_ = {name: list(words) for name, words in data.categories.items()}
        X = self._coded(data)
        places = _places(data)
        numbers = [place for place in range(X.shape[1]) if place not in places.values()]
        empty = _empty_cells(X)
        known = {place: np.unique(X[:, place][X[:, place] >= 0]) for place in places.values()}
        kept = [place for place in places.values() if len(known[place])]
        imputer = SimpleImputer(strategy=self.missing, keep_empty_features=True, add_indicator=self.indicators)
        encoder = OneHotEncoder(
            categories=[known[place] for place in kept], handle_unknown="ignore", sparse_output=False, dtype=np.float64
        )
        steps = [("numbers", imputer, numbers)] if numbers else []
        steps += [("categories", encoder, kept)] if kept else []
        sparse = 1.0 if Rows(X).is_sparse else 0.0
        whole = not places and not empty.any()
        learnt_from = self._in_short(X) if whole else X
        with np.errstate(over="ignore"):
            self.transformer_ = ColumnTransformer(steps, sparse_threshold=sparse).fit(learnt_from)
        if whole and not sparse and len(learnt_from) == 1:
            # The median of one value is half of twice that value to scikit-learn, and twice may be infinite.
            self.transformer_.named_transformers_["numbers"].statistics_ = np.asarray(learnt_from[0], dtype=np.float64)
        self._refuse_overflow(data, numbers)
        self.as_it_is_ = not places and not (self.indicators and empty.any())
        self.filled_ = np.array([int(empty[numbers].sum()), int((empty[numbers] > 0).sum())])
        self.known_ = {name: [self.words_[name][int(code)] for code in known[place]] for name, place in places.items()}
        self.names_ = self._names(data, numbers, empty)
        return self

    def transform(self, data: CheckedData) -> CheckedData:
        """Return data with rows (n, d') without NaN; the same data where there is nothing to do.

        Raises:
            DataError: a category of training is numbers here, or the other way round.
        """
        _refuse_other_kinds(self.words_, data)
        if self.as_it_is_ and not data.empty_cells:
            return data
        X = Rows(self.transformer_.transform(self._coded(data))).canonical().array
        names = None if self.names_ is None else tuple(self.names_)
        return evolve(
            data, X=X if Rows(X).is_sparse else np.ascontiguousarray(X), columns=names, categories={}, empty_cells=False
        )

    def first_row(self, row: Any, names: Sequence[str] | None) -> CheckedData:
        """Return a row (1, d) of numbers as data with the columns and categories of training."""
        columns = None if names is None else tuple(map(str, names))
        words = {name: tuple(known) for name, known in self.words_.items()}
        return CheckedData(row, Bags.from_ids([0]), None, columns, categories=words)

    def summary(self) -> str:
        """Say in a sentence what was done to the training rows; empty where there was nothing to do."""
        n_cells, n_columns = self.filled_.tolist()
        said = []
        if n_cells:
            cells = "1 empty cell" if n_cells == 1 else f"{n_cells:,} empty cells"
            columns = f"column{'s' * (n_columns > 1)} {'was' if n_cells == 1 else 'were'}"
            whose = "their columns" if n_columns > 1 else "the column"
            filling = f"{FILLINGS[self.missing]}{'s' * (n_columns > 1)}"
            said.append(f"{cells} of {n_columns} {columns} filled with the {filling} of {whose}")
        if self.known_:
            counts = {name: len(words) for name, words in self.known_.items()}
            parts = [f'"{name}" ({count} value{"s" * (count != 1)})' for name, count in counts.items()]
            total = sum(counts.values())
            said.append(f"{listed(parts, 5)} became {total} column{'s' * (total != 1)}")
        return f"{'; '.join(said)}." if said else ""

    def unknown_words(self, data: CheckedData) -> tuple[str, ...]:
        """Say which words of some data training rows lack: a sentence for each category."""
        places, said = _places(data), []
        for name, words in data.categories.items():
            codes = data.X[:, places[name]]
            present = {words[int(one)] for one in np.unique(codes[codes >= 0])}
            new = sorted(present - set(self.known_[name]))
            if new:
                noun = "value" if len(new) == 1 else "values"
                said.append(
                    f'The category "{name}" has the {noun} {in_quotes(new)}, which training did not have; such a row '
                    f"counts as none of the values that are known."
                )
        return tuple(said)

    def _coded(self, data: CheckedData) -> Any:
        """Return rows whose categories are places in the words of training, -1 where there is none of these."""
        if not data.categories:
            return data.X
        X, places = np.array(data.X), _places(data)
        for name, words in data.categories.items():
            known = {word: place for place, word in enumerate(self.words_[name])}
            recoded = np.array([*(known.get(word, -1) for word in words), -1], dtype=X.dtype)
            codes = X[:, places[name]]
            X[:, places[name]] = recoded[np.where(np.isnan(codes), len(words), codes).astype(np.intp)]
        return X

    def _refuse_overflow(self, data: CheckedData, numbers: Sequence[int]) -> None:
        """Refuse a column whose values are so large that what fills its cells would be infinite."""
        if not numbers:
            return
        wrong = np.flatnonzero(np.isinf(self.transformer_.named_transformers_["numbers"].statistics_))
        if len(wrong):
            place = numbers[int(wrong[0])]
            name = str(place) if data.columns is None else f'"{data.columns[place]}"'
            raise DataError(
                f"The values of column {name} are so large that their {FILLINGS[self.missing]} is infinite, so its "
                f"empty cells cannot be filled. Divide the column by a constant, or leave it out."
            )

    def _in_short(self, X: Any) -> Any:
        """Return a row that teaches the same as rows without an empty cell: the imputer's median takes its time."""
        if Rows(X).is_sparse or self.missing == "most_frequent":
            return X
        middle = np.median if self.missing == "median" else np.mean
        # Of values near the largest that there are two have a sum that is none.
        largest = np.maximum(np.abs(X).max(axis=0), 1.0) if np.abs(X).max(initial=0.0) > LARGEST else 1.0
        return (middle(X / largest, axis=0) * largest)[None] if np.ndim(largest) else middle(X, axis=0)[None]

    def _names(self, data: CheckedData, numbers: Sequence[int], empty: NDArray[np.intp]) -> list[str] | None:
        if data.columns is None:
            return None
        own = [data.columns[place] for place in numbers]
        added = [f"{data.columns[place]} is missing" for place in numbers if self.indicators and empty[place]]
        words = [f"{name}={word}" for name, known in self.known_.items() for word in known]
        return [*own, *added, *words]


def is_wanted(prepare: Any) -> bool:
    """Say whether a value of `prepare` is one that `Preparation` answers to, rather than a transformer or nothing."""
    return isinstance(prepare, Mapping) or (isinstance(prepare, str) and prepare == AUTO)


def learnt(prepare: Any, data: CheckedData) -> Preparation | None:
    """Learn the preparation of some training rows.

    Args:
        prepare: the parameter of `BlissClassifier`.
        data: checked, with empty cells as NaN.

    Returns:
        None where nothing is wanted, or where rows without empty cells are so many that it would take long.
    """
    if not is_wanted(prepare):
        return None
    if not data.categories and data.rows.shape[0] * data.rows.shape[1] > MOST_VALUES and not data.empty_cells:
        return None
    table = {} if prepare == AUTO else dict(prepare)
    return Preparation(**table).fit(data)


def prepared_by(preparation: Preparation | None, data: CheckedData) -> CheckedData:
    """Prepare data, where there is a preparation.

    Raises:
        DataError: there is none, and a column is a category.
    """
    if preparation is not None:
        return preparation.transform(data)
    if data.categories:
        raise DataError(
            f'The column "{next(iter(data.categories))}" is a category, of which prepare="auto" makes columns; leave '
            f"it out, or set prepare."
        )
    return data


def _places(data: CheckedData) -> dict[str, int]:
    columns = list(data.columns or ())
    return {name: columns.index(name) for name in data.categories}


def _empty_cells(X: Any) -> NDArray[np.intp]:
    """Count the NaN of each column (d,)."""
    if not Rows(X).is_sparse:
        return np.asarray(np.isnan(X).sum(axis=0))
    return np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1])


def _refuse_other_kinds(words: Mapping[str, Sequence[str]], data: CheckedData) -> None:
    columns = data.columns or ()
    for name in words:
        if name in columns and name not in data.categories:
            raise DataError(
                f'The column "{name}" was a category in training, and holds numbers here; read it as a category, or '
                f"train anew."
            )
    for name in data.categories:
        if name not in words:
            raise DataError(f'The column "{name}" held numbers in training, and holds words here; correct them.')
