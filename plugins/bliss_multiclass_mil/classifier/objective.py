"""The cooperative softmax objective: labels of one group do not compete with each other (paper, "Multi-Class MIL").

The probability of label i at x is

    s_i(x) = exp(w_i x) / (exp(w_i x) + sum over groups C without i of max_{j in C} exp(w_j x))

and the objective is the weighted mean of -log s_l(x) over instances x of label l, plus l2 / 2 times the squares of all
weights. It is convex in them. With one label in each group it is the ordinary softmax.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

NOTHING = 1e-30


@frozen(eq=False)
class Groups:
    """A grouping of L labels into K groups, each label in one of them.

    Attributes:
        members: the labels of each group.
        of_label: (L,) the group of each label.
    """

    members: tuple[NDArray[np.intp], ...] = field()
    of_label: NDArray[np.intp] = field()

    @classmethod
    def from_classes(cls, class_of_label: Iterable[int]) -> "Groups":
        """Group labels that mean the same class.

        >>> [group.tolist() for group in Groups.from_classes([0, 0, 1]).members]
        [[0, 1], [2]]
        """
        _, of_label = np.unique(np.asarray(list(class_of_label)), return_inverse=True)
        members = tuple(np.flatnonzero(of_label == group) for group in range(int(of_label.max()) + 1))
        return cls(members, of_label.astype(np.intp))

    def best(self, outputs: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the largest output in each group: (..., L, n) -> (..., K, n)."""
        return np.stack([outputs[..., group, :].max(axis=-2) for group in self.members], axis=-2)


def loss_and_slope(
    outputs: NDArray[np.floating], labels: NDArray[np.intp], weights: NDArray[np.floating], groups: Groups
) -> tuple[NDArray[np.float64], NDArray[np.floating]]:
    """Return the weighted sum of -log s_l(x) for each of P assignments, and its derivative by the outputs.

    Args:
        outputs: (P, L, n) w_i x.
        labels: (P, n).
        weights: (P, n), usually with sum 1 in each row.
        groups: of the labels.

    Returns:
        (P,) losses and (P, L, n) slopes.
    """
    others = groups.best(outputs)
    own_label, own_group = labels[:, None, :], groups.of_label[labels][:, None, :]
    own = np.take_along_axis(outputs, own_label, axis=1)
    # In the group of its own label an instance meets that label alone.
    np.put_along_axis(others, own_group, own, axis=1)
    top = others.max(axis=1, keepdims=True)
    np.exp(others - top, out=others)
    # Subnormal numbers make the product with the rows twenty times slower, and add nothing to it.
    others[others < NOTHING] = 0.0
    total = others.sum(axis=1, keepdims=True)
    losses = ((top + np.log(total) - own)[:, 0] * weights).sum(axis=1, dtype=np.float64)
    others *= weights[:, None, :] / total
    slope = np.zeros_like(outputs)
    for position, group in enumerate(groups.members):
        slope[:, group] = _to_winner(others[:, position], outputs[:, group], own_label[:, 0], group)
    paid = np.take_along_axis(slope, own_label, axis=1) - weights[:, None, :]
    np.put_along_axis(slope, own_label, paid, axis=1)
    return losses, slope


def _to_winner(
    share: NDArray[np.floating], outputs: NDArray[np.floating], labels: NDArray[np.intp], group: NDArray[np.intp]
) -> NDArray[np.floating]:
    """Give the share (P, n) of a group to the label that stands for it: the instance's own, or the largest output."""
    if len(group) == 1:
        return share[:, None]
    winner = outputs.argmax(axis=1)
    for position, label in enumerate(group):
        winner[labels == label] = position
    slope = np.zeros_like(outputs)
    np.put_along_axis(slope, winner[:, None], share[:, None], axis=1)
    return slope


@frozen(eq=False)
class Objective:
    """The objective of P label assignments on the same rows.

    Attributes:
        rows: (n, d) array, memory-mapped array or CSR matrix of floats; products are made at its precision.
        labels: (P, n).
        weights: (P, n) with sum 1 in each row, of the precision of the rows.
        groups: of L labels.
        l2: penalty of the weights; intercepts are free.
    """

    rows: Any = field()
    labels: NDArray[np.intp] = field()
    weights: NDArray[np.floating] = field()
    groups: Groups = field()
    l2: float = field()

    def __call__(self, coefficients: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return values (P,) and gradients (P, L, d + 1) at coefficients (P, L, d + 1), the intercepts last."""
        losses, slope = loss_and_slope(outputs_of(self.rows, coefficients), self.labels, self.weights, self.groups)
        return _penalised(losses, slope, self.rows, coefficients, self.l2)


@frozen(eq=False)
class SoftObjective:
    """The objective of soft labels: every instance has a share of each of the L labels.

    Attributes:
        rows: (n, d) as in `Objective`.
        shares: (L, n) weights of the labels of each instance, with sum 1 in all.
        groups: of the labels.
        l2: penalty of the weights.
    """

    rows: Any = field()
    shares: NDArray[np.floating] = field()
    groups: Groups = field()
    l2: float = field()

    def __call__(self, coefficients: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the value (1,) and the gradient (1, L, d + 1) at coefficients (1, L, d + 1)."""
        outputs = outputs_of(self.rows, coefficients)
        alone = len(self.groups.members) == len(self.shares)
        losses, slope = _shared_alone(outputs, self.shares) if alone else _shared(outputs, self.shares, self.groups)
        return _penalised(losses, slope, self.rows, coefficients, self.l2)


def _shared(
    outputs: NDArray[np.floating], shares: NDArray[np.floating], groups: Groups
) -> tuple[NDArray[np.float64], NDArray[np.floating]]:
    """Return loss (1,) and slope (1, L, n) of shares (L, n), as if each instance were there once for each label."""
    copies = np.broadcast_to(outputs, (len(shares), *outputs.shape[1:]))
    labels = np.broadcast_to(np.arange(len(shares))[:, None], shares.shape)
    losses, slope = loss_and_slope(copies, labels, shares, groups)
    return losses.sum(keepdims=True), slope.sum(axis=0, keepdims=True)


def _shared_alone(
    outputs: NDArray[np.floating], shares: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.floating]]:
    """Return the same where every label is a group of its own: the ordinary softmax, without a copy for each label."""
    top = outputs.max(axis=1, keepdims=True)
    slope = np.exp(outputs - top)
    slope[slope < NOTHING] = 0.0
    total, mass = slope.sum(axis=1, keepdims=True), shares.sum(axis=0)
    paid = ((top + np.log(total))[:, 0] * mass - (outputs * shares).sum(axis=1)).sum(axis=1, dtype=np.float64)
    slope *= mass / total
    slope -= shares
    return paid, slope


def _penalised(
    losses: NDArray[np.float64],
    slope: NDArray[np.floating],
    rows: Any,
    coefficients: NDArray[np.float64],
    l2: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add the penalty, and turn slopes by outputs (P, L, n) into gradients by coefficients (P, L, d + 1)."""
    n_assignments, n_labels, n = slope.shape
    gradient = np.empty_like(coefficients)
    by_column = slope.reshape(-1, n) @ rows
    gradient[:, :, :-1] = by_column.reshape(n_assignments, n_labels, -1) + l2 * coefficients[:, :, :-1]
    gradient[:, :, -1] = slope.sum(axis=2, dtype=np.float64)
    return losses + l2 / 2 * (coefficients[:, :, :-1] ** 2).sum(axis=(1, 2)), gradient


def outputs_of(rows: Any, coefficients: NDArray[np.float64]) -> NDArray[np.floating]:
    """Return the outputs (P, L, n) of rows (n, d) for coefficients (P, L, d + 1), at the precision of the rows."""
    n_assignments, n_labels, _ = coefficients.shape
    cast = coefficients.astype(rows.dtype)
    weights = cast[:, :, :-1].reshape(n_assignments * n_labels, -1)
    # With few labels, BLAS goes through rows of single precision faster this way round, and of double precision slower.
    by_row = rows.dtype == np.float32
    products = np.ascontiguousarray((rows @ weights.T).T if by_row else weights @ rows.T)
    outputs = products.reshape(n_assignments, n_labels, -1)
    outputs += cast[:, :, -1:]
    return outputs
