"""The methods of a comparison: BLISS, its control without a bandit, and baselines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.registry import Registry
from bliss_framework.runs.settings.components import resolved, told_names
from bliss_framework.runs.settings.records import MethodSettings

OWN = "bliss"
CONTROL = "no-bandit"  # The same as BLISS in everything, but trained on what instances inherit from their bags.


@frozen(eq=False)
class Method:
    """A way to learn from weak labels.

    Attributes:
        name: "bliss", or what results call a baseline.
        make: returns a fresh estimator for a seed.
        settings: its parameters, for the result.
        component: the name of the baseline, where results call it something else.
    """

    name: str = field()
    make: Callable[[int], Any] = field()
    settings: dict[str, Any] = field(factory=dict)
    component: str | None = field(default=None)


def bliss_method(bliss: Mapping[str, Any]) -> Method:
    """BLISS as one of the methods of a comparison.

    Args:
        bliss: its parameters. Fits run side by side, so each of them runs in one process.
    """
    parameters = {**bliss, "n_jobs": None}
    return Method(OWN, lambda seed: BlissClassifier(**{**parameters, "random_state": seed}), parameters)


def compared_method(
    chosen: MethodSettings, bliss: Mapping[str, Any], names: Sequence[str] | None, registry: Registry
) -> Method:
    """Return a method that BLISS is compared with.

    Args:
        chosen: by the user or the regime.
        bliss: the parameters of BLISS, which the control shares.
        names: of the labels of the data, or None.
        registry: of components.

    Raises:
        BlissError: there is no such method, or it does not take its parameters.
    """
    if chosen.method != CONTROL:
        spec = told_names("baseline", {"name": chosen.method, **chosen.parameters}, names, registry)
        return _baseline(chosen.name, spec, registry)
    if chosen.parameters:
        raise SettingsError(f'The method "{CONTROL}" takes no parameters: it has those of BLISS, but infers nothing.')
    regime: Regime = resolve("regime", bliss["regime"])
    own = {**bliss, **regime.presets.control, "inherited_share": 1.0, "n_jobs": None}
    return Method(CONTROL, lambda seed: BlissClassifier(**{**own, "random_state": seed}))


def _baseline(label: str, spec: Mapping[str, Any], registry: Registry) -> Method:
    registry.create("baseline", spec)

    def make(seed: int) -> Any:
        model = registry.create("baseline", spec)
        return model.set_params(random_state=seed) if "random_state" in model.get_params() else model

    return Method(label, make, {key: value for key, value in spec.items() if key != "name"}, str(spec["name"]))


def method_document(method: Method, registry: Registry) -> dict[str, Any]:
    """Say what a compared method is, with the defaults of its component."""
    if method.name == CONTROL:
        return {"method": CONTROL}
    spec = resolved("baseline", {"name": method.component, **method.settings}, registry)
    label = {} if method.component == method.name else {"label": method.name}
    return {"method": spec.pop("name"), **label, **spec}
