"""Which files are the bags: those of a folder, of a pattern, or of a list in a text file."""

import glob
import os
from collections import Counter
from pathlib import Path

from attrs import field, frozen

from bliss_framework.plugin import DataError
from bliss_readers.tables.cell_table import listed
from bliss_readers.text.encoding import decoded
from bliss_readers.text.first_look import first_lines

# By suffix, which kind of file it is: files of one kind are the bags of a folder.
KINDS = {
    ".npy": "npy",
    ".npz": "npz",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".pt": "pt",
    ".pth": "pt",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
}
LISTS = (".txt", ".lst", ".list")
MAGIC = frozenset("*?[")
_OF_A_RUN = ("run.toml", "result.json")


@frozen
class BagPaths:
    """The files of bags.

    Attributes:
        paths: in the order of their names, numbers in names in their order.
        notes: sentences about files that were passed over.
    """

    paths: tuple[Path, ...] = field()
    notes: tuple[str, ...] = field(default=())


def kind_of_bag(path: Path) -> str | None:
    """Return the kind of a file that can be a bag, by its name; None for others and for what is hidden."""
    return None if path.name.startswith((".", "_")) else KINDS.get(path.suffix.lower())


def looks_like_bags(path: Path) -> bool:
    """Say whether a path is a folder or a pattern of files that can be bags, or a list of such; never raises."""
    try:
        if path.is_dir():
            is_run = any((path / name).exists() for name in _OF_A_RUN)
            return not is_run and any(kind_of_bag(one) and one.is_file() for one in path.iterdir())
        if path.suffix.lower() in LISTS:
            return is_list(path)
        # A file may have such signs in its name; then it is that file which is meant.
        is_pattern = bool(MAGIC.intersection(str(path))) and not path.is_file()
        return is_pattern and any(map(kind_of_bag, _matched(path)))
    except (OSError, ValueError):
        return False


def is_list(path: Path) -> bool:
    """Say whether a text file lists paths of files that can be bags, and the first of them is there; never raises."""
    if path.suffix.lower() not in LISTS:
        return False
    lines = first_lines(path, "#")
    return bool(lines) and kind_of_bag(Path(lines[0])) is not None and os.path.isfile(path.parent / lines[0])


def bag_paths(path: Path, without: Path | None = None) -> BagPaths:
    """List the files of bags.

    Args:
        path: a folder, a pattern, or a text file with a path in each line, which starts at the folder of that file.
        without: the table of labels, which is no bag.

    Raises:
        DataError: there are none, or a file of a list is missing.
    """
    if path.is_dir():
        found = [one for one in path.iterdir() if one.is_file()]
    elif path.suffix.lower() in LISTS and path.is_file():
        return BagPaths(tuple(_listed_files(path)))
    else:
        found = _matched(path)
    bags = [one for one in found if kind_of_bag(one) and not (without and _same(one, without))]
    if not bags:
        raise DataError(f"{path} holds no file that can be a bag; allowed are {', '.join(KINDS)}.")
    counts = Counter(map(kind_of_bag, bags))
    kind = counts.most_common(1)[0][0]
    others = sorted(one.name for one in bags if kind_of_bag(one) != kind)
    taken = sorted((one for one in bags if kind_of_bag(one) == kind), key=lambda one: natural(one.stem))
    note = f"{path.name}: the bags are its {len(taken)} {taken[0].suffix} files; {listed(others, 3)} was passed over"
    return BagPaths(tuple(taken), (note,) if others else ())


def natural(name: str) -> tuple[list[tuple[int, int | str]], str]:
    """Return a key by which "slide10" comes after "slide9".

    >>> sorted(["s10", "s9"], key=natural)
    ['s9', 's10']
    """
    parts: list[str] = []
    for character in name:
        if parts and parts[-1][-1].isdecimal() == character.isdecimal():
            parts[-1] += character
        else:
            parts.append(character)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts], name


def _matched(pattern: Path) -> list[Path]:
    return [Path(one) for one in sorted(glob.glob(str(pattern), recursive=True)) if os.path.isfile(one)]


def _listed_files(path: Path) -> list[Path]:
    named = [
        (number, path.parent / Path(line.strip()).expanduser())
        for number, line in enumerate(decoded(path).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not named:
        raise DataError(f"{path} lists no files; write the path of a file in each line.")
    for number, one in named:
        if kind_of_bag(one) is None:
            raise DataError(f"{path}, line {number}: {one.name} cannot be a bag; allowed are {', '.join(KINDS)}.")
    return [one for _, one in named]


def _same(one: Path, other: Path) -> bool:
    return one.name == other.name and one.resolve() == other.resolve()
