"""The methods of a comparison: BLISS, its control without a bandit, and baselines."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.component_tables import fill_defaults, with_shared_parameters
from bliss_framework.estimator.configure import FitConfig, configure
from bliss_framework.estimator.parameters import named
from bliss_framework.estimator.preparation import Preparation, learnt, prepared_by
from bliss_framework.extension.components import as_table
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.registry import Registry
from bliss_framework.kernel.events import Emit
from bliss_framework.runs.settings.records import MethodSettings

OWN = "bliss"
CONTROL = "no-bandit"  # The same as BLISS in everything, but trained on what instances inherit from their bags.
Fit = Callable[[CheckedData, int, Emit], Any]


@frozen(eq=False)
class Method:
    """A way to learn from weak labels.

    Attributes:
        name: "bliss", or what results call a baseline.
        fit: fits it to checked data with a seed, and tells of it; returns the fitted model.
        settings: its parameters, for the result.
        component: the name of the baseline, where results call it something else.
        digest: of all that decides its fits but data and seed; a finished fit of another one is not used.
    """

    name: str = field()
    fit: Fit = field()
    settings: dict[str, Any] = field(factory=dict)
    component: str | None = field(default=None)
    digest: str = field(default="")


def bliss_method(config: FitConfig, name: str = OWN) -> Method:
    """BLISS as one of the methods of a comparison; fits run side by side, so each of them runs in one process."""
    parameters = {**config.given, "n_jobs": None}

    def fit(data: CheckedData, seed: int, emit: Emit) -> Any:
        return BlissClassifier(**{**parameters, "random_state": seed}).fit_configured(data, config, emit)

    chosen = {key: config.given.get(key) for key in named("rows", "selection")}
    return Method(name, fit, parameters, digest=_digest({**config.values, **chosen}))


@frozen(eq=False)
class PreparedBaseline:
    """A fitted baseline, and what its training rows taught of empty cells and categories."""

    model: Any = field()
    preparation: Preparation = field()


def with_rows_and_bags(model: Any, data: CheckedData) -> tuple[Any, Any, Any]:
    """Return a fitted model and what it takes: BLISS takes checked data as they are, a baseline rows and ids."""
    if isinstance(model, BlissClassifier):
        return model, data, None
    if isinstance(model, PreparedBaseline):
        model, data = model.model, model.preparation.transform(data)
    return model, data.X, data.ids


def default_methods(
    config: FitConfig, profile: Profile, registry: Registry
) -> tuple[tuple[MethodSettings, ...], tuple[str, ...]]:
    """Return what BLISS is compared with where nothing is chosen: the control and the baselines of its regime.

    Returns:
        The methods, and a note for each baseline that is not run on so many rows.
    """
    names = config.regime.presets.baselines
    most = {name: registry.get("baseline", name).most_rows for name in names}
    too_many = {name: limit for name, limit in most.items() if limit is not None and profile.n_rows > limit}
    notes = tuple(
        f'The baseline "{name}" was left out: it is not run on more than {limit:,} rows, and there are '
        f"{profile.n_rows:,}."
        for name, limit in too_many.items()
    )
    return tuple(MethodSettings(name) for name in (CONTROL, *names) if name not in too_many), notes


def compared_methods(
    chosen: Sequence[MethodSettings],
    config: FitConfig,
    profile: Profile,
    registry: Registry,
    facts: Mapping[str, Any],
) -> tuple[Method, ...]:
    """Return the methods that BLISS is compared with.

    Args:
        chosen: by the user, or those of `default_methods`.
        config: of BLISS, which the control shares, and whose regime a baseline is told of.
        profile: of the training data.
        registry: of components.
        facts: what the data say of labels, as in `configure`.

    Raises:
        BlissError: there is no such method, it does not take its parameters, or is not run on so many rows.
    """
    return tuple(
        _control(one, config, profile, registry, facts)
        if one.method == CONTROL
        else _baseline(one, config, profile, registry, facts)
        for one in chosen
    )


def _control(
    chosen: MethodSettings, config: FitConfig, profile: Profile, registry: Registry, facts: Mapping[str, Any]
) -> Method:
    if chosen.parameters:
        raise SettingsError(f'The method "{CONTROL}" takes no parameters: it has those of BLISS, but infers nothing.')
    given = {**config.given, **config.regime.presets.control, "inherited_share": 1.0}
    return bliss_method(configure(given, profile, registry, facts), CONTROL)


def _baseline(
    chosen: MethodSettings, config: FitConfig, profile: Profile, registry: Registry, facts: Mapping[str, Any]
) -> Method:
    most_rows = registry.get("baseline", chosen.method).most_rows
    if most_rows is not None and profile.n_rows > most_rows:
        raise SettingsError(
            f'The baseline "{chosen.method}" is not run on more than {most_rows:,} rows, because its cost grows with '
            f"their square or faster; there are {profile.n_rows:,}. Leave it out, or compare on fewer rows."
        )
    spec = with_shared_parameters({"name": chosen.method, **chosen.parameters}, config["regime"], registry, facts)
    registry.create("baseline", spec)
    parameters = {key: value for key, value in spec.items() if key != "name"}
    factory = registry.get("baseline", chosen.method).factory

    prepare = config.given.get("prepare")

    def fit(data: CheckedData, seed: int, emit: Emit) -> Any:
        model = factory(**parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        preparation = learnt(prepare, data)
        ready = prepared_by(preparation, data)
        fitted = model.fit(ready.X, ready.weak, bags=ready.ids)
        return fitted if preparation is None else PreparedBaseline(fitted, preparation)

    return Method(chosen.name, fit, parameters, chosen.method, _digest({"method": spec, "prepare": prepare}))


def _digest(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=repr).encode()).hexdigest()


def method_document(method: Method, registry: Registry) -> dict[str, Any]:
    """Say what a compared method is, with the defaults of its component."""
    if method.name == CONTROL:
        return {"method": CONTROL}
    spec = as_table(fill_defaults("baseline", {"name": method.component, **method.settings}, registry))
    label = {} if method.component == method.name else {"label": method.name}
    return {"method": spec.pop("name"), **label, **spec}
