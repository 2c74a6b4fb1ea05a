"""The directory of a run: run.toml, result.json, labels.csv, bags.csv, model.skops, events.jsonl, and its state."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from attrs import asdict, field, frozen

from bliss_framework.errors import RunError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.persistence import save_model
from bliss_framework.kernel.events import RoundFinished
from bliss_framework.runs.folder.atomic import plain, to_json, write_bytes, write_text
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.folder.csv_tables import write_tables
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

# The number of processes changes nothing, and data are known by their digest, so a run may go on with another.
# Versions have rules of their own.
FREE_TO_CHANGE = (
    "bliss.n_jobs",
    "data.source",
    "data.test.source",
    "record.versions",
    "record.components",
    "record.resumed_from",
)
DIGEST = "record.data_sha256"
RUN_FILE = table_with({"record": RECORD})


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
            there = [one.name for one in self.path.iterdir()] if self.path.exists() else []
        except OSError as error:
            raise RunError(f"{self.path} cannot be used as a directory: {error.strerror}.") from None
        if "run.toml" in there:
            self._check_same(_as_toml(settings, record))
        elif any(not name.endswith(".part") for name in there):
            raise RunError(f"{self.path} is not empty and holds no run; choose another directory with --output.")

    def recorded(self) -> dict[str, Any]:
        """Return where the components of the run that is here came from, as far as that can be read."""
        try:
            return recorded_components(parse_toml((self.path / "run.toml").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def open(self, settings: Mapping[str, Any], record: Mapping[str, Any]) -> Checkpoint:
        """Start a run here, or go on with the one that is here; arguments and errors are those of `check`."""
        self.check(settings, record)
        if not self.is_finished:
            earlier = self.resumed_from(record)
            record = {**record, "resumed_from": earlier} if earlier else record
            write_text(self.path / "run.toml", tomli_w.dumps(_as_toml(settings, record)))
        return Checkpoint(self.path / "state")

    @property
    def is_finished(self) -> bool:
        """Whether the directory holds a result: then nothing is computed."""
        return (self.path / "result.json").exists()

    def result(self, settings: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return result.json where the run is finished.

        Args:
            settings: of the run.

        Raises:
            RunError: if the file is damaged; it is kept.
        """
        if not self.is_finished:
            return None
        document = read_result(self.path / "result.json", settings)
        shutil.rmtree(self.path / "state", ignore_errors=True)
        return document

    def resumed_from(self, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what the run noted down of the versions that it was begun with, if those are others now.

        Args:
            record: the digest of the data and the versions.

        Returns:
            "versions" and "components" of each time that it went on with other versions, the earliest first.
        """
        if not (self.path / "run.toml").exists():
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
        path = self.path / "run.toml"
        try:
            stored = parse_toml(path.read_text(encoding="utf-8"))
            RUN_FILE(stored, "")
        except OSError as error:
            raise RunError(f"{path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise RunError(f"{path} is damaged ({error}); this run cannot go on.") from None
        return stored

    def _check_same(self, now: Mapping[str, Any]) -> None:
        if not self.resume:
            raise RunError(f"{self.path} already holds a run. Go on with it by --resume, or choose another --output.")
        before = self._stored()
        changes = _changes(dict(_flat(before)), dict(_flat(now)))
        changes += [] if self.is_finished else self._version_changes(before["record"], now["record"])
        if changes:
            raise RunError(f"{self.path} cannot go on: {'; '.join(changes)}.")

    def _version_changes(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
        """Say which versions are not those that the run was begun with, unless the user accepts it."""
        host = [] if self.accept_versions else host_changes(before, now)
        plugins = [] if self.accept_plugin_versions else plugin_changes(before, now)
        told = [(host, ACCEPT_VERSIONS), (plugins, ACCEPT_PLUGINS)]
        return [refusal(changed, option) for changed, option in told if changed]

    def log(self, event: Any) -> None:
        """Append an event to events.jsonl; single rounds are too many to keep."""
        if isinstance(event, RoundFinished):
            return
        path = self.path / "events.jsonl"
        line = json.dumps(plain({"event": type(event).__name__, **asdict(event)}), ensure_ascii=False)
        try:
            with path.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror}.") from None

    def finish(self, document: Mapping[str, Any], model: BlissClassifier, data: CheckedData) -> dict[str, Any]:
        """Write the results, result.json last: where it is, the others are, and the state is no longer needed.

        Returns:
            The document as written, with a note where the model cannot be saved: labels are worth having without it.
        """
        notes = list(document["notes"])
        write_tables(self.path, model, data)
        try:
            save_model(model, self.path / "model.skops")
        except RunError as error:
            notes.append(str(error))
        return self.conclude({**document, "notes": notes})

    def keep(self, files: Mapping[str, str | bytes]) -> None:
        """Write files of a pipeline.

        Raises:
            RunError: if a path leads out of the directory, or a file cannot be written.
        """
        for name, content in files.items():
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise RunError(f"The file {name!r} of the pipeline would lie outside {self.path}.")
            write_bytes(self.path / name, content.encode("utf-8") if isinstance(content, str) else content)

    def conclude(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Write result.json, after which the state is no longer needed, and return the document."""
        write_text(self.path / "result.json", to_json(document) + "\n")
        shutil.rmtree(self.path / "state", ignore_errors=True)
        return dict(document)


def _as_toml(settings: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    document = _without_none(plain({**settings, "record": record}))
    assert isinstance(document, dict)
    return document


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say what a run that goes on would do otherwise than it did before."""
    keys = [key for key in sorted({**before, **now}) if before.get(key) != now.get(key)]
    fixed = [key for key in keys if not key.startswith(FREE_TO_CHANGE)]
    data = ["the data changed since the run started"] if DIGEST in fixed else []
    return data + [
        f"{key} was {_shown(before.get(key))} and is now {_shown(now.get(key))}" for key in fixed if key != DIGEST
    ]


def _shown(value: Any) -> str:
    return "not set" if value is None else repr(value)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _without_none(value: Any) -> Any:
    """Leave out what is not set: TOML has no null."""
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
