"""Before an experiment runs: its data are loaded, and all that can be checked without computing is checked."""

import inspect
import platform
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen
from scipy.sparse import issparse

from bliss_framework.components import resolve
from bliss_framework.errors import BlissError, DataError, SettingsError, UnknownNameError
from bliss_framework.estimator import BlissClassifier
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.manager import Plugins
from bliss_framework.extension.names import is_own
from bliss_framework.extension.registry import Registry
from bliss_framework.inputs import TrainingInput, check_labelled, check_training
from bliss_framework.own_defaults import filled, is_given, with_own_defaults
from bliss_framework.runs.data import LoadedData, find_dataset
from bliss_framework.runs.evaluation import N_SEEDS, Method, Problem
from bliss_framework.runs.settings import (
    COMPONENTS,
    DataSettings,
    EvaluationSettings,
    MethodSettings,
    RunSettings,
    default_of,
)
from bliss_framework.version import __version__

DEFAULT_SEED = 0
CONTROL = "no-bandit"  # The same as BLISS in everything, but trained on what instances inherit from their bags.
NUMERICAL = ("numpy", "scipy", "scikit-learn")


@frozen(eq=False)
class Prepared:
    """An experiment whose settings and data are checked; nothing has been computed.

    Attributes:
        settings: with every parameter of BLISS filled in.
        loaded: the data and where they come from.
        problem: the data as the regime sees them.
        baselines: to compare with.
        plugins: knows the parameters of components, and who ships them.
        test_path: of the file of the test set, if it is one.
    """

    settings: RunSettings = field()
    loaded: LoadedData = field()
    problem: Problem = field()
    baselines: tuple[Method, ...] = field()
    plugins: Plugins = field()
    test_path: Path | None = field(default=None)

    @property
    def name(self) -> str:
        """What results call this experiment."""
        return self.settings.name or self.problem.dataset.name

    @property
    def seed(self) -> int:
        """The random state of the run."""
        return int(self.settings.bliss["random_state"])

    def document(self) -> dict[str, Any]:
        """Everything that decides the result, for run.toml and result.json, with the defaults of components."""
        settings, registry = self.settings, self.plugins.registry
        source = settings.data.source if self.loaded.path is None else str(self.loaded.path.absolute())
        own = {} if settings.bliss["settings"] == "select" else self._components(registry)
        return {
            **({} if settings.name is None else {"name": settings.name}),
            "data": {"source": source, **settings.data.options, **self._test_data()},
            "bliss": {**settings.bliss, **own},
            "evaluation": _protocol(settings.evaluation),
            "compare": [_resolved_method(method, registry) for method in self.baselines],
        }

    def _test_data(self) -> dict[str, Any]:
        """Return the key `test` of the data, with the whole path of a file."""
        if self.settings.data.test is None or self.test_path is None:
            return {} if self.settings.data.test is None else {"test": self.settings.data.test}
        return {"test": {**self.settings.data.test, "source": str(self.test_path.absolute())}}

    def _components(self, registry: Registry) -> dict[str, Any]:
        """Fill in defaults; where settings are chosen, one that is written down would count as set by the user."""
        bliss = self.settings.bliss
        own = {kind: resolved(kind, bliss[kind], registry) for kind in COMPONENTS}
        own["reward"] = resolved("reward", bliss["reward"] or self.problem.regime.default_reward, registry)
        return own

    @cached_property
    def sha256(self) -> str:
        """The digest of the data."""
        return self.problem.dataset.sha256()

    def data_document(self) -> dict[str, Any]:
        """What result.json says under "data"."""
        dataset, bags = self.problem.dataset, self.problem.bags
        return {
            "name": dataset.name,
            "n_bags": bags.n_bags,
            "n_instances": bags.n_rows,
            "n_features": int(dataset.X.shape[1]),
            "classes": list(self.problem.weak.classes),
            "sha256": self.sha256,
            **({} if self.problem.test is None else {"test": _told(self.problem.test)}),
        }

    def record(self) -> dict[str, Any]:
        """What run.toml notes down: the digest of the data, and the versions that the bits may depend on."""
        test = self.problem.test
        own = {} if test is None else {"test_sha256": test.dataset.sha256()}
        record = record_of(self.sha256, self.plugins)
        return {"data_sha256": record.pop("data_sha256"), **own, **record}


def record_of(sha256: str, plugins: Plugins) -> dict[str, Any]:
    """Return what run.toml notes down of a digest of the data and of the plugins that are installed."""
    strangers = {one.distribution: one.version for one in plugins.reports if one.state == "ok"}
    versions = {
        "bliss_framework": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in NUMERICAL},
        **{name: number for name, number in strangers.items() if not is_own(name)},
    }
    return {"data_sha256": sha256, "versions": versions}


def _protocol(evaluation: EvaluationSettings) -> dict[str, Any]:
    share = {} if evaluation.test_share is None else {"test_share": evaluation.test_share}
    return {"cv": evaluation.cv, "repeats": evaluation.repeats, **share}


def prepare(settings: RunSettings, plugins: Plugins, data_dirs: Sequence[Path]) -> Prepared:
    """Load the data and check everything that can be checked before long work starts.

    Raises:
        BlissError: whatever is wrong with settings, names or data.
    """
    if settings.pipeline is not None:
        raise SettingsError("A pipeline compares its own methods and has its own settings: use `bliss run`.")
    if settings.data.test is not None and settings.evaluation.wanted:
        raise SettingsError("There is a test set (data.test), so there are no folds: leave cv and test_share out.")
    loaded = _load(settings, settings.data, plugins.registry, data_dirs)
    names = loaded.dataset.label_names
    bliss = _completed(settings.bliss, loaded.dataset.regime)
    bliss["regime"] = told_names("regime", bliss["regime"], names, plugins.registry)
    check_seed(bliss["random_state"])
    model = BlissClassifier(**bliss)
    model.check_parameters()
    dataset = loaded.dataset
    given = check_training(dataset.X, dataset.weak, dataset.bags)
    regime = resolve("regime", bliss["regime"])
    settings = evolve(settings, bliss=_filled(model.get_params(deep=False), regime, given))
    checked = evolve(dataset, X=given.X, weak=given.weak)
    problem = Problem(checked, given.bags, regime.check(given.weak, given.bags), regime)
    of_test = settings.data.of_test
    tested = None if of_test is None else _load(settings, of_test, plugins.registry, data_dirs)
    if tested is not None:
        problem = evolve(problem, test=_test_problem(tested.dataset, problem))
    chosen = settings.compare
    if chosen is None:
        chosen = tuple(MethodSettings(name) for name in (CONTROL, *regime.default_baselines))
    baselines = tuple(_method(one, settings.bliss, names, plugins.registry) for one in chosen)
    return Prepared(settings, loaded, problem, baselines, plugins, None if tested is None else tested.path)


def _test_problem(dataset: WeakDataset, problem: Problem) -> Problem:
    """Check a test set: its columns are those of training, and its weak labels are known."""
    given = check_labelled(dataset.X, dataset.weak, dataset.bags)
    n_columns, n_test = problem.dataset.X.shape[1], given.X.shape[1]
    if n_test != n_columns:
        raise DataError(f"The test set {dataset.name!r} has {n_test} features, but the training data have {n_columns}.")
    weak = problem.regime.check_test(given.weak, given.bags, problem.weak.classes)
    return Problem(evolve(dataset, X=given.X, weak=given.weak), given.bags, weak, problem.regime)


def _told(problem: Problem) -> dict[str, Any]:
    """Say what a test set is."""
    dataset, bags = problem.dataset, problem.bags
    return {"name": dataset.name, "n_bags": bags.n_bags, "n_instances": bags.n_rows, "sha256": dataset.sha256()}


def _load(settings: RunSettings, data: DataSettings, registry: Registry, data_dirs: Sequence[Path]) -> LoadedData:
    regime = settings.bliss.get("regime", default_of("regime"))
    named = regime.get("name") if isinstance(regime, Mapping) else regime
    missing = _missing_regime(named, registry)
    if missing is not None and "regime" in settings.bliss:
        raise missing
    try:
        return find_dataset(
            data.source,
            registry=registry,
            data_dirs=data_dirs,
            relative_to=settings.folder,
            options=data.options,
        )
    except UnknownNameError as unknown:
        # Data say which regime they are for. Where there are none either, the plugin that ships both may be missing.
        raise unknown if missing is None else UnknownNameError(f"{missing} {unknown}") from None


def _missing_regime(name: Any, registry: Registry) -> BlissError | None:
    try:
        if isinstance(name, str):
            registry.offer("regime", name)
    except BlissError as error:
        return error
    return None


def _completed(bliss: Mapping[str, Any], regime: str) -> dict[str, Any]:
    """Fill in the regime of the data, and the names of components of which only parameters are set."""
    completed = {"random_state": DEFAULT_SEED, **bliss, "regime": _named(bliss.get("regime", regime), regime)}
    for component in ("classifier", "strategy", "final_classifier"):
        if component in bliss:
            completed[component] = _named(bliss[component], default_of(component))
    if "reward" in bliss:
        completed["reward"] = _named(bliss["reward"], resolve("regime", completed["regime"]).default_reward)
    return completed


def _filled(bliss: dict[str, Any], regime: Regime, given: TrainingInput) -> dict[str, Any]:
    """Lay the regime's own defaults over what the user left alone, so that a run says what it did."""
    if bliss["settings"] == "select":
        return bliss  # What is filled in would count as set by the user.
    if bliss["settings"] == "as-given":
        return filled(bliss)
    own = with_own_defaults(filled(bliss), regime, given.bags, issparse(given.X), lambda name: is_given(name, bliss))
    return {**own, "settings": "as-given"}


def _named(spec: Any, name: str) -> Any:
    return {"name": name, **spec} if isinstance(spec, Mapping) and "name" not in spec else spec


def check_seed(seed: Any) -> None:
    """Refuse a random state that results could not be repeated with."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < N_SEEDS:
        raise SettingsError(f"random_state must be an integer from 0 to {N_SEEDS - 1}; got {seed!r}.")


def told_names(kind: str, spec: Any, names: Sequence[str] | None, registry: Registry) -> Any:
    """Tell a component with a parameter `label_names` what the data call their labels, unless the user named them.

    Args:
        kind: "regime" or "baseline".
        spec: a name or a table with a name; anything else is returned as it is.
        names: of the data, or None.
        registry: knows the component.
    """
    name = spec.get("name") if isinstance(spec, Mapping) else spec
    if names is None or not isinstance(name, str) or name not in registry.names(kind):
        return spec
    if "label_names" not in _parameters(kind, name, registry):
        return spec
    return {"name": name, "label_names": list(names), **(spec if isinstance(spec, Mapping) else {})}


def _method(
    chosen: MethodSettings, bliss: Mapping[str, Any], names: Sequence[str] | None, registry: Registry
) -> Method:
    if chosen.method != CONTROL:
        spec = told_names("baseline", {"name": chosen.method, **chosen.parameters}, names, registry)
        return _baseline(chosen.name, spec, registry)
    if chosen.parameters:
        raise SettingsError(f'The method "{CONTROL}" takes no parameters: it has those of BLISS, but infers nothing.')
    regime: Regime = resolve("regime", bliss["regime"])
    own = {**bliss, **regime.control_settings, "inherited_share": 1.0, "n_jobs": None}
    return Method(CONTROL, lambda seed: BlissClassifier(**{**own, "random_state": seed}))


def _baseline(label: str, spec: Mapping[str, Any], registry: Registry) -> Method:
    registry.create("baseline", spec)

    def make(seed: int) -> Any:
        model = registry.create("baseline", spec)
        return model.set_params(random_state=seed) if "random_state" in model.get_params() else model

    return Method(label, make, {key: value for key, value in spec.items() if key != "name"}, str(spec["name"]))


def resolved(kind: str, spec: Any, registry: Registry) -> Any:
    """Add the defaults of a component to what the user says of it, so that a run means the same in another version.

    Args:
        kind: of component; "final_classifier" is a classifier.
        spec: a name or a table with a name; anything else, such as an object or an import path, is returned as it is.
        registry: knows the component.
    """
    name = spec.get("name") if isinstance(spec, Mapping) else spec
    kind = "classifier" if kind == "final_classifier" else kind
    if not isinstance(name, str) or name not in registry.names(kind):
        return spec
    parameters = _parameters(kind, name, registry).values()
    defaults = {one.name: one.default for one in parameters if isinstance(one.default, bool | int | float | str)}
    given = spec if isinstance(spec, Mapping) else {}
    return {"name": name, **defaults, **given} if defaults or given else name


def _parameters(kind: str, name: str, registry: Registry) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a component; none where its factory does not tell them."""
    try:
        return inspect.signature(registry.get(kind, name).factory).parameters
    except (TypeError, ValueError):
        return {}


def _resolved_method(method: Method, registry: Registry) -> dict[str, Any]:
    if method.name == CONTROL:
        return {"method": CONTROL}
    spec = resolved("baseline", {"name": method.component, **method.settings}, registry)
    label = {} if method.component == method.name else {"label": method.name}
    return {"method": spec.pop("name"), **label, **spec}
