"""What a run leaves behind: run.toml, result.json, labels.csv, bags.csv, model.skops, events.jsonl, and its state."""

import csv
import io
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from attrs import asdict, field, frozen

from bliss_framework.errors import RunError
from bliss_framework.estimator import BlissClassifier
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.kernel.events import RoundFinished
from bliss_framework.persistence import save_model
from bliss_framework.runs.checkpoint import Checkpoint
from bliss_framework.runs.files import plain, to_json, write_text
from bliss_framework.version import __version__

# The number of processes changes nothing, so a run may go on with another.
FREE_TO_CHANGE = ("bliss.n_jobs", "record.bliss_framework")


@frozen
class RunFolder:
    """The directory of one run.

    Attributes:
        path: of the directory; made when the run starts.
        resume: whether a run that is already there goes on.
    """

    path: Path = field()
    resume: bool = field(default=False)

    def open(self, settings: Mapping[str, Any], data: Mapping[str, Any]) -> Checkpoint:
        """Start a run here, or go on with the one that is here.

        Raises:
            RunError: if the directory is taken, or holds a run with other settings or other data.
        """
        record = {"bliss_framework": __version__, "data_sha256": data["sha256"]}
        document = _without_none({**plain(dict(settings)), "record": record})
        run_file = self.path / "run.toml"
        if run_file.exists():
            self._go_on(run_file, document)
        elif self.path.exists() and any(self.path.iterdir()):
            raise RunError(f"{self.path} is not empty and holds no run; choose another directory with --output.")
        write_text(run_file, tomli_w.dumps(document))
        return Checkpoint(self.path / "state")

    def _go_on(self, run_file: Path, document: Mapping[str, Any]) -> None:
        if not self.resume:
            raise RunError(f"{self.path} already holds a run. Go on with it by --resume, or choose another --output.")
        try:
            before = dict(_flat(tomllib.loads(run_file.read_text(encoding="utf-8"))))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RunError(f"{run_file} is damaged ({error}); this run cannot go on.") from None
        now = dict(_flat(document))
        changed = [key for key in {**before, **now} if before.get(key) != now.get(key) and key not in FREE_TO_CHANGE]
        if changed == ["record.data_sha256"]:
            raise RunError(f"{self.path} cannot go on: the data changed since the run started.")
        if changed:
            said = "; ".join(f"{key} was {before.get(key)!r} and is now {now.get(key)!r}" for key in sorted(changed))
            raise RunError(f"{self.path} cannot go on with other settings: {said}.")

    def log(self, event: Any) -> None:
        """Append an event to events.jsonl; single rounds are too many to keep."""
        if isinstance(event, RoundFinished):
            return
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "events.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(plain({"event": type(event).__name__, **asdict(event)})) + "\n")

    def finish(self, document: Mapping[str, Any], model: BlissClassifier, dataset: WeakDataset) -> None:
        """Write the results; the state is no longer needed."""
        write_text(self.path / "labels.csv", _table(_label_rows(model)))
        write_text(self.path / "bags.csv", _table(_bag_rows(model, dataset)))
        save_model(model, self.path / "model.skops")
        write_text(self.path / "result.json", to_json(document) + "\n")
        shutil.rmtree(self.path / "state", ignore_errors=True)


def _label_rows(model: BlissClassifier) -> Iterator[list[Any]]:
    n_labels = model.label_means_.shape[1]
    yield ["row", "bag", "label", "confidence", "undecided", *(f"mean_reward_{label}" for label in range(n_labels))]
    bags = model.bag_ids_[model.bag_index_].tolist()
    columns = zip(model.labels_.tolist(), model.confidence_, model.undecided_, model.label_means_, strict=True)
    for row, (label, confidence, undecided, means) in enumerate(columns):
        shown = ["" if np.isnan(mean) else repr(float(mean)) for mean in means]
        yield [row, bags[row], label, repr(float(confidence)), int(undecided), *shown]


def _bag_rows(model: BlissClassifier, dataset: WeakDataset) -> Iterator[list[Any]]:
    yield ["bag", "n_instances", "weak_label", "predicted", "score"]
    ids, predicted = model.predict_bags(dataset.X, dataset.bags)
    scores = model.score_bags(dataset.X, dataset.bags)[1]
    sizes = np.bincount(model.bag_index_)
    for i, bag in enumerate(ids.tolist()):
        shown = [json.dumps(plain(value)) if np.ndim(value) else value for value in (predicted[i], scores[i])]
        yield [bag, int(sizes[i]), model.weak_labels_[i], *shown]


def _table(rows: Iterator[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


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
