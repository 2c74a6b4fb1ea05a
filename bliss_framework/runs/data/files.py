"""Data files: where they lie, which installed reader recognises them, and reading them."""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from attrs import field, frozen

from bliss_framework.errors import BlissError, DataError, PluginError, SettingsError
from bliss_framework.extension.contracts import Reader
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.file_kinds import kind_of
from bliss_framework.extension.loading.isolation import describe
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.extension.registry import Registry
from bliss_framework.faults import is_fault

FOLDER_DEPTH = 3  # Enough for <data>/<collection>/<set>/<file>; a home folder given by mistake still ends.


@frozen(eq=False)
class FileReaders:
    """The installed readers, each made with its defaults.

    Attributes:
        registry: makes readers, and knows who ships them.
        usable: by name, in alphabetical order.
        broken: one sentence for each reader that could not be made.
    """

    registry: Registry = field()
    usable: Mapping[str, Reader] = field()
    broken: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, registry: Registry) -> "FileReaders":
        """Make all readers; one that breaks costs only itself."""
        usable, broken = {}, []
        for name in registry.names("reader"):
            try:
                usable[name] = registry.create("reader", name)
            except BlissError as error:
                broken.append(str(error))
        return cls(registry, usable, tuple(broken))

    def recognise(self, path: Path) -> bool:
        """Say whether some reader can read the file, or the folder where that is one data set."""
        return bool(self._ask(lambda reader: reader.sniff(path))[0])

    def takes(self, path: Path, options: Mapping[str, Any]) -> bool:
        """Say whether some reader is for what the user names: a file, a folder or a pattern, with these options."""
        return options.get("reader") in self.usable or bool(self._ask(lambda reader: reader.takes(path, options))[0])

    def read(
        self, path: Path, options: Mapping[str, Any], told: Mapping[str, Any] = {}
    ) -> tuple[WeakDataset, tuple[str, ...], str]:
        """Read a file.

        Args:
            path: the file.
            options: `reader`, the name of a reader, if the file's own name does not tell; all others are the reader's.
            told: options that the reader is told where it has them, but those that are None: what the regime says, such
                as `rows_are_bags`, whether each row is a bag, or `separator`, between the labels of a set; and what a
                model needs of new rows, such as `trained_on`, its columns, and `reader`, that of its training data,
                which is taken where it can be.

        Returns:
            The data set, sentences for the user, and the name of the reader.

        Raises:
            DataError: no reader recognises the file, or it is not as it should be.
            SettingsError: an option that the reader does not have.
            PluginError: the reader broke.
            UnknownNameError: the option `reader` names none.
        """
        before = told.get("reader")
        name, notes = (options["reader"], ()) if "reader" in options else self._choose(path, options, before)
        origin = f'the reader "{name}" of {self.registry.registration("reader", name).origin()}'
        reader = self.registry.create("reader", name)
        wanted = {option: value for option, value in options.items() if option != "reader"}
        _check_options(name, reader, wanted)
        known = inspect.signature(reader.read).parameters
        wanted = {**{key: value for key, value in told.items() if value is not None and key in known}, **wanted}
        try:
            dataset = reader.read(path, **wanted)
        except BlissError:
            raise
        except Exception as error:
            if is_fault(error):
                raise
            raise PluginError(f"{path}: {origin} broke: {describe(error)}. Tell its authors.") from error
        dataset = check_dataset(dataset, origin)
        return dataset, (*notes, *dataset.notes), name

    def _choose(self, path: Path, options: Mapping[str, Any], before: Any) -> tuple[str, tuple[str, ...]]:
        asked = options if before is None else {**options, "reader": before}
        able, passed_over = self._ask(lambda reader: reader.takes(path, asked))
        if before in able:
            return before, (*self.broken, *passed_over)
        notes = [*self.broken, *passed_over]
        if not able:
            kind, installed = kind_of(path), ", ".join(self.usable) or "none"
            is_else = "" if kind is None else f" It is {kind}."
            raise DataError(
                f"No reader recognises {path}.{is_else} Installed readers: {installed}; name one "
                f"with the option reader, or install a plugin for this format.{''.join(f' ({note})' for note in notes)}"
            )
        if len(able) > 1:
            notes.append(f"{path} is recognised by the readers {', '.join(able)}; {able[0]} was taken")
        return able[0], tuple(notes)

    def _ask(self, question: Callable[[Reader], bool]) -> tuple[list[str], list[str]]:
        able, passed_over = [], []
        for name, reader in self.usable.items():
            try:
                if question(reader):
                    able.append(name)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                # A reader that breaks its contract must not take the file from the others.
                passed_over.append(f'the reader "{name}" was passed over: {describe(error)}')
        return able, passed_over


def portable(path: Path, folder: Path | None) -> str:
    """Return how a file is named in what a run writes down: without the names of people's folders where that works.

    Args:
        path: of the file.
        folder: from which it will be looked up, that of the run; None where it is not known.

    Returns:
        The path from the folder, where both lie in the current folder: they are moved together then, and a link is
        followed. Else the path from the home folder with a `~`, or the whole path.
    """
    # The last part is not followed where it is a link: a data set is called like its file.
    whole = Path(os.path.realpath(path.parent)) / path.name
    if folder is not None:
        home = Path(os.path.realpath(folder))  # Unlike resolve it bears links in a circle.
        if whole.is_relative_to(Path.cwd().resolve()) and home.is_relative_to(Path.cwd().resolve()):
            return os.path.relpath(whole, home)
    user = Path("~").expanduser()
    return str(Path("~") / whole.relative_to(user)) if whole.is_relative_to(user) else str(whole)


def check_dataset(dataset: Any, maker: str) -> WeakDataset:
    """Return what a plugin made, or raise PluginError if it is no WeakDataset."""
    if not isinstance(dataset, WeakDataset):
        raise PluginError(f"A WeakDataset is needed, but {maker} returned {type(dataset).__name__}. Tell its authors.")
    return dataset


def files_in(folders: Iterable[Path], is_data: Callable[[Path], bool] = lambda folder: False) -> list[Path]:
    """List the files of folders and of their subfolders three levels down, each file once; hidden ones are left out.

    Folders stay in the given order, the files of a folder come before its subfolders, and names are in alphabetical
    order. A folder that is missing or cannot be read is empty.

    Args:
        folders: to look into.
        is_data: says of a subfolder whose name has a suffix, such as "rows.parquet", whether it is one data set: it is
            listed like a file, and not what is in it.
    """
    # One data folder may lie within another, or be a link to it.
    seen: dict[Path, Path] = {}
    for folder in folders:
        for path in _walk(folder, 0, is_data):
            seen.setdefault(path.resolve(), path)
    return list(seen.values())


def _walk(folder: Path, depth: int, is_data: Callable[[Path], bool]) -> Iterator[Path]:
    try:
        entries = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    except OSError:
        return
    inner = [one for one in entries if one.is_dir()]
    whole = {one for one in inner if one.suffix and is_data(one)}
    yield from (one for one in entries if one in whole or one.is_file())
    if depth < FOLDER_DEPTH:
        for one in inner:
            if one not in whole:
                yield from _walk(one, depth + 1, is_data)


def _check_options(name: str, reader: Reader, options: Mapping[str, Any]) -> None:
    parameters = list(inspect.signature(reader.read).parameters.values())
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    allowed = [one.name for one in parameters[1:]]
    for option in options:
        if option not in allowed:
            hint = f"{did_you_mean(option, allowed)} Its options: {', '.join(allowed) or 'none'}."
            raise SettingsError(f'The reader "{name}" has no option "{option}".{hint}')
    hints = _hints(reader)
    for option, value in options.items():
        words = _words(hints.get(option, Any))
        if words and not any(_is_one(value, word) for word in words):
            raise SettingsError(
                f'The option "{option}" of the reader "{name}" is {value!r}; allowed is {" or ".join(words)}.'
            )


def _hints(reader: Reader) -> Mapping[str, Any]:
    try:
        return get_type_hints(reader.read)
    except Exception:
        return {}  # Annotations of a plugin may name what is not imported when it runs.


def _words(hint: Any) -> list[str]:
    """Say what a type allows of a settings file; nothing where that is not known."""
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    words = [_WORDS.get(get_origin(kind) or kind, "") for kind in kinds]
    return list(dict.fromkeys(words)) if all(words) else []


_WORDS = {
    str: "text",
    Path: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Sequence: "a list of texts",
    list: "a list of texts",
    type(None): "nothing",
}


def _is_one(value: Any, word: str) -> bool:
    if word == "a list of texts":
        return isinstance(value, str) or (
            isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        )
    kinds = {"text": str | Path, "true or false": bool, "a whole number": int, "a number": int | float}
    if word == "nothing":
        return value is None
    return isinstance(value, kinds[word]) and (isinstance(value, bool) == (word == "true or false"))
