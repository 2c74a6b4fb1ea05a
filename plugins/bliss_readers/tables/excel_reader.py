"""Excel workbooks: a sheet with one row for each instance, the bag and the weak label in columns."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from bliss_framework.plugin import Reader, WeakDataset
from bliss_readers.tables.excel_file import EXCEL_SUFFIXES, read_excel_table
from bliss_readers.tables.table_dataset import TableOptions, table_dataset
from bliss_readers.tables.wanted_columns import Wanted


class ExcelReader(Reader):
    """Reads a sheet of an Excel workbook as the CSV reader reads text (extra `files`).

    The first row that is not empty names the columns. Cells hold what Excel last calculated; dates are carried.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .xlsx or .xlsm and is an archive."""
        try:
            return path.suffix.lower() in EXCEL_SUFFIXES and path.is_file() and zipfile.is_zipfile(path)
        except (OSError, ValueError):
            return False

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        sheet: str | None = None,
        bag: str = "bag",
        label: str | None = None,
        instance_label: str | None = None,
        labels: str | Path | None = None,
        label_sets: bool | None = None,
        separator: str | None = None,
        features: Sequence[str] | None = None,
        categorical: Sequence[str] = (),
        carry: Sequence[str] = (),
        ignore: Sequence[str] = (),
        regime: str | None = None,
        rows_are_bags: bool = False,
        group: str | None = None,
        trained_on: Sequence[str] | None = None,
        labelled: bool = True,
        empty_labels: bool = False,
        columns_are_classes: bool = True,
    ) -> WeakDataset:
        """Read a table, and a second one with the weak labels where there is one.

        Args:
            path: the workbook.
            sheet: the name of its sheet; by default the first one.
            bag: the column of bag ids.
            label: the column of weak labels; by default the one that is called "label", "labels", "y" or "weak_label".
                A weak label is the same over its bag: a number, a name, names with "|" between them, or a list; or
                several values, whose columns are named with commas between them.
            instance_label: the column of true classes; by default the one that is called "instance_label" or "inst_y".
            labels: a second table, CSV, Parquet or Excel, with the bag and label columns, one row for each bag; looked
                for beside the first, then in the current folder.
            label_sets: whether weak labels are sets of names. By default they are if they are lists, if some cell
                holds a "|", or if a ";" stands between names of which one is in two different cells. An empty cell
                decides nothing: among names it is "" for the regime.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".
            features: the columns that are features, names or patterns such as "f*"; by default all that can be. Others
                are carried.
            categorical: columns that are categories, whatever is in them. By default columns with at most 20 different
                words are, where no more than one row in ten has a word that only one bag has.
            carry: columns that stay beside the rows, as do by default dates, ids with leading zeros, and columns of
                other words.
            ignore: columns to leave out.
            regime: what the weak labels are for; by default "multiclass-mil" for label sets, else "mil".
            rows_are_bags: whether each row is a bag of its own where there is no column of bag ids.
            group: the column of what is above bags, such as the patient of a slide, in either table; bags of one group
                are on one side of every split.
            trained_on: the columns of a model that is to predict: all are needed, and others are carried.
            labelled: whether weak labels are wanted; else a column of them is carried.
            empty_labels: whether an empty cell is a weak label of which nothing is known; the regime says so.
            columns_are_classes: whether several columns of weak labels in the table of labels are one for each class;
                the regime says so.

        Returns:
            The data set, its rows as float64 with NaN where a cell is empty; `weak` has one entry for each bag in order
            of first appearance, frozensets where they are label sets, and is None where the table has no weak labels.

        Raises:
            DataError: naming the file, the row or the bag, what was found and what is allowed.
            SettingsError: there is no such sheet.
            MissingExtraError: openpyxl is not installed.
        """
        options = TableOptions(
            bag=bag,
            label=label,
            instance_label=instance_label,
            labels=labels,
            label_sets=label_sets,
            columns=Wanted(features, categorical, carry, ignore, trained_on),
            regime=regime,
            rows_are_bags=rows_are_bags,
            separator=separator,
            group=group,
            labelled=labelled,
            empty_labels=empty_labels,
            columns_are_classes=columns_are_classes,
        )
        return table_dataset(read_excel_table(Path(path), sheet), options)
