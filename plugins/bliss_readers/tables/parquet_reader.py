"""Parquet tables: one row for each instance, the bag and the weak label in columns."""

from collections.abc import Sequence
from pathlib import Path

from bliss_framework.plugin import Reader, WeakDataset
from bliss_readers.tables.parquet_file import PARQUET_SUFFIXES, read_parquet_table
from bliss_readers.tables.table_dataset import TableOptions, table_dataset
from bliss_readers.text.first_look import first_bytes

_MAGIC = b"PAR1"


class ParquetReader(Reader):
    """Reads Parquet tables as the CSV reader reads text (extra `files`).

    Bag ids become text. Columns of numbers and of true and false are features as they are; one of text is a feature
    if each of its cells is a number. The index that pandas writes without a name is no column.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .parquet or .pq and starts like one."""
        return path.suffix.lower() in PARQUET_SUFFIXES and first_bytes(path, len(_MAGIC)) == _MAGIC

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        bag: str = "bag",
        label: str | None = None,
        instance_label: str | None = None,
        labels: str | Path | None = None,
        label_sets: bool | None = None,
        ignore: Sequence[str] = (),
        regime: str | None = None,
        rows_are_bags: bool = False,
    ) -> WeakDataset:
        """Read a table, and a second one with the weak labels where there is one.

        Args:
            path: the table of the instances.
            bag: the column of bag ids.
            label: the column of weak labels; by default the one that is called "label", "labels" or "y". A weak label
                is the same over its bag: a number, a name, names with "|" between them, or a list of names.
            instance_label: the column of true classes; by default the one that is called "instance_label" or "inst_y".
            labels: a second table, Parquet or CSV, with the bag and label columns, one row for each bag; looked for
                beside the first, then in the current folder.
            label_sets: whether weak labels are sets of names. By default they are if they are lists, some cell holds a
                "|", or is empty among names.
            ignore: columns to leave out.
            regime: what the weak labels are for; by default "multiclass-mil" for label sets, else "mil".
            rows_are_bags: whether each row is a bag of its own where there is no column of bag ids.

        Returns:
            The data set, its rows as float64 with NaN where a cell is null; `weak` has one entry for each bag in order
            of first appearance, frozensets where they are label sets, and is None where the table has no weak labels.

        Raises:
            DataError: naming the file, the row or the bag, what was found and what is allowed.
            MissingExtraError: pyarrow is not installed.
        """
        options = TableOptions(
            bag, label, instance_label, labels, label_sets, ignore, regime, rows_are_bags=rows_are_bags
        )
        return table_dataset(read_parquet_table(Path(path)), options)
