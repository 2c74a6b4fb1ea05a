"""Running fold tasks on several processes, with the same bits as on one."""

import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice, starmap
from pathlib import Path
from typing import Any

from attrs import field, frozen
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from bliss_framework.compute.block_workers import DASK, block_runner, naming_what_workers_lack, workers_of
from bliss_framework.compute.messages import drop_what_nobody_takes
from bliss_framework.compute.signals import ignore_signals, signals_kept_from_children
from bliss_framework.errors import ComputeError
from bliss_framework.faults import is_lost_worker, worker_lost
from bliss_framework.kernel.crossfit import RunTasks
from bliss_framework.kernel.events import Emit, FoldFinished, silent
from bliss_framework.kernel.fold_task import FoldResult, FoldTask
from bliss_framework.lockstep.runner import RunBlocks, forms_of, in_turn, run_in_lockstep

Work = Callable[[FoldTask, Emit], FoldResult]
CLUSTERS = (DASK, "RayBackend")  # Backends of joblib.
BETWEEN_LOOKS = 0.5  # Seconds after which a worker looks again whether its parent is there.


def fold_runner(n_jobs: int | None) -> RunTasks:
    """Return a function that runs the fold tasks of one pass, in order.

    A bit can flip a tie, so each task computes with one thread of linear algebra. With one job all events are sent as
    they happen; with several, only the end of each fold is.

    Args:
        n_jobs: processes, as in joblib; None means one, -1 all cores.
    """
    if not several(n_jobs):
        return with_lockstep(_one_after_the_other, block_runner(n_jobs))

    def on_processes(work: Work, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
        results = in_parallel(n_jobs, single_threaded, [(work, task) for task in tasks])
        for task, result in zip(tasks, results, strict=True):
            emit(FoldFinished(task.pass_number, task.fold, result.mean_reward))
            yield result

    return with_lockstep(on_processes, block_runner(n_jobs))


def with_lockstep(run_tasks: RunTasks, run_blocks: RunBlocks = in_turn) -> RunTasks:
    """Return a function that runs the folds of a pass together where rows are many, and else as `run_tasks` does.

    That depends on data and components alone, never on who runs what, so that bits do not, either.

    Args:
        run_tasks: runs folds one by one.
        run_blocks: runs the programs of blocks.
    """

    def run(work: Callable[[FoldTask, Emit], FoldResult], tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
        forms = forms_of(tasks)
        if forms is None:
            yield from run_tasks(work, tasks, emit)
        else:
            yield from run_in_lockstep(tasks, emit, *forms, run_blocks)

    return run


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute with one thread of linear algebra, in a with block or as a decorator.

    The last bits of a product depend on the number of threads, and so on the machine and on who else computes on it.
    """
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the libraries of linear algebra of this process, looked for anew once more modules are imported.

    A library comes with a module. The look goes through all that is loaded, which takes longer than a few pulls.
    """
    return ThreadpoolController()


def several(n_jobs: int | None) -> bool:
    """Whether work is spread over more than one process, or over a cluster."""
    return int(effective_n_jobs(n_jobs)) > 1


def n_workers(n_jobs: int | None) -> int:
    """Return how many processes work is spread over, here or on a cluster."""
    return int(effective_n_jobs(n_jobs))


def on_cluster() -> bool:
    """Say whether work is spread over dask or ray, whose processes have their own limits of memory."""
    return type(get_active_backend()[0]).__name__ in CLUSTERS


def least_worker_memory() -> int | None:
    """Return how much memory the worker with the least of it may take; None where there is no cluster that says so."""
    backend = get_active_backend()[0]
    if type(backend).__name__ != DASK:
        return None
    limits = [one.get("memory_limit") for one in workers_of(backend.client).values()]
    return min((int(limit) for limit in limits if limit), default=None)


@frozen
class Spread:
    """Makes several calls of a function side by side, if there are several jobs: the same bits and warnings.

    Attributes:
        n_jobs: as in joblib.
    """

    n_jobs: int | None = field(default=None)

    def calls(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Call a function of a module with each of several arguments, and return its results in order.

        Processes begin at once, so that there is time for other work before the first result is asked for.
        """
        if not several(self.n_jobs):
            return starmap(function, arguments)
        return _said_here(in_parallel(self.n_jobs, _heard, [(os.getpid(), function, *one) for one in arguments]))

    def sums(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Do the same with what goes over many rows: on this machine on threads, which share the rows."""
        if not several(self.n_jobs) or on_cluster():
            return self.calls(function, arguments)
        with ThreadPoolExecutor(n_workers(self.n_jobs)) as threads:
            return iter(list(threads.map(lambda one: function(*one), arguments)))


@one_blas_thread()
def _heard(parent: int, function: Callable[..., Any], *arguments: Any) -> tuple[Any, list[tuple[str, type[Warning]]]]:
    """Call a function, and return its result with what it warned of: nobody looks at the errors of a worker."""
    if os.getpid() == parent:
        # A thread of that process: what it warns of is heard, and filters of warnings are those of all threads.
        return function(*arguments), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments)
    return result, [(str(one.message), one.category) for one in caught]


def _said_here(results: Iterator[Any]) -> Iterator[Any]:
    for result, said in results:
        for sentence, category in said:
            warnings.warn(sentence, category, stacklevel=2)
        yield result


def in_parallel(
    n_jobs: int | None, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Call a function on several processes, and return its results in order, each as soon as it can be had.

    Processes of this machine begin at once.

    Args:
        n_jobs: processes, as in joblib.
        function: of a module, so that a worker can import it.
        arguments: of each call.

    Raises:
        ComputeError: a worker process was killed, or its cluster went away.
    """
    calls = [delayed(as_worker)(os.getpid(), function, *one) for one in arguments]
    with _naming_lost_workers():
        return _until_lost(_results(n_jobs, calls))


def _until_lost(results: Iterator[Any]) -> Iterator[Any]:
    with _naming_lost_workers():
        yield from results


@contextmanager
def _naming_lost_workers() -> Iterator[None]:
    with naming_what_workers_lack():
        try:
            yield
        except Exception as error:
            if is_lost_worker(error):
                raise ComputeError(worker_lost(error)) from error
            raise


def _results(n_jobs: int | None, calls: Sequence[Any]) -> Iterator[Any]:
    backend = get_active_backend()[0]
    if type(backend).__name__ == DASK:
        return _on_dask(backend.client, calls, int(effective_n_jobs(n_jobs)))
    if backend.supports_return_generator:
        results: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator", **_own_start(backend))(calls)
        return results
    return _a_few_at_a_time(n_jobs, calls)


def _a_few_at_a_time(n_jobs: int | None, calls: Sequence[Any]) -> Iterator[Any]:
    """Ask a backend that returns all results or none for a few at a time: what is finished can be kept."""
    size = int(effective_n_jobs(n_jobs))
    for first in range(0, len(calls), size):
        yield from Parallel(n_jobs=n_jobs)(calls[first : first + size])


def _on_dask(client: Any, calls: Sequence[Any], n_workers: int) -> Iterator[Any]:
    """Yield the results of calls on the workers of dask; joblib would wait for ever for a call whose worker died.

    What several calls are given travels once, and there are no more calls on the way than workers need.
    """
    times = Counter(id(argument) for _, arguments, _ in calls for argument in arguments)
    shared: dict[int, Any] = {}

    def sent(call: Any) -> Any:
        function, arguments, _ = call
        places = [_scattered(client, one, shared if times[id(one)] > 1 else {}) for one in arguments]
        return client.submit(function, *places, pure=False)

    rest = iter(calls)
    waiting = deque(sent(call) for call in islice(rest, 2 * n_workers))
    try:
        while waiting:
            yield waiting[0].result()
            waiting.popleft()
            waiting.extend(sent(call) for call in islice(rest, 1))
    finally:
        # A cluster that is gone has nothing to cancel.
        with suppress(Exception):
            client.cancel(list(waiting))


def _scattered(client: Any, argument: Any, known: dict[int, Any]) -> Any:
    """Send an argument to the cluster ahead of the call, unless it is a word, a number or a function."""
    if argument is None or callable(argument) or isinstance(argument, str | int | float):
        return argument
    if id(argument) not in known:
        # One that stands in a list would be taken for several.
        (known[id(argument)],) = client.scatter([argument], hash=False)
    return known[id(argument)]


def _own_start(backend: Any) -> dict[str, Any]:
    """Return how worker processes begin, unless the user says it."""
    is_loky = type(backend).__name__ == "LokyBackend"
    return worker_start() if is_loky and not getattr(backend, "backend_kwargs", {}).get("initializer") else {}


def worker_start() -> dict[str, Any]:
    """Return what joblib needs to know for its workers to hear no signals of the terminal, and to end with us."""
    return {"initializer": begin_as_worker, "initargs": (os.getpid(),)}


def begin_as_worker(parent: int) -> None:
    """Prepare a worker process: signals are for its parent, printing stops nothing, and without its parent it ends.

    Args:
        parent: the number of the process that started it.
    """
    ignore_signals()
    drop_what_nobody_takes()
    end_with(parent, at_once=True)


def end_with(parent: int, at_once: bool = False) -> None:
    """End this process as soon as the one that started it is gone, however that ended; shared memory goes with it.

    Called again, it changes nothing.

    Args:
        parent: the number of that process.
        at_once: whether it is certain that `parent` started this process, so that it is gone if another is the parent.
    """
    if any(thread.name == end_with.__name__ for thread in threading.enumerate()):
        return
    if os.getppid() != parent:
        if at_once:
            os._exit(1)
        return
    threading.Thread(target=_watch, args=(parent,), name=end_with.__name__, daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(BETWEEN_LOOKS)
    os._exit(1)


def is_running(pid: int) -> bool:
    """Say whether a process of this machine has a number, whoever's it is."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def drop_shared_memory(pid: int) -> None:
    """Remove what joblib put into memory for a process that was killed together with all that would have tidied up.

    Args:
        pid: its number. Where another process has it by now, nothing is removed, because it may be of that one.
    """
    if is_running(pid):
        return
    for place in (Path("/dev/shm"), Path(tempfile.gettempdir())):
        for folder in place.glob(f"joblib_memmapping_folder_{pid}_*"):
            shutil.rmtree(folder, ignore_errors=True)
        for semaphore in place.glob(f"sem.loky-{pid}-*"):
            semaphore.unlink(missing_ok=True)


def as_worker(parent: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a worker, which ends with its parent if that is a process of this machine."""
    end_with(parent)
    return without_nested_parallelism(function, *arguments)


def without_nested_parallelism(function: Callable[..., Any], *arguments: Any) -> Any:
    """Keep a worker from spreading its own work over the cluster once more."""
    with parallel_config(backend="threading", n_jobs=1):
        return function(*arguments)


def _one_after_the_other(work: Work, tasks: list[FoldTask], emit: Emit) -> Iterator[FoldResult]:
    for task in tasks:
        with one_blas_thread():
            yield work(task, emit)


@one_blas_thread()
def single_threaded(work: Work, task: FoldTask) -> Any:
    return work(task, silent)


@contextmanager
def workers_of_this_process(n_jobs: int | None) -> Iterator[None]:
    """Let worker processes not hear Ctrl-C, which a terminal sends to them too; who started them stops them.

    Args:
        n_jobs: processes, as in joblib.
    """
    with parallel_config(backend="loky", **worker_start()):
        if effective_n_jobs(n_jobs) > 1:
            with signals_kept_from_children():
                Parallel(n_jobs=n_jobs)(delayed(abs)(number) for number in range(2))
        yield
