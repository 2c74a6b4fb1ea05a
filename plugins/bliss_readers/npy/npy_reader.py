"""A NumPy array of rows, which need not fit into memory: bags and weak labels stand in a table or archive beside it."""

import os
from pathlib import Path
from typing import Any

from attrs import evolve

from bliss_framework.plugin import DataError, Reader, SettingsError, WeakDataset, map_npy
from bliss_readers.npz.npz_archive import as_rows, open_archive
from bliss_readers.npz.npz_reader import archive_dataset
from bliss_readers.tables.beside_rows import beside_rows, rows_alone
from bliss_readers.tables.csv_file import TextForm
from bliss_readers.tables.table_dataset import TableOptions, read_table
from bliss_readers.text.first_look import first_bytes

_MAGIC = b"\x93NUMPY"
# What stands behind the name of the array's file.
LABEL_SUFFIXES = (".labels.npz", ".labels.csv", ".labels.tsv", ".labels.parquet")


class NpyReader(Reader):
    """Reads an array (n, d) of rows by memory map, and a file beside it that says what each row is.

    That file is a table with a line for each row, in the same order, or a native archive (.npz) without `X`. The rows
    of `X.npy` are described by `X.labels.npz`, `X.labels.csv`, `X.labels.tsv` or `X.labels.parquet`.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .npy and starts like an array."""
        return path.suffix.lower() == ".npy" and first_bytes(path, len(_MAGIC)) == _MAGIC

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        labels: str | Path | None = None,
        bag: str = "bag",
        label: str | None = None,
        instance_label: str | None = None,
        label_sets: bool | None = None,
        separator: str | None = None,
        regime: str | None = None,
        delimiter: str | None = None,
        rows_are_bags: bool = False,
        group: str | None = None,
    ) -> WeakDataset:
        """Read the rows and what is said of them.

        Args:
            path: the array.
            labels: the file of bags and labels, looked for beside the array, then in the current folder; by default
                the one that is called like the array, with ".labels" before its suffix.
            bag: the column of bag ids of a table.
            label: its column of weak labels; by default the one that is called "label", "labels", "y" or "weak_label".
            instance_label: its column of true classes; by default "instance_label" or "inst_y".
            label_sets: whether weak labels are sets of names; found out as in tables.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".
            regime: what the weak labels are for; by default as in tables and archives.
            delimiter: between the columns of a text table; by default a comma, in .tsv files a tab.
            rows_are_bags: whether each row is a bag of its own where there is no column of bag ids.
            group: the column of what is above bags; bags of one group are on one side of every split.

        Returns:
            The data set; its rows are a read-only memory map where they are float32 or float64, row by row.

        Raises:
            DataError: naming the file, what was found and what is allowed.
            SettingsError: an option for columns, where bags and labels stand in an archive.
            MissingExtraError: the table is a Parquet file, and pyarrow is not installed.
        """
        path = Path(path)
        stored = map_npy(path)
        if stored.ndim != 2 or stored.dtype.kind not in "biuf":
            raise DataError(
                f"{path} holds an array of shape {stored.shape} and type {stored.dtype}; allowed are numbers (n, d), a "
                f"row for each instance."
            )
        options = TableOptions(
            bag=bag,
            label=label,
            instance_label=instance_label,
            label_sets=label_sets,
            regime=regime,
            text=TextForm(delimiter),
            rows_are_bags=rows_are_bags,
            separator=separator,
            group=group,
        )
        beside = _file_beside(path, labels)
        dataset = _dataset(path, as_rows(stored), beside, options)
        return evolve(dataset, name=path.stem, notes=(*_copied(path, stored), *dataset.notes))


def _dataset(path: Path, rows: Any, beside: Path | None, options: TableOptions) -> WeakDataset:
    if beside is None:
        if not options.rows_are_bags:
            raise DataError(_no_labels(path))
        return rows_alone(path, rows, options)
    if beside.suffix.lower() != ".npz":
        return beside_rows(path, rows, read_table(beside, options), options)
    told = {"bag": options.bag != "bag", **{one: getattr(options, one) for one in ("label", "instance_label", "group")}}
    for name, is_told in told.items():
        if is_told:
            raise SettingsError(
                f"{beside} is an archive, whose arrays have set names; {name} names a column of a table."
            )
    with open_archive(beside) as archive:
        return archive_dataset(archive, rows, options.regime, options.label_sets, options.separator)


def _file_beside(path: Path, labels: str | Path | None) -> Path | None:
    """Return the file of bags and labels: the one that is told, else the one that has a usual name, else None."""
    if labels is not None:
        told = Path(labels).expanduser()
        beside = path.parent / told
        # os.path, unlike pathlib, takes a name that no file can have for a file that does not exist.
        return beside if os.path.isfile(beside) or not os.path.isfile(told) else told
    found = [one for one in (path.with_name(path.stem + suffix) for suffix in LABEL_SUFFIXES) if one.is_file()]
    if len(found) > 1:
        raise DataError(
            f"Beside {path} are {found[0].name} and {found[1].name}; say with labels which of them holds its bags."
        )
    return found[0] if found else None


def _no_labels(path: Path) -> str:
    names = " or ".join(f"{path.stem}{suffix}" for suffix in LABEL_SUFFIXES[:2])
    return (
        f"{path} holds rows and nothing about them. Write beside it {names}: a line or entry for each row with its bag "
        f"and weak label. Or name such a file with labels."
    )


def _copied(path: Path, stored: Any) -> list[str]:
    """Note rows that are read into memory, because their values or their order in the file are not those of rows."""
    if stored.dtype.str[1:] not in ("f4", "f8") or not stored.dtype.isnative:
        why = f"its values are {stored.dtype}"
    elif not stored.flags.c_contiguous:
        why = "it is stored column by column"
    else:
        return []
    return [f"{path.name} is read into memory, because {why}; float32 or float64, row by row, would be mapped"]
