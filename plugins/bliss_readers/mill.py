"""The .data files of the MILL toolbox (Yang, 2008): `INSTANCE,BAG,LABEL,` and values, or `index:value`."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, Reader, SettingsError, WeakDataset
from bliss_readers.c45 import bags_come_first, is_c45
from bliss_readers.tables.cell_table import TextTable, is_missing, is_number
from bliss_readers.tables.column_roles import bag_ids
from bliss_readers.tables.id_text import id_notes, lone_notes
from bliss_readers.tables.label_column import first_missing, typed
from bliss_readers.text.first_look import first_line
from bliss_readers.text.numbered_lines import numbered_lines
from bliss_readers.text.sparse_text import SparseText, check_n_features, dense_rows

_COMMENT = "#"
_HEADER = ["INSTANCE", "BAG", "LABEL"]


class MillReader(Reader):
    """Reads the text format of the MILL toolbox, dense or sparse.

    A line is an instance with a label. Where all instances of each bag have the same one, these are the weak labels.
    Where they differ they are true classes, and the weak label of a bag is the largest of its instances.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .data, is no C4.5 file, and its first line has a number in third place."""
        if path.suffix.lower() != ".data" or is_c45(path):
            return False
        fields = _split(first_line(path, _COMMENT))
        return len(fields) > len(_HEADER) and is_number(fields[2]) and not is_missing(fields[2])

    def read(  # type: ignore[override]
        self, path: Path, *, n_features: int | None = None, dense: bool = False, regime: str | None = None
    ) -> WeakDataset:
        """Read the file.

        Args:
            path: the file.
            n_features: the number of columns of a sparse file, where files of other widths belong together; by default
                the largest index.
            dense: return an array where the file is sparse.
            regime: what the weak labels are for; by default "mil".

        Returns:
            The data set, its rows as a float64 array, or CSR matrix where the file is sparse; `weak` has one entry for
            each bag in order of first appearance.

        Raises:
            DataError: naming the file and the line, what was found and what is allowed.
            SettingsError: n_features is no number of columns, or not that of a dense file.
        """
        check_n_features(n_features)
        path = Path(path)
        table, cells = _lines(path)
        rows = _rows(table, cells, n_features)
        bags = bag_ids(table, "BAG")
        labels = _row_labels(table)
        weak = Bags.from_ids(bags).max(labels)
        differ = bool((Bags.from_ids(bags).spread(weak) != labels).any())
        return WeakDataset(
            name=path.stem,
            X=dense_rows(path, rows) if dense and not isinstance(rows, np.ndarray) else rows,
            bags=bags,
            weak=weak,
            regime=regime or "mil",
            notes=(*id_notes(table, "BAG", bags.tolist()), *_order_notes(table, cells), *lone_notes(path, bags)),
            instance_labels=labels if differ else None,
        )


def _lines(path: Path) -> tuple[TextTable, list[list[str]]]:
    rows, cells, places = [], [], []
    for number, text in _until_empty(path):
        fields = _split(text)
        if len(fields) < len(_HEADER):
            raise DataError(
                f"{path}, line {number}: {len(fields)} fields; allowed are INSTANCE, BAG, LABEL and the features, with "
                f"commas between them."
            )
        rows.append(fields[: len(_HEADER)])
        cells.append(fields[len(_HEADER) :])
        places.append(f"line {number}")
    if not rows:
        raise DataError(f"{path} has no rows; a row is INSTANCE,BAG,LABEL and the features.")
    return TextTable(path, _HEADER, rows, places, noun="field"), cells


def _until_empty(path: Path) -> list[tuple[int, str]]:
    lines = [(number, text) for number, text in numbered_lines(path) if not text.startswith(_COMMENT)]
    end = next((position for position, (_, text) in enumerate(lines) if not text), len(lines))
    for number, text in lines[end:]:
        if text:
            raise DataError(
                f"{path}, line {number}: there are rows below an empty line, where the MILL toolbox stops to read; "
                f"delete the empty line, or what is below it."
            )
    return lines[:end]


def _split(text: str) -> list[str]:
    if "," not in text:
        return text.split()
    # Some tools write a comma at the end of a line as well.
    return [cell.strip() for cell in text.removesuffix(",").split(",")]


def _rows(table: TextTable, cells: list[list[str]], n_features: int | None) -> Any:
    first = next((row for row in cells if row), [])
    if first and ":" in first[0]:
        return SparseText(table.path, table.places, cells).matrix(n_features)
    for row, one in enumerate(cells):
        if len(one) != len(cells[0]) or not one:
            raise DataError(
                f"{table.path}, {table.place(row)}: {len(one)} features, but {len(cells[0])} in {table.place(0)}; "
                f"every row has as many, one or more."
            )
    if n_features not in (None, len(first)):
        raise SettingsError(f"n_features is {n_features}, but the rows of {table.path} have {len(first)} features.")
    names = [str(position) for position in range(1, len(first) + 1)]
    return TextTable(table.path, names, cells, table.places, noun="feature").numbers(names)


def _order_notes(table: TextTable, cells: list[list[str]]) -> list[str]:
    """Note rows whose first field looks like bags and whose last one like classes, in the order of C4.5."""
    if not all(cells) or not bags_come_first(table.column("INSTANCE"), [row[-1] for row in cells]):
        return []
    return [
        f"{table.path.name}: the first field looks like bags and the last one like their classes, as in C4.5; here "
        f"they were read as instances and as a feature, as in MILL; name the reader c45 if that is wrong"
    ]


def _row_labels(table: TextTable) -> NDArray[Any]:
    cells = table.column("LABEL")
    missing = first_missing(cells)
    wrong = next((row for row, cell in enumerate(cells) if not is_number(cell)), missing)
    if wrong is not None:
        raise DataError(f"{table.at(wrong, 'LABEL')}: {cells[wrong]!r}; allowed are numbers, such as 0 and 1.")
    return typed(cells)
