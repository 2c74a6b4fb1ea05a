"""Bags in tables: a Parquet or CSV file for each bag, with a line for each instance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import DataError
from bliss_readers.bag_files.bag_file import BagFile
from bliss_readers.tables.cell_table import CellTable
from bliss_readers.tables.column_roles import INSTANCE_LABEL_NAMES, LABEL_NAMES, choose
from bliss_readers.tables.index_columns import index_columns
from bliss_readers.tables.label_column import first_missing, typed
from bliss_readers.tables.parquet_file import ParquetTable
from bliss_readers.tables.parquet_piece import is_text
from bliss_readers.tables.table_dataset import TableOptions, read_table

COORDINATES = ("coords_x", "coords_y", "coords_z", "coord_x", "coord_y", "coord_z")


def bag_of_table(path: Path, options: TableOptions) -> BagFile:
    """Open a table of one bag.

    Args:
        path: of the table.
        options: the column of bag ids, which is passed over here, that of true classes, and what is said of others.
            Those of coordinates and of words stand beside the rows.

    Raises:
        DataError: the table is damaged, a column is missing, or no feature is left.
    """
    table = read_table(path, options)
    wanted = options.columns.in_table(table)
    taken = {*wanted.ignore} | ({options.bag} & set(table.header))
    truth = choose(table, options.instance_label, INSTANCE_LABEL_NAMES, "instance_label", sorted(taken))
    told = {*wanted.carry, *(set(COORDINATES) - set(wanted.spoken_for))}
    beside = [name for name in table.header if name in told and name not in taken]
    rest = [name for name in table.header if name not in {*taken, *beside, truth}]
    index = index_columns(table, [name for name in rest if name not in wanted.spoken_for])
    rest = [name for name in rest if name not in index]
    if wanted.trained_on is None:
        _refuse_label(table, [name for name in rest if name not in wanted.spoken_for])
    text = _text_columns(table, [name for name in rest if name not in wanted.categorical])
    text = [name for name in rest if name in text or name in wanted.categorical]
    features = [name for name in rest if name not in text]
    if wanted.features is not None:
        beside += [name for name in features if name not in wanted.features]
        features = [name for name in features if name in wanted.features]
    if not features:
        raise DataError(f"{path} has no features: no column of numbers is left.")
    single = isinstance(table, ParquetTable) and all(str(table.types[name]) in _SINGLE for name in features)
    return BagFile(
        path=path,
        shape=(_n_rows(table), len(features)),
        stored=np.dtype(np.float32 if single else np.float64),
        copy=lambda out: _copy(path, options, features, out),
        columns=tuple(features),
        beside={
            **{name: typed(table.column(name)) for name in beside},
            **{name: np.array(table.column(name)) for name in text},
        },
        instance_labels=None if truth is None else _classes(table, truth),
        text=tuple(text),
    )


_SINGLE = ("float", "halffloat")  # As Arrow calls float32 and float16.


def _copy(path: Path, options: TableOptions, features: Sequence[str], out: NDArray[Any]) -> None:
    numbers = read_table(path, options).numbers(features)
    if numbers.shape != out.shape:
        raise DataError(f"{path} changed while it was read.")
    out[...] = numbers


def _n_rows(table: CellTable) -> int:
    if isinstance(table, ParquetTable):
        return sum(piece.n_rows for piece in table.pieces)
    return len(table.column(table.header[0]))


def _classes(table: CellTable, name: str) -> NDArray[Any]:
    cells = table.column(name)
    missing = first_missing(cells)
    if missing is not None:
        raise DataError(f"{table.at(missing, name)}: no class.")
    return typed(cells)


def _refuse_label(table: CellTable, names: Sequence[str]) -> None:
    """Refuse a column that would give the answer away."""
    label = next((name for name in names if name.casefold() in LABEL_NAMES and len(name) > 1), None)
    if label is not None:
        raise DataError(
            f'{table.path} has a column "{label}", and weak labels stand in a table of bags. Leave it out with ignore, '
            f"or say with instance_label that it holds true classes."
        )


def _text_columns(table: CellTable, names: Sequence[str]) -> list[str]:
    """Return the columns that hold no numbers."""
    if not names:
        return []
    if isinstance(table, ParquetTable):
        return [name for name in names if is_text(table.types[name])]
    try:
        table.numbers(names)
    except DataError:
        if len(names) == 1:
            return list(names)
        half = len(names) // 2
        return [*_text_columns(table, names[:half]), *_text_columns(table, names[half:])]
    return []
