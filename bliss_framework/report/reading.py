"""What a finished run left in its directory, read back."""

from pathlib import Path
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import RunError
from bliss_framework.runs.evaluation.tests_table import TESTS, MethodTests, read_tests
from bliss_framework.runs.folder.csv_tables import read_bags, read_labels, read_lines
from bliss_framework.runs.folder.result_file import read_result
from bliss_framework.runs.settings.toml_text import parse_toml

BOXES = "boxes.csv"
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
        boxes: the lines of boxes.csv, where a pipeline left one.
        tests: what each method said of bags that it was not trained on; empty where nothing was tested, or not kept.
    """

    folder: Path = field()
    document: dict[str, Any] = field()
    settings: str = field()
    bags: list[dict[str, str]] = field()
    instances: list[dict[str, str]] = field()
    pictures: tuple[Path, ...] = field()
    boxes: list[dict[str, str]] = field(factory=list)
    tests: list[MethodTests] = field(factory=list)


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
    document = read_result(result)
    settings = _settings(folder / "run.toml")
    bags, instances = read_bags(folder / "bags.csv"), read_labels(folder / "labels.csv")
    # A link may lead out of the directory, to a picture that is nobody else's business.
    inside = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    pictures = sorted(path for path in inside if path.suffix.lower() in PICTURES)
    boxes, tests = read_lines(folder / BOXES, ()), read_tests(folder / TESTS)
    return FinishedRun(folder, document, settings, bags, instances, tuple(pictures), boxes, tests)


def _settings(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
        parse_toml(text)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise RunError(f"{path} is damaged ({error}). Bring it back, or run the experiment again.") from None
    return text
