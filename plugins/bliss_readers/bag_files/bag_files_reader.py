"""One file per bag: a folder, a pattern or a list of files, and a table with a line for each bag."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, Reader, WeakDataset, check_size
from bliss_readers.bag_files.bag_file import BagFile
from bliss_readers.bag_files.bag_labels import BagLabels, labels_path, read_labels
from bliss_readers.bag_files.bag_paths import bag_paths, is_list, kind_of_bag, looks_like_bags
from bliss_readers.bag_files.categories import with_categories
from bliss_readers.bag_files.disagreement import disagreeing, refuse, skipped_note, without_file
from bliss_readers.bag_files.gathered_rows import gathered
from bliss_readers.bag_files.hdf5_bags import Hdf5Arrays
from bliss_readers.bag_files.named_arrays import NamedArrays, bag_of_arrays
from bliss_readers.bag_files.numpy_bags import NpyArrays, NpzArrays
from bliss_readers.bag_files.table_bags import bag_of_table
from bliss_readers.bag_files.torch_bags import TorchArrays
from bliss_readers.tables.csv_file import TextForm
from bliss_readers.tables.parquet_file import is_parquet_folder, is_table_of_bags
from bliss_readers.tables.table_dataset import TableOptions
from bliss_readers.tables.wanted_columns import Wanted

_ARRAYS: Mapping[str, Callable[[Path], NamedArrays]] = {
    "npy": NpyArrays,
    "npz": NpzArrays,
    "hdf5": Hdf5Arrays,
    "pt": TorchArrays,
}


class BagFilesReader(Reader):
    """Reads a file for each bag (.npy, .npz, .h5, .hdf5, .pt, .parquet, .csv), and a table of their weak labels.

    The stem of a file is its bag id. Extras: `files` for .h5 and .parquet, `torch` for .pt.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is a text file that lists files of bags: a folder is a data set where it is named."""
        return is_list(path)

    def takes(self, path: Path, options: Mapping[str, Any]) -> bool:
        """Say whether the path is a folder, a pattern or a list of files of bags.

        A folder of Parquet files is one table, unless its files have no column of bags, and a table of labels is told
        or a model was trained on files of bags.
        """
        if not looks_like_bags(path):
            return False
        return not is_parquet_folder(path) or not is_table_of_bags(path, options)

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
        features: Sequence[str] | None = None,
        categorical: Sequence[str] = (),
        carry: Sequence[str] = (),
        ignore: Sequence[str] = (),
        regime: str | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        group: str | None = None,
        array: str | None = None,
        skip_bad: bool = False,
        trained_on: Sequence[str] | None = None,
        columns_are_classes: bool = True,
    ) -> WeakDataset:
        """Read all files, and the table of their weak labels where there is one.

        Args:
            path: a folder; a pattern, such as "slides/*.h5"; or a text file with the path of a file in each line. Of a
                folder the kind of file is taken that it has most of.
            labels: the table of bags, CSV or Parquet, looked for in the folder, beside it, then in the current folder.
            bag: its column of bag ids; where it has no column "bag", the first one.
            label: its column of weak labels; by default the one that is called "label", "labels", "y" or "weak_label".
                Or several columns between commas, one for each class, of shares, counts, or 0 and 1 for each label of a
                set; by default all other columns, where none has a usual name.
            instance_label: the column of true classes of tables; by default "instance_label" or "inst_y".
            label_sets: whether weak labels are sets of names; found out as in tables.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".
            features: columns of tables of instances that are features, names or patterns; by default all that can be.
            categorical: columns of these that are categories; by default as in tables, over all bags.
            carry: columns of these that stand beside the rows; names, dates and coordinates do so, too.
            ignore: columns of these to leave out.
            regime: what the weak labels are for; by default what they look like.
            delimiter, decimal, encoding: of text tables, as the reader `csv` takes them; found out by default.
            group: the column of the table of bags with what is above them, such as the patient of a slide.
            array: the array of the rows in .npz, .h5 and .pt files; by default features, feats, x or the like, or the
                only one that can be it.
            skip_bad: leave out bags that cannot be used, and say so, instead of refusing all.
            trained_on: the columns of a model that is to predict; others are carried.
            columns_are_classes: whether several columns of weak labels in the table of labels are one for each class;
                the regime says so.

        Returns:
            The data set: rows as float32 where they are stored as float32 or float16, else as float64; what would take
            more than half of the memory stands in a temporary file and is mapped. Coordinates, other arrays with an
            entry for each row, and columns of names are carried; few words, each in several bags, are categories.

        Raises:
            DataError: naming the files that disagree with the table or with one another, or are damaged.
            MissingExtraError: a package for a format is not installed.
        """
        path = Path(path)
        options = TableOptions(
            bag=bag,
            label=label,
            instance_label=instance_label,
            labels=labels,
            label_sets=label_sets,
            columns=Wanted(features, categorical, carry, ignore, trained_on),
            regime=regime,
            columns_are_classes=columns_are_classes,
            text=TextForm(delimiter, decimal, encoding),
            separator=separator,
            group=group,
        )
        listing = bag_paths(path, None if labels is None else labels_path(path, labels))
        stems = _stems(path, listing.paths)
        told = None if labels is None else read_labels(path, labels, stems, options)
        files, bad = _opened(listing.paths, options, array)
        ids = None if told is None else (told.table.path, told.ids)
        bad |= {**disagreeing(files, ids), **without_file(listing.paths, ids)}
        usable = [one for one in files if one.id not in bad]
        total = len(set(stems) | set(() if told is None else told.ids))
        refuse(path, bad, total, skip_bad and bool(usable))
        check_size(path, sum(one.shape[0] * one.shape[1] for one in usable) * 4, [one.path for one in usable])
        usable, categories, kinds = with_categories(path, usable, options.columns)
        read = gathered(usable)
        refuse(path, read.bad, total, skip_bad and bool(read.files))
        dataset = _dataset(path, list(read.files), read.rows, told)
        skipped = skipped_note(bad | read.bad, total)
        notes = (*listing.notes, *skipped, *read.notes, *_said(read.files), *kinds, *dataset.notes)
        return evolve(dataset, regime=regime or dataset.regime, categories=categories, notes=notes)


def _stems(path: Path, paths: Sequence[Path]) -> list[str]:
    counts = Counter(one.stem for one in paths)
    twice = next((stem for stem, count in counts.items() if count > 1), None)
    if twice is not None:
        same = [str(one) for one in paths if one.stem == twice]
        raise DataError(f"{path}: {same[0]} and {same[1]} are both the bag {twice!r}; name each file differently.")
    return list(counts)


def _opened(paths: Sequence[Path], options: TableOptions, array: str | None) -> tuple[list[BagFile], dict[str, str]]:
    """Open all files, and say what is wrong with those that cannot be."""
    files, bad = [], {}
    for path in paths:
        try:
            files.append(_bag(path, options, array))
        except DataError as error:
            bad[path.stem] = str(error)
    return files, bad


def _bag(path: Path, options: TableOptions, array: str | None) -> BagFile:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    kind = kind_of_bag(path) or ""
    if kind in _ARRAYS:
        return bag_of_arrays(_ARRAYS[kind](path), array)
    return bag_of_table(path, options)


def _dataset(path: Path, files: list[BagFile], rows: NDArray[Any], told: BagLabels | None) -> WeakDataset:
    ids = np.repeat(np.array([one.id for one in files]), [one.shape[0] for one in files])
    weak, column = (None, None) if told is None else told.weak(Bags.from_ids(ids))
    carried, notes = _beside(files)
    known = [one.instance_labels for one in files if one.instance_labels is not None]
    return WeakDataset(
        name=path.stem if path.is_dir() or path.is_file() else path.parent.name or path.name,
        X=rows,
        bags=ids,
        weak=weak,
        regime="mil" if column is None else column.regime,
        instance_labels=np.concatenate(known) if len(known) == len(files) else None,
        feature_names=files[0].columns,
        label_names=None if column is None else column.label_names,
        groups=None if told is None else told.groups(ids),
        carried=carried,
        notes=(*notes, *(() if told is None or column is None else (*told.notes, *column.notes))),
    )


def _beside(files: Sequence[BagFile]) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Put what stands beside the rows of each file one below the other; what some file lacks is left out."""
    names = dict.fromkeys(name for one in files for name in one.beside)
    carried, notes = {}, []
    for name in names:
        lacking = [one for one in files if name not in one.beside]
        if lacking:
            notes.append(f'"{name}" is not carried, because {lacking[0].path.name} and {len(lacking) - 1} more lack it')
            continue
        carried[name] = np.concatenate([one.beside[name] for one in files])
    return carried, notes


def _said(files: Sequence[BagFile]) -> list[str]:
    """Say once what several files say."""
    counts = Counter(note for one in files for note in one.notes)
    return [f"{note} ({count} files)" for note, count in counts.items()]
