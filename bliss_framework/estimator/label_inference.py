"""From checked data to inferred labels: canonical order, scaling, and the cross-fit of a configuration."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import PluginError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.final import leading
from bliss_framework.estimator.ordering import canonical_order
from bliss_framework.estimator.scaling import Scaling
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.crossfit import CrossFit, RunTasks, cross_fit
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.labels import LabelSpace, WeakLabels
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows

FEW_VALUES = 1 << 20  # 8 MB: a copy of so few costs nobody anything.


@frozen(eq=False)
class OrderedData:
    """Training data in canonical order, scaled by what its own rows teach.

    Attributes:
        data: rows, bags, weak labels and candidates.
        order: (n,) the caller's row of each of its rows.
        scaling: learnt on its rows.
    """

    data: Part = field()
    order: NDArray[np.intp] = field()
    scaling: Scaling = field()


def order_data(data: CheckedData, config: FitConfig, scaling: str | None = None) -> OrderedData:
    """Put training data into canonical order and scale them, so that the order of rows does not change a bit.

    Args:
        data: rows, bags and weak labels.
        config: names the regime and the scaling.
        scaling: another mode of `Scaling`.
    """
    regime = config.regime
    order = canonical_order(data.rows, data.bags, regime.strata(data.labels))
    rows = data.view.take(order)
    # Sums over rows in another order have other last bits, so scaling too is learnt in canonical order.
    learnt = Scaling(config["scaling"] if scaling is None else scaling).fit(rows)
    bags, positions = data.bags.take(order)
    weak = data.labels.take(positions, order)
    weights = None if data.weights is None else data.weights[order]
    scaled = _read_once(learnt.view(rows)) if isinstance(rows, RowView) else learnt.transform(rows.array)
    return OrderedData(part_of(scaled, bags, weak, regime, weights), order, learnt)


def _read_once(scaled: RowView) -> RowView:
    """Return few rows as an array of their own: folds read them many times, and would scale them each time."""
    few = scaled.shape[0] * scaled.shape[1] <= FEW_VALUES
    # Rows that may be read in the precision in which they are stored need what they were made of.
    if scaled.is_mapped or not few or scaled.in_stored_precision() is not scaled:
        return scaled
    return RowView.of(Rows(scaled.array))


def part_of(X: Any, bags: Bags, weak: WeakLabels, regime: Regime, weights: NDArray[np.float64] | None = None) -> Part:
    """Add what the regime says of the instances of some bags to their rows; `weights` (n,) are the caller's own."""
    advised = regime.instance_weights(bags, weak)
    both = advised if weights is None else weights if advised is None else advised * weights
    return Part(X, bags, weak, regime.label_space(weak, bags), both)


def infer(config: FitConfig, data: Part, seed: int, run_tasks: RunTasks, emit: Emit) -> CrossFit:
    """Infer the labels of data in canonical order.

    Raises:
        PluginError: naming the component that broke its contract, and who ships it.
    """
    strata = config.regime.strata(data.weak)
    with naming_components(config):
        found = cross_fit(config.components, data, strata, config.inference, seed, run_tasks, emit)
    warn_of_folds(found)
    return found


@contextmanager
def naming_components(config: FitConfig) -> Iterator[None]:
    """Say in an error of label inference which component broke its contract, and who ships it."""
    try:
        yield
    except PluginError as error:
        where = " ".join(getattr(error, "__notes__", []))
        who = "" if error.kind is None else f" by {error.kind} {config.name_of(error.kind)}"
        raise type(error)(f"Label inference stopped{who}: {error} {where}".rstrip()) from error


def warn_of_folds(found: CrossFit) -> None:
    """Warn of what the cross-fit had to do otherwise than it was asked to."""
    for sentence in found.warnings:
        warnings.warn(sentence, UserWarning, stacklevel=4)


def inherited_labels(inherited: NDArray[np.float64], space: LabelSpace) -> CrossFit:
    """Return what instances inherit from their bags in the form of an inference that pulled nothing."""
    classes, lead = leading(inherited)
    labels = np.asarray((space.class_of_label == classes[:, None]).argmax(axis=1), dtype=np.intp)
    nothing = np.full(space.candidates.shape, np.nan)
    inferred = InferredLabels(labels, classes, lead, lead == 0, ~space.free, nothing, np.zeros(space.candidates.shape))
    seconds = {"classifier": 0.0, "reward": 0.0, "strategy": 0.0}
    return CrossFit(inferred, (), 0, 0, space.class_of_label, seconds)
