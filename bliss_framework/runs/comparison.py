"""Several methods evaluated on the same folds."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bliss_framework.errors import SettingsError, UnknownNameError
from bliss_framework.extension.naming import did_you_mean
from bliss_framework.runs.evaluation.again import tests_again
from bliss_framework.runs.evaluation.fits import Pieces, run_fits
from bliss_framework.runs.evaluation.measures import comparison_of, evaluation_of, notes_of, seconds_of
from bliss_framework.runs.evaluation.methods import OWN, Method, bliss_method
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.evaluation.tests_table import TESTS, tests_csv
from bliss_framework.runs.events import RunFinished, Tell
from bliss_framework.runs.folder.atomic import plain
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.folder.start import FORMAT, RunResult, Start, start
from bliss_framework.runs.forecast import foretell, work_of
from bliss_framework.runs.prepared import Prepared, announcement, fold_notes


def compare(prepared: Prepared, names: Sequence[str], tell: Tell, folder: RunFolder | None = None) -> RunResult:
    """Evaluate methods on the same folds.

    Args:
        prepared: the experiment; its evaluation says how many folds.
        names: "bliss" and names of the experiment's baselines.
        tell: called with each event, in this process.
        folder: where the result and finished fits are kept; None keeps nothing.

    Raises:
        SettingsError: there are no folds.
        UnknownNameError: the experiment has no such baseline.
        RunError: the folder cannot be used.
    """
    evaluation = prepared.settings.evaluation
    if not evaluation.wanted and prepared.problem.test is None:
        raise SettingsError("A comparison needs folds or a test part: set cv, for instance 10, or test_share.")
    methods = _methods_of(prepared, names)
    settings = compare_document(prepared, names, None if folder is None else folder.path)
    with start(folder, settings, prepared.record(), tell, lambda document: [TESTS]) as begun:
        if begun.finished is None:
            return _compare(prepared, methods, begun, folder)
        if folder is not None and TESTS in begun.missing:
            known = {one["name"]: one["evaluation"] for one in begun.finished.document["methods"]}
            folder.keep(tests_again(prepared, methods, begun, folder.path, known))
        return begun.finished


def _compare(prepared: Prepared, methods: Sequence[Method], begun: Start, folder: RunFolder | None) -> RunResult:
    started = time.perf_counter()
    fits = plan_fits(prepared.problem, methods, prepared.settings.evaluation, prepared.seed)
    begun.tell(announcement(prepared, len(fits)))
    work = work_of(prepared, fits, inference=False)
    if work.fits:
        foretell(prepared, work, begun.tell)
    pieces = run_fits(prepared.problem, fits, prepared.n_jobs, begun.checkpoint, begun.tell)
    document = {
        "format": FORMAT,
        "data": prepared.data_document(),
        "protocol": {**prepared.document()["evaluation"], "random_state": prepared.seed},
        "methods": _method_documents(prepared, methods, pieces),
        **begun.remarks(),
    }
    documents = {one["name"]: one["evaluation"] for one in document["methods"]}
    compared = comparison_of(prepared.problem, pieces, prepared.settings.evaluation, documents)
    if compared is not None:
        document["comparison"] = compared
    notes = [note for method in methods for note in notes_of(pieces, method.name)] + fold_notes(prepared)
    document = plain(document)
    if folder is not None:
        folder.keep({TESTS: tests_csv(prepared.problem, pieces)})
        document = folder.conclude(document)
    begun.tell(RunFinished(prepared.name, time.perf_counter() - started))
    said = (*begun.notes, *prepared.notes, *begun.checkpoint.notes, *notes)
    return RunResult(document, said, None if folder is None else folder.path)


def compare_document(prepared: Prepared, names: Sequence[str], folder: Path | None = None) -> dict[str, Any]:
    """Return everything that decides the result of a comparison, for the run.toml of a folder."""
    return {**prepared.document(folder), "methods": list(dict.fromkeys(names))}


def _methods_of(prepared: Prepared, names: Sequence[str]) -> list[Method]:
    known = {method.name: method for method in (*prepared.baselines, bliss_method(prepared.config))}
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f'The experiment has no method "{name}".{did_you_mean(name, known)} It has: {", ".join(known)}.'
            )
    return [known[name] for name in dict.fromkeys(names)]


def _method_documents(prepared: Prepared, methods: Sequence[Method], pieces: Pieces) -> list[dict[str, Any]]:
    document = prepared.document()
    rows = {str(row.get("label", row["method"])): row for row in document["compare"]}
    settings = {name: {k: v for k, v in row.items() if k not in ("method", "label")} for name, row in rows.items()}
    settings[OWN] = document["bliss"]
    return [
        {
            "name": method.name,
            "evaluation": evaluation_of(prepared.problem, method.name, pieces, prepared.settings.evaluation),
            "seconds": seconds_of(pieces, method.name),
            "settings": settings[method.name],
        }
        for method in methods
    ]
