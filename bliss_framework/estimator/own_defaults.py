"""Values of the parameters of `BlissClassifier` that the user leaves alone: general, the regime's own, or of a grid."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from bliss_framework.errors import PluginError
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Profile, Regime
from bliss_framework.kernel.bags import Bags

COMPONENTS = ("regime", "classifier", "reward", "strategy", "final_classifier")
IsSet = Callable[[str], bool]
GENERAL: Mapping[str, Any] = MappingProxyType(
    {
        "classifier": "kernel-ridge",
        "strategy": "cucb",
        "n_rounds": 100,
        "n_folds": 5,
        "train_on": "one",
        "n_inferences": 3,
        "n_passes": 1,
        "n_parallel": 1,
        "n_neighbors": 10,
        "final_classifier": "svm-rbf",
        "pass_share": 0.2,
        "class_balance": 0.0,
        "scaling": "auto",
        "confidence_weights": True,
        "inherited_share": 0.0,
        "bag_threshold": "out-of-fold",
        "instance_threshold": "auto",
        "self_training": 0,
    }
)


def with_own_defaults(
    parameters: Mapping[str, Any], regime: Regime, bags: Bags, sparse: bool, is_set: IsSet
) -> dict[str, Any]:
    """Lay the defaults of a regime over the parameters that the user left alone.

    Args:
        parameters: of `BlissClassifier`.
        regime: gives its defaults by parameter, or by "component.parameter".
        bags: of the training data.
        sparse: whether their rows are sparse.
        is_set: says whether the user has set a parameter.

    Raises:
        PluginError: if the regime has a default for what is no parameter.
    """
    own = regime.presets.defaults_for(Profile.of(bags, sparse))
    for name in own:
        component, dot, _ = str(name).partition(".")
        if component not in (COMPONENTS if dot else parameters):
            raise PluginError(
                f'{type(regime).__name__}.defaults returned "{name}", which is no parameter; allowed are parameters of '
                f'BlissClassifier and "component.parameter", where the component is one of {", ".join(COMPONENTS)}.'
            )
    return with_values(parameters, {name: value for name, value in own.items() if not is_set(name)})


def with_values(parameters: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Lay values by parameter, or by "component.parameter", over parameters.

    >>> with_values({"n_rounds": 100, "classifier": "ridge"}, {"classifier.ridge": 0.5, "n_rounds": 60})
    {'n_rounds': 60, 'classifier': {'name': 'ridge', 'ridge': 0.5}}
    """
    laid = {**parameters, **{name: value for name, value in values.items() if "." not in name}}
    for name, value in values.items():
        component, dot, parameter = name.partition(".")
        if dot:
            laid[component] = {**as_table(_named(component, laid)), parameter: value}
    return laid


def filled(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Give parameters that are None their general default, where they have one.

    >>> filled({"n_rounds": None, "n_folds": 4, "n_first_draws": None})
    {'n_rounds': 100, 'n_folds': 4, 'n_first_draws': None}
    """
    return {name: GENERAL.get(name) if value is None else value for name, value in parameters.items()}


def is_given(name: str, parameters: Mapping[str, Any]) -> bool:
    """Say whether the user has set a parameter, or a "component.parameter".

    Args:
        name: of it.
        parameters: of `BlissClassifier`, as the user set them; None where they are left alone.
    """
    component, dot, parameter = name.partition(".")
    spec = parameters[component]
    if not dot or spec is None:
        return spec is not None
    if not isinstance(spec, str | Mapping) or (isinstance(spec, Mapping) and parameter in spec):
        return True  # An object has all its parameters from the user.
    # The regime is a fact of the data; its name is no choice that the user made.
    return component != "regime" and bool(as_table(spec).get("name") != GENERAL.get(component))


def as_table(spec: Any) -> dict[str, Any]:
    """Return what the user says of a component as a table with a name."""
    return dict(spec) if isinstance(spec, Mapping) else {"name": spec}


def _named(component: str, parameters: Mapping[str, Any]) -> Any:
    """Return what the user says of a component, or for None the reward that it means."""
    if component == "reward" and parameters["reward"] is None:
        return resolve("regime", parameters["regime"]).presets.defaults["reward"]
    return parameters[component]
