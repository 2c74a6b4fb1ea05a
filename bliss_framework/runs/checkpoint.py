"""State of a run on disk: one file for each finished piece, written whole, so that a run can go on exactly."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework.errors import RunError
from bliss_framework.kernel.crossfit import FoldResult, FoldTask, RunTasks
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.inference import ArmResult
from bliss_framework.runs.files import to_json, write_text

FORMAT = 1


@frozen
class Checkpoint:
    """The `state` folder of a run.

    Attributes:
        folder: made when the first piece is saved; None keeps nothing.
    """

    folder: Path | None = field()

    def load(self, key: str) -> dict[str, Any] | None:
        """Return a finished piece, or None if it is not there.

        Raises:
            RunError: if its file is damaged; it is kept.
        """
        path = self._path(key)
        if path is None or not path.exists():
            return None
        try:
            piece = json.loads(path.read_text(encoding="utf-8"))
            if piece["format"] != FORMAT:
                raise RunError(f"{path} has format {piece['format']}; this version reads format {FORMAT}.")
            return dict(piece["piece"])
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path} is damaged ({error}). Delete it, and this piece is computed again.") from None

    def save(self, key: str, piece: dict[str, Any]) -> None:
        """Keep a finished piece."""
        path = self._path(key)
        if path is not None:
            write_text(path, to_json({"format": FORMAT, "piece": piece}, indent=None))

    def _path(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{key}.json"

    def folds(self, run_tasks: RunTasks) -> RunTasks:
        """Wrap a runner of fold tasks: finished folds are loaded, new ones are saved as soon as they are there."""

        def run(work: Any, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
            kept = {task.fold: self.load(_key(task)) for task in tasks}
            new = iter(run_tasks(work, [task for task in tasks if kept[task.fold] is None], emit))
            for task in tasks:
                piece = kept[task.fold]
                if piece is not None:
                    yield _from_piece(piece, task)
                    continue
                result = next(new)
                self.save(_key(task), _to_piece(result))
                yield result

        return run


def _key(task: FoldTask) -> str:
    return f"inference-pass{task.pass_number}-fold{task.fold + 1}"


def _to_piece(result: FoldResult) -> dict[str, Any]:
    arms = result.arms
    return {
        # Floats are written so that they read back as the same bits.
        "means": arms.means,
        "pulls": arms.pulls,
        "n_pulls": arms.n_pulls,
        "complaints": list(arms.complaints),
        "seconds": arms.seconds,
        "mean_reward": result.mean_reward,
        "weak_score": result.weak_score,
        "one_class": result.one_class,
        "never_informed": result.never_informed,
    }


def _from_piece(piece: dict[str, Any], task: FoldTask) -> FoldResult:
    arms = ArmResult(
        np.array(piece["means"], dtype=np.float64),
        np.array(piece["pulls"], dtype=np.float64),
        int(piece["n_pulls"]),
        tuple(piece["complaints"]),
        dict(piece["seconds"]),
    )
    return FoldResult(
        task.rows,
        arms,
        float(piece["mean_reward"]),
        dict(piece["weak_score"]),
        bool(piece["one_class"]),
        piece["never_informed"],
    )
