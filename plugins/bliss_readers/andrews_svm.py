"""The .svm files of Andrews, Tsochantaridis and Hofmann (2002): `INSTANCE:BAG:LABEL index:value ...`."""

from pathlib import Path

from bliss_framework.plugin import Bags, DataError, Reader, WeakDataset
from bliss_readers.tables.cell_table import TextTable
from bliss_readers.tables.column_roles import bag_ids
from bliss_readers.tables.id_text import id_notes, lone_notes
from bliss_readers.tables.label_column import LabelColumn
from bliss_readers.text.first_look import first_line
from bliss_readers.text.numbered_lines import numbered_lines
from bliss_readers.text.sparse_text import SparseText, check_n_features, dense_rows

_COMMENT = "#"
_HEADER = ["INSTANCE", "BAG", "LABEL"]


class AndrewsSvmReader(Reader):
    """Reads the sparse text format in which MUSK, Elephant, Fox, Tiger and TREC9 were published.

    A line is an instance, with the weak label of its bag. It is not the format of SVMlight, whose lines begin with the
    label alone.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .svm and its first line begins with three words between colons."""
        if path.suffix.lower() != ".svm":
            return False
        return [word.count(":") for word in first_line(path, _COMMENT).split(None, 1)[:1]] == [2]

    def read(  # type: ignore[override]
        self, path: Path, *, n_features: int | None = None, dense: bool = False, regime: str | None = None
    ) -> WeakDataset:
        """Read the file.

        Args:
            path: the file.
            n_features: the number of columns, where files of other widths belong together; by default the largest
                index.
            dense: return an array, for files in which every row has every feature.
            regime: what the weak labels are for; by default "mil".

        Returns:
            The data set, its rows as a float64 CSR matrix; `weak` has one entry for each bag in order of first
            appearance.

        Raises:
            DataError: naming the file and the line, what was found and what is allowed.
            SettingsError: n_features is no number of columns.
        """
        check_n_features(n_features)
        path = Path(path)
        table, cells = _lines(path)
        rows = SparseText(path, table.places, cells).matrix(n_features)
        ids = bag_ids(table, "BAG")
        column = LabelColumn(table, "BAG", "LABEL", sets=False, advice="correct the one that is wrong")
        return WeakDataset(
            name=path.stem,
            X=dense_rows(path, rows) if dense else rows,
            bags=ids,
            weak=column.of_bags(Bags.from_ids(ids)),
            regime=regime or "mil",
            notes=(*id_notes(table, "BAG", ids.tolist()), *lone_notes(path, ids)),
        )


def _lines(path: Path) -> tuple[TextTable, list[list[str]]]:
    rows, cells, places = [], [], []
    for number, text in numbered_lines(path):
        first, *rest = text.partition(_COMMENT)[0].split() or [""]
        if not first:
            continue
        if first.count(":") != 2:
            raise DataError(
                f"{path}, line {number}: it begins with {first!r}; allowed is INSTANCE:BAG:LABEL, then index:value for "
                f"each feature that is not 0."
            )
        rows.append(first.split(":"))
        cells.append(rest)
        places.append(f"line {number}")
    if not rows:
        raise DataError(f"{path} has no rows; a row is INSTANCE:BAG:LABEL index:value ...")
    return TextTable(path, _HEADER, rows, places, noun="field"), cells
