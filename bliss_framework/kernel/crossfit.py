"""The cross-fit: Algorithm 1 on K folds of a whole data set, and the passes of the bootstrapping procedure."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.events import Emit, silent
from bliss_framework.kernel.fold_task import Components, FoldResult, FoldTask, run_fold
from bliss_framework.kernel.folds import deal_folds, train_and_heldout, usable_folds
from bliss_framework.kernel.inference import Constrain, InferenceSettings
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.result import InferredLabels, conclude

FEW_BAGS = 6  # Of fewer nobody expects that the folds are like one another.


@frozen(eq=False)
class CrossFit:
    """The inferred labels of a whole data set and how the folds went.

    Attributes:
        inferred: labels, confidence, undecided, means, pulls of each row.
        folds: the results of the last pass.
        n_pulls: label assignments that were tried in all passes.
        n_folds: folds that were used; 0 if nothing had to be inferred.
        class_of_label: (L,) the class that each label means.
        seconds: time in "classifier", "reward" and "strategy", added up over all folds and passes.
        warnings: a sentence for each setting that the data forced to another value.
        n_relabel_rounds: rounds in which bags were relabelled across folds after that.
    """

    inferred: InferredLabels = field()
    folds: tuple[FoldResult, ...] = field()
    n_pulls: int = field()
    n_folds: int = field()
    class_of_label: NDArray[np.intp] = field()
    seconds: dict[str, float] = field()
    warnings: tuple[str, ...] = field(default=())
    n_relabel_rounds: int = field(default=0)

    @property
    def mean_reward(self) -> float:
        """The mean reward of the inferred labels over folds; NaN where nothing had to be inferred."""
        return float(np.mean([f.mean_reward for f in self.folds])) if self.folds else float("nan")

    @property
    def weak_score(self) -> dict[str, float]:
        """The regime's weak score on held-out sets, averaged over folds: each measure that all of them have."""
        first = self.folds[0].weak_score if self.folds else {}
        names = [name for name in first if all(name in one.weak_score for one in self.folds)]
        return {name: float(np.mean([f.weak_score[name] for f in self.folds])) for name in names}

    def fold_of(self, n: int) -> NDArray[np.intp]:
        """Return the fold that inferred each of n rows, -1 where none did or several did."""
        fold, times = np.full(n, -1), np.zeros(n, dtype=np.intp)
        for number, result in enumerate(self.folds):
            fold[result.rows] = number
            times[result.rows] += 1
        return np.where(times == 1, fold, -1)

    @property
    def collapsed(self) -> bool:
        """Whether every fold that had arms put all its free instances into one class."""
        return bool(self.folds) and all(f.one_class for f in self.folds)


RunTasks = Callable[[Callable[[FoldTask, Emit], FoldResult], list[FoldTask], Emit], Iterable[FoldResult]]


def in_turn(work: Callable[[FoldTask, Emit], FoldResult], tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
    """Run tasks one after the other in this process."""
    for task in tasks:
        yield work(task, emit)


def cross_fit(
    components: Components,
    data: Part,
    strata: NDArray[np.intp],
    settings: InferenceSettings,
    seed: int,
    run_tasks: RunTasks = in_turn,
    emit: Emit = silent,
) -> CrossFit:
    """Infer the labels of a whole data set (paper, "Algorithm": K folds, bootstrapping passes).

    Every task has generators of its own, derived from the seed, the pass and the fold, so the result has the same bits
    however the tasks are run.

    Args:
        components: classifier, reward, strategy, regime.
        data: all rows, bags, weak labels and candidates.
        strata: (B,) the stratum of each bag.
        settings: of the inference.
        seed: any integer >= 0.
        run_tasks: runs the tasks of one pass and yields their results in order.
        emit: is told of folds and rounds.
    """
    root = np.random.SeedSequence(seed)
    if not data.space.free.any():
        return _nothing_to_infer(data, root)
    groups = data.bags.groups
    n_folds = usable_folds(strata, settings.n_folds, settings.train_on, groups)
    warnings = _of_folds(n_folds, data.bags, settings) + _of_lone_bag(data, strata)
    passes: list[list[FoldResult]] = []
    inferred: InferredLabels | None = None
    for pass_number in range(1, settings.n_passes + 1):
        fold_seed, tie_seed, *task_seeds = root.spawn(2 + n_folds)
        folds = deal_folds(strata, n_folds, np.random.default_rng(fold_seed), groups)
        tasks = list(_tasks(components, data, folds, settings, task_seeds, pass_number, inferred))
        if pass_number == 1:
            warnings += _of_neighbors(tasks, settings.n_neighbors)
        results = list(run_tasks(run_fold, tasks, emit))
        inferred = _gather(
            results, data, components.regime.constraint(), settings.n_rounds, np.random.default_rng(tie_seed)
        )
        passes.append(results)
    assert inferred is not None
    everything = [result.arms for results in passes for result in results]
    seconds = {what: sum(arms.seconds[what] for arms in everything) for what in everything[0].seconds}
    n_pulls = sum(arms.n_pulls for arms in everything)
    return CrossFit(inferred, tuple(passes[-1]), n_pulls, n_folds, data.space.class_of_label, seconds, warnings)


def _nothing_to_infer(data: Part, root: np.random.SeedSequence) -> CrossFit:
    nothing = np.zeros(data.space.candidates.shape)
    inferred = conclude(nothing, nothing, data, None, 0, np.random.default_rng(root))
    seconds = {"classifier": 0.0, "reward": 0.0, "strategy": 0.0}
    return CrossFit(inferred, (), 0, 0, data.space.class_of_label, seconds)


def _of_folds(n_folds: int, bags: Bags, settings: InferenceSettings) -> tuple[str, ...]:
    if n_folds == settings.n_folds:
        return ()
    grouped = "" if bags.groups is None else f" in {len(np.unique(bags.groups))} groups"
    return (
        f"n_folds was reduced from {settings.n_folds} to {n_folds}: there are {bags.n_bags} bags{grouped}, and with "
        f'train_on="{settings.train_on}" every fold needs its share of them.',
    )


def _of_lone_bag(data: Part, strata: NDArray[np.intp]) -> tuple[str, ...]:
    """Say so where one bag stands against all others: whatever the folds, nothing like it is ever held out."""
    counts = np.bincount(strata)
    if len(strata) < FEW_BAGS or np.count_nonzero(counts) != 2 or counts[counts > 0].min() > 1:
        return ()
    bag = data.bags.ids.tolist()[int(np.flatnonzero(counts[strata] == 1)[0])]
    return (
        f"Bag {bag!r} is the only one of its class among {len(strata)} bags, so no held-out bag can show whether the "
        f"labels that are inferred beside it are right.",
    )


def _of_neighbors(tasks: list[FoldTask], n_neighbors: int) -> tuple[str, ...]:
    smallest = min(len(task.heldout) for task in tasks)
    if smallest >= n_neighbors:
        return ()
    return (f"n_neighbors was reduced from {n_neighbors} to {smallest}, the size of the smallest held-out set.",)


def _tasks(
    components: Components,
    data: Part,
    folds: NDArray[np.intp],
    settings: InferenceSettings,
    seeds: list[np.random.SeedSequence],
    pass_number: int,
    inferred: InferredLabels | None,
) -> Iterator[FoldTask]:
    n_folds = len(seeds)
    for fold, (train_bags, heldout_bags) in enumerate(train_and_heldout(folds, settings.train_on)):
        rows, heldout = data.bags.rows_of(train_bags), data.bags.rows_of(heldout_bags)
        if not data.space.free[rows].any():
            continue
        extra = _confident(inferred, heldout[data.space.free[heldout]], settings.pass_share)
        known = data if inferred is None else data.with_known(extra, inferred.labels[extra])
        yield FoldTask(components, known, rows, extra, heldout, settings, seeds[fold], pass_number, fold, n_folds)


def _confident(inferred: InferredLabels | None, outside: NDArray[np.intp], share: float) -> NDArray[np.intp]:
    """Pick the most confident inferred rows outside the fold; the undecided never join.

    Known rows are left out: they would rank first, and in MIL add nothing but negatives.
    """
    if inferred is None:
        return np.empty(0, dtype=np.intp)
    decided = outside[~inferred.undecided[outside]]
    n = int(share * len(outside))
    order = np.argsort(-inferred.confidence[decided], kind="stable")
    return np.sort(decided[order[:n]])


def _gather(
    results: list[FoldResult], data: Part, constrain: Constrain | None, n_rounds: int, rng: np.random.Generator
) -> InferredLabels:
    """Average the means of every arm over the folds that pulled it."""
    shape = data.space.candidates.shape
    means, pulls, times = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for result in results:
        means[result.rows] += result.arms.means
        pulls[result.rows] += result.arms.pulls
        times[result.rows] += result.arms.pulls > 0
    return conclude(means / np.maximum(times, 1.0), pulls, data, constrain, n_rounds, rng)
