"""What a finished run left in its directory, read back."""

import csv
import json
from pathlib import Path
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import RunError

PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


@frozen(eq=False)
class FinishedRun:
    """The files of a run.

    Attributes:
        folder: of the run.
        document: result.json.
        settings: the text of run.toml.
        bags: the lines of bags.csv; empty for a comparison or a pipeline.
        instances: the lines of labels.csv; likewise.
        pictures: images that a pipeline made.
    """

    folder: Path = field()
    document: dict[str, Any] = field()
    settings: str = field()
    bags: list[dict[str, str]] = field()
    instances: list[dict[str, str]] = field()
    pictures: tuple[Path, ...] = field()


def read_runs(folder: Path) -> list[FinishedRun]:
    """Read a run, or each run of a file with several experiments.

    Args:
        folder: that --output named.

    Raises:
        RunError: there is no finished run, or a file of it is damaged.
    """
    if (folder / "run.toml").exists():
        return [_read(folder)]
    inside = sorted(one.parent for one in folder.glob("*/run.toml")) if folder.is_dir() else []
    if not inside:
        raise RunError(f"There is no run in {folder}; give the directory that `bliss run` or --output named.")
    return [_read(one) for one in inside]


def _read(folder: Path) -> FinishedRun:
    result = folder / "result.json"
    if not result.exists():
        raise RunError(f"The run in {folder} is not finished; go on with it by --output {folder} --resume first.")
    try:
        document = dict(json.loads(result.read_text(encoding="utf-8")))
        settings = (folder / "run.toml").read_text(encoding="utf-8")
        bags, instances = _lines(folder / "bags.csv"), _lines(folder / "labels.csv")
    except (OSError, ValueError, csv.Error) as error:
        raise RunError(f"A file of the run in {folder} cannot be read ({error}).") from None
    pictures = sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURES)
    return FinishedRun(folder, document, settings, bags, instances, tuple(pictures))


def _lines(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
