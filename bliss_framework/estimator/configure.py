"""The effective configuration of a fit: every parameter resolved, and every component an object.

`configure` is the one place that answers which reward, which classifier, which default is in use. What a user gives
comes first, then what the regime advises for data like these, then the table of parameters.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from attrs import evolve, field, fields, frozen

from bliss_framework.errors import PluginError, SettingsError
from bliss_framework.estimator.component_tables import (
    arguments_of,
    defaults_by_data,
    fill_defaults,
    lay_over,
    merge_tables,
)
from bliss_framework.estimator.parameters import COMPONENTS, CONFIGURED, SAME, TABLE, check_values, named
from bliss_framework.extension.components import as_table, component_name, resolve
from bliss_framework.extension.contracts import Classifier, Presets, Profile, Regime, Reward, Strategy
from bliss_framework.extension.registry import Recorded, Registry
from bliss_framework.kernel.fold_task import Components
from bliss_framework.kernel.inference import InferenceSettings

KIND_OF = {**{name: name for name in COMPONENTS}, "final_classifier": "classifier"}
FIRST_SHARE = 0.5  # Of what instances inherit, while the regime has not chosen one.
AFTER_INFERENCE = tuple(name for name in named("final") if TABLE[name].in_grid)


@frozen(eq=False)
class Config:
    """The resolved configuration of a fit, as plain values: it prints, compares, and turns into JSON and TOML.

    Attributes:
        values: by parameter. A component is a table with its name and all its parameters, or the user's own object.

    >>> print(Config({"n_rounds": 60, "classifier": {"name": "ridge", "ridge": 1.0}}))
    n_rounds = 60
    classifier = {"name": "ridge", "ridge": 1.0}
    """

    values: Mapping[str, Any] = field()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and dict(self.values) == dict(other.values)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __str__(self) -> str:
        return "\n".join(f"{name} = {_shown(value)}" for name, value in self.values.items() if value is not None)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the values, which `BlissClassifier(**values)` takes."""
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in self.values.items()}

    def to_json(self) -> str:
        """Write the values as JSON, objects as text."""
        return json.dumps(self.to_dict(), default=repr)

    def to_toml(self) -> str:
        """Write the values as the table [bliss] of an experiment file, objects as text; None is left out.

        >>> print(Config({"n_rounds": 60, "n_first_draws": None}).to_toml().strip())
        [bliss]
        n_rounds = 60
        """
        import tomli_w

        return tomli_w.dumps({"bliss": _without_none(json.loads(self.to_json()))})


@frozen(eq=False)
class FitConfig:
    """Everything that decides a fit but the data and the seed.

    Attributes:
        values: every parameter, resolved; components as tables or objects, as run.toml writes them.
        regime: what the weak labels mean.
        classifier: pulled in label inference.
        reward: says how well weak labels are met.
        strategy: bounds the mean reward of each arm.
        final: the classifier that is trained on the inferred labels.
        inference: the settings of Algorithm 1 and of the cross-fit.
        given: what the user gave, and what the data say of the regime.
        components_from: the plugin, distribution and version of each named component, as `Registry.record` has it.
        chosen: what the grid set.
        candidates: one configuration for each combination of the grid; empty unless settings are to be selected.
        notes: a sentence for each component that has other values because of what the data are.
    """

    values: Mapping[str, Any] = field()
    regime: Regime = field()
    classifier: Classifier = field()
    reward: Reward = field()
    strategy: Strategy = field()
    final: Classifier = field()
    inference: InferenceSettings = field()
    given: Mapping[str, Any] = field(factory=dict)
    components_from: Recorded = field(factory=dict)
    chosen: Mapping[str, Any] = field(factory=dict)
    candidates: tuple["FitConfig", ...] = field(default=())
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def config(self) -> Config:
        """The plain values."""
        return Config(dict(self.values))

    @property
    def components(self) -> Components:
        """What Algorithm 1 is made of."""
        return Components(self.classifier, self.reward, self.strategy, self.regime)

    def name_of(self, component: str) -> str:
        """Say how a component is called, and who ships it where it was named."""
        name = component_name(self.values[component])
        origin = self.components_from.get(f"{KIND_OF[component]}:{name}")
        if origin is None or not isinstance(self.values[component], str | Mapping):
            return f'"{name}"'
        return f'"{name}" (plugin "{origin["plugin"]}" from {origin["distribution"]} {origin["version"]})'

    @property
    def inference_key(self) -> str | None:
        """Equal for configurations that infer the same labels; None where nothing is inferred."""
        if self["inherited_share"] == 1 and not self["relabel_rounds"]:
            return None
        own = {**{name: self[name] for name in named("inference")}, "regime": self._regime_of_instances}
        return repr(own if self.has_bandit else {**own, "start": "inherited"})

    @property
    def has_bandit(self) -> bool:
        """Whether labels are inferred by a bandit; otherwise this is the control, and they start as inherited ones."""
        return bool(self["inherited_share"] != 1)

    @property
    def learnt_share(self) -> float:
        """How much the final classifier learns of what instances inherit: nothing where the control relabels that."""
        wanted = FIRST_SHARE if self.chooses_share else float(self["inherited_share"])
        return wanted if self.has_bandit or not self["relabel_rounds"] else 0.0

    @property
    def chooses_share(self) -> bool:
        """Whether the regime chooses how much is learnt of what instances inherit."""
        return isinstance(self["inherited_share"], str)

    def with_share(self, share: float) -> "FitConfig":
        """Return the same configuration with a share that was chosen."""
        return evolve(self, values={**self.values, "inherited_share": share})

    @property
    def order_key(self) -> str:
        """Equal for configurations whose rows are scaled, and whose instances are weighted, alike."""
        return repr([self["scaling"], self._regime_of_instances])

    @property
    def preparation_key(self) -> str:
        """Equal for configurations whose final classifiers are prepared alike."""
        return repr([self.order_key, self.final_spec])

    @property
    def final_key(self) -> str:
        """Equal for configurations of one inference whose final classifiers are the same."""
        return repr([self.final_spec, *(self[name] for name in AFTER_INFERENCE if name != "final_classifier")])

    @property
    def final_spec(self) -> Any:
        """What names the final classifier."""
        return self["classifier"] if self["final_classifier"] == SAME else self["final_classifier"]

    @property
    def _regime_of_instances(self) -> Any:
        """The regime without the parameters that matter for bags only."""
        table = as_table(self["regime"])
        return {key: value for key, value in table.items() if key not in self.regime.reading_parameters}


def configure(
    given: Mapping[str, Any],
    profile: Profile,
    registry: Registry,
    facts: Mapping[str, Any] | None = None,
    recorded: Recorded | None = None,
) -> FitConfig:
    """Resolve every parameter of a fit.

    Args:
        given: parameters of `BlissClassifier`; what is missing or None is left to the regime and the table. A component
            is a name, a table, an object, or a table without a name, which speaks of the component in use.
        profile: of the training data.
        registry: where components are named.
        facts: values that the data say of the regime's parameters, such as `label_names`; the user's come first.
        recorded: where components came from when this was written down, for messages about those that are gone.

    Raises:
        SettingsError, UnknownNameError: a parameter cannot be used, or the component in use does not have it.
        PluginError: a component's factory or the regime's presets broke their contract.
    """
    given = {name: value for name, value in given.items() if value is not None}
    check_values(given)
    resolver = _Resolver(registry, given, facts or {}, recorded or {}, profile)
    config = resolver.config(resolver.advised())
    if given.get("settings") != "select":
        return config
    grid = given.get("grid")
    return evolve(config, candidates=tuple(resolver.candidates(grid)))


@frozen
class _Resolver:
    """What is resolved against what: the user's values, in a registry."""

    registry: Registry = field()
    given: Mapping[str, Any] = field()
    facts: Mapping[str, Any] = field()
    recorded: Recorded = field()
    profile: Profile = field()

    def presets(self) -> Presets:
        """Return what the regime advises; it may follow from the regime's own parameters."""
        regime = self.made("regime", self._regime_table({}))
        presets = regime.presets
        if not isinstance(presets, Presets):
            raise PluginError(f"{type(regime).__name__}.presets must be a Presets record; got {presets!r}.")
        for values in (presets.defaults, presets.paper, *(case.defaults for case in presets.cases)):
            _check_names(type(regime).__name__, values)
        return presets

    def advised(self) -> dict[str, Any]:
        """Return what holds where the user says nothing, for data like these."""
        presets = self.presets()
        if self.given.get("settings") == "paper":
            table = {name: row.default if row.paper is None else row.paper for name, row in TABLE.items()}
            return {**table, **presets.paper}
        return {**{name: row.default for name, row in TABLE.items()}, **presets.defaults_for(self.profile)}

    def config(self, advised: Mapping[str, Any], chosen: Mapping[str, Any] | None = None) -> FitConfig:
        """Resolve all parameters.

        Args:
            advised: by parameter, or by "regime.parameter".
            chosen: what a grid sets, by parameter or by "component.parameter"; it comes before the user's values.
        """
        chosen = chosen or {}
        values = {name: self.given.get(name, advised[name]) for name in CONFIGURED}
        values["regime"] = self._regime_table(advised)
        for name in ("classifier", "reward", "strategy"):
            values[name] = merge_tables(self.given.get(name), advised[name], name)
        values["final_classifier"] = self._final(advised["final_classifier"], values["classifier"])
        values = lay_over(values, chosen)
        if values["reward"] is None:
            raise SettingsError("This regime advises no reward; name one as `reward`.")
        notes = tuple(note for name in COMPONENTS for note in self._notes(name, values[name]))
        values |= {name: self._filled(name, values[name]) for name in COMPONENTS}
        return evolve(self._made(values, chosen), notes=notes)

    def candidates(self, grid: Any) -> Iterator[FitConfig]:
        """Yield a configuration for each combination of a grid, of which axes that the user has set are left out."""
        grid = self.presets().grid_for(self.profile) if grid is None else grid
        _check_grid(grid)
        axes = {name: values for name, values in grid.items() if not self.is_given(name)}
        advised = self.advised()
        for values in product(*axes.values()):
            config = self.config(advised, dict(zip(axes, values, strict=True)))
            yield config.with_share(config.learnt_share) if config.chooses_share else config

    def is_given(self, name: str) -> bool:
        """Say whether the user has set a parameter, or a "component.parameter"."""
        component, dot, parameter = name.partition(".")
        spec = self.given.get(component)
        if not dot or spec is None:
            return spec is not None
        if not isinstance(spec, str | Mapping) or (isinstance(spec, Mapping) and parameter in spec):
            return True  # An object has all its parameters from the user.
        # The regime is a fact of the data; its name is no choice that the user made.
        return component != "regime" and as_table(spec).get("name") not in (None, TABLE[component].default)

    def made(self, name: str, spec: Any) -> Any:
        """Make the component that a value means."""
        try:
            return resolve(KIND_OF[name], spec, self.registry, self.recorded)
        except SettingsError as error:
            raise SettingsError(f"{error}{self._in_use(name, spec)}") from error.__cause__

    def _in_use(self, name: str, spec: Any) -> str:
        """Say which component a table without a name speaks of, and how to name another one."""
        given, origin = self.given.get(name), self._origin(name, spec)
        if not isinstance(given, Mapping) or "name" in given or origin is None:
            return ""
        words = name.replace("_", " ")
        return f' The {words} in use is "{component_name(spec)}" of {origin}; name another one as {name}.'

    def _regime_table(self, advised: Mapping[str, Any]) -> Any:
        spec = self.given.get("regime", TABLE["regime"].default)
        if not isinstance(spec, str | Mapping):
            return spec
        own = {name.partition(".")[2]: value for name, value in advised.items() if name.startswith("regime.")}
        table = {"name": TABLE["regime"].default, **as_table(spec)}
        known = arguments_of("regime", table["name"], self.registry)
        facts = {name: value for name, value in self.facts.items() if name in known and value is not None}
        if "label_names" in facts:
            facts.pop("classes", None)  # One fact; a regime with both parameters gets it as the first.
        return {"name": table["name"], **facts, **own, **table}

    def _final(self, advised: Any, classifier: Any) -> Any:
        spec = self.given.get("final_classifier")
        if advised == SAME and isinstance(spec, Mapping) and "name" not in spec:
            return merge_tables(spec, classifier, "final_classifier")
        return SAME if spec == SAME else merge_tables(spec, advised, "final_classifier")

    def _filled(self, name: str, spec: Any) -> Any:
        """Add the defaults of a component to what is said of it, so that a run means the same in another version."""
        if name == "final_classifier" and spec == SAME:
            return spec
        return fill_defaults(KIND_OF[name], spec, self.registry, self.profile)

    def _notes(self, name: str, spec: Any) -> Iterator[str]:
        """Say which parameters of a component have other values because of what the data are."""
        own = {} if spec == SAME else defaults_by_data(KIND_OF[name], spec, self.registry, self.profile)
        for parameter, value in own.items():
            yield (
                f'Of {self.profile.n_rows:,} rows the {name.replace("_", " ")} "{component_name(spec)}" takes '
                f"{parameter} = {value}; set {name}.{parameter} for another value."
            )

    def _made(self, values: dict[str, Any], chosen: Mapping[str, Any]) -> FitConfig:
        for name in CONFIGURED:
            TABLE[name].check(values[name])
        made = {name: self.made(name, values[name]) for name in ("regime", "classifier", "reward", "strategy")}
        final = values["final_classifier"]
        inference = InferenceSettings(**{one.name: values[one.name] for one in fields(InferenceSettings)})
        return FitConfig(
            values=values,
            **made,
            final=made["classifier"] if final == SAME else self.made("final_classifier", final),
            inference=inference,
            given={**self.given, "regime": _name_alone(self._regime_table({}))},
            components_from=self.registry.record(
                (KIND_OF[name], component_name(values[name]))
                for name in COMPONENTS
                if isinstance(values[name], str | Mapping) and values[name] != SAME
            ),
            chosen=dict(chosen),
        )

    def _origin(self, name: str, spec: Any) -> str | None:
        called = component_name(spec)
        if not isinstance(spec, str | Mapping) or called not in self.registry.names(KIND_OF[name]):
            return None
        return self.registry.registration(KIND_OF[name], called).origin()


def _name_alone(spec: Any) -> Any:
    """Return the name of a table that holds nothing else."""
    return spec["name"] if isinstance(spec, Mapping) and len(spec) == 1 else spec


def _check_names(regime: str, values: Mapping[str, Any]) -> None:
    for name in values:
        component, dot, _ = str(name).partition(".")
        if (component != "regime") if dot else (name not in CONFIGURED):
            raise PluginError(
                f'{regime}.presets speak of "{name}", which is no parameter; allowed are parameters of '
                f'BlissClassifier and "regime.parameter".'
            )


def _check_grid(grid: Any) -> None:
    allowed = [name for name in CONFIGURED if TABLE[name].in_grid]
    if not isinstance(grid, Mapping):
        raise SettingsError(f"grid must be a table of lists of values, or None for the regime's own; got {grid!r}.")
    for name, values in grid.items():
        component, dot, _ = str(name).partition(".")
        if component not in (COMPONENTS if dot else allowed):
            raise SettingsError(f'The grid has "{name}", which is no parameter. Allowed: {", ".join(allowed)}.')
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise SettingsError(f'The grid must give "{name}" a list of values; got {values!r}.')


def _without_none(value: Any) -> Any:
    """Leave out what is not set: TOML has no null."""
    if not isinstance(value, Mapping):
        return value
    return {key: _without_none(one) for key, one in value.items() if one is not None}


def _shown(value: Any) -> str:
    return json.dumps(value, default=repr)
