"""Which fits an evaluation is made of: for each method, repeat and fold the bags to test on, and a seed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.fit_best import SELECTION, selection_folds
from bliss_framework.estimator.training_parts import check_training_parts
from bliss_framework.kernel.folds import deal_folds, strata_of_groups
from bliss_framework.runs.evaluation.methods import Method
from bliss_framework.runs.evaluation.problem import Problem, training_part
from bliss_framework.runs.settings.records import EvaluationSettings
from bliss_framework.validators import N_SEEDS

DEFAULT_SEED = 0


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
        for fold, test_bags in enumerate(_test_parts(strata, problem.bags.groups, evaluation, rng)):
            fits += [Fit(method, repeat, fold, test_bags, (seed + repeat) % N_SEEDS) for method in methods]
    return fits


def check_plan(problem: Problem, evaluation: EvaluationSettings, seed: int, selects: bool) -> None:
    """Refuse an evaluation whose folds leave too little to train on, before any work starts.

    Args:
        problem: the data.
        evaluation: folds and repeats.
        seed: from which they are drawn.
        selects: whether settings are chosen on held-out bags of each training part.

    Raises:
        DataError: naming the fold and how many bags of each class there are.
    """
    if problem.test is not None or not evaluation.wanted:
        return
    plan = f"test_share = {evaluation.test_share:g}" if evaluation.cv is None else f"cv = {evaluation.cv}"
    strata = problem.regime.strata(problem.weak)
    for repeat in range(evaluation.repeats):
        rng = np.random.default_rng([seed, repeat])
        parts = _test_parts(strata, problem.bags.groups, evaluation, rng)
        check_training_parts(problem.data, problem.regime, parts, plan)
        for test_bags in parts if selects else ():
            data = training_part(problem, test_bags)
            # Dealt by their strata alone, bags lack the same classes whatever the seed.
            folds = selection_folds(problem.regime.strata(data.labels), seed, data.bags.groups)
            heldout = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
            check_training_parts(data, problem.regime, heldout, f"{SELECTION} in each fold of {plan}")


def _test_parts(
    strata: NDArray[np.intp], groups: NDArray[np.intp] | None, evaluation: EvaluationSettings, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    if evaluation.cv is None:
        return [drawn_bags(strata, groups, float(evaluation.test_share or 0.0), rng)]
    n_folds = min(evaluation.cv, len(strata) if groups is None else len(np.unique(groups)))
    folds = deal_folds(strata, n_folds, rng, groups)
    return [np.flatnonzero(folds == fold) for fold in range(n_folds)]


def drawn_bags(
    strata: NDArray[np.intp], groups: NDArray[np.intp] | None, share: float, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw a share of the bags to test on, whole groups of them where there are groups; see `drawn_share`."""
    if groups is None:
        return drawn_share(strata, share, rng)
    group, of_group = strata_of_groups(strata, groups)
    return np.flatnonzero(np.isin(group, drawn_share(of_group, share, rng)))


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


def check_seed(seed: Any) -> None:
    """Refuse a random state that results could not be repeated with."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < N_SEEDS:
        raise SettingsError(f"random_state must be an integer from 0 to {N_SEEDS - 1}; got {seed!r}.")
