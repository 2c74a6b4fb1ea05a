"""From what the user names, a data set or a file, to a WeakDataset; and what there is to name."""

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from bliss_framework.errors import BlissError, DataError, PluginError, SettingsError, UnknownNameError
from bliss_framework.extension.contracts import Reader
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.names import did_you_mean
from bliss_framework.extension.registry import Registry
from bliss_framework.extension.reports import describe

FOLDER_DEPTH = 3  # Deep enough for data/<collection>/<set>/<file>; a home folder given by mistake still ends.
N_SHOWN = 20


@frozen(eq=False)
class LoadedData:
    """A data set that was asked for.

    Attributes:
        dataset: rows, bags and weak labels.
        origin: the plugin and its distribution, or the path of the file.
        notes: sentences for the user, such as where else the same name was found.
    """

    dataset: WeakDataset = field()
    origin: str = field()
    notes: tuple[str, ...] = field(default=())


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
) -> LoadedData:
    """Load what the user names: a file if there is one, else a plugin's data set, else a file in the data folders.

    Args:
        source: a path, or a name without suffix.
        registry: holds the readers and the plugins' data sets.
        data_dirs: searched with their subfolders, three levels down, the first folder first.
        relative_to: the folder of the experiment file, if the source stands in one; then the current folder.
        options: of the reader or the data set. `reader` names the reader of a file that none recognises.
        needs_labels: refuse data without weak labels.

    Raises:
        UnknownNameError: there is no such file or name; the message offers the nearest one.
        DataError: no reader can read the file, or it is not as it should be, or has no weak labels.
        SettingsError: an option that the reader or the data set does not have.
        PluginError: a reader or a data set broke, or two plugins offer the name.
    """
    path = _existing_file(source, relative_to)
    if path is not None:
        loaded = _load_file(path, registry, options)
    elif (offered := _load_offered(source, registry, options)) is not None:
        loaded = evolve(offered, notes=_also(source, offered.origin, _files_called(source, registry, data_dirs)))
    else:
        loaded = _load_found(source, registry, data_dirs, options)
    if needs_labels and loaded.dataset.weak is None:
        raise DataError(
            f"{loaded.origin} holds no weak labels, only instances and bags. Give each bag its weak label in the file, "
            f"or say with an option of its reader where they are."
        )
    return loaded


def default_data_dirs(option: Path | None, environ: Mapping[str, str]) -> list[Path]:
    """List the folders in which data files are looked up, the first one first; none is created.

    Args:
        option: what --data-dir says, or None.
        environ: the environment: `BLISS_DATA` holds folders with `os.pathsep` between them, `XDG_DATA_HOME` the place of
            the user's data folder, by default ~/.local/share.

    Raises:
        SettingsError: the option names no folder.
    """
    if option is not None and not option.expanduser().is_dir():
        raise SettingsError(f"data_dir is {str(option)!r}, which is no folder; name one that exists.")
    listed = [part for part in environ.get("BLISS_DATA", "").split(os.pathsep) if part]
    own = Path(environ.get("XDG_DATA_HOME") or "~/.local/share") / "bliss_framework"
    folders = [*([] if option is None else [option]), *map(Path, listed), own]
    return list(dict.fromkeys(Path(os.path.expanduser(folder)) for folder in folders))


def available_datasets(registry: Registry, data_dirs: Iterable[Path]) -> list[AvailableData]:
    """List the data sets of the plugins, then the files in the data folders that a reader recognises.

    Nothing is loaded, so that a large or broken file costs nothing here.
    """
    offered = [
        AvailableData(one.name, registry.offer("dataset", one.name).origin(), one.details)
        for one in registry.components("dataset")
    ]
    readers, _ = _make_readers(registry)
    paths = [path for path in _files(data_dirs) if _recognise(path, readers)[0]]
    return offered + [AvailableData(path.stem, str(path), _size(path), path) for path in paths]


def _existing_file(source: str, relative_to: Path | None) -> Path | None:
    path = os.path.expanduser(source)
    places = [path] if relative_to is None else [os.path.join(relative_to, path), path]
    # os.path, unlike pathlib, takes a name that is no possible path for one that does not exist.
    return next((Path(place) for place in places if os.path.isfile(place)), None)


def _load_offered(name: str, registry: Registry, options: Mapping[str, Any]) -> LoadedData | None:
    try:
        offer = registry.offer("dataset", name)
    except UnknownNameError:
        return None
    dataset = registry.create("dataset", {**options, "name": name})
    return LoadedData(_checked(dataset, f'The data set "{name}" of {offer.origin()}'), offer.origin())


def _load_found(source: str, registry: Registry, data_dirs: Sequence[Path], options: Mapping[str, Any]) -> LoadedData:
    named = [path for path in _files(data_dirs) if source in (path.stem, path.name)]
    paths = _files_called(source, registry, data_dirs) or named
    if not paths:
        raise UnknownNameError(_unknown(source, registry, data_dirs))
    loaded = _load_file(paths[0], registry, options)
    return evolve(loaded, notes=(*loaded.notes, *_also(source, str(paths[0]), paths[1:])))


def _also(name: str, taken: str, others: Iterable[Path]) -> tuple[str, ...]:
    return tuple(f'the name "{name}" is also at {path}; the one of {taken} was taken' for path in others)


def _unknown(source: str, registry: Registry, data_dirs: Sequence[Path]) -> str:
    names = sorted({one.name for one in available_datasets(registry, data_dirs)})
    shown = f"{', '.join(names[:N_SHOWN]) or 'none'}{', ...' if len(names) > N_SHOWN else ''}"
    folders = ", ".join(map(str, data_dirs)) or "no folder"
    folder = f' "{source}" is a folder; name a file in it.' if os.path.isdir(source) else ""
    return (
        f'No file and no data set is called "{source}".{folder}{did_you_mean(source, names)} Data sets: {shown}. '
        f"Looked for files in {folders}; --data-dir and BLISS_DATA add folders."
    )


def _files_called(source: str, registry: Registry, data_dirs: Sequence[Path]) -> list[Path]:
    readers, _ = _make_readers(registry)
    named = [path for path in _files(data_dirs) if source in (path.stem, path.name)]
    return [path for path in named if _recognise(path, readers)[0]]


def _files(folders: Iterable[Path]) -> list[Path]:
    # One data folder may lie within another, or be a link to it.
    seen = {path.resolve(): path for folder in reversed(list(folders)) for path in reversed(list(_walk(folder, 0)))}
    return list(reversed(seen.values()))


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    except OSError:
        return
    yield from (one for one in entries if one.is_file())
    if depth < FOLDER_DEPTH:
        for one in entries:
            if one.is_dir():
                yield from _walk(one, depth + 1)


def _size(path: Path) -> dict[str, str]:
    return {"size": f"{path.stat().st_size / 1000:,.1f} kB"}


def _make_readers(registry: Registry) -> tuple[dict[str, Reader], list[str]]:
    readers, broken = {}, []
    for name in registry.names("reader"):
        try:
            readers[name] = registry.create("reader", name)
        except BlissError as error:
            broken.append(str(error))
    return readers, broken


def _recognise(path: Path, readers: Mapping[str, Reader]) -> tuple[list[str], list[str]]:
    able, broken = [], []
    for name, reader in readers.items():
        try:
            if reader.sniff(path):
                able.append(name)
        except Exception as error:
            # A reader that breaks the contract must not take the file from the others.
            broken.append(f'the reader "{name}" was passed over: {describe(error)}')
    return able, broken


def _load_file(path: Path, registry: Registry, options: Mapping[str, Any]) -> LoadedData:
    name, notes = _choose_reader(path, registry, options.get("reader"))
    reader = registry.create("reader", name)
    wanted = {option: value for option, value in options.items() if option != "reader"}
    _check_options(name, reader, wanted)
    try:
        dataset = reader.read(path, **wanted)
    except BlissError:
        raise
    except Exception as error:
        origin = registry.offer("reader", name).origin()
        raise PluginError(f'The reader "{name}" of {origin} broke on {path}: {describe(error)}.') from error
    return LoadedData(_checked(dataset, f'The reader "{name}"'), str(path), tuple(notes))


def _choose_reader(path: Path, registry: Registry, wanted: str | None) -> tuple[str, list[str]]:
    if wanted is not None:
        return wanted, []
    readers, broken = _make_readers(registry)
    able, passed_over = _recognise(path, readers)
    notes = broken + passed_over
    if not able:
        raise DataError(
            f"No reader recognises {path}. Installed readers: {', '.join(readers) or 'none'}; name one with the option "
            f"reader, or install a plugin for this format.{''.join(f' ({note})' for note in notes)}"
        )
    if len(able) > 1:
        notes.append(f"{path} is recognised by the readers {', '.join(able)}; {able[0]} was taken")
    return able[0], notes


def _check_options(name: str, reader: Reader, options: Mapping[str, Any]) -> None:
    parameters = list(inspect.signature(reader.read).parameters.values())
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    allowed = [one.name for one in parameters[1:]]
    for option in options:
        if option not in allowed:
            hint = f"{did_you_mean(option, allowed)} Its options: {', '.join(allowed) or 'none'}."
            raise SettingsError(f'The reader "{name}" has no option "{option}".{hint}')


def _checked(dataset: Any, maker: str) -> WeakDataset:
    if not isinstance(dataset, WeakDataset):
        raise PluginError(f"{maker} returned {type(dataset).__name__}; a WeakDataset is needed.")
    return dataset
