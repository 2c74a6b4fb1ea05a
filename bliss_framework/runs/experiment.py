"""An experiment from settings to result: load, check, infer, evaluate beside baselines, write down."""

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework.errors import SettingsError, UnknownNameError
from bliss_framework.estimator import BlissClassifier
from bliss_framework.extension.names import did_you_mean
from bliss_framework.runs.checkpoint import Checkpoint
from bliss_framework.runs.evaluation import OWN, Method, Pieces, plan_fits, run_fits
from bliss_framework.runs.events import FitFinished, FitStarted, RunFinished, RunStarted, Tell
from bliss_framework.runs.files import plain
from bliss_framework.runs.measures import evaluation_of, instance_accuracy, instance_auc, notes_of, seconds_of
from bliss_framework.runs.preparation import Prepared
from bliss_framework.runs.results import RunFolder
from bliss_framework.version import __version__
from bliss_framework.workers import fold_runner

FORMAT = 1


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


def bliss_method(prepared: Prepared) -> Method:
    """BLISS as one of the methods of a comparison."""
    parameters = {**prepared.settings.bliss, "n_jobs": None}
    return Method(OWN, lambda seed: BlissClassifier(**{**parameters, "random_state": seed}), parameters)


def run(prepared: Prepared, tell: Tell, folder: RunFolder | None = None) -> RunResult:
    """Infer the labels of the whole data set, and with `cv` evaluate beside the baselines on the same folds.

    Args:
        prepared: the experiment.
        tell: called with each event, in this process.
        folder: where results and state are kept; where it holds the finished run already, nothing is computed.

    Raises:
        BlissError: the folder cannot be used, or a plugin broke its contract.
    """
    started = time.perf_counter()
    checkpoint = Checkpoint(None)
    if folder is not None:
        checkpoint = folder.open(prepared.document(), prepared.record())
        finished = folder.result()
        if finished is not None:
            return RunResult(finished, (f"{folder.path} holds the finished run; nothing was computed.",), folder.path)
        tell = logging(folder, tell)
    methods = (bliss_method(prepared), *prepared.baselines)
    fits = plan_fits(prepared.problem, methods, prepared.settings.evaluation, prepared.seed)
    tell(_announcement(prepared, len(fits) + 1))
    model, warned = _infer(prepared, checkpoint, tell)
    pieces = run_fits(prepared.problem, fits, prepared.settings.bliss["n_jobs"], checkpoint, tell, model)
    document = _document(prepared, model, _evaluation(prepared, pieces))
    document["seconds"] = {"total": time.perf_counter() - started, **model.inference_["seconds"]}
    document["notes"] = [*warned, *_comparison_notes(document), *notes_of(pieces, "bliss"), *fold_notes(prepared)]
    document = plain(document)
    if folder is not None:
        document = folder.finish(document, model, prepared.problem.dataset)
    tell(RunFinished(prepared.name, document["seconds"]["total"]))
    notes = (*prepared.loaded.notes, *document["notes"])
    return RunResult(document, notes, None if folder is None else folder.path)


def compare(prepared: Prepared, names: Sequence[str], tell: Tell) -> RunResult:
    """Evaluate methods on the same folds.

    Args:
        prepared: the experiment; its evaluation says how many folds.
        names: "bliss" and names of the experiment's baselines.
        tell: called with each event, in this process.

    Raises:
        SettingsError: there are no folds.
        UnknownNameError: the experiment has no such baseline.
    """
    started = time.perf_counter()
    evaluation = prepared.settings.evaluation
    if not evaluation.wanted and prepared.problem.test is None:
        raise SettingsError("A comparison needs folds or a test part: set cv, for instance 10, or test_share.")
    methods = _chosen(prepared, names)
    fits = plan_fits(prepared.problem, methods, evaluation, prepared.seed)
    tell(_announcement(prepared, len(fits)))
    pieces = run_fits(prepared.problem, fits, prepared.settings.bliss["n_jobs"], Checkpoint(None), tell)
    document = {
        "format": FORMAT,
        "data": prepared.data_document(),
        "protocol": {**prepared.document()["evaluation"], "random_state": prepared.seed},
        "methods": _compared(prepared, methods, pieces),
    }
    notes = [note for method in methods for note in notes_of(pieces, method.name)] + fold_notes(prepared)
    tell(RunFinished(prepared.name, time.perf_counter() - started))
    return RunResult(plain(document), (*prepared.loaded.notes, *notes))


def _chosen(prepared: Prepared, names: Sequence[str]) -> list[Method]:
    known = {method.name: method for method in (*prepared.baselines, bliss_method(prepared))}
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f'The experiment has no method "{name}".{did_you_mean(name, known)} It has: {", ".join(known)}.'
            )
    return [known[name] for name in dict.fromkeys(names)]


def _compared(prepared: Prepared, methods: Sequence[Method], pieces: Pieces) -> list[dict[str, Any]]:
    document = prepared.document()
    rows = {str(row.get("label", row["method"])): row for row in document["compare"]}
    settings = {name: {k: v for k, v in row.items() if k not in ("method", "label")} for name, row in rows.items()}
    settings["bliss"] = document["bliss"]
    return [
        {
            "name": method.name,
            "evaluation": evaluation_of(prepared.problem, method.name, pieces, prepared.settings.evaluation),
            "seconds": seconds_of(pieces, method.name),
            "settings": settings[method.name],
        }
        for method in methods
    ]


def logging(folder: RunFolder, tell: Tell) -> Tell:
    """Return a listener that also writes events.jsonl."""

    def log_and_tell(event: Any) -> None:
        folder.log(event)
        tell(event)

    return log_and_tell


def _announcement(prepared: Prepared, n_fits: int) -> RunStarted:
    bags = prepared.problem.bags
    return RunStarted(prepared.name, prepared.loaded.origin, bags.n_bags, bags.n_rows, n_fits)


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


def _document(prepared: Prepared, model: BlissClassifier, evaluation: dict[str, Any]) -> dict[str, Any]:
    """What result.json says, but for seconds and notes."""
    dataset = prepared.problem.dataset
    if dataset.instance_labels is not None:
        truth = np.asarray(dataset.instance_labels)
        inferred, train = instance_accuracy(model.labels_, truth), instance_accuracy(model.predict(dataset.X), truth)
        tested = evaluation.get("instance_accuracy", {})
        evaluation = {**evaluation, "instance_accuracy": {"inferred": inferred, "train": train, **tested}}
        auc = _inferred_auc(model, truth)
        if auc is not None:
            evaluation["instance_auc"] = {"inferred": auc, **evaluation.get("instance_auc", {})}
    return {
        "format": FORMAT,
        "name": prepared.name,
        "bliss_framework": __version__,
        "settings": prepared.document(),
        "data": prepared.data_document(),
        "inference": {key: value for key, value in model.inference_.items() if key != "seconds"},
        **({"evaluation": evaluation} if evaluation else {}),
    }


def _inferred_auc(model: BlissClassifier, truth: Any) -> float | None:
    """Rank the instances that were inferred by how much better label 1 did than label 0."""
    if model.label_means_.shape[1] != 2:
        return None
    lead = model.label_means_[:, 1] - model.label_means_[:, 0]
    inferred = ~np.isnan(lead)
    return instance_auc(lead[inferred], truth[inferred]) if inferred.any() else None


def _evaluation(prepared: Prepared, pieces: Pieces) -> dict[str, Any]:
    """Summarise BLISS and its baselines; nothing where there were no folds."""
    if not pieces:
        return {}
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


def fold_notes(prepared: Prepared) -> list[str]:
    """Say so where there are fewer bags than folds."""
    cv, n_bags = prepared.settings.evaluation.cv, prepared.problem.bags.n_bags
    return [f"cv was reduced from {cv} to {n_bags}, the number of bags."] if cv is not None and cv > n_bags else []


def main_measure(evaluation: Mapping[str, Any]) -> str:
    """Return the name of the first measure of the regime."""
    for name, value in evaluation.items():
        if isinstance(value, Mapping) and "runs" in value:
            return name
    raise SettingsError("The regime returned no measure of bags, so nothing can be compared.")


def _comparison_notes(document: Mapping[str, Any]) -> list[str]:
    evaluation = document.get("evaluation", {})
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
