"""How much memory fits take, estimated from the sizes of their data and held against what is there before any work.

What classifiers say of themselves (`Classifier.memory`) is added to what the host holds: keys by which rows are put
in order, copies of sparse rows, statistics of arms. Dense rows are views, so only classifiers copy them. All of it is
rough, and meant to be a little too large rather than too small.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from bliss_framework.compute.memory import Room, memory_in_use, memory_left
from bliss_framework.compute.processes import least_worker_memory, n_workers, on_cluster
from bliss_framework.errors import BlissError, MemoryNeededError, PluginError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import FitConfig, configure
from bliss_framework.estimator.fit import OUT_OF_FOLD
from bliss_framework.estimator.parameters import SAME
from bliss_framework.extension.contracts import Classifier, ProblemSize, Profile
from bliss_framework.extension.registry import Registry
from bliss_framework.kernel.relabelling import RELABEL_FOLDS
from bliss_framework.lockstep.runner import MANY_ROWS
from bliss_framework.primal.systems import MOST_ROWS
from bliss_framework.validators import shown_size, size_in_bytes

SPARSE_ENTRY = 12  # A value and its column.
WORKER = 150_000_000  # What a worker process takes for itself.
COPIES = 2  # Of all sparse rows: in canonical order, and scaled.
KEYS = 64  # Bytes of a row: keys of its order, places, scores.
ARM = 48  # Bytes of an arm: pulls, rewards, means, bounds and what is made of them.
PLACE = 32  # Bytes of a row in each fold in lock-step: where it is there, its bag, its weight.
LITTLE = 2**28  # Whatever there is, as much as this is there; so much is not held against anything.


@frozen
class DataSize:
    """What an estimate needs to know of data.

    Attributes:
        profile: rows and bags.
        n_columns: of a row.
        row_bytes: that a row takes when it is scaled.
        n_labels: of an instance.
        mapped: whether rows stay in a file.
    """

    profile: Profile = field()
    n_columns: int = field()
    row_bytes: float = field()
    n_labels: int = field()
    mapped: bool = field(default=False)

    @classmethod
    def of(cls, data: CheckedData, config: FitConfig) -> "DataSize":
        """Measure data that the regime has read."""
        rows, (n, d) = data.rows, data.rows.shape
        first = data.take_bags(np.zeros(1, dtype=np.intp))
        n_labels = config.regime.label_space(first.labels, first.bags).n_labels
        row_bytes = SPARSE_ENTRY * len(data.X.data) / n if rows.is_sparse else 8.0 * d
        return cls(Profile.of(data.bags, rows.is_sparse), d, row_bytes, n_labels, rows.is_mapped)

    def share(self, part: float) -> "DataSize":
        """Return the size of a part of the bags, at least one."""
        n_rows, n_bags = (max(1, round(part * n)) for n in (self.profile.n_rows, self.profile.n_bags))
        return evolve(self, profile=evolve(self.profile, n_rows=n_rows, n_bags=n_bags))

    def problem(self, n_train: float, n_heldout: float, n_pulls: int = 1, n_folds: int = 1) -> ProblemSize:
        """Return what classifiers are asked by."""
        counts = math.ceil(n_train), math.ceil(n_heldout)
        sparse, mapped = self.profile.sparse, self.mapped
        return ProblemSize(*counts, self.n_columns, self.row_bytes, sparse, self.n_labels, n_pulls, mapped, n_folds)


@frozen
class Stage:
    """What takes memory at one time.

    Attributes:
        what: is computed, in words.
        own: bytes of this process, beside what it has already.
        each: bytes of each worker process.
        n_workers: how many of those there are on this machine.
    """

    what: str = field()
    own: int = field()
    each: int = field(default=0)
    n_workers: int = field(default=0)

    @property
    def total(self) -> int:
        """Bytes of all processes on this machine."""
        return self.own + self.n_workers * self.each


@frozen
class Estimate:
    """How much memory some work takes.

    Attributes:
        now: bytes that this process has already.
        stages: of the work, one after the other.
    """

    now: int = field()
    stages: tuple[Stage, ...] = field()

    @property
    def largest(self) -> Stage:
        """The stage that takes most."""
        return max(self.stages, key=lambda stage: stage.total)

    @property
    def added(self) -> int:
        """Bytes that the largest stage takes beside what this process has."""
        return self.largest.total

    @property
    def total(self) -> int:
        """Bytes of all processes at the peak."""
        return self.now + self.added

    @property
    def process(self) -> int:
        """Bytes that the largest process takes, this one beside what it has."""
        return max(max(stage.own, stage.each) for stage in self.stages)

    @property
    def worker(self) -> int:
        """Bytes that the largest worker takes."""
        return max(stage.each for stage in self.stages)


@frozen
class Work:
    """What is to be done with some data.

    Attributes:
        inference: whether labels of all rows are inferred.
        final: whether a final classifier is trained on all rows.
        fits: of an evaluation, which run side by side; 0 for none.
        train_share: the share of the bags that each of those is trained on.
    """

    inference: bool = field(default=True)
    final: bool = field(default=True)
    fits: int = field(default=0)
    train_share: float = field(default=1.0)


def estimate(config: FitConfig, data: DataSize, n_jobs: int | None, work: Work | None = None) -> Estimate:
    """Estimate the memory of a fit, and of the fits of an evaluation after it.

    Args:
        config: of the fit.
        data: sizes of its data.
        n_jobs: processes, as in joblib.
        work: what is to be done.

    Raises:
        PluginError: a classifier says what is no number of bytes.
    """
    work = Work() if work is None else work
    configs = config.candidates or (config,)
    jobs = n_workers(n_jobs)
    stages = [*_inference(configs, data, jobs)] if work.inference else []
    stages += [_final(configs, data, jobs)] if work.final else []
    stages += _head(config, data) if work.final else []
    if work.fits:
        stages.append(_evaluation(configs, data.share(work.train_share), min(jobs, work.fits)))
    return Estimate(memory_in_use(), tuple(stages))


def check_memory(
    config: FitConfig,
    data: CheckedData,
    registry: Callable[[], Registry],
    n_jobs: int | None,
    max_memory: str | int | None,
    work: Work | None = None,
) -> Estimate:
    """Estimate the memory of work, and refuse it where it is more than there is.

    Args:
        config: of the fit.
        data: that the regime has read.
        registry: returns where other classifiers are found, for a setting that needs less.
        n_jobs: processes.
        max_memory: that all processes together may take; None for what there is.
        work: what is to be done.

    Raises:
        MemoryNeededError: with the figure, what takes it, and a setting that fits by the same estimate if there is one.
    """
    size = DataSize.of(data, config)
    needed = estimate(config, size, n_jobs, work)
    if max_memory is None and needed.added < LITTLE:
        return needed
    limits = _limits(max_memory)
    short = limits.missing(needed)
    if short is None:
        return needed
    for change in _changes(config, n_jobs, registry()):
        less = _with(change, config, size, n_jobs, work, registry())
        if less is not None and limits.missing(less) is None:
            raise MemoryNeededError(_sentence(needed, short), change, shown_size(less.total))
    raise MemoryNeededError(_sentence(needed, short))


@frozen
class _Limits:
    """What may be taken: together, by each process alone, and by each worker of a cluster."""

    together: Room | None = field()
    alone: Room | None = field()
    worker: Room | None = field()

    def missing(self, needed: Estimate) -> Room | None:
        """Return the limit that is too low, if any is."""
        pairs = ((self.together, needed.added), (self.alone, needed.process), (self.worker, needed.worker))
        return next((room for room, n_bytes in pairs if room is not None and n_bytes > room.n_bytes), None)


def _limits(max_memory: str | int | None) -> _Limits:
    together, alone = memory_left()
    if max_memory is not None:
        allowed = size_in_bytes(max_memory) - memory_in_use()
        # Who names a figure knows better than this estimate and a machine that counts its caches.
        alone = None
        together = Room(max(0, allowed), f"of the {shown_size(size_in_bytes(max_memory))} of max_memory")
    of_worker = least_worker_memory()
    worker = None if of_worker is None else Room(of_worker, "in a worker of the cluster")
    return _Limits(together, alone, worker)


def _sentence(needed: Estimate, short: Room) -> str:
    stage = needed.largest
    there = "nothing is" if short.n_bytes < 2**20 else f"only {shown_size(short.n_bytes)} more are"
    taken = f"{shown_size(stage.total)} of it for {stage.what}"
    return f"This needs about {shown_size(needed.total)} of memory, {taken}, and {there} left {short.why}."


def _changes(config: FitConfig, n_jobs: int | None, registry: Registry) -> Iterator[dict[str, Any]]:
    """Yield settings that may need less: first what changes nothing but time, then what leaves the labels alone."""
    fewer = [{"n_jobs": jobs} for jobs in range(n_workers(n_jobs) - 1, 0, -1)]
    names = [one.component.name for one in registry.registrations if one.kind == "classifier"]
    final = {} if config["final_classifier"] == SAME else {"final_classifier": SAME}
    yield from fewer
    yield from ({"final_classifier": name} for name in names)
    for change in ({"classifier": name, **final} for name in names):
        yield change
        yield from ({**change, **jobs} for jobs in fewer[-1:])


def _with(
    change: Mapping[str, Any],
    config: FitConfig,
    size: DataSize,
    n_jobs: int | None,
    work: Work | None,
    registry: Registry,
) -> Estimate | None:
    """Return the estimate with some settings; None where they cannot be, for a component that needs parameters."""
    settings = {**change}
    jobs = settings.pop("n_jobs", n_jobs)
    try:
        other = configure({**config.given, **settings}, size.profile, registry) if settings else config
        return estimate(other, size, jobs, work)
    except BlissError:
        return None


def _inference(configs: Sequence[FitConfig], data: DataSize, jobs: int) -> Iterator[Stage]:
    own = _rows(data)
    relabelling = max(_relabelling(one, data) for one in configs)
    if relabelling:
        yield Stage("relabelling across folds", own + relabelling)
    elif not any(one.has_bandit for one in configs):
        yield Stage("the rows", own)
    if not any(one.has_bandit for one in configs):
        return
    together = max(_lockstep(one, data) for one in configs)
    if together:
        yield _side_by_side("label inference on all folds together", own, together, jobs)
    fold = max(_fold(one, data) for one in configs)
    if not fold:
        return
    if jobs == 1:
        yield Stage("label inference on a fold", own + fold)
        return
    n = 0 if on_cluster() else min(jobs, max(_n_folds(one, data) for one in configs))
    yield Stage(f"label inference in {jobs} processes", own, WORKER + fold, n)


def _side_by_side(what: str, own: int, together: int, jobs: int) -> Stage:
    """Return what blocks of rows take that run on threads of this process, or on the workers of a cluster."""
    return Stage(what, own, WORKER + together // jobs) if on_cluster() else Stage(what, own + together)


def _final(configs: Sequence[FitConfig], data: DataSize, jobs: int) -> Stage:
    own = _rows(data) + max(_final_fit(one, data) for one in configs)
    if jobs == 1 or not any(_is_spread(one, data) for one in configs):
        return Stage("the final fit on all rows", own)
    n = min(jobs, OUT_OF_FOLD)
    what = f"the final fit on all rows, and {n} processes that fit to parts of them"
    return Stage(what, own, WORKER + own, 0 if on_cluster() else n)


def _head(config: FitConfig, data: DataSize) -> list[Stage]:
    """Return what the bag head takes, where the regime has one."""
    head, profile = config.regime.head, data.profile
    if head is None:
        return []
    rows = profile.n_rows * (data.row_bytes if profile.sparse else 8 * data.n_columns)
    size = data.problem(profile.n_rows, profile.n_rows)
    return [Stage("the bag head", int(_rows(data) + rows + head.memory(size, profile.n_bags)))]


def _is_spread(config: FitConfig, data: DataSize) -> bool:
    """Say whether out-of-fold fits run in other processes: those that take sums of many rows run in this one."""
    return data.profile.n_rows <= MOST_ROWS or not hasattr(config.final.estimator(0), "begun")


def _evaluation(configs: Sequence[FitConfig], data: DataSize, jobs: int) -> Stage:
    each = _rows(data) + max(max(_fold(one, data), _relabelling(one, data), _final_fit(one, data)) for one in configs)
    if jobs == 1:
        return Stage("a fit of the evaluation", each)
    return Stage(f"fits of the evaluation in {jobs} processes", _rows(data), WORKER + each, 0 if on_cluster() else jobs)


def _rows(data: DataSize) -> int:
    copies = COPIES * data.row_bytes if data.profile.sparse else 0
    return int(data.profile.n_rows * (KEYS + copies))


def _n_folds(config: FitConfig, data: DataSize) -> int:
    return max(2, min(int(config["n_folds"]), data.profile.n_bags))


def _in_lockstep(config: FitConfig, data: DataSize) -> bool:
    """Say whether all folds are likely to run together: classifiers are asked with rows at hand, later."""
    if data.profile.n_rows <= MANY_ROWS or config["class_balance"] > 0:
        return False
    return type(config.classifier).in_sums is not Classifier.in_sums and config.reward.in_blocks() is not None


def _lockstep(config: FitConfig, data: DataSize) -> int:
    """Return what label inference on all folds at once takes: the classifier, and the parts and arms of each fold."""
    if not config.has_bandit or not _in_lockstep(config, data):
        return 0
    n, n_folds = data.profile.n_rows, _n_folds(config, data)
    n_inferences, trained = int(config["n_inferences"]), n if config["train_on"] == "one" else n * (n_folds - 1)
    problem = data.problem(n, 0, n_inferences * config["n_parallel"], n_folds)
    parts = PLACE * n * n_folds + ARM * trained * data.n_labels * n_inferences
    return parts + _said(config.classifier.memory, problem, config, "classifier")


def _fold(config: FitConfig, data: DataSize) -> int:
    """Return what label inference on one fold takes: its parts, the classifier, the arms."""
    if not config.has_bandit or _in_lockstep(config, data):
        return 0
    n, n_folds = data.profile.n_rows, _n_folds(config, data)
    # Folds have equal numbers of bags, and the largest of them more rows where bags are uneven.
    uneven = 1 + data.profile.unevenness * math.sqrt(n_folds / data.profile.n_bags)
    one, rest = min(n, n / n_folds * uneven), n - n / n_folds
    train, heldout = (one, rest) if config["train_on"] == "one" else (rest, one)
    if config["n_passes"] > 1:
        train += config["pass_share"] * heldout
    problem = data.problem(train, heldout, config["n_inferences"] * config["n_parallel"])
    arms = ARM * problem.n_train * problem.n_labels * int(config["n_inferences"])
    return arms + _said(config.classifier.memory, problem, config, "classifier")


def _relabelling(config: FitConfig, data: DataSize) -> int:
    """Return what relabelling takes, in this process: the classifiers of all folds, each prepared once and kept."""
    n_rows, n_bags = data.profile.n_rows, data.profile.n_bags
    if not config["relabel_rounds"] or n_bags < RELABEL_FOLDS:
        return 0
    problem = data.problem(n_rows * (1 - 1 / RELABEL_FOLDS), n_rows / RELABEL_FOLDS)
    outputs = ARM * n_rows * data.n_labels
    return outputs + RELABEL_FOLDS * _said(config.classifier.memory, problem, config, "classifier")


def _final_fit(config: FitConfig, data: DataSize) -> int:
    problem = data.problem(data.profile.n_rows, data.profile.n_rows)
    return _said(config.final.final_memory, problem, config, "final_classifier")


def _said(asked: Callable[[ProblemSize], Any], problem: ProblemSize, config: FitConfig, component: str) -> int:
    """Ask a classifier how much it takes, and hold its answer to the contract."""
    said = asked(problem)
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said < math.inf:
        kind = Classifier.__name__
        raise PluginError(f"{kind} {config.name_of(component)} says that it takes {said!r} bytes; it must be a number.")
    return int(said)
