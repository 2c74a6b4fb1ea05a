"""A table of bags and labels, with a line for each row of an array that stands in another file."""

from pathlib import Path
from typing import Any

import numpy as np

from bliss_framework.plugin import DataError, WeakDataset
from bliss_readers.tables.cell_table import CellTable, listed
from bliss_readers.tables.column_roles import bag_ids, dataset_of_rows, named_roles
from bliss_readers.tables.row_numbered import numbered
from bliss_readers.tables.table_dataset import TableOptions, own_labels, with_groups


def beside_rows(path: Path, rows: Any, table: CellTable, options: TableOptions) -> WeakDataset:
    """Make a data set of rows and of the table that describes them.

    Args:
        path: of the rows, for messages.
        rows: (n, d) array.
        table: n lines in the order of the rows; columns without a role are not used, which is noted.
        options: which column is what.

    Raises:
        DataError: the table has another number of lines, or is not as it should be.
    """
    n_lines = len(table.column(table.header[0]))
    if n_lines != len(rows):
        raise DataError(
            f"{table.path} has {n_lines} lines below the column names, and {path} has {len(rows)} rows; it needs a "
            f"line for each of them, in the same order."
        )
    table = numbered(table, options.bag) if options.rows_are_bags else table
    group = [] if options.group is None else [table.require(options.group, "group")]
    roles = named_roles(table, options.bag, options.label, options.instance_label, group)
    unused = f"{table.path.name}: {listed(roles.features)} has no role and is not used; the features are in {path.name}"
    notes = (unused,) if roles.features else ()
    ids, column = bag_ids(table, roles.bag), own_labels(table, roles, options)
    dataset = dataset_of_rows(table, roles, ids, column, options.regime, rows, notes=notes)
    return with_groups(dataset, table, None, options)


def rows_alone(path: Path, rows: Any, options: TableOptions) -> WeakDataset:
    """Make a data set of rows that are each a bag of its own, without labels."""
    ids = np.arange(len(rows)).astype(str)
    return WeakDataset(name=path.stem, X=rows, bags=ids, weak=None, regime=options.regime or "mil")
