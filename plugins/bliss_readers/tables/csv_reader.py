"""Tables as text: one line for each instance, the bag and the weak label in columns."""

from collections.abc import Sequence
from pathlib import Path

from bliss_framework.plugin import Reader, WeakDataset
from bliss_readers.tables.csv_file import CSV_DELIMITERS, read_csv_table
from bliss_readers.tables.table_dataset import TableOptions, table_dataset
from bliss_readers.text.first_look import begins_like_text


class CsvReader(Reader):
    """Reads UTF-8 tables whose first line names the columns.

    One column is the bag, one may be the weak label and one the true class; every other one is a feature. Bag ids stay
    text, so that "007" and "7" are two bags. Rows of a bag need not be contiguous.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .csv or .tsv and starts like text."""
        return path.suffix.lower() in CSV_DELIMITERS and begins_like_text(path)

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        bag: str = "bag",
        label: str | None = None,
        instance_label: str | None = None,
        labels: str | Path | None = None,
        label_sets: bool | None = None,
        separator: str | None = None,
        ignore: Sequence[str] = (),
        regime: str | None = None,
        delimiter: str | None = None,
        rows_are_bags: bool = False,
        group: str | None = None,
    ) -> WeakDataset:
        """Read a table, and a second one with the weak labels where there is one.

        Args:
            path: the table of the instances.
            bag: the column of bag ids.
            label: the column of weak labels; by default the one that is called "label", "labels", "y" or "weak_label".
                A weak label is the same over its bag: a number, a name, names with "|" between them, or a list.
            instance_label: the column of true classes; by default the one that is called "instance_label" or "inst_y".
            labels: a second table, CSV or Parquet, with the bag and label columns, one line for each bag; looked for
                beside the first, then in the current folder.
            label_sets: whether weak labels are sets of names. By default they are if they are lists, if some cell
                holds a "|", or if a ";" stands between names of which one is in two different cells. An empty cell
                decides nothing: among names it is "" for the regime.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".
            ignore: columns to leave out.
            regime: what the weak labels are for; by default "multiclass-mil" for label sets, else "mil".
            rows_are_bags: whether each row is a bag of its own where there is no column of bag ids.
            group: the column of what is above bags, such as the patient of a slide, in either table; bags of one group
                are on one side of every split.
            delimiter: between columns; by default a comma, in .tsv files a tab.

        Returns:
            The data set, its rows as float64 with NaN for empty cells, "?", "NA" and "nan"; `weak` has one entry for
            each bag in order of first appearance, frozensets where they are label sets, and is None where the table has
            no weak labels.

        Raises:
            DataError: naming the file, the line or the bag, what was found and what is allowed.
        """
        path = Path(path)
        options = TableOptions(
            bag, label, instance_label, labels, label_sets, ignore, regime, delimiter, rows_are_bags, separator, group
        )
        usual = CSV_DELIMITERS.get(path.suffix.lower(), ",")
        return table_dataset(read_csv_table(path, delimiter, usual, options.text_columns), options)
