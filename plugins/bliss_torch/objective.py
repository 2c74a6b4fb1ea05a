"""The objective of the cooperative softmax on a device, of several label assignments at once.

    s_i(x) = exp(w_i x) / (exp(w_i x) + sum over groups C without i of max_{j in C} exp(w_j x))

and the objective is the weighted mean of -log s_l(x) over instances x of label l, plus l2 / 2 times the squares of all
weights (paper, "Multi-Class MIL"). The rows go by in blocks, so that outputs of all rows are never there at once.
"""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_torch.device import DeviceRows

NOTHING = 1e-30  # Slopes below it are taken for 0: subnormal numbers make products slow, and add nothing to them.


@frozen(eq=False)
class LabelLosses:
    """The losses of P label assignments.

    Attributes:
        labels: (P, n) tensor of 32-bit integers.
        weights: (P, n) tensor with sum 1 in each row.
        group_of_label: (L,) labels of one group do not compete.
    """

    labels: Any = field()
    weights: Any = field()
    group_of_label: NDArray[np.intp] = field()

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The labels of each group."""
        return [np.flatnonzero(self.group_of_label == group).tolist() for group in np.unique(self.group_of_label)]

    @cached_property
    def _groups_there(self) -> tuple[Any, list[Any]]:
        """The group of each label, and the labels of each group, on the device."""
        new = self.labels.new_tensor
        return new(self.group_of_label).long(), [new(group).long() for group in self._groups]

    def of(self, torch: Any, outputs: Any, place: slice) -> tuple[Any, Any]:
        """Return the losses (P,) of a block of rows, and their derivatives by its outputs, both (P, L, b)."""
        labels, weights = self.labels[:, place].long(), self.weights[:, place]
        group_of_label, labels_there = self._groups_there
        rivals = torch.stack([outputs[:, group].amax(dim=1) for group in self._groups], dim=1)
        own_label = labels[:, None]
        own = outputs.gather(1, own_label)
        # In the group of its own label an instance meets that label alone.
        rivals.scatter_(1, group_of_label[labels][:, None], own)
        losses = (torch.logsumexp(rivals, dim=1, keepdim=True) - own)[:, 0] * weights
        shares = torch.softmax(rivals, dim=1) * weights[:, None]
        shares[shares < NOTHING] = 0.0
        slopes = torch.zeros_like(outputs)
        for position, group in enumerate(self._groups):
            share = shares[:, position : position + 1]
            if len(group) == 1:
                slopes[:, group] = share
                continue
            # The label that stands for a group: the instance's own, or the one of the largest output.
            best = labels_there[position][outputs[:, group].argmax(dim=1)]
            winner = labels.where(group_of_label[labels] == position, best)
            slopes.scatter_(1, winner[:, None], share)
        slopes.scatter_(1, own_label, slopes.gather(1, own_label) - weights[:, None])
        return losses.sum(dim=1, dtype=torch.float64), slopes


@frozen(eq=False)
class ShareLosses:
    """The losses of soft labels, where every label is a group of its own.

    Attributes:
        shares: (C, n) tensor, of each label in each instance, with sum 1 in all.
    """

    shares: Any = field()

    def of(self, torch: Any, outputs: Any, place: slice) -> tuple[Any, Any]:
        """Return the loss (1,) of a block of rows, and its derivatives by its outputs, both (1, C, b)."""
        own = self.shares[:, place]
        mass = own.sum(dim=0)
        losses = torch.logsumexp(outputs, dim=1)[0] * mass - (outputs[0] * own).sum(dim=0)
        slopes = torch.softmax(outputs, dim=1) * mass
        slopes[slopes < NOTHING] = 0.0
        return losses.sum(dtype=torch.float64)[None], slopes - own


@frozen(eq=False)
class Objective:
    """The penalised sum of losses, as a function of coefficients.

    Attributes:
        rows: (n, d) on the device.
        losses: of P assignments.
        n_labels: L.
        l2: penalty of the weights; intercepts are free.
    """

    rows: DeviceRows = field()
    losses: LabelLosses | ShareLosses = field()
    n_labels: int = field()
    l2: float = field()

    def __call__(self, points: Any) -> tuple[Any, Any]:
        """Return values (P,) and gradients (P, L * (d + 1)) in double; the intercept is the last of each label."""
        P, n_columns = len(points), self.rows.shape[1] + 1
        stacked = points.reshape(P * self.n_labels, n_columns)
        values, gradients = points.new_zeros(P), points.new_zeros(stacked.shape)
        with self.rows.device.computing() as torch:
            cast = stacked.float()
            for place, block in self.rows.blocks(_n_values(self.rows, len(cast))):
                losses, slopes = self.losses.of(torch, _outputs(torch, cast, block, P), place)
                slopes = slopes.reshape(len(cast), -1)
                values += losses
                gradients[:, :-1] += slopes @ block
                gradients[:, -1] += slopes.sum(dim=1, dtype=torch.float64)
        gradients[:, :-1] += self.l2 * stacked[:, :-1]
        squares = stacked[:, :-1].square().sum(dim=1).reshape(P, -1).sum(dim=1)
        return values + self.l2 / 2 * squares, gradients.reshape(points.shape)


def outputs_of(rows: DeviceRows, points: Any, n_labels: int) -> Any:
    """Return the outputs (P, L, n) of rows (n, d) at coefficients (P, L * (d + 1)), in single precision."""
    P = len(points)
    with rows.device.computing() as torch:
        cast = points.reshape(P * n_labels, rows.shape[1] + 1).float()
        found = torch.empty((P, n_labels, rows.shape[0]), device=cast.device)
        for place, block in rows.blocks(_n_values(rows, len(cast))):
            found[:, :, place] = _outputs(torch, cast, block, P)
    return found


def _outputs(torch: Any, cast: Any, block: Any, n_assignments: int) -> Any:
    found = torch.addmm(cast[:, -1:], cast[:, :-1], block.T)
    return found.reshape(n_assignments, -1, len(block))


def _n_values(rows: DeviceRows, n_outputs: int) -> int:
    """Return how many values of rows are in a block, fewer where more outputs than columns are made of a row."""
    return rows.device.n_values * rows.shape[1] // max(n_outputs, rows.shape[1])
