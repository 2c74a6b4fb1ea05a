"""Before an experiment runs: its data are loaded, and all that can be checked without computing is checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from scipy.sparse import issparse

from bliss_framework.errors import BlissError, DataError, SettingsError, UnknownNameError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.inputs import TrainingInput, check_labelled, check_training
from bliss_framework.estimator.own_defaults import filled, is_given, with_own_defaults
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.loading.manager import Plugins
from bliss_framework.extension.registry import Registry
from bliss_framework.runs.data.find import LoadedData, find_dataset
from bliss_framework.runs.evaluation.methods import CONTROL, compared_method
from bliss_framework.runs.evaluation.plan import DEFAULT_SEED, check_seed
from bliss_framework.runs.evaluation.problem import Problem
from bliss_framework.runs.prepared import Prepared
from bliss_framework.runs.settings.components import told_names
from bliss_framework.runs.settings.records import DataSettings, MethodSettings, RunSettings, default_of


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
        chosen = tuple(MethodSettings(name) for name in (CONTROL, *regime.presets.baselines))
    baselines = tuple(compared_method(one, settings.bliss, names, plugins.registry) for one in chosen)
    return Prepared(settings, loaded, problem, baselines, plugins, None if tested is None else tested.path)


def _test_problem(dataset: WeakDataset, problem: Problem) -> Problem:
    """Check a test set: its columns are those of training, and its weak labels are known."""
    given = check_labelled(dataset.X, dataset.weak, dataset.bags)
    n_columns, n_test = problem.dataset.X.shape[1], given.X.shape[1]
    if n_test != n_columns:
        raise DataError(f"The test set {dataset.name!r} has {n_test} features, but the training data have {n_columns}.")
    weak = problem.regime.check_test(given.weak, given.bags, problem.weak.bag_words)
    return Problem(evolve(dataset, X=given.X, weak=given.weak), given.bags, weak, problem.regime)


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
        completed["reward"] = _named(bliss["reward"], resolve("regime", completed["regime"]).presets.defaults["reward"])
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
