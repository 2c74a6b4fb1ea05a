"""A recipe of label inference: the parameters of `BlissClassifier` that say how labels are inferred, checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, fields, frozen
from numpy.typing import NDArray

from bliss_framework.errors import PluginError
from bliss_framework.estimator.inputs import TrainingInput
from bliss_framework.estimator.ordering import canonical_order
from bliss_framework.estimator.scaling import Scaling, check_mode
from bliss_framework.extension.components import described, resolve
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.crossfit import CrossFit, RunTasks, cross_fit
from bliss_framework.kernel.events import Emit
from bliss_framework.kernel.fold_task import Ingredients
from bliss_framework.kernel.inference import InferenceSettings
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.pull import Part


@frozen(eq=False)
class Recipe:
    """Everything that decides inferred labels, but for the data.

    Attributes:
        settings: of Algorithm 1 and the cross-fit.
        ingredients: classifier, reward, strategy and regime.
        regime: what weak labels mean.
        scaling: mode of `Scaling`.
        specs: what the user called the classifier, the reward and the strategy.
    """

    settings: InferenceSettings = field()
    ingredients: Ingredients = field()
    regime: Regime = field()
    scaling: str = field()
    specs: Mapping[str, Any] = field()

    def infer(self, data: Part, seed: int, run_tasks: RunTasks, emit: Emit) -> CrossFit:
        """Infer the labels of data that `arranged` has put in order.

        Raises:
            PluginError: naming the component that broke its contract as the user named it.
        """
        strata = self.regime.strata(data.weak)
        try:
            return cross_fit(self.ingredients, data, strata, self.settings, seed, run_tasks, emit)
        except PluginError as error:
            where = " ".join(getattr(error, "__notes__", []))
            raise type(error)(f"Label inference stopped{self._blamed(error.kind)}: {error} {where}".rstrip()) from error

    def _blamed(self, kind: str | None) -> str:
        return "" if kind is None else f" by {kind} {described(kind, self.specs[kind])}"


def recipe_of(parameters: Mapping[str, Any]) -> Recipe:
    """Check the parameters of label inference and find their components.

    Args:
        parameters: of `BlissClassifier`; those of the final classifier are not looked at.

    Raises:
        SettingsError, UnknownNameError: naming the parameter, its value and what is allowed.
    """
    check_mode(parameters["scaling"])
    settings = InferenceSettings(**{one.name: parameters[one.name] for one in fields(InferenceSettings)})
    regime: Regime = resolve("regime", parameters["regime"])
    reward = parameters["reward"] if parameters["reward"] is not None else regime.presets.defaults["reward"]
    specs = {"classifier": parameters["classifier"], "reward": reward, "strategy": parameters["strategy"]}
    parts = {kind: resolve(kind, spec) for kind, spec in specs.items()}
    return Recipe(settings, Ingredients(**parts, regime=regime), regime, parameters["scaling"], specs)


@frozen(eq=False)
class Arranged:
    """Training data in canonical order, scaled by what its own rows teach.

    Attributes:
        data: rows, bags, weak labels and candidates.
        order: (n,) the caller's row of each of its rows.
        scaling: learnt on its rows.
    """

    data: Part = field()
    order: NDArray[np.intp] = field()
    scaling: Scaling = field()


def arranged(given: TrainingInput, weak: WeakLabels, regime: Regime, mode: str) -> Arranged:
    """Put training data into canonical order and scale them, so that the order of rows does not change a bit.

    Args:
        given: checked rows and bags.
        weak: what `regime.check` made of their weak labels.
        regime: what weak labels mean.
        mode: of `Scaling`.
    """
    order = canonical_order(given.X, given.bags, regime.strata(weak))
    rows = given.X[order]
    # Sums over rows in another order have other last bits, so scaling too is learnt in canonical order.
    scaling = Scaling(mode).fit(rows)
    bags, positions = given.bags.take(order)
    ordered = weak.take(positions, order)
    return Arranged(part_of(scaling.transform(rows), bags, ordered, regime), order, scaling)


def part_of(X: Any, bags: Bags, weak: WeakLabels, regime: Regime) -> Part:
    """Add what the regime says of the instances of some bags to their rows."""
    return Part(X, bags, weak, regime.label_space(weak, bags), regime.instance_weights(bags, weak))
