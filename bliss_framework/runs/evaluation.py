"""Cross-validation over whole bags, or a test set: BLISS and its baselines, one piece for each fit."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
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
    """A data set that the regime has checked.

    Attributes:
        dataset: rows and what the user knows of them.
        bags: the bags of its rows.
        weak: what the regime made of their weak labels.
        regime: what weak labels mean.
        test: the test set, where there is one of its own.
    """

    dataset: WeakDataset = field()
    bags: Bags = field()
    weak: WeakLabels = field()
    regime: Regime = field()
    test: "Problem | None" = field(default=None)

    @property
    def tested(self) -> "Problem":
        """The data whose bags are predicted in an evaluation: those of the test set, else its own."""
        return self if self.test is None else self.test


@frozen(eq=False)
class Fit:
    """One fit of an evaluation: a method, a repeat, a fold, and the bags to test on; None for those of the test set."""

    method: Method = field()
    repeat: int = field()
    fold: int = field()
    test_bags: NDArray[np.intp] | None = field()
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
OWN = "bliss"


def plan_fits(problem: Problem, methods: Sequence[Method], evaluation: EvaluationSettings, seed: int) -> list[Fit]:
    """Choose the test bags of each repeat, the same for every method; with a test set there are none to choose."""
    if problem.test is not None:
        repeats = range(evaluation.repeats)
        return [Fit(method, repeat, 0, None, (seed + repeat) % N_SEEDS) for repeat in repeats for method in methods]
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
        piece = checkpoint.load(fit.key, *IN_A_PIECE)
        if piece is None and model is not None and fit.test_bags is None and _place(fit) == (OWN, 0, 0):
            piece = checkpoint.save(fit.key, _on_test_set(problem, model))
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
    train = _without(problem, fit.test_bags)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit.method.make(fit.seed)
        y, ids = np.asarray(train.dataset.weak), train.dataset.bags
        if tell is not None and hasattr(model, "fit_observed"):
            model.fit_observed(train.dataset.X, y, ids, tell)
        else:
            model.fit(train.dataset.X, y, bags=ids)
    notes = sorted({str(one.message) for one in caught})
    n_tested = problem.tested.bags.n_bags
    piece = _judged(problem, model, np.arange(n_tested) if fit.test_bags is None else fit.test_bags)
    return {**piece, "seconds": time.perf_counter() - started, "notes": notes}


def _on_test_set(problem: Problem, model: Any) -> Piece:
    """Judge BLISS as it was fitted to all of the data; what it warned of then is told elsewhere."""
    started = time.perf_counter()
    with threadpool_limits(limits=1):
        piece = _judged(problem, model, np.arange(problem.tested.bags.n_bags))
    return {**piece, "seconds": time.perf_counter() - started, "notes": []}


def _without(problem: Problem, test_bags: NDArray[np.intp] | None) -> Problem:
    """Return the training data of a fit."""
    dataset, bags = problem.dataset, problem.bags
    if test_bags is None:
        return problem
    rows = np.setdiff1d(np.arange(bags.n_rows), bags.rows_of(test_bags))
    own, positions = bags.take(rows)
    weak = np.asarray(dataset.weak)[positions]
    ids = own.spread(own.ids)
    return Problem(
        evolve(dataset, X=dataset.X[rows], bags=ids, weak=weak), own, problem.weak.take(positions), problem.regime
    )


def _judged(problem: Problem, model: Any, test_bags: NDArray[np.intp]) -> Piece:
    """Predict some bags of the data that are tested, and compare with what is known of them."""
    dataset, bags, weak = problem.tested.dataset, problem.tested.bags, problem.tested.weak
    rows = bags.rows_of(test_bags)
    own, positions = bags.take(rows)
    X, ids = dataset.X[rows], own.spread(own.ids)
    predicted = encoded(model.predict_bags(X, ids)[1], weak)
    scores = model.score_bags(X, ids)[1]
    test_weak = weak.take(positions)
    known = dataset.instance_labels is not None
    return {
        "bags": positions,
        "predicted": predicted,
        "scores": scores,
        "rows": rows if known else None,
        "instances": model.predict(X) if known else None,
        "instance_scores": _instance_scores(model, X) if known else None,
        "free": problem.regime.label_space(test_weak, own).free if known else None,
        "measures": dict(problem.regime.evaluate(predicted, scores, test_weak)),
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
    return dict(problem.regime.evaluate(predicted, scores, problem.tested.weak.take(bags)))
