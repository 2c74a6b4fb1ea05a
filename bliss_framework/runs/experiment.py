"""An experiment from settings to result: load, check, infer, evaluate beside baselines, write down."""

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator import BlissClassifier
from bliss_framework.extension.manager import Plugins
from bliss_framework.inputs import check_training
from bliss_framework.resolve import resolve
from bliss_framework.runs.checkpoint import Checkpoint
from bliss_framework.runs.data import LoadedData, find_dataset
from bliss_framework.runs.evaluation import Method, Pieces, Problem, plan_fits, run_fits
from bliss_framework.runs.events import FitFinished, FitStarted, RunFinished, RunStarted, Tell
from bliss_framework.runs.files import plain
from bliss_framework.runs.measures import evaluation_of, instance_accuracy, notes_of, seconds_of
from bliss_framework.runs.results import RunFolder
from bliss_framework.runs.settings import MethodSettings, RunSettings
from bliss_framework.version import __version__
from bliss_framework.workers import fold_runner

FORMAT = 1
DEFAULT_SEED = 0


@frozen(eq=False)
class Prepared:
    """An experiment whose settings and data are checked; nothing has been computed.

    Attributes:
        settings: with every parameter of BLISS filled in.
        loaded: the data and where they come from.
        problem: the data as the regime sees them.
        baselines: to compare with.
    """

    settings: RunSettings = field()
    loaded: LoadedData = field()
    problem: Problem = field()
    baselines: tuple[Method, ...] = field()

    @property
    def name(self) -> str:
        """What results call this experiment."""
        return self.settings.name or self.problem.dataset.name

    @property
    def seed(self) -> int:
        """The random state of the run."""
        return int(self.settings.bliss["random_state"])

    def document(self) -> dict[str, Any]:
        """Everything that decides the result, for run.toml and result.json."""
        settings = self.settings
        compare = [{"method": method.name, **method.settings} for method in self.baselines]
        return {
            "data": {"source": settings.data.source, **settings.data.options},
            "bliss": settings.bliss,
            "evaluation": {"cv": settings.evaluation.cv, "repeats": settings.evaluation.repeats},
            "compare": compare,
        }

    def data_document(self) -> dict[str, Any]:
        """What result.json says under "data"."""
        dataset, bags = self.problem.dataset, self.problem.bags
        return {
            "name": dataset.name,
            "n_bags": bags.n_bags,
            "n_instances": bags.n_rows,
            "n_features": int(dataset.X.shape[1]),
            "classes": list(self.problem.weak.classes),
            "sha256": dataset.sha256(),
        }


@frozen(eq=False)
class RunResult:
    """What a run found out.

    Attributes:
        document: result.json.
        notes: sentences that a reader should know.
        folder: where it was written, or None.
    """

    document: dict[str, Any] = field()
    notes: tuple[str, ...] = field()
    folder: Path | None = field(default=None)


def prepare(settings: RunSettings, plugins: Plugins, data_dirs: Sequence[Path]) -> Prepared:
    """Load the data and check everything that can be checked before long work starts."""
    registry = plugins.registry
    loaded = find_dataset(
        settings.data.source,
        registry=registry,
        data_dirs=data_dirs,
        relative_to=settings.folder,
        options=settings.data.options,
    )
    bliss = {"regime": loaded.dataset.regime, "random_state": DEFAULT_SEED, **settings.bliss}
    model = BlissClassifier(**bliss)
    model.check_parameters()
    settings = evolve(settings, bliss=model.get_params(deep=False))
    given = check_training(loaded.dataset.X, loaded.dataset.weak, loaded.dataset.bags)
    regime = resolve("regime", settings.bliss["regime"])
    problem = Problem(loaded.dataset, given.bags, regime.check(given.weak, given.bags), regime)
    chosen = settings.compare
    if chosen is None:
        chosen = tuple(MethodSettings(name) for name in regime.default_baselines)
    return Prepared(settings, loaded, problem, tuple(_baseline(one, registry) for one in chosen))


def _baseline(chosen: MethodSettings, registry: Any) -> Method:
    spec = {"name": chosen.method, **chosen.parameters}
    registry.create("baseline", spec)

    def make(seed: int) -> Any:
        model = registry.create("baseline", spec)
        return model.set_params(random_state=seed) if "random_state" in model.get_params() else model

    return Method(chosen.method, make, dict(chosen.parameters))


def bliss_method(prepared: Prepared) -> Method:
    """BLISS as one of the methods of a comparison."""
    parameters = {**prepared.settings.bliss, "n_jobs": None}
    return Method("bliss", lambda seed: BlissClassifier(**{**parameters, "random_state": seed}), parameters)


def run(prepared: Prepared, tell: Tell, folder: RunFolder | None = None) -> RunResult:
    """Infer the labels of the whole data set, and with `cv` evaluate beside the baselines on the same folds."""
    started = time.perf_counter()
    methods = (bliss_method(prepared), *prepared.baselines)
    fits = plan_fits(prepared.problem, methods, prepared.settings.evaluation, prepared.seed)
    checkpoint = _open(prepared, folder)
    tell(_announcement(prepared, len(fits) + 1))
    model, notes = _infer(prepared, checkpoint, tell)
    pieces = run_fits(prepared.problem, fits, prepared.settings.bliss["n_jobs"], checkpoint, tell)
    document = _document(prepared, model)
    if fits:
        document["evaluation"] = _evaluation(prepared, pieces)
        notes += _comparison_notes(document["evaluation"]) + notes_of(pieces, "bliss")
    if prepared.problem.dataset.instance_labels is not None:
        inferred = instance_accuracy(model.labels_, np.asarray(prepared.problem.dataset.instance_labels))
        document.setdefault("evaluation", {}).setdefault("instance_accuracy", {})["inferred"] = inferred
    document["seconds"] = {"total": time.perf_counter() - started, **model.inference_["seconds"]}
    document["notes"] = notes
    document = plain(document)
    if folder is not None:
        folder.finish(document, model, prepared.problem.dataset)
    tell(RunFinished(prepared.name, document["seconds"]["total"]))
    return RunResult(document, (*prepared.loaded.notes, *notes), None if folder is None else folder.path)


def compare(prepared: Prepared, names: Sequence[str], tell: Tell) -> RunResult:
    """Evaluate methods on the same folds: `names` holds "bliss" and names of baselines."""
    started = time.perf_counter()
    own = {method.name: method for method in (bliss_method(prepared), *prepared.baselines)}
    methods = [own[name] for name in names]
    fits = plan_fits(prepared.problem, methods, prepared.settings.evaluation, prepared.seed)
    tell(_announcement(prepared, len(fits)))
    pieces = run_fits(prepared.problem, fits, prepared.settings.bliss["n_jobs"], Checkpoint(None), tell)
    evaluation = prepared.settings.evaluation
    rows = [
        {
            "name": method.name,
            "evaluation": evaluation_of(prepared.problem, method.name, pieces, evaluation),
            "seconds": seconds_of(pieces, method.name),
            "settings": method.settings,
        }
        for method in methods
    ]
    protocol = {
        "cv": evaluation.cv,
        "repeats": evaluation.repeats,
        "random_state": prepared.seed,
    }
    document = {"format": FORMAT, "data": prepared.data_document(), "protocol": protocol, "methods": rows}
    notes = [note for method in methods for note in notes_of(pieces, method.name)]
    tell(RunFinished(prepared.name, time.perf_counter() - started))
    return RunResult(plain(document), (*prepared.loaded.notes, *notes))


def _open(prepared: Prepared, folder: RunFolder | None) -> Checkpoint:
    if folder is None:
        return Checkpoint(None)
    return folder.open(prepared.document(), prepared.data_document())


def _announcement(prepared: Prepared, n_fits: int) -> RunStarted:
    bags = prepared.problem.bags
    return RunStarted(prepared.name, bags.n_bags, bags.n_rows, n_fits)


def _infer(prepared: Prepared, checkpoint: Checkpoint, tell: Tell) -> tuple[BlissClassifier, list[str]]:
    dataset, settings = prepared.problem.dataset, prepared.settings
    model = BlissClassifier(**settings.bliss)
    tell(FitStarted("bliss", None, None))
    runner = checkpoint.folds(fold_runner(settings.bliss["n_jobs"]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit_observed(dataset.X, dataset.weak, dataset.bags, tell, runner)
    tell(FitFinished("bliss", None, None, model.inference_["weak_score"]))
    return model, sorted({str(one.message) for one in caught})


def _document(prepared: Prepared, model: BlissClassifier) -> dict[str, Any]:
    inference = {key: value for key, value in model.inference_.items() if key != "seconds"}
    return {
        "format": FORMAT,
        "name": prepared.name,
        "bliss_framework": __version__,
        "settings": prepared.document(),
        "data": prepared.data_document(),
        "inference": inference,
    }


def _evaluation(prepared: Prepared, pieces: Pieces) -> dict[str, Any]:
    evaluation = prepared.settings.evaluation
    document = evaluation_of(prepared.problem, "bliss", pieces, evaluation)
    rows = [
        {"name": method.name, **evaluation_of(prepared.problem, method.name, pieces, evaluation)}
        for method in prepared.baselines
    ]
    if rows:
        measure = main_measure(document)
        document["baseline"] = max(rows, key=lambda row: row[measure]["mean"])
        document["baselines"] = rows
    return document


def main_measure(evaluation: Mapping[str, Any]) -> str:
    """Return the name of the first measure of the regime."""
    for name, value in evaluation.items():
        if isinstance(value, Mapping) and "runs" in value:
            return name
    raise SettingsError("The regime returned no measure of bags, so nothing can be compared.")


def _comparison_notes(evaluation: Mapping[str, Any]) -> list[str]:
    if "baseline" not in evaluation:
        return []
    measure = main_measure(evaluation)
    baseline, own = evaluation["baseline"], evaluation[measure]["mean"]
    best = baseline[measure]["mean"]
    if best <= own:
        return []
    return [
        f'The baseline "{baseline["name"]}" beats BLISS here: {measure} {best:.3f} against {own:.3f} on the same '
        f"folds. Prefer it if bag labels are all you need, or try other settings."
    ]
