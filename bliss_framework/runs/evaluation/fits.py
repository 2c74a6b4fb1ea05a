"""Cross-validation over whole bags, or a test set: BLISS and its baselines, one piece for each fit."""

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.compute.processes import in_parallel, one_blas_thread, several
from bliss_framework.errors import PluginError
from bliss_framework.extension.culprits import naming_plugins
from bliss_framework.extension.global_state import global_state_kept
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.kernel.events import silent
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.words import listed_words, positions_of
from bliss_framework.runs.evaluation.methods import OWN, with_rows_and_bags
from bliss_framework.runs.evaluation.plan import Fit
from bliss_framework.runs.evaluation.problem import Problem, training_part
from bliss_framework.runs.evaluation.truth import predicted_classes
from bliss_framework.runs.events import FitFinished, FitStarted, Tell
from bliss_framework.runs.folder.checkpoint import Checkpoint, Piece
from bliss_framework.runs.shapes import (
    any_number,
    anything,
    list_of,
    number,
    optional,
    record,
    table_of,
    text,
    truth,
    whole,
)

Pieces = dict[tuple[str, int, int], Piece]
PIECE = record(
    {
        "bags": list_of(whole),
        "predicted": list_of(anything),
        "scores": list_of(anything),
        "rows": optional(list_of(whole)),
        "instance_classes": optional(list_of(whole)),
        "instance_scores": optional(list_of(number)),
        "free": optional(list_of(truth)),
        "measures": table_of(any_number),
        "seconds": number,
        "notes": list_of(text),
        "settings": text,
    }
)


def run_fits(
    problem: Problem, fits: Sequence[Fit], n_jobs: int | None, checkpoint: Checkpoint, tell: Tell, model: Any = None
) -> Pieces:
    """Run the fits that are not finished yet, and return the pieces of all.

    Args:
        problem: the data.
        fits: what `plan_fits` planned.
        n_jobs: processes.
        checkpoint: of finished pieces.
        tell: called with each event.
        model: BLISS as it was fitted to all of the data: the first fit of a test set, which is not done twice.
    """
    pieces: Pieces = {}
    missing = []
    for fit in fits:
        piece = checkpoint.load(fit.key, partial(_checked_piece, problem=problem, fit=fit))
        if piece is None and model is not None and fit.test_bags is None and _place(fit) == (OWN, 0, 0):
            piece = checkpoint.save(fit.key, _on_test_set(problem, fit, model))
        if piece is None:
            missing.append(fit)
        else:
            pieces[_place(fit)] = piece
    for fit, piece in zip(missing, _pieces(problem, missing, n_jobs, tell), strict=True):
        pieces[_place(fit)] = checkpoint.save(fit.key, piece)
        tell(FitFinished(fit.method.name, fit.repeat, fit.fold, piece["measures"]))
    return pieces


def _checked_piece(piece: Piece, problem: Problem, fit: Fit) -> Piece | None:
    """Return a piece that was kept, None where its method had other settings, or raise where it is none of this fit."""
    PIECE(piece, "")
    if piece["settings"] != fit.method.digest:
        return None
    tested = problem.tested
    bags = np.arange(tested.bags.n_bags) if fit.test_bags is None else fit.test_bags
    rows = tested.bags.rows_of(bags)
    if piece["bags"] != tested.bags.take(rows)[1].tolist():
        raise ValueError("it is of other bags")
    lengths = {name: len(bags) for name in ("predicted", "scores")}
    if tested.truth is not None:
        lengths |= {name: len(rows) for name in ("rows", "instance_classes", "free")}
        if piece["rows"] != rows.tolist():
            raise ValueError("it is of other instances")
    if piece["instance_scores"] is not None:
        lengths["instance_scores"] = len(rows)
    for name, length in lengths.items():
        if len(piece[name]) != length:
            raise ValueError(f"{name} has {len(piece[name])} entries where {length} are needed")
    # The regime knows best what predictions it can read, and a piece that it judges as before is sound.
    if set(pooled_measures(problem, [piece])) != set(piece["measures"]):
        raise ValueError("it was judged by other measures")
    return piece


def _place(fit: Fit) -> tuple[str, int, int]:
    return fit.method.name, fit.repeat, fit.fold


def _pieces(problem: Problem, fits: Sequence[Fit], n_jobs: int | None, tell: Tell) -> Iterator[Piece]:
    if several(n_jobs) and len(fits) > 1:
        yield from in_parallel(n_jobs, run_fit, [(problem, fit) for fit in fits])
        return
    for fit in fits:
        tell(FitStarted(fit.method.name, fit.repeat, fit.fold))
        yield run_fit(problem, fit, tell)


def run_fit(problem: Problem, fit: Fit, tell: Tell | None = None) -> Piece:
    """Fit one method on the training bags of one fold and predict its test bags.

    Returns:
        Test bags, predicted weak labels and scores, instance predictions, measures, seconds, notes, and the digest of
        the method's settings.
    """
    # The number of BLAS threads changes the last bits of a product, and it depends on the number of processes.
    with one_blas_thread(), naming_plugins(active_plugins), global_state_kept():
        return _fit_and_test(problem, fit, tell)


def _fit_and_test(problem: Problem, fit: Fit, tell: Tell | None) -> Piece:
    started = time.perf_counter()
    train = training_part(problem, fit.test_bags)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit.method.fit(train, fit.seed, silent if tell is None else tell)
    notes = sorted({str(one.message) for one in caught})
    n_tested = problem.tested.bags.n_bags
    piece = _test_piece(
        problem, fit.method.name, model, np.arange(n_tested) if fit.test_bags is None else fit.test_bags
    )
    return _judged(piece, fit, started, notes)


def _on_test_set(problem: Problem, fit: Fit, model: Any) -> Piece:
    """Judge BLISS as it was fitted to all of the data; what it warned of then is told elsewhere."""
    started = time.perf_counter()
    with one_blas_thread():
        piece = _test_piece(problem, OWN, model, np.arange(problem.tested.bags.n_bags))
    return _judged(piece, fit, started, [])


def _judged(piece: Piece, fit: Fit, started: float, notes: list[str]) -> Piece:
    return {**piece, "seconds": time.perf_counter() - started, "notes": notes, "settings": fit.method.digest}


def _test_piece(problem: Problem, method: str, model: Any, test_bags: NDArray[np.intp]) -> Piece:
    """Predict some bags of the data that are tested, and compare with what is known of them."""
    tested = problem.tested
    data = tested.data.take_bags(test_bags)
    rows, positions = tested.bags.rows_of(test_bags), tested.bags.take(tested.bags.rows_of(test_bags))[1]
    model, X, bags = with_rows_and_bags(model, data)
    predicted = weak_codes(model.predict_bags(X, bags)[1], data.labels, method)
    scores = model.score_bags(X, bags)[1]
    known = tested.truth is not None
    return {
        "bags": positions,
        "predicted": predicted,
        "scores": scores,
        "rows": rows if known else None,
        "instance_classes": predicted_classes(model.predict(X), problem.alphabet, method) if known else None,
        "instance_scores": _instance_scores(model, X) if known else None,
        "free": problem.regime.label_space(data.labels, data.bags).free if known else None,
        "measures": dict(problem.regime.reading.evaluate(predicted, scores, data.labels)),
    }


def _instance_scores(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return a score of each instance, where the method has one and there are two classes."""
    if not hasattr(model, "decision_function"):
        return None
    scores = np.asarray(model.decision_function(X))
    return scores if scores.ndim == 1 else None


def weak_codes(predicted: NDArray[Any], weak: WeakLabels, method: str = "") -> NDArray[Any]:
    """Turn predicted weak labels from the user's values into the regime's codes.

    Raises:
        PluginError: a method predicts what is none of the words of bags.
    """
    if weak.values.ndim > 1 or predicted.ndim > 1:
        return predicted
    values = predicted.tolist()
    distinct = list(dict.fromkeys(values))
    codes = positions_of(distinct, weak.bag_words)
    if codes is None and weak.values.dtype.kind == "f":
        return predicted
    if codes is None:
        raise PluginError(
            f"The method {method!r} predicted the weak labels {listed_words(distinct)}, but bags are labelled "
            f"{listed_words(weak.bag_words)}. Tell its authors."
        )
    return np.array([codes[value] for value in values])


def pooled_measures(problem: Problem, pieces: Iterable[Piece]) -> dict[str, float]:
    """Pool the folds of one repeat and compare with the weak labels."""
    pieces = list(pieces)
    bags = np.concatenate([np.asarray(piece["bags"], dtype=np.intp) for piece in pieces])
    predicted = np.concatenate([np.asarray(piece["predicted"]) for piece in pieces])
    scores = np.concatenate([np.asarray(piece["scores"], dtype=np.float64) for piece in pieces])
    weak = problem.tested.weak.take(bags, problem.tested.bags.rows_of(bags))
    return dict(problem.regime.reading.evaluate(predicted, scores, weak))
