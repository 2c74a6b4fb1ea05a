"""The centre of a fit in blocks: puts together what blocks send, in their order, and solves for coefficients."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from bliss_framework.lockstep.program import Question
from bliss_framework.primal.systems import FactorisedSystem


@define
class Centre:
    """What of all rows is known in one place.

    Attributes:
        ridge: of least squares.
        n_columns: outputs of a classifier, S: 1 for two labels.
        n_rows: (K,) training rows of each fold.
        folds_of_group: (G, K) bool, which folds train on the rows of a group.
        grams: (K, p + 1, p + 1) of each fold, of the groups so far; None before and after.
        n_groups: of which the sums are in.
        systems: of each fold.
        n_questions: so far.
        n_bytes: that blocks have sent.
    """

    ridge: float = field()
    n_columns: int = field()
    n_rows: NDArray[np.intp] = field()
    folds_of_group: NDArray[np.bool_] = field()
    grams: NDArray[np.float64] | None = field(default=None)
    n_groups: int = field(default=0)
    systems: list[FactorisedSystem] = field(factory=list)
    n_questions: int = field(default=0)
    n_bytes: int = field(default=0)

    def answer(self, questions: Iterable[Question]) -> Any:
        """Answer the question that all blocks ask at the same time; they come in the order of blocks.

        They are added up as they come, so that there need not be more than one of them at a time; only rows that are
        gathered are kept.
        """
        self.n_questions += 1
        kind, total, rows = "", np.zeros(0), list[tuple[NDArray[Any], ...]]()
        for number, one in enumerate(questions):
            kind, total = one.kind, one.sums.astype(np.float64) if number == 0 else total + one.sums
            rows.append(one.rows)
            self.n_bytes += one.sums.nbytes + sum(own.nbytes for own in one.rows)
        if kind == "gathered":
            return [np.concatenate(own) for own in zip(*rows, strict=True)]
        if kind == "gram":
            return self._add(total)
        if kind == "moments":
            return self._solve(total)
        return self._solve_slopes(total) if kind == "slopes" else total

    def _add(self, gram: NDArray[np.float64]) -> None:
        """Add the sums of one group of rows to those of the folds that train on it; factorise after the last."""
        if self.grams is None:
            self.grams = np.zeros((self.folds_of_group.shape[1], *gram.shape))
        self.grams[self.folds_of_group[self.n_groups]] += gram
        self.n_groups += 1
        if self.n_groups == len(self.folds_of_group):
            self.systems = [FactorisedSystem.of(own, self.ridge) for own in self.grams]
            self.grams = None

    def _solve(self, moments: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return coefficients (K, p + 1, P * S), and the label (K, P) that all training rows have, or -1."""
        counts = moments[:, -1].reshape(len(moments), -1, self.n_columns)
        coefficients = self._solve_slopes(moments[:, :-1])
        return coefficients, self._alone(counts)

    def _solve_slopes(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([one.solve(own) for one, own in zip(self.systems, moments, strict=True)])

    def _alone(self, counts: NDArray[np.float64]) -> NDArray[np.intp]:
        n_rows = self.n_rows[:, None]
        if self.n_columns == 1:
            ones = counts[:, :, 0]
            return np.where(ones == 0, 0, np.where(ones == n_rows, 1, -1)).astype(np.intp)
        everybody = counts == n_rows[:, :, None]
        return np.where(everybody.any(axis=2), everybody.argmax(axis=2), -1).astype(np.intp)
