"""From what the user names, a data set or a file, to a WeakDataset; and what there is to name."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen
from platformdirs import user_data_dir

from bliss_framework.errors import DataError, SettingsError, UnknownNameError
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.extension.registry import Registration, Registry
from bliss_framework.runs.data.files import FileReaders, check_dataset, files_in

N_SHOWN = 20
_MAGIC = frozenset("*?[")  # What a pattern of paths has and a name of a file hardly ever.
OWN_FOLDER = "bliss_framework"  # Within the user's folder of data.


@frozen(eq=False)
class LoadedData:
    """A data set that was asked for.

    Attributes:
        dataset: rows, bags and weak labels.
        origin: the plugin and its distribution, or the path of the file.
        notes: sentences for the user, such as where else the same name was found.
        path: of a file, None for a data set of a plugin.
        reader: the name of what read the file, None for a data set of a plugin.
    """

    dataset: WeakDataset = field()
    origin: str = field()
    notes: tuple[str, ...] = field(default=())
    path: Path | None = field(default=None)
    reader: str | None = field(default=None)


@frozen
class AvailableData:
    """A data set that can be asked for; nothing of it was loaded.

    Attributes:
        name: what to ask for.
        origin: the plugin and its distribution, or the path of the file.
        details: "source", "size" and "licence" where they are known.
        path: of a file, None for a data set of a plugin.
    """

    name: str = field()
    origin: str = field()
    details: Mapping[str, str] = field(factory=dict)
    path: Path | None = field(default=None)


def find_dataset(
    source: str,
    *,
    registry: Registry,
    data_dirs: Sequence[Path],
    relative_to: Path | None = None,
    options: Mapping[str, Any] = {},
    needs_labels: bool = True,
    rows_are_bags: bool = False,
    separator: str | None = None,
    told: Mapping[str, Any] = {},
) -> LoadedData:
    """Load what the user names: a file if there is one, else a plugin's data set, else a file in the data folders.

    Args:
        source: the path of a file, of a folder that is one data set, or a pattern of paths such as "slides/*.h5"; or a
            name without suffix.
        registry: holds the readers and the plugins' data sets.
        data_dirs: searched with their subfolders, three levels down, the first folder first.
        relative_to: the folder of the experiment file, if the source stands in one; then the current folder.
        options: of the reader or the data set. `reader` names the reader of a file whose own name does not tell.
        needs_labels: refuse data without weak labels.
        rows_are_bags: whether the regime takes each row for a bag, so that a table needs no bag ids.
        separator: what stands between the labels of a set in text, where the regime says so.
        told: options that a reader is told where it has them, and where `options` do not say otherwise.

    Raises:
        UnknownNameError: there is no such file or name; the message offers the nearest one.
        DataError: no reader recognises the file, or it is not as it should be, or has no weak labels.
        SettingsError: an option that the reader or the data set does not have.
        PluginError: a reader or a data set broke, or two plugins register the name.
    """
    readers = FileReaders.of(registry)
    places = _places(source, readers, data_dirs, relative_to, options)
    if not places:
        raise UnknownNameError(_unknown(source, registry, data_dirs))
    taken, *others = places
    reader = None
    if isinstance(taken, Path):
        dataset, notes, reader = readers.read(
            taken, options, {**told, "rows_are_bags": rows_are_bags or None, "separator": separator}
        )
    else:
        dataset, notes = _make(taken, registry, options, data_dirs)
    if needs_labels and dataset.weak is None:
        raise DataError(
            f"{_origin(taken)} holds no weak labels, only instances and bags. Give each bag its weak label in the "
            f"file, or say with an option of its reader where they are: labels, for instance, is the path of a table "
            f"with a line for each bag."
        )
    also = [f'the name "{source}" is also at {_origin(one)}; the one of {_origin(taken)} was taken' for one in others]
    return LoadedData(dataset, _origin(taken), (*notes, *also), taken if isinstance(taken, Path) else None, reader)


def default_data_dirs(named: Sequence[Path], environ: Mapping[str, str]) -> list[Path]:
    """List the folders in which data files are looked up, the first one first; none is created.

    Args:
        named: what --data-dir names.
        environ: the environment. `BLISS_DATA` holds folders with `os.pathsep` between them, and `XDG_DATA_HOME` is
            where the user's data folder is, by default where the system keeps such folders: ~/.local/share,
            ~/Library/Application Support, or %LOCALAPPDATA%.

    Raises:
        SettingsError: one that was named is no folder.
    """
    gone = next((folder for folder in named if not folder.expanduser().is_dir()), None)
    if gone is not None:
        raise SettingsError(f"data_dir is {str(gone)!r}, which is no folder; name one that exists.")
    listed = [part for part in environ.get("BLISS_DATA", "").split(os.pathsep) if part]
    home = environ.get("XDG_DATA_HOME")
    own = os.path.join(home, OWN_FOLDER) if home else user_data_dir(OWN_FOLDER, appauthor=False)
    folders = [*map(str, named), *listed, own]
    return list(dict.fromkeys(Path(os.path.expanduser(folder)) for folder in folders))


def available_datasets(registry: Registry, data_dirs: Iterable[Path]) -> list[AvailableData]:
    """List the data sets of the plugins, then the files in the data folders that a reader recognises.

    Nothing is loaded, so that a large or broken file costs nothing here.
    """
    readers = FileReaders.of(registry)
    packaged = [
        AvailableData(one.name, registry.registration("dataset", one.name).origin(), one.details)
        for one in registry.components("dataset")
    ]
    paths = [path for path in files_in(data_dirs, readers.recognise) if readers.recognise(path)]
    return packaged + [AvailableData(path.stem, str(path), _size(path), path) for path in paths]


def _places(
    source: str,
    readers: FileReaders,
    data_dirs: Sequence[Path],
    relative_to: Path | None,
    options: Mapping[str, Any],
) -> list[Path | Registration]:
    file = _existing(source, relative_to, readers, options)
    # A folder that is a data set only because it is named must not hide a data set of its name, unless labels are told.
    if file is not None and file.is_dir() and os.sep not in source and "labels" not in options:
        file = file if readers.recognise(file) or source not in readers.registry.names("dataset") else None
    places: list[Path | Registration] = [] if file is None else [file]
    # A name that two plugins register is an error only where it is needed.
    if file is None or source in readers.registry.names("dataset"):
        places += _registrations(source, readers.registry)
    within = files_in(data_dirs, readers.recognise)
    named = [path for path in within if source in (path.stem, path.name) and not _same(path, file)]
    readable = [path for path in named if readers.recognise(path)]
    # A file that none can read is no data set, but the user is told so where there is nothing else.
    return places + (readable or ([] if places else named))


def _existing(source: str, relative_to: Path | None, readers: FileReaders, options: Mapping[str, Any]) -> Path | None:
    """Return the file that has this path, or the folder or pattern where some reader takes it for a data set."""
    path = os.path.expanduser(source)
    places = [path] if relative_to is None else [os.path.join(relative_to, path), path]
    # os.path, unlike pathlib, takes a name that no file can have for a file that does not exist.
    return next((Path(place) for place in places if os.path.isfile(place) or _is_data(place, readers, options)), None)


def _is_data(place: str, readers: FileReaders, options: Mapping[str, Any]) -> bool:
    return (os.path.isdir(place) or bool(_MAGIC.intersection(place))) and readers.takes(Path(place), options)


def _same(path: Path, file: Path | None) -> bool:
    return file is not None and path.resolve() == file.resolve()


def _registrations(name: str, registry: Registry) -> list[Registration]:
    try:
        return [registry.registration("dataset", name)]
    except UnknownNameError:
        return []


def _make(
    registration: Registration, registry: Registry, options: Mapping[str, Any], data_dirs: Sequence[Path]
) -> tuple[WeakDataset, tuple[str, ...]]:
    name = registration.component.name
    # Some data sets are made of files that the user has: they are told where those may be.
    wants_folders = "data_dirs" in (registration.component.parameters or ())
    folders = {"data_dirs": tuple(map(str, data_dirs))} if wants_folders else {}
    dataset = registry.create("dataset", {**folders, **options, "name": name})
    return check_dataset(dataset, f'the data set "{name}" of {registration.origin()}'), ()


def _origin(place: Path | Registration) -> str:
    return str(place) if isinstance(place, Path) else place.origin()


def _unknown(source: str, registry: Registry, data_dirs: Sequence[Path]) -> str:
    names = sorted({one.name for one in available_datasets(registry, data_dirs)})
    shown = f"{', '.join(names[:N_SHOWN]) or 'none'}{', ...' if len(names) > N_SHOWN else ''}"
    folders = ", ".join(map(str, data_dirs)) or "no folder"
    folder = f' "{source}" is a folder; name a file in it.' if os.path.isdir(source) else ""
    return (
        f'No file and no data set is called "{source}".{folder}{did_you_mean(source, names)} Data sets: {shown}. '
        f"Looked for files in {folders}; --data-dir and BLISS_DATA add folders."
    )


def _size(path: Path) -> dict[str, str]:
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    return {"size": f"{sum(one.stat().st_size for one in files) / 1000:,.1f} kB"}
