"""An experiment before it runs: its data are loaded and checked once, its configuration is resolved once."""

import platform
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from bliss_framework.errors import BlissError, DataError, SettingsError, UnknownNameError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig, configure
from bliss_framework.estimator.extremes import check_values
from bliss_framework.estimator.inputs import check_labelled, check_training
from bliss_framework.estimator.parameters import TABLE, not_given
from bliss_framework.estimator.preparation import learnt, prepared_by
from bliss_framework.estimator.prepared_rows import reading_of_files
from bliss_framework.estimator.row_settings import AUTO
from bliss_framework.estimator.suspect_columns import suspect_columns
from bliss_framework.extension.components import as_table
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.extension.naming import is_own
from bliss_framework.extension.registry import Registry
from bliss_framework.runs.data.files import portable
from bliss_framework.runs.data.find import LoadedData, find_dataset
from bliss_framework.runs.data.reuse import reading_for_test_set, without_roles
from bliss_framework.runs.evaluation.methods import Method, compared_methods, default_methods, method_document
from bliss_framework.runs.evaluation.plan import DEFAULT_SEED, check_plan, check_seed
from bliss_framework.runs.evaluation.problem import Problem, problem_of
from bliss_framework.runs.events import RunStarted
from bliss_framework.runs.folder.versions import HOST, NUMERICAL
from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, RunSettings
from bliss_framework.version import __version__


@frozen(eq=False)
class Prepared:
    """An experiment whose settings and data are checked; nothing has been computed.

    Attributes:
        settings: as the user gave them.
        config: the resolved configuration of BLISS.
        loaded: the data and where they come from.
        problem: the data as the regime sees them.
        baselines: to compare with.
        plugins: knows the parameters of components, and who ships them.
        seed: the random state of the run.
        n_jobs: processes.
        ready: the data with the rows that a fit to all of them learns from: empty cells filled, categories encoded.
        notes: sentences for the user about the data.
        test_path: of the file of the test set, if it is one.
    """

    settings: RunSettings = field()
    config: FitConfig = field()
    loaded: LoadedData = field()
    problem: Problem = field()
    baselines: tuple[Method, ...] = field()
    plugins: Plugins = field()
    seed: int = field()
    n_jobs: int | None = field()
    ready: CheckedData = field()
    notes: tuple[str, ...] = field(default=())
    test_path: Path | None = field(default=None)

    @property
    def name(self) -> str:
        """What results call this experiment."""
        return self.settings.name or self.problem.dataset.name

    @property
    def bliss(self) -> dict[str, Any]:
        """Every parameter of BLISS; where settings are selected those that are given: others would count as given."""
        given = {name: self.config.given.get(name, not_given(name)) for name in TABLE}
        return given if given["settings"] == "select" else {**given, **self.config.values}

    def model(self) -> BlissClassifier:
        """Return BLISS unfitted, with the parameters that are given."""
        return BlissClassifier(**self.config.given)

    def document(self, folder: Path | None = None) -> dict[str, Any]:
        """Everything that decides the result, for run.toml and result.json, with the defaults of components.

        Args:
            folder: of the run, where it has one; data files are named from there.
        """
        settings, registry = self.settings, self.plugins.registry
        source = settings.data.source if self.loaded.path is None else portable(self.loaded.path, folder)
        return {
            **({} if settings.name is None else {"name": settings.name}),
            "data": {"source": source, **settings.data.options, **self._test_data(folder)},
            "bliss": self.bliss,
            "evaluation": _protocol(settings.evaluation),
            "compare": [method_document(method, registry) for method in self.baselines],
        }

    def _test_data(self, folder: Path | None) -> dict[str, Any]:
        """Return the key `test` of the data, with the path of a file."""
        if self.settings.data.test is None or self.test_path is None:
            return {} if self.settings.data.test is None else {"test": self.settings.data.test}
        return {"test": {**self.settings.data.test, "source": portable(self.test_path, folder)}}

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
            **({} if self.loaded.reader is None else {"reader": self.loaded.reader}),
            **({} if bags.groups is None else {"n_groups": len(np.unique(bags.groups))}),
            **({} if self.problem.test is None else {"test": _told(self.problem.test)}),
        }

    def record(self) -> dict[str, Any]:
        """What run.toml notes down: the digest of the data, and the versions that the bits may depend on."""
        test = self.problem.test
        own = {} if test is None else {"test_sha256": test.dataset.sha256()}
        record = record_of(self.sha256, self.plugins)
        return {"data_sha256": record.pop("data_sha256"), **own, **record, "components": self.components_from()}

    def components_from(self) -> dict[str, Mapping[str, str]]:
        """The plugin, distribution and version that each component comes from."""
        baselines = [("baseline", one.component) for one in self.baselines if one.component is not None]
        return {**self.config.components_from, **self.plugins.registry.record(baselines)}


def _told(problem: Problem) -> dict[str, Any]:
    """Say what a test set is."""
    dataset, bags = problem.dataset, problem.bags
    return {"name": dataset.name, "n_bags": bags.n_bags, "n_instances": bags.n_rows, "sha256": dataset.sha256()}


def _protocol(evaluation: EvaluationSettings) -> dict[str, Any]:
    share = {} if evaluation.test_share is None else {"test_share": evaluation.test_share}
    return {"cv": evaluation.cv, "repeats": evaluation.repeats, **share}


def record_of(sha256: str, plugins: Plugins) -> dict[str, Any]:
    """Return what run.toml notes down of a digest of the data and of the plugins that are installed."""
    third_party = {one.distribution: one.version for one in plugins.reports if one.state == "ok"}
    versions = {
        HOST: __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in NUMERICAL},
        **{name: number for name, number in third_party.items() if not is_own(name)},
    }
    return {"data_sha256": sha256, "versions": versions}


def announcement(prepared: Prepared, n_fits: int) -> RunStarted:
    """Return the first event of a run."""
    bags = prepared.problem.bags
    return RunStarted(prepared.name, prepared.loaded.origin, bags.n_bags, bags.n_rows, n_fits)


def fold_notes(prepared: Prepared) -> list[str]:
    """Say so where there are fewer bags than folds, or fewer groups of them."""
    cv, bags = prepared.settings.evaluation.cv, prepared.problem.bags
    n_parts, parts = (bags.n_bags, "bags") if bags.groups is None else (len(np.unique(bags.groups)), "groups")
    return [f"cv was reduced from {cv} to {n_parts}, the number of {parts}."] if cv is not None and cv > n_parts else []


def prepare(settings: RunSettings, plugins: Plugins, data_dirs: Sequence[Path]) -> Prepared:
    """Load the data and check everything that can be checked before long work starts.

    Raises:
        BlissError: whatever is wrong with settings, names or data.
    """
    if settings.pipeline is not None:
        raise SettingsError("A pipeline compares its own methods and has its own settings: use `bliss run`.")
    if settings.data.test is not None and settings.evaluation.wanted:
        raise SettingsError("There is a test set (data.test), so there are no folds: leave cv and test_share out.")
    TABLE["prepare"].check(settings.bliss.get("prepare"))
    registry = plugins.registry
    loaded = _load(settings, settings.data, registry, data_dirs)
    dataset = loaded.dataset
    given = _given(settings.bliss, dataset)
    check_seed(given["random_state"])
    prepare = given["prepare"]
    data = _checked(dataset, prepare)
    profile = Profile.of(data.bags, data.rows.is_sparse)
    facts = data.facts
    config = configure(given, profile, registry, facts, settings.recorded)
    data, ready, notes = _read(data, config)
    problem, understood = problem_of(dataset, data, config.regime)
    notes += understood
    tested: LoadedData | None = None
    if settings.data.of_test is not None:
        of_test = evolve(settings.data.of_test, options=without_roles(settings.data.of_test.options))
        tested = _load(settings, of_test, registry, data_dirs, reading_for_test_set(dataset))
        test, said = _test_problem(tested, problem, prepare)
        problem, notes = evolve(problem, test=test), (*notes, *said)
    check_plan(problem, settings.evaluation, int(given["random_state"]), bool(config.candidates))
    chosen = settings.compare
    left_out: tuple[str, ...] = ()
    if chosen is None:
        chosen, left_out = default_methods(config, profile, registry)
    baselines = compared_methods(chosen, config, profile, registry, {**facts, **_found_names(problem)})
    unseen = left_out if _is_evaluated(settings) else ()
    return Prepared(
        settings,
        config,
        loaded,
        problem,
        baselines,
        plugins,
        seed=int(given["random_state"]),
        n_jobs=given.get("n_jobs"),
        ready=ready,
        notes=(*loaded.notes, *config.notes, *notes, *unseen),
        test_path=None if tested is None else tested.path,
    )


def _is_evaluated(settings: RunSettings) -> bool:
    return settings.evaluation.wanted or settings.data.test is not None


def _checked(dataset: WeakDataset, prepare: Any) -> CheckedData:
    read = reading_of_files(prepare, dataset.feature_names)
    data = check_training(dataset.X, dataset.weak, dataset.bags, dataset.groups, read=read)
    return evolve(_named(data, dataset), label_names=dataset.label_names)


def _named(data: CheckedData, dataset: WeakDataset) -> CheckedData:
    """Add to checked rows what a data set says of their columns, and what it carries beside them."""
    return evolve(data, columns=dataset.feature_names, categories=dataset.categories, carried=dataset.carried)


def _read(data: CheckedData, config: FitConfig) -> tuple[CheckedData, CheckedData, tuple[str, ...]]:
    """Let the regime read the weak labels, prepare the rows, look at the values, and say what is to be noted of all.

    Returns:
        The data, the data with prepared rows, and sentences.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = data.read_by(config.regime)
        preparation = learnt(config.given.get("prepare"), data)
        ready = prepared_by(preparation, data)
        check_values(ready, config["scaling"])
    warned = dict.fromkeys(str(one.message) for one in caught)
    done = "" if preparation is None else preparation.summary()
    return data, ready, (*data.labels.notes, *([done] if done else []), *warned, *suspect_columns(ready))


def _found_names(problem: Problem) -> dict[str, Any]:
    """Say what the regime found classes to be called: in the training bags of a fold a rare one may be missing."""
    classes, regime = problem.weak.classes, problem.regime
    found: dict[str, Any] = {}
    if regime.reading.class_0_is_negative:
        return {"label_names": list(classes[1:])} if regime.label_columns is None else found
    # Where weak labels are objects, such as mappings, they say themselves which classes there are.
    told = classes != tuple(range(len(classes))) or np.asarray(problem.data.weak).dtype.kind == "O"
    if getattr(regime, "classes", ()) is None and told:
        found["classes"] = list(classes)
    return found


def _given(bliss: Mapping[str, Any], dataset: WeakDataset) -> dict[str, Any]:
    """Fill in what a run knows: the regime of the data, a seed, so that it can be repeated, and prepared rows."""
    spec = bliss.get("regime", dataset.regime)
    if isinstance(spec, str | Mapping):
        spec = {"name": dataset.regime, **as_table(spec)}
        if spec["name"] == dataset.regime:
            spec = {**dataset.regime_parameters, **spec}
    return {"random_state": DEFAULT_SEED, "prepare": AUTO, **bliss, "regime": spec}


def _test_problem(tested: LoadedData, problem: Problem, prepare: Any) -> tuple[Problem, tuple[str, ...]]:
    """Check a test set: its columns are those of training, and its weak labels are known."""
    dataset = tested.dataset
    checked = check_labelled(
        dataset.X, dataset.weak, dataset.bags, read=reading_of_files(prepare, dataset.feature_names)
    )
    data = _named(checked, dataset)
    data, notes = data.with_columns_of(problem.data.columns, f"The test set {dataset.name!r}")
    n_columns, n_test = problem.data.rows.shape[1], data.rows.shape[1]
    if n_test != n_columns:
        raise DataError(f"The test set {dataset.name!r} has {n_test} features, but the training data have {n_columns}.")
    try:
        read = problem.regime.check_test(data.weak, data.bags, problem.weak.bag_words)
    except DataError as error:
        raise DataError(f"The test set {dataset.name!r}: {error}") from None
    data, notes = evolve(data, read=read), (*notes, *read.notes)
    test, understood = problem_of(dataset, data, problem.regime, problem.alphabet)
    return test, (*tested.notes, *notes, *understood)


def _load(
    settings: RunSettings,
    data: DataSettings,
    registry: Registry,
    data_dirs: Sequence[Path],
    told: Mapping[str, Any] = {},
) -> LoadedData:
    regime = settings.bliss.get("regime", TABLE["regime"].default)
    named = regime.get("name") if isinstance(regime, Mapping) else regime
    missing = _missing_regime(named, registry, settings.recorded)
    if missing is not None and "regime" in settings.bliss:
        raise missing
    try:
        return find_dataset(
            data.source,
            registry=registry,
            data_dirs=data_dirs,
            relative_to=settings.folder,
            options=data.options,
            rows_are_bags=_says(named, "rows_are_bags", registry),
            separator=regime.get("separator") if isinstance(regime, Mapping) else None,
            told={**told, **_of_weak_labels(named, registry)},
        )
    except UnknownNameError as unknown:
        # Data say which regime they are for. Where there are none either, the plugin that ships both may be missing.
        raise unknown if missing is None else UnknownNameError(f"{missing} {unknown}") from None


def _of_weak_labels(regime: Any, registry: Registry) -> dict[str, bool | None]:
    """Return what readers are told of the weak labels that a regime takes, where it is not what they assume."""
    return {
        "empty_labels": _says(regime, "empty_labels", registry) or None,
        "columns_are_classes": None if _says(regime, "columns_are_classes", registry, True) else False,
    }


def _says(regime: Any, attribute: str, registry: Registry, default: bool = False) -> bool:
    """Ask the regime that the user names for a class attribute, such as `rows_are_bags`."""
    if isinstance(regime, str):
        regime = registry.get("regime", regime).factory if regime in registry.names("regime") else None
    return bool(getattr(regime, attribute, default))


def _missing_regime(name: Any, registry: Registry, recorded: Mapping[str, Any]) -> BlissError | None:
    try:
        if isinstance(name, str):
            registry.registration("regime", name, recorded)
    except BlissError as error:
        return error
    return None
