"""An experiment from settings to result: infer, evaluate beside baselines, write down."""

import json
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.compute.processes import fold_runner
from bliss_framework.errors import RunError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.findings import TOO_FEW, findings_of, kind_of_bags
from bliss_framework.estimator.persistence import UNSAVABLE
from bliss_framework.estimator.uncertainty import words_of_test
from bliss_framework.runs.evaluation.again import tests_again
from bliss_framework.runs.evaluation.fits import Pieces, run_fits
from bliss_framework.runs.evaluation.measures import (
    by_confidence,
    comparison_of,
    evaluation_of,
    instance_accuracy,
    instance_auc,
    main_measure,
    notes_of,
)
from bliss_framework.runs.evaluation.methods import OWN, bliss_method
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.evaluation.problem import Problem
from bliss_framework.runs.evaluation.tests_table import TESTS, tests_csv
from bliss_framework.runs.evaluation.truth import predicted_classes
from bliss_framework.runs.events import FitFinished, FitStarted, RunFinished, Tell
from bliss_framework.runs.folder.atomic import plain, to_json
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.folder.csv_tables import TABLES
from bliss_framework.runs.folder.run_folder import MODEL, RunFolder
from bliss_framework.runs.folder.start import FORMAT, RunResult, Start, start
from bliss_framework.runs.forecast import foretell, work_of
from bliss_framework.runs.prepared import Prepared, announcement, fold_notes
from bliss_framework.version import __version__


def run(prepared: Prepared, tell: Tell, folder: RunFolder | None = None) -> RunResult:
    """Infer the labels of the whole data set, and with `cv` evaluate beside the baselines on the same folds.

    Args:
        prepared: the experiment.
        tell: called with each event, in this process.
        folder: where results and state are kept; where it holds the finished run already, nothing is computed.

    Raises:
        BlissError: the folder cannot be used, or a plugin broke its contract.
    """
    settings = prepared.document(None if folder is None else folder.path)
    with start(folder, settings, prepared.record(), tell, files_of) as begun:
        if begun.finished is None:
            return _run(prepared, begun, folder)
        if folder is not None and begun.missing:
            _make_again(prepared, begun, folder, begun.finished.document)
        return begun.finished


def files_of(document: Mapping[str, Any]) -> list[str]:
    """Return the files that lie beside the result of a run; the model is not among them if it could not be saved."""
    unsaved = any(str(note).startswith(UNSAVABLE) for note in document.get("notes", ()))
    tested = "repeats" in document.get("evaluation", {})
    return [*TABLES, *([] if unsaved else [MODEL]), *([TESTS] if tested else [])]


def _make_again(prepared: Prepared, begun: Start, folder: RunFolder, document: Mapping[str, Any]) -> None:
    """Infer and test once more what is missing, and write the files if it says what the result says.

    Raises:
        RunError: it says something else, for instance because libraries have changed since.
    """
    if TESTS in begun.missing:
        evaluation = document["evaluation"]
        known = {OWN: evaluation, **{row["name"]: row for row in evaluation.get("baselines", ())}}
        methods = (bliss_method(prepared.config), *prepared.baselines)
        folder.keep(tests_again(prepared, methods, begun, folder.path, known))
    lost = [name for name in begun.missing if name != TESTS]
    if not lost:
        return
    model, _ = _infer(prepared, begun.checkpoint, begun.tell)
    again, before = json.loads(to_json(_inference(model))), document.get("inference") or {}
    # A result that an earlier version wrote may lack what inferences say of themselves by now.
    if {key: again.get(key) for key in before} != before or not before:
        raise RunError(
            f"{folder.path} lacks {', '.join(lost)}, which cannot be made again: the inference of today "
            f"differs from that of result.json, maybe because a library has changed. Run it anew with another --output."
        )
    folder.write_model(model, prepared.problem.data, lost)


def _run(prepared: Prepared, begun: Start, folder: RunFolder | None) -> RunResult:
    started = time.perf_counter()
    checkpoint, tell = begun.checkpoint, begun.tell
    methods = (bliss_method(prepared.config), *prepared.baselines)
    fits = plan_fits(prepared.problem, methods, prepared.settings.evaluation, prepared.seed)
    tell(announcement(prepared, len(fits) + 1))
    foretell(prepared, work_of(prepared, fits, inference=True), tell)
    model, warned = _infer(prepared, checkpoint, tell, folder)
    pieces = run_fits(prepared.problem, fits, prepared.n_jobs, checkpoint, tell, model)
    document = _document(prepared, model, _evaluation(prepared, pieces))
    document |= begun.remarks()
    document["seconds"] = {"total": time.perf_counter() - started, **model.inference_["seconds"]}
    few = [] if "out_of_fold" in document["findings"] else [TOO_FEW]
    said = [*prepared.notes, *warned, *few, *_comparison_notes(document), *notes_of(pieces, OWN), *fold_notes(prepared)]
    document["notes"] = list(dict.fromkeys(said))
    document = plain(document)
    if folder is not None:
        if pieces:
            folder.keep({TESTS: tests_csv(prepared.problem, pieces)})
        document = folder.finish(document, model, prepared.problem.data)
    tell(RunFinished(prepared.name, document["seconds"]["total"]))
    notes = tuple(dict.fromkeys((*begun.notes, *checkpoint.notes, *document["notes"])))
    return RunResult(document, notes, None if folder is None else folder.path)


def _infer(
    prepared: Prepared, checkpoint: Checkpoint, tell: Tell, folder: RunFolder | None = None
) -> tuple[BlissClassifier, list[str]]:
    """Infer the labels of all rows, write them where there is a folder, and train the final classifier."""
    model, data = prepared.model(), prepared.problem.data

    def keep(labelled: BlissClassifier) -> None:
        if folder is not None:
            folder.keep_labels(labelled, data)

    tell(FitStarted(OWN, None, None))
    runner = checkpoint.folds(fold_runner(prepared.n_jobs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit_configured(data, prepared.config, tell, runner, keep, checkpoint)
    tell(FitFinished(OWN, None, None, model.inference_["weak_score"]))
    return model, sorted({str(one.message) for one in caught})


def _document(prepared: Prepared, model: BlissClassifier, evaluation: dict[str, Any]) -> dict[str, Any]:
    """What result.json says, but for seconds and notes."""
    problem = prepared.problem
    if problem.truth is not None and (problem.truth >= 0).any():
        classes, said = problem.weak.classes, model.predict(problem.data)
        inferred = instance_accuracy(model.class_indices_, problem.truth, classes)
        train = instance_accuracy(predicted_classes(said, problem.alphabet, OWN), problem.truth, classes)
        tested = evaluation.get("instance_accuracy", {})
        evaluation = {**evaluation, "instance_accuracy": {"inferred": inferred, "train": train, **tested}}
        open_to_choice = (problem.truth >= 0) & ~model.known_
        right = model.class_indices_ == problem.truth
        evaluation["instance_confidence"] = by_confidence(model.confidence_[open_to_choice], right[open_to_choice])
        auc = _inferred_auc(model, problem.truth)
        if auc is not None:
            evaluation["instance_auc"] = {"inferred": auc, **evaluation.get("instance_auc", {})}
    return {
        "format": FORMAT,
        "name": prepared.name,
        "bliss_framework": __version__,
        # What is printed names files from where the user is.
        "settings": prepared.document(Path.cwd()),
        "data": prepared.data_document(),
        "components": prepared.components_from(),
        "inference": _inference(model),
        "findings": _findings(model, problem),
        **({"evaluation": evaluation} if evaluation else {}),
    }


def _findings(model: BlissClassifier, problem: Problem) -> dict[str, Any]:
    found = findings_of(model, problem.bags, problem.weak, problem.data.carried)
    scores, sparse = model.out_of_fold_scores_, problem.data.rows.is_sparse
    kind = kind_of_bags(model.regime_, problem.bags, problem.weak, scores, sparse)
    return found if kind is None else {**found, "kind": kind}


def _inference(model: BlissClassifier) -> dict[str, Any]:
    return {key: value for key, value in model.inference_.items() if key != "seconds"}


def _inferred_auc(model: BlissClassifier, truth: NDArray[np.intp]) -> float | None:
    """Rank the instances that were inferred by how much better the label of class 1 did than that of class 0."""
    if sorted(model.class_of_label_.tolist()) != [0, 1]:
        return None
    negative, positive = np.argsort(model.class_of_label_)
    lead = model.label_means_[:, positive] - model.label_means_[:, negative]
    inferred = ~np.isnan(lead)
    return instance_auc(lead[inferred], truth[inferred]) if inferred.any() else None


def _evaluation(prepared: Prepared, pieces: Pieces) -> dict[str, Any]:
    """Summarise BLISS and its baselines; nothing where there were no folds."""
    if not pieces:
        return {}
    evaluation = prepared.settings.evaluation
    document = evaluation_of(prepared.problem, OWN, pieces, evaluation)
    rows = [
        {"name": method.name, **evaluation_of(prepared.problem, method.name, pieces, evaluation)}
        for method in prepared.baselines
    ]
    if rows:
        measure = main_measure(document)
        documents = {OWN: document, **{row["name"]: row for row in rows}}
        comparison = comparison_of(prepared.problem, pieces, evaluation, documents, OWN)
        document["baseline"] = max(rows, key=lambda row: row[measure]["mean"])
        document["baselines"] = rows
        document["comparison"] = comparison
    return document


def _comparison_notes(document: Mapping[str, Any]) -> list[str]:
    """Say so where a baseline is better than BLISS beyond noise."""
    found = document.get("evaluation", {}).get("comparison")
    if found is None or found["winner"] in (None, OWN):
        return []
    evaluation, measure, name = document["evaluation"], found["measure"], found["winner"]
    own = evaluation[measure]["mean"]
    return [
        f'The baseline "{name}" beats BLISS here: {measure} {own + found["difference"]:.3f} against {own:.3f} on the '
        f"same bags, {words_of_test(found)}. Prefer it if bag labels are all you need, or try other settings."
    ]
