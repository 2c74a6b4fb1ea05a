"""How a `BlissClassifier` reads and prepares rows: by what its training rows taught, or by the user's transformer."""

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from bliss_framework.errors import BlissWarning, DataError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.fitted_attributes import remember_columns
from bliss_framework.estimator.inputs import is_table
from bliss_framework.estimator.preparation import Preparation, is_wanted, learnt, prepared_by
from bliss_framework.estimator.reading import ReadRows, ReadX, check_rows, numbers_alone, read_numbers, with_empty_cells
from bliss_framework.estimator.row_settings import is_transformer


def reading_for_fit(model: Any, X: Any) -> ReadX:
    """Return what makes numbers of training rows; a transformer is fitted to them.

    Raises:
        DataError: there is a transformer, and X is no table that it could take.
    """
    if is_wanted(model.prepare):
        return with_empty_cells
    if not is_transformer(model.prepare):
        return numbers_alone
    _refuse_no_table(X)
    model.preparation_ = clone(model.prepare)
    return lambda rows: ReadRows(check_rows(model.preparation_.fit_transform(rows)))


def reading_of_files(prepare: Any, names: Sequence[str] | None) -> ReadX:
    """Return what makes numbers of the rows of a file.

    Args:
        prepare: the parameter of a run.
        names: of the columns, for messages.
    """
    return lambda X: read_numbers(X, names, empty_cells=is_wanted(prepare))


def reading_of(model: Any, X: Any) -> ReadX:
    """Return what makes numbers of new rows of a fitted model; raises as `reading_for_fit` does."""
    preparation = getattr(model, "preparation_", None)
    if preparation is None:
        return numbers_alone
    if isinstance(preparation, Preparation):
        return with_empty_cells
    _refuse_no_table(X)
    return lambda rows: ReadRows(check_rows(preparation.transform(rows)))


def with_preparation(model: Any, data: CheckedData) -> CheckedData:
    """Learn the preparation of training rows, keep it in the model, and prepare them by it.

    Args:
        model: remembers the columns that users pass, too.
        data: training data; where the model has a transformer, its rows went through it when they were read.
    """
    if is_transformer(model.prepare):
        if not hasattr(model, "preparation_"):
            _refuse_no_table(None)
        return data
    remember_columns(model, data)
    model.preparation_ = learnt(model.prepare, data)
    return prepared_by(model.preparation_, data)


def prepared_rows(model: Any, data: CheckedData, warn: bool) -> CheckedData:
    """Prepare new rows, and perhaps warn of words that training rows lack."""
    preparation = getattr(model, "preparation_", None)
    if not isinstance(preparation, Preparation):
        return data
    ready = preparation.transform(data)
    for sentence in preparation.unknown_words(data) if warn else ():
        warnings.warn(sentence, BlissWarning, stacklevel=5)
    return ready


def _refuse_no_table(X: Any) -> None:
    if X is None or not is_table(X):
        raise DataError(
            "prepare is a transformer, which takes a table of rows (n, d); pass rows and bags=ids, or prepare rows "
            "before you pass them."
        )
