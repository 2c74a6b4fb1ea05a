"""State of a run on disk: one file for each finished piece, written whole, so that a run can go on exactly."""

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.crossfit import RunTasks
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.fold_task import FoldResult, FoldTask
from bliss_framework.kernel.inference import ArmResult
from bliss_framework.runs.folder.atomic import plain, write_text
from bliss_framework.runs.shapes import (
    any_number,
    anything,
    list_of,
    number,
    optional,
    record,
    table_of,
    text,
    truth,
    whole,
)

FORMAT = 2
Piece = dict[str, Any]
Read = TypeVar("Read")

FOLD = record(
    {
        "means": anything,
        "pulls": anything,
        "n_pulls": whole,
        "diagnostics": list_of(optional(text)),
        "seconds": record({"classifier": number, "reward": number, "strategy": number}),
        "mean_reward": any_number,
        "weak_score": table_of(any_number),
        "one_class": truth,
        "uninformative": optional(text),
    },
    {"curve": list_of(number)},
)


@frozen
class Checkpoint:
    """The `state` folder of a run.

    Attributes:
        folder: made when the first piece is saved; None keeps nothing.
        notes: a sentence for each piece that was there, but damaged. Damage costs time and nothing else: such a piece
            is computed again.
    """

    folder: Path | None = field()
    notes: list[str] = field(factory=list)

    def load(self, key: str, read: Callable[[Piece], Read]) -> Read | None:
        """Return a finished piece, or None if it is not there, or not as it was written.

        Args:
            key: the name of the piece.
            read: makes of the piece what is needed, and raises any exception where it is not of the right shape.
        """
        path = self.path(key)
        if path is None or not path.exists():
            return None
        try:
            return read(_unpacked(path.read_text(encoding="utf-8")))
        except Exception as error:
            # Damage can be of any kind, and so are the exceptions of what meets it.
            self.notes.append(f"{path} was damaged ({_reason(error)}), so this piece was computed again.")
            return None

    def save(self, key: str, piece: Piece) -> Piece:
        """Keep a finished piece, and return it as `load` will: a run that was interrupted must not differ.

        Floats are written so that they read back as the same bits, NaN and infinity too.
        """
        content = json.dumps(plain(piece, finite=False), ensure_ascii=False)
        path = self.path(key)
        if path is not None:
            write_text(path, f'{{"format": {FORMAT}, "sha256": "{_digest(content)}", "piece": {content}}}')
        return dict(json.loads(content))

    def path(self, key: str) -> Path | None:
        """Return where a piece is kept."""
        return None if self.folder is None else self.folder / f"{key}.json"

    def folds(self, run_tasks: RunTasks, name: str = "inference") -> RunTasks:
        """Wrap a runner of fold tasks: finished folds are loaded, new ones are saved as soon as they are there.

        Args:
            run_tasks: runs those that are not finished.
            name: of the inference, where there are several.
        """

        def run(work: Any, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
            kept = {task.fold: self.load(_key(name, task), partial(_from_piece, task=task)) for task in tasks}
            new = iter(run_tasks(work, [task for task in tasks if kept[task.fold] is None], emit))
            for task in tasks:
                result = kept[task.fold]
                if result is None:
                    result = next(new)
                    self.save(_key(name, task), _to_piece(result))
                yield result

        return run


def _unpacked(content: str) -> Piece:
    """Return the piece in a file of the state, which must have the digest that was written with it."""
    stored = json.loads(content)
    record({"format": whole, "sha256": text, "piece": table_of(anything)})(stored, "")
    if stored["format"] != FORMAT:
        raise ValueError(f"it has format {stored['format']}, and this version reads format {FORMAT}")
    if _digest(json.dumps(stored["piece"], ensure_ascii=False)) != stored["sha256"]:
        raise ValueError("its content is not that of its sha256")
    return dict(stored["piece"])


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _key(name: str, task: FoldTask) -> str:
    return f"{name}-pass{task.pass_number}-fold{task.fold + 1}"


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
        "curve": list(result.curve),
    }


def _from_piece(piece: Piece, task: FoldTask) -> FoldResult:
    FOLD(piece, "")
    arms = ArmResult(
        _of_arms(piece, "means", task, 1.0),
        _of_arms(piece, "pulls", task, np.inf),
        int(piece["n_pulls"]),
        tuple(piece["diagnostics"]),
        dict(piece["seconds"]),
    )
    return FoldResult(
        task.rows,
        arms,
        float(piece["mean_reward"]),
        dict(piece["weak_score"]),
        bool(piece["one_class"]),
        piece["uninformative"],
        tuple(map(float, piece.get("curve", ()))),
    )


def _of_arms(piece: Piece, name: str, task: FoldTask, highest: float) -> NDArray[np.float64]:
    """Return the numbers (n, L) of all arms of a fold, from 0 to the highest that is possible."""
    values = np.array(piece[name], dtype=np.float64)
    shape = (len(task.rows), task.data.space.candidates.shape[1])
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape} where {shape} is needed")
    # A mean of numbers up to 1 may be rounded to a little more.
    if not ((values >= 0) & (values <= highest * (1 + 1e-9)) & np.isfinite(values)).all():
        raise ValueError(f"{name} holds numbers that are none of an arm")
    return values
