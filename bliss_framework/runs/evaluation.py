"""Cross-validation over whole bags: BLISS and its baselines on the same folds, one piece for each fit."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bliss_framework.extension.contracts import Regime
from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.folds import deal_folds
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.runs.checkpoint import Checkpoint, Piece
from bliss_framework.runs.events import FitFinished, FitStarted, Tell
from bliss_framework.runs.settings import EvaluationSettings


@frozen(eq=False)
class Method:
    """A way to learn from weak labels.

    Attributes:
        name: "bliss", or what results call a baseline.
        make: returns a fresh estimator for a seed.
        settings: its parameters, for the result.
        component: the name of the baseline, where results call it something else.
    """

    name: str = field()
    make: Callable[[int], Any] = field()
    settings: dict[str, Any] = field(factory=dict)
    component: str | None = field(default=None)


@frozen(eq=False)
class Problem:
    """A data set that the regime has checked."""

    dataset: WeakDataset = field()
    bags: Bags = field()
    weak: WeakLabels = field()
    regime: Regime = field()


@frozen(eq=False)
class Fit:
    """One fit of the cross-validation: a method, a repeat, a fold, and the bags to test on."""

    method: Method = field()
    repeat: int = field()
    fold: int = field()
    test_bags: NDArray[np.intp] = field()
    seed: int = field()

    @property
    def key(self) -> str:
        """The name of its piece of state."""
        return f"{self.method.name}-repeat{self.repeat + 1}-fold{self.fold + 1}"


Pieces = dict[tuple[str, int, int], Piece]
IN_A_PIECE = (
    "bags",
    "predicted",
    "scores",
    "rows",
    "instances",
    "instance_scores",
    "free",
    "measures",
    "seconds",
    "notes",
)
N_SEEDS = 2**32


def plan_fits(problem: Problem, methods: Sequence[Method], evaluation: EvaluationSettings, seed: int) -> list[Fit]:
    """Choose the test bags once for each repeat; every method gets the same."""
    if not evaluation.wanted:
        return []
    strata = problem.regime.strata(problem.weak)
    fits = []
    for repeat in range(evaluation.repeats):
        rng = np.random.default_rng([seed, repeat])
        for fold, test_bags in enumerate(_test_parts(strata, evaluation, rng)):
            fits += [Fit(method, repeat, fold, test_bags, (seed + repeat) % N_SEEDS) for method in methods]
    return fits


def _test_parts(
    strata: NDArray[np.intp], evaluation: EvaluationSettings, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    if evaluation.cv is None:
        return [drawn_share(strata, float(evaluation.test_share or 0.0), rng)]
    n_folds = min(evaluation.cv, len(strata))
    folds = deal_folds(strata, n_folds, rng)
    return [np.flatnonzero(folds == fold) for fold in range(n_folds)]


def drawn_share(strata: NDArray[np.intp], share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a share of the bags to test on, at least one and not all, with about that share of each stratum.

    Args:
        strata: (B,) the stratum of each bag.
        share: in (0, 1).
        rng: draws.

    >>> drawn_share(np.repeat([0, 1], 10), 0.3, np.random.default_rng(0)).tolist()
    [4, 6, 8, 10, 11, 17]
    """
    n_bags = len(strata)
    n_test = min(max(1, round(share * n_bags)), n_bags - 1)
    shuffled = rng.permutation(n_bags)
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    # Every so many-th bag of the list that is sorted by stratum.
    places = ((np.arange(n_test) + rng.random()) * n_bags / n_test).astype(np.intp)
    return np.sort(order[places])


def run_fits(problem: Problem, fits: Sequence[Fit], n_jobs: int | None, checkpoint: Checkpoint, tell: Tell) -> Pieces:
    """Run the fits that are not finished yet, and return the pieces of all."""
    pieces: Pieces = {}
    missing = []
    for fit in fits:
        piece = checkpoint.load(fit.key, *IN_A_PIECE)
        if piece is None:
            missing.append(fit)
        else:
            pieces[_place(fit)] = piece
    for fit, piece in zip(missing, _computed(problem, missing, n_jobs, tell), strict=True):
        pieces[_place(fit)] = checkpoint.save(fit.key, piece)
        tell(FitFinished(fit.method.name, fit.repeat, fit.fold, piece["measures"]))
    return pieces


def _place(fit: Fit) -> tuple[str, int, int]:
    return fit.method.name, fit.repeat, fit.fold


def _computed(problem: Problem, fits: Sequence[Fit], n_jobs: int | None, tell: Tell) -> Iterator[Piece]:
    if effective_n_jobs(n_jobs) > 1 and len(fits) > 1:
        pool = Parallel(n_jobs=n_jobs, return_as="generator")
        yield from pool(delayed(run_fit)(problem, fit) for fit in fits)
        return
    for fit in fits:
        tell(FitStarted(fit.method.name, fit.repeat, fit.fold))
        yield run_fit(problem, fit, tell)


def run_fit(problem: Problem, fit: Fit, tell: Tell | None = None) -> Piece:
    """Fit one method on the training bags of one fold and predict its test bags.

    Returns:
        Test bags, predicted weak labels and scores, instance predictions, measures, seconds, notes.
    """
    # The number of BLAS threads changes the last bits of a product, and it depends on the number of processes.
    with threadpool_limits(limits=1):
        return _fitted_and_judged(problem, fit, tell)


def _fitted_and_judged(problem: Problem, fit: Fit, tell: Tell | None) -> Piece:
    started = time.perf_counter()
    dataset, bags = problem.dataset, problem.bags
    test_rows = bags.rows_of(fit.test_bags)
    train_rows = np.setdiff1d(np.arange(bags.n_rows), test_rows)
    train_bags, positions = bags.take(train_rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit.method.make(fit.seed)
        y = np.asarray(dataset.weak)[positions]
        ids = train_bags.spread(train_bags.ids)
        if tell is not None and hasattr(model, "fit_observed"):
            model.fit_observed(dataset.X[train_rows], y, ids, tell)
        else:
            model.fit(dataset.X[train_rows], y, bags=ids)
    test_bags, test_positions = bags.take(test_rows)
    X_test, test_ids = dataset.X[test_rows], test_bags.spread(test_bags.ids)
    predicted = encoded(model.predict_bags(X_test, test_ids)[1], problem.weak)
    scores = model.score_bags(X_test, test_ids)[1]
    test_weak = problem.weak.take(test_positions)
    measures = problem.regime.evaluate(predicted, scores, test_weak)
    known = dataset.instance_labels is not None
    return {
        "bags": test_positions,
        "predicted": predicted,
        "scores": scores,
        "rows": test_rows if known else None,
        "instances": model.predict(X_test) if known else None,
        "instance_scores": _instance_scores(model, X_test) if known else None,
        "free": problem.regime.label_space(test_weak, test_bags).free if known else None,
        "measures": dict(measures),
        "seconds": time.perf_counter() - started,
        "notes": sorted({str(one.message) for one in caught}),
    }


def _instance_scores(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return a score of each instance, where the method has one and there are two classes."""
    if not hasattr(model, "decision_function"):
        return None
    scores = np.asarray(model.decision_function(X))
    return scores if scores.ndim == 1 else None


def encoded(predicted: NDArray[Any], weak: WeakLabels) -> NDArray[Any]:
    """Turn predicted weak labels from the user's values into the regime's codes."""
    if weak.values.ndim > 1 or predicted.ndim > 1:
        return predicted
    codes = {value: code for code, value in enumerate(weak.classes)}
    return np.array([codes.get(value, value) for value in predicted.tolist()])


def judged(problem: Problem, pieces: Iterable[Piece]) -> dict[str, float]:
    """Pool the folds of one repeat and compare with the weak labels."""
    pieces = list(pieces)
    bags = np.concatenate([np.asarray(piece["bags"], dtype=np.intp) for piece in pieces])
    predicted = np.concatenate([np.asarray(piece["predicted"]) for piece in pieces])
    scores = np.concatenate([np.asarray(piece["scores"], dtype=np.float64) for piece in pieces])
    return dict(problem.regime.evaluate(predicted, scores, problem.weak.take(bags)))
