"""From checked data to inferred labels: canonical order, scaling, and the cross-fit of a configuration."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import one_blas_thread
from bliss_framework.errors import PluginError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.final import leading
from bliss_framework.estimator.ordering import canonical_order
from bliss_framework.estimator.scaling import Scaling
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.arms import draw_labels
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.crossfit import CrossFit, RunTasks, cross_fit
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.relabelling import relabelled_across_folds, too_few_to_relabel
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
    """Infer the labels of data in canonical order, and relabel them across folds where that is asked for.

    Raises:
        PluginError: naming the component that broke its contract, and who ships it.
    """
    strata = config.regime.strata(data.weak)
    with naming_components(config):
        found = cross_fit(config.components, data, strata, config.inference, seed, run_tasks, emit)
        found = relabelled(found, config, data, seed, emit)
    warn_of_folds(found)
    return found


def labels_to_learn(config: FitConfig, data: Part, seed: int, run_tasks: RunTasks, emit: Emit) -> CrossFit:
    """Return the labels that a final classifier learns: inferred ones, or those that the control without a bandit has.

    Raises:
        PluginError: as `infer` does.
    """
    if config.has_bandit:
        return infer(config, data, seed, run_tasks, emit)
    with naming_components(config):
        found = relabelled(inherited_labels(config, data), config, data, seed, emit)
    warn_of_folds(found)
    return found


@one_blas_thread()
def relabelled(found: CrossFit, config: FitConfig, data: Part, seed: int, emit: Emit) -> CrossFit:
    """Relabel across folds in so many rounds as are configured, starting from what was inferred or is inherited.

    Confidence is then the share of all labellings that agree with the last, and undecided is what ties in the last.
    Means and pulls stay those of the arms.

    Args:
        found: labels of the data, as inferred; or inherited ones, which are no more than a chance for each class, so
            that the control starts with a draw.
        config: says how many rounds there are.
        data: in canonical order.
        seed: of folds and draws.
        emit: is told of rounds.
    """
    short = too_few_to_relabel(data.bags) if config["relabel_rounds"] and data.space.free.any() else None
    if short is not None:
        return evolve(found, warnings=(*found.warnings, short))
    if not config["relabel_rounds"] or not data.space.free.any():
        return found
    rounds = relabelled_across_folds(
        config.classifier,
        data,
        config.regime.strata(data.weak),
        found.inferred.labels if config.has_bandit else drawn_labels(config, data, seed),
        config.regime.constraint(),
        config["relabel_rounds"],
        config["class_balance"],
        seed,
        emit,
    )
    inferred = evolve(
        found.inferred,
        labels=rounds.labels,
        classes=data.space.class_of_label[rounds.labels],
        confidence=np.where(rounds.tied, 0.0, rounds.agreement),
        undecided=rounds.tied,
    )
    seconds = {**found.seconds, "classifier": found.seconds["classifier"] + rounds.seconds}
    return evolve(found, inferred=inferred, seconds=seconds, n_relabel_rounds=rounds.n_rounds)


def drawn_labels(config: FitConfig, data: Part, seed: int) -> NDArray[np.intp]:
    """Draw a candidate (n,) for each instance, its class as likely as the instance's bag alone makes it."""
    space, default = data.space, data.space.draw_weights()
    of_class = config.regime.inherited(data.weak, data.bags)[:, space.class_of_label]
    # A class is drawn first and then one of its labels, as in the first draws of an inference.
    weights = of_class * default / np.maximum(space.class_shares()[:, space.class_of_label], 1e-300)
    possible = weights.sum(axis=1, keepdims=True) > 0
    return draw_labels(np.where(possible, weights, default), np.random.default_rng(seed))


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


def inherited_labels(config: FitConfig, data: Part) -> CrossFit:
    """Return what instances inherit from their bags in the form of an inference that pulled nothing."""
    classes, lead = leading(config.regime.inherited(data.weak, data.bags))
    space = data.space
    labels = np.asarray((space.class_of_label == classes[:, None]).argmax(axis=1), dtype=np.intp)
    nothing = np.full(space.candidates.shape, np.nan)
    inferred = InferredLabels(labels, classes, lead, lead == 0, ~space.free, nothing, np.zeros(space.candidates.shape))
    seconds = {"classifier": 0.0, "reward": 0.0, "strategy": 0.0}
    return CrossFit(inferred, (), 0, 0, space.class_of_label, seconds)
