"""Running fold tasks on several processes, with the same bits as on one."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from bliss_framework.errors import SettingsError
from bliss_framework.kernel.crossfit import FoldResult, FoldTask, RunTasks
from bliss_framework.kernel.events import Emit, FoldFinished, silent

Work = Callable[[FoldTask, Emit], FoldResult]


def fold_runner(n_jobs: int | None) -> RunTasks:
    """Return a function that runs the fold tasks of one pass, in order.

    The number of BLAS threads changes the last bits of a product, and a bit can flip a tie, so inner threads are fixed
    to one. With one job all events are sent as they happen; with several, only the end of each fold is.

    Args:
        n_jobs: processes, as in joblib; None means one, -1 all cores.
    """
    if effective_n_jobs(n_jobs) == 1:
        return _one_after_the_other

    def on_processes(work: Work, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
        pool = Parallel(n_jobs=n_jobs, return_as="generator")
        for task, result in zip(tasks, pool(delayed(_alone)(work, task) for task in tasks), strict=True):
            emit(FoldFinished(task.pass_number, task.fold, result.mean_reward))
            yield result

    return on_processes


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse what joblib cannot take for a number of processes.

    Raises:
        SettingsError: if it is not None, nor an integer other than 0.
    """
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise SettingsError(f"n_jobs must be None, a positive integer, or -1 for all cores; got {n_jobs!r}.")


def _one_after_the_other(work: Work, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
    for task in tasks:
        with threadpool_limits(limits=1):
            yield work(task, emit)


def _alone(work: Work, task: FoldTask) -> Any:
    with threadpool_limits(limits=1):
        return work(task, silent)
