"""Running fold tasks on several processes, with the same bits as on one."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

from bliss_framework.kernel.crossfit import RunTasks
from bliss_framework.kernel.events import Emit, FoldFinished, silent
from bliss_framework.kernel.fold_task import FoldResult, FoldTask

Work = Callable[[FoldTask, Emit], FoldResult]


def fold_runner(n_jobs: int | None) -> RunTasks:
    """Return a function that runs the fold tasks of one pass, in order.

    A bit can flip a tie, so each task computes with one thread of linear algebra. With one job all events are sent as
    they happen; with several, only the end of each fold is.

    Args:
        n_jobs: processes, as in joblib; None means one, -1 all cores.
    """
    if not several(n_jobs):
        return _one_after_the_other

    def on_processes(work: Work, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
        results = in_parallel(n_jobs, single_threaded, [(work, task) for task in tasks])
        for task, result in zip(tasks, results, strict=True):
            emit(FoldFinished(task.pass_number, task.fold, result.mean_reward))
            yield result

    return on_processes


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute with one thread of linear algebra, in a with block or as a decorator.

    The last bits of a product depend on the number of threads, and so on the machine and on who else computes on it.
    """
    with threadpool_limits(limits=1):
        yield


def several(n_jobs: int | None) -> bool:
    """Whether work is spread over more than one process, or over a cluster."""
    return int(effective_n_jobs(n_jobs)) > 1


def in_parallel(
    n_jobs: int | None, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Call a function on several processes, and yield its results in order, each as soon as it can be had.

    Args:
        n_jobs: processes, as in joblib.
        function: of a module, so that a worker can import it.
        arguments: of each call.
    """
    calls = [delayed(without_nested_parallelism)(function, *one) for one in arguments]
    if get_active_backend()[0].supports_return_generator:
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(calls)
        return
    # This backend returns all results or none, so it is asked for a few at a time: what is finished can be kept.
    size = int(effective_n_jobs(n_jobs))
    for first in range(0, len(calls), size):
        yield from Parallel(n_jobs=n_jobs)(calls[first : first + size])


def without_nested_parallelism(function: Callable[..., Any], *arguments: Any) -> Any:
    """Keep a worker from spreading its own work over the cluster once more."""
    with parallel_config(backend="threading", n_jobs=1):
        return function(*arguments)


@contextmanager
def sigint_ignored_in_children() -> Iterator[None]:
    """Start processes in a with block that never hear Ctrl-C, which a terminal sends to them too.

    A process that begins while signals are ignored goes on ignoring them. Who started it stops it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hearing = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, hearing)


def _one_after_the_other(work: Work, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
    for task in tasks:
        with one_blas_thread():
            yield work(task, emit)


@one_blas_thread()
def single_threaded(work: Work, task: FoldTask) -> Any:
    return work(task, silent)


@contextmanager
def workers_without_sigint(n_jobs: int | None) -> Iterator[None]:
    """Let worker processes not hear Ctrl-C, which a terminal sends to them too; who started them stops them.

    Args:
        n_jobs: processes, as in joblib.
    """
    ignoring = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_IGN)}
    with parallel_config(backend="loky", **ignoring):
        if effective_n_jobs(n_jobs) > 1:
            with sigint_ignored_in_children():
                Parallel(n_jobs=n_jobs)(delayed(abs)(number) for number in range(2))
        yield
