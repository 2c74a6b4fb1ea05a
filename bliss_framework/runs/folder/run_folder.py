"""The directory of a run: run.toml, result.json, labels.csv, bags.csv, model.skops, events.jsonl, and its state."""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tomli_w
from attrs import asdict, field, frozen

from bliss_framework.errors import FileError, RunError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.persistence import save_model
from bliss_framework.faults import in_words
from bliss_framework.kernel.events import RelabellingAdvanced, RoundFinished
from bliss_framework.runs.folder.atomic import plain, sweep, to_json, write_bytes, write_text
from bliss_framework.runs.folder.changes import Finished, changes, refused, words_of
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.folder.csv_tables import LABELS, TABLES, write_tables
from bliss_framework.runs.folder.lock import NAME as LOCK, locked, made_folder, refuse_if_held
from bliss_framework.runs.folder.result_file import read_result
from bliss_framework.runs.folder.versions import (
    ACCEPT_PLUGINS,
    ACCEPT_VERSIONS,
    RECORD,
    host_changes,
    plugin_changes,
    refusal,
)
from bliss_framework.runs.settings.experiment_file import recorded_components
from bliss_framework.runs.settings.toml_text import parse_toml
from bliss_framework.runs.shapes import record as table_with

RUN_FILE = table_with({"record": RECORD})
RUN, RESULT, MODEL, EVENTS, STATE = "run.toml", "result.json", "model.skops", "events.jsonl", "state"
# With nothing else in its directory a run has come to nothing.
BEGINNING = frozenset((RUN, EVENTS, STATE, LOCK))


@frozen
class RunFolder:
    """The directory of one run.

    Attributes:
        path: of the directory; made when the run starts.
        resume: whether a run that is already there goes on.
        accept_versions: go on, too, where it was begun with another bliss_framework, numpy, scipy or scikit-learn.
        accept_plugin_versions: go on, too, where the plugins of its components have another version.
    """

    path: Path = field()
    resume: bool = field(default=False)
    accept_versions: bool = field(default=False)
    accept_plugin_versions: bool = field(default=False)

    def check(self, settings: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        """Refuse a directory in which this run can neither start nor go on; nothing is written.

        Args:
            settings: all that decides the result.
            record: the digest of the data and the versions.

        Raises:
            RunError: if the directory is taken, or holds a run with other settings, other data, or other versions
                that are not accepted.
        """
        try:
            there = self._names()
        except OSError as error:
            raise RunError(in_words(error, self.path, "cannot be used as a directory")) from None
        refuse_if_held(self.path / LOCK, self.path)
        if RUN in there:
            self._check_same(_as_toml({**settings, "record": record}))
        elif RESULT in there and self.resume:
            self._check_result(_as_toml({**settings, "record": record}))
        elif any(not name.endswith(".part") and name != LOCK for name in there):
            raise RunError(f"{self.path} is not empty and holds no run; choose another directory with --output.")

    def _names(self) -> list[str]:
        """List what is in the directory; nothing where there is none yet."""
        if self.path.is_symlink() and not self.path.exists():
            raise RunError(
                f"{self.path} is a symbolic link that leads nowhere or in a circle; choose another directory with "
                f"--output."
            )
        return [one.name for one in self.path.iterdir()] if self.path.exists() else []

    @contextmanager
    def at_work(self) -> Iterator[tuple[str, ...]]:
        """Hold the lock of the directory for the length of a with block, and yield notes about how it was had.

        The directory is made; if nothing is left in it in the end it goes again.

        Raises:
            RunError: another process is at work, or the directory cannot be made.
        """
        with made_folder(self.path, self.path), locked(self.path / LOCK, self.path) as notes:
            sweep(self.path)
            yield notes

    def recorded(self) -> dict[str, Any]:
        """Return where the components of the run that is here came from, as far as that can be read."""
        try:
            return recorded_components(parse_toml((self.path / RUN).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def open(self, settings: Mapping[str, Any], record: Mapping[str, Any]) -> Checkpoint:
        """Start a run here, or go on with the one that is here; arguments and errors are those of `check`."""
        if not self.is_finished or not (self.path / RUN).exists():
            earlier = self.resumed_from(record)
            record = {**record, "resumed_from": earlier} if earlier else record
            write_text(self.path / RUN, tomli_w.dumps(_as_toml({**settings, "record": record})))
        self._mend_events()
        return Checkpoint(self.path / STATE)

    def withdraw(self) -> None:
        """Leave nothing of a run that failed before anything was finished: it could only fail in the same way again."""
        with suppress(OSError):
            kept = {one.name for one in self.path.iterdir()} - BEGINNING
            if kept or ((self.path / STATE).is_dir() and any((self.path / STATE).iterdir())):
                return
            for name in (RUN, EVENTS):
                (self.path / name).unlink(missing_ok=True)
            (self.path / STATE).rmdir()

    @property
    def is_finished(self) -> bool:
        """Whether the directory holds a result: then nothing is computed."""
        return (self.path / RESULT).exists()

    def result(self, settings: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return result.json where the run is finished.

        Args:
            settings: of the run.

        Raises:
            RunError: if the file is damaged; it is kept.
        """
        if not self.is_finished:
            return None
        return read_result(self.path / RESULT, settings)

    def resumed_from(self, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what the run noted down of the versions that it was begun with, if those are others now.

        Args:
            record: the digest of the data and the versions.

        Returns:
            "versions" and "components" of each time that it went on with other versions, the earliest first.
        """
        if not (self.path / RUN).exists():
            return []
        before = dict(self._stored()["record"])
        earlier = list(before.get("resumed_from", ()))
        if host_changes(before, record) or plugin_changes(before, record):
            earlier.append({key: before[key] for key in ("versions", "components") if key in before})
        return earlier

    def _stored(self) -> dict[str, Any]:
        """Read run.toml.

        Raises:
            RunError: it is damaged.
        """
        path = self.path / RUN
        try:
            stored = parse_toml(path.read_text(encoding="utf-8"))
            RUN_FILE(stored, "")
        except OSError as error:
            raise RunError(f"{path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise RunError(f"{path} is damaged ({error}); this run cannot go on.") from None
        return stored

    def missing(self, names: Collection[str]) -> list[str]:
        """Return which files of a finished run are not there."""
        return [name for name in names if not (self.path / name).exists()]

    def tidy(self) -> None:
        """Remove what a finished run no longer needs, if something can be removed."""
        with suppress(FileError), locked(self.path / LOCK, self.path):
            self.drop_state()
            sweep(self.path)

    def drop_state(self) -> None:
        """Remove the pieces of a run that is finished."""
        shutil.rmtree(self.path / STATE, ignore_errors=True)

    def _check_same(self, now: Mapping[str, Any]) -> None:
        if not self.resume:
            raise RunError(f"{self.path} already holds a run. Go on with it by --resume, or choose another --output.")
        before = self._stored()
        wrong = [*refused(changes(before, now), self._finished)]
        wrong += [] if self.is_finished else self._version_changes(before["record"], now["record"])
        if wrong:
            raise RunError(f"{self.path} cannot go on: {'; '.join(wrong)}.")

    @property
    def _finished(self) -> Finished:
        return Finished.of(self.path / RESULT, self.path / STATE)

    def changed(self, settings: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
        """Say in which settings a run that goes on differs from now on; nothing depends on them yet."""
        if not (self.path / RUN).exists():
            return []
        changed = words_of(changes(self._stored(), _as_toml({**settings, "record": record})))
        return [f"{self.path} goes on with other settings: {'; '.join(changed)}."] if changed else []

    def check_versions(self, record: Mapping[str, Any]) -> None:
        """Refuse to compute with other versions than the run was begun with, unless the user accepts it (RunError)."""
        if not (self.path / RUN).exists():
            return
        wrong = self._version_changes(self._stored()["record"], record)
        if wrong:
            raise RunError(f"{self.path} cannot go on: {'; '.join(wrong)}.")

    def _version_changes(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
        """Say which versions are not those that the run was begun with, unless the user accepts it."""
        host = [] if self.accept_versions else host_changes(before, now)
        plugins = [] if self.accept_plugin_versions else plugin_changes(before, now)
        told = [(host, ACCEPT_VERSIONS), (plugins, ACCEPT_PLUGINS)]
        return [refusal(changed, option) for changed, option in told if changed]

    def _check_result(self, now: Mapping[str, Any]) -> None:
        """Refuse to go on with a finished run whose run.toml is gone, unless its result says that it was this one."""
        document = self.result(now) or {}
        try:
            before = _settings_of(document)
            before["record"] = {"data_sha256": document["data"]["sha256"]}
        except (KeyError, TypeError, AttributeError):
            raise RunError(f"{self.path} holds no run, but a {RESULT} that is damaged; delete it.") from None
        known = {key: now.get(key) for key in before}
        known["record"] = {"data_sha256": now["record"]["data_sha256"]}
        wrong = words_of(changes(_as_toml(before), _as_toml(known)))
        if wrong:
            raise RunError(f"{self.path} cannot go on: {'; '.join(wrong)}.")

    def _mend_events(self) -> None:
        """Cut off the line of events.jsonl in which an earlier process was stopped."""
        path = self.path / EVENTS
        with suppress(FileNotFoundError), path.open("rb+") as stream:
            content = stream.read()
            stream.truncate(content.rfind(b"\n") + 1)

    def log(self, event: Any) -> None:
        """Append an event to events.jsonl; single rounds are too many to keep."""
        if isinstance(event, RoundFinished | RelabellingAdvanced):
            return
        path = self.path / EVENTS
        line = json.dumps(plain({"event": type(event).__name__, **asdict(event)}), ensure_ascii=False)
        try:
            with path.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
        except OSError as error:
            raise FileError(in_words(error, path, "cannot be written")) from error

    def finish(self, document: Mapping[str, Any], model: BlissClassifier, data: CheckedData) -> dict[str, Any]:
        """Write the results, result.json last: where it is, the others are, and the state is no longer needed.

        Returns:
            The document as written, with a note where the model cannot be saved: labels are worth having without it.

        Raises:
            FileError: a file cannot be written. The state is kept, so that nothing is computed again.
        """
        notes = [*document["notes"], *self.write_model(model, data)]
        return self.conclude({**document, "notes": notes})

    def keep_labels(self, model: BlissClassifier, data: CheckedData) -> None:
        """Write labels.csv as soon as labels are inferred: whatever happens to the final classifier, they are there."""
        write_tables(self.path, model, data, (LABELS,))

    def write_model(
        self, model: BlissClassifier, data: CheckedData, names: Collection[str] = (*TABLES, MODEL)
    ) -> list[str]:
        """Write the files that are made of a model: labels.csv, bags.csv and model.skops.

        Args:
            model: fitted to the data.
            data: the data.
            names: of the files to write.

        Returns:
            Notes: why the model cannot be saved, where it holds something that no file can.

        Raises:
            FileError: a file cannot be written.
        """
        write_tables(self.path, model, data, names)
        if MODEL not in names:
            return []
        try:
            save_model(model, self.path / MODEL)
        except FileError:
            raise
        except RunError as error:
            return [str(error)]
        return []

    def keep(self, files: Mapping[str, str | bytes]) -> list[str]:
        """Write files of a pipeline, and return their names.

        Raises:
            RunError: if a path leads out of the directory, or a file cannot be written.
        """
        for name, content in files.items():
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise RunError(f"The file {name!r} of the pipeline would lie outside {self.path}.")
            write_bytes(self.path / name, content.encode("utf-8") if isinstance(content, str) else content)
        return list(files)

    def conclude(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Write result.json, after which the state is no longer needed, and return the document."""
        write_text(self.path / RESULT, to_json(document) + "\n")
        self.drop_state()
        return dict(document)


def _as_toml(settings: Mapping[str, Any]) -> dict[str, Any]:
    document = _without_none(plain(settings))
    assert isinstance(document, dict)
    return document


def _settings_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a result says of its settings: all of them, or of a comparison those that its methods have."""
    if "settings" in document:
        return dict(document["settings"])
    settings = {row["name"]: row["settings"] for row in document["methods"]}
    protocol = {key: value for key, value in document["protocol"].items() if key != "random_state"}
    own = {"bliss": settings["bliss"]} if "bliss" in settings else {}
    return {"evaluation": protocol, "methods": list(settings), **own}


def _without_none(value: Any) -> Any:
    """Leave out what is not set: TOML has no null."""
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
