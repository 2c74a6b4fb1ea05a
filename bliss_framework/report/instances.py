"""The lines of labels.csv as columns: labels, confidences, mean rewards, scores, and what the user's file carried."""

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.report.parts import Cell, rounded
from bliss_framework.report.reading import FinishedRun
from bliss_framework.runs.folder.csv_tables import MEAN_REWARD, carried_of

MOST_CARRIED = 5  # A table of more columns is read by nobody.
PLACES = (("coords_x", "coords_y"), ("coord_x", "coord_y"), ("x", "y"), ("coords_0", "coords_1"))


@frozen(eq=False)
class Instances:
    """The instances of a run.

    Attributes:
        rows: (n,) the user's rows, as text.
        bags: (n,) ids.
        labels: (n,) inferred, as text.
        confidence: (n,) in [0, 1].
        rewards: (n, L) mean reward of each label; NaN where there is no arm.
        score: (n,) out of fold, or NaN; None where the run has no such column, or one for each class.
        probability: (n,) likewise.
        carried: (n,) texts by the name of the column.
    """

    rows: NDArray[np.str_] = field()
    bags: NDArray[np.str_] = field()
    labels: NDArray[np.str_] = field()
    confidence: NDArray[np.float64] = field()
    rewards: NDArray[np.float64] = field()
    score: NDArray[np.float64] | None = field(default=None)
    probability: NDArray[np.float64] | None = field(default=None)
    carried: Mapping[str, Sequence[str]] = field(factory=dict)

    @property
    def free(self) -> NDArray[np.bool_]:
        """(n,) whether the bag left a label to infer: then more than one label was pulled."""
        return np.asarray((~np.isnan(self.rewards)).sum(axis=1) > 1)

    @property
    def lead(self) -> NDArray[np.float64]:
        """(n,) by how much the mean reward of the second of two labels leads that of the first; NaN without arms."""
        return np.asarray(self.rewards[:, 1] - self.rewards[:, 0])

    @property
    def named(self) -> tuple[str, ...]:
        """The names of the columns that say which instance it is: its row, and what the file carried."""
        return ("row", *list(self.carried)[:MOST_CARRIED])

    def cells(self, row: int) -> tuple[Cell, ...]:
        """Return the cells of these columns for one of the instances."""
        return (Cell(str(self.rows[row])), *(Cell(rounded(self.carried[name][row])) for name in self.named[1:]))

    def confidence_cell(self, row: int) -> Cell:
        """Return the confidence of one of the instances, with a bar."""
        value = float(self.confidence[row])
        return Cell(f"{value:.3f}", level=value)

    @property
    def places(self) -> NDArray[np.float64] | None:
        """(n, 2) where instances lie, if the user's file carried coordinates."""
        names = {name.lower(): name for name in self.carried}
        for pair in PLACES:
            if all(one in names for one in pair):
                found = [_numbers(self.carried[names[one]]) for one in pair]
                if all(np.isfinite(one).any() for one in found):
                    return np.stack(found, axis=1)
        return None


def instances_of(run: FinishedRun) -> Instances:
    """Read the lines of labels.csv."""
    lines = run.instances
    names = list(lines[0]) if lines else []
    rewards = [name for name in names if name.startswith(MEAN_REWARD)]
    column = {name: [line[name] for line in lines] for name in names}
    rows, bags, labels = (np.array(column.get(name, ()), dtype=np.str_) for name in ("row", "bag", "label"))
    means = np.array([_numbers(column[name]) for name in rewards]).T if rewards else np.empty((len(lines), 0))
    return Instances(
        rows=rows,
        bags=bags,
        labels=labels,
        confidence=_numbers(column.get("confidence", ())),
        rewards=means,
        score=_scores(column.get("score")),
        probability=_scores(column.get("probability")),
        carried={name: column[name] for name in (carried_of(lines[0]) if lines else ())},
    )


def _scores(cells: Sequence[str] | None) -> NDArray[np.float64] | None:
    if cells is None:
        return None
    values = _numbers(cells)
    return values if np.isfinite(values).any() else None


def _numbers(cells: Sequence[str]) -> NDArray[np.float64]:
    """Read numbers; what is none is NaN."""
    return np.array([_number(cell) for cell in cells], dtype=np.float64)


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return float("nan")
    return value if np.isfinite(value) else float("nan")
