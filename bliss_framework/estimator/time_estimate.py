"""How long a fit takes, roughly: measured on a few bags, and carried over to all of them.

A fold of some bags is pulled a few times, with twice as many bags until it takes a noticeable time; from the last two
sizes follows how cost grows. That may be wrong by a factor of two or three: caches, other processes and matrices beyond
a few thousand rows are not seen. Nothing of it touches a fit: it has generators of its own, and keeps nothing.
"""

import math
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

import numpy as np
from attrs import evolve, field, fields, frozen
from numpy.typing import NDArray

from bliss_framework.compute.processes import n_workers, one_blas_thread
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.label_inference import order_data
from bliss_framework.estimator.memory_estimate import Work
from bliss_framework.kernel.fold_task import FoldTask, run_fold
from bliss_framework.kernel.folds import deal_folds, train_and_heldout, usable_folds
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.relabelling import RELABEL_FOLDS

FIRST_ROWS = 400
NOTICEABLE = 0.1  # Seconds of a measurement that tells more than noise.
PATIENCE = 1.0  # Seconds that all measurements may take together.
FEW, MORE = 1, 5  # Rounds of the two inferences whose difference is that of some pulls.
FINAL_FITS = 6  # On all rows, and out of fold.
SELECTION_FOLDS = 5


@frozen
class Costs:
    """Seconds of one process.

    Attributes:
        once: for each fold.
        pull: for each assignment that is tried on a fold.
        final: for a final fit and its scores.
    """

    once: float = field()
    pull: float = field()
    final: float = field()

    def carried(self, smaller: "Costs", factor: float) -> "Costs":
        """Carry costs over to `factor` times as many rows, given those of half as many."""
        pairs = ((getattr(self, one.name), getattr(smaller, one.name)) for one in fields(Costs))
        return Costs(*(now * factor ** _exponent(now, before) for now, before in pairs))


def _exponent(now: float, before: float) -> float:
    """Say how a cost grows with rows, from that of half of them: linearly at least, since small ones are overhead."""
    return min(3.0, max(1.0, math.log2(now / before))) if now > 0 and before > 0 else 1.0


def estimate_seconds(config: FitConfig, data: CheckedData, n_jobs: int | None, work: Work) -> float | None:
    """Estimate how long work takes, without baselines.

    Args:
        config: of the fit.
        data: that the regime has read.
        n_jobs: processes.
        work: what is to be done.

    Returns:
        Seconds; None where a measurement failed, which the fit itself will say better.
    """
    try:
        with _nothing_remembered():
            costs = _costs(config, data)
    except Exception:
        # Whatever a component raises on a few bags may be no error on all of them.
        return None
    jobs = n_workers(n_jobs)
    fold, final = _folds(config, costs), FINAL_FITS * costs.final
    n_trials = len(config.candidates) * SELECTION_FOLDS
    inferred = (fold * (1 + n_trials)) / jobs if work.inference else 0.0
    evaluated = work.fits * work.train_share * (fold * (1 + n_trials) + final) / min(jobs, max(work.fits, 1))
    return inferred + (final if work.final else 0.0) + evaluated


def _folds(config: FitConfig, costs: Costs) -> float:
    """Return the seconds of all folds of an inference, and of rounds of relabelling after it."""
    rounds = config["relabel_rounds"]
    # As many rows are learnt in one of these folds as in one of inference, give or take, and all of them scored.
    relabelled = RELABEL_FOLDS * (costs.once + rounds * costs.pull) if rounds else 0.0
    if not config.has_bandit:
        return float(relabelled)
    draws = config["n_first_draws"] or 2
    n_pulls = (draws + config["n_rounds"]) * config["n_inferences"]
    return float(config["n_passes"] * config["n_folds"] * (costs.once + n_pulls * costs.pull) + relabelled)


def _costs(config: FitConfig, data: CheckedData) -> Costs:
    """Measure more and more bags until it takes a noticeable time, and carry that over to all of them."""
    n_rows, began = data.bags.n_rows, process_time()
    size, before = FIRST_ROWS, None
    while True:
        started = process_time()
        part, strata = _some_bags(config, data, size)
        now = _measured(config, part, strata)
        taken = process_time() - started
        enough = taken > NOTICEABLE or process_time() - began > PATIENCE / 3
        if part.n_rows >= n_rows or (before is not None and enough):
            return now.carried(before or now, n_rows / part.n_rows)
        size, before = 2 * size, now


def _some_bags(config: FitConfig, data: CheckedData, n_rows: int) -> tuple[Part, NDArray[np.intp]]:
    """Return bags of every stratum with about so many rows, all of them where there are no more."""
    order = np.argsort(config.regime.strata(data.labels), kind="stable")
    share = min(1.0, n_rows / data.bags.n_rows)
    n_bags = min(len(order), max(2 * config["n_folds"], round(share * len(order))))
    chosen = order[np.linspace(0, len(order) - 1, n_bags).round().astype(np.intp)]
    part = order_data(data.take_bags(np.unique(chosen)), config).data
    return part, config.regime.strata(part.weak)


def _measured(config: FitConfig, part: Part, strata: NDArray[np.intp]) -> Costs:
    final = _seconds_of_final(config, part)
    n_folds = usable_folds(strata, config["n_folds"], config["train_on"], part.bags.groups)
    folds = deal_folds(strata, n_folds, np.random.default_rng(0), part.bags.groups)
    train, heldout = next(iter(train_and_heldout(folds, config["train_on"])))
    settings = evolve(config.inference, n_rounds=FEW, n_first_draws=1, n_passes=1)
    nothing = np.empty(0, dtype=np.intp)
    rows = part.bags.rows_of(train), nothing, part.bags.rows_of(heldout)
    task = FoldTask(config.components, part, *rows, settings, np.random.SeedSequence(0), 1, 0, n_folds)
    (few, n_few), (more, n_more) = (
        _seconds_of_fold(evolve(task, settings=evolve(settings, n_rounds=n))) for n in (FEW, MORE)
    )
    pull = max(0.0, more - few) / max(n_more - n_few, 1)
    return Costs(max(0.0, few - n_few * pull), pull, final)


def _seconds_of_fold(task: FoldTask) -> tuple[float, int]:
    started = process_time()
    result = run_fold(task)
    return process_time() - started, result.arms.n_pulls


def _seconds_of_final(config: FitConfig, part: Part) -> float:
    labels = np.arange(part.n_rows) % 2
    started = process_time()
    fitted = config.final.estimator(0).fit(part.X, labels)
    fitted.predict(part.X)
    return process_time() - started


@contextmanager
def _nothing_remembered() -> Iterator[None]:
    """Leave the global generators as they were, and say nothing."""
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 - plugins may draw from it
    try:
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)  # noqa: NPY002
