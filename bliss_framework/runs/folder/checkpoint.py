"""State of a run on disk: one file for each finished piece, written whole, so that a run can go on exactly."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework.errors import RunError
from bliss_framework.kernel.crossfit import RunTasks
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.fold_task import FoldResult, FoldTask
from bliss_framework.kernel.inference import ArmResult
from bliss_framework.runs.folder.atomic import plain, write_text

FORMAT = 1
Piece = dict[str, Any]


@frozen
class Checkpoint:
    """The `state` folder of a run.

    Attributes:
        folder: made when the first piece is saved; None keeps nothing.
    """

    folder: Path | None = field()

    def load(self, key: str, *needed: str) -> Piece | None:
        """Return a finished piece, or None if it is not there.

        Args:
            key: the name of the piece.
            needed: what it must hold.

        Raises:
            RunError: if its file is damaged; it is kept.
        """
        path = self.path(key)
        if path is None or not path.exists():
            return None
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                raise RunError(f"{path} has format {stored['format']!r}; this version reads format {FORMAT}.")
            piece = dict(stored["piece"])
            _ = [piece[name] for name in needed]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged(path, error) from None
        return piece

    def save(self, key: str, piece: Piece) -> Piece:
        """Keep a finished piece, and return it as `load` will: a run that was interrupted must not differ.

        Floats are written so that they read back as the same bits, NaN and infinity too.
        """
        text = json.dumps({"format": FORMAT, "piece": plain(piece, finite=False)}, ensure_ascii=False)
        path = self.path(key)
        if path is not None:
            write_text(path, text)
        return dict(json.loads(text)["piece"])

    def path(self, key: str) -> Path | None:
        """Return where a piece is kept."""
        return None if self.folder is None else self.folder / f"{key}.json"

    def folds(self, run_tasks: RunTasks) -> RunTasks:
        """Wrap a runner of fold tasks: finished folds are loaded, new ones are saved as soon as they are there."""

        def run(work: Any, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
            kept = {task.fold: self._finished(task) for task in tasks}
            new = iter(run_tasks(work, [task for task in tasks if kept[task.fold] is None], emit))
            for task in tasks:
                result = kept[task.fold]
                if result is None:
                    result = next(new)
                    self.save(_key(task), _to_piece(result))
                yield result

        return run

    def _finished(self, task: FoldTask) -> FoldResult | None:
        key = _key(task)
        piece = self.load(key)
        if piece is None:
            return None
        try:
            return _from_piece(piece, task)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(self.path(key), error) from None


def damaged(path: Path | None, error: Exception) -> RunError:
    """Return the error about a file of the state that cannot be used."""
    what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
    return RunError(f"{path} is damaged ({what}). Delete it, and this piece is computed again.")


def _key(task: FoldTask) -> str:
    return f"inference-pass{task.pass_number}-fold{task.fold + 1}"


def _to_piece(result: FoldResult) -> Piece:
    arms = result.arms
    return {
        "means": arms.means,
        "pulls": arms.pulls,
        "n_pulls": arms.n_pulls,
        "diagnostics": list(arms.diagnostics),
        "seconds": arms.seconds,
        "mean_reward": result.mean_reward,
        "weak_score": result.weak_score,
        "one_class": result.one_class,
        "uninformative": result.uninformative,
    }


def _from_piece(piece: Piece, task: FoldTask) -> FoldResult:
    arms = ArmResult(
        np.array(piece["means"], dtype=np.float64),
        np.array(piece["pulls"], dtype=np.float64),
        int(piece["n_pulls"]),
        tuple(piece["diagnostics"]),
        dict(piece["seconds"]),
    )
    shape = (len(task.rows), task.data.space.candidates.shape[1])
    if arms.means.shape != shape or arms.pulls.shape != shape:
        raise ValueError(f"the arms have shape {arms.means.shape} where {shape} is needed")
    return FoldResult(
        task.rows,
        arms,
        float(piece["mean_reward"]),
        dict(piece["weak_score"]),
        bool(piece["one_class"]),
        piece["uninformative"],
    )
