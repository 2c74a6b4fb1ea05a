"""Where the programs of blocks run: threads of this process, or the workers of a Dask cluster."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from attrs import define, field
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

from bliss_framework.errors import BlissError, ComputeError
from bliss_framework.faults import is_lost_worker, missing_on_worker
from bliss_framework.lockstep.program import Block, BlockResult
from bliss_framework.lockstep.runner import Answer, RunBlocks, Steps, in_turn, until_done

DASK = "DaskDistributedBackend"
PATIENCE = 10  # Seconds that a worker has to take a block.
WAITING = 30  # Seconds in which a cluster without workers has to bring one back.
MOST_LOSSES = 20  # Workers that a pass may lose before it gives up.


def block_runner(n_jobs: int | None) -> RunBlocks:
    """Return what runs the programs of blocks here: the same bits wherever they run.

    Args:
        n_jobs: as in joblib; of a cluster, whose workers are taken as they are, it does not matter.
    """

    def run(blocks: Sequence[Block], answer: Answer) -> list[list[BlockResult]]:
        backend = get_active_backend()[0]
        if type(backend).__name__ == DASK:
            return on_dask(backend.client, blocks, answer)
        n_threads = min(int(effective_n_jobs(n_jobs)), len(blocks))
        return in_turn(blocks, answer) if n_threads < 2 else on_threads(n_threads, blocks, answer)

    return run


def workers_of(client: Any) -> dict[str, Any]:
    """Return what the scheduler of a cluster knows of each worker, by address.

    It is asked itself: `client.scheduler_info` returns what the client remembers, and that is overwritten every few
    seconds by an answer without workers.

    Args:
        client: of `distributed`.
    """
    workers: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return workers


def on_threads(n_threads: int, blocks: Sequence[Block], answer: Answer) -> list[list[BlockResult]]:
    """Run the programs on threads: what takes time are large products, and all threads share the rows."""
    with threadpool_limits(limits=1), ThreadPoolExecutor(n_threads) as threads:
        programs = list(threads.map(Steps, blocks))
        return until_done(answer, lambda answered: threads.map(lambda one: one.advance(answered), programs))


@define
class Forgotten:
    """What a worker says that never had a block, or lost it: whoever knows all answers has to start it again."""


def on_dask(client: Any, blocks: Sequence[Block], answer: Answer) -> list[list[BlockResult]]:
    """Run the programs on the workers of a cluster, each block always on the same one.

    A block is sent once. If its worker dies, another one gets the block and all answers so far, and repeats what was
    done, with the same bits.

    Args:
        client: of `distributed`.
        blocks: of a pass.
        answer: answers the questions of all blocks.

    Raises:
        ComputeError: the cluster has no workers, or keeps losing them.
    """
    cluster = _Cluster(client, list(blocks))
    try:
        with naming_what_workers_lack():
            return until_done(answer, cluster.advance)
    finally:
        cluster.leave()


@contextmanager
def naming_what_workers_lack() -> Iterator[None]:
    """Say in a sentence that a worker lacks a package, whatever the cluster makes of that."""
    try:
        yield
    except BlissError:
        raise
    except Exception as error:
        missing = missing_on_worker(error)
        if missing is None:
            raise
        raise ComputeError(missing) from error


@define
class _Cluster:
    """The blocks of a pass on the workers of a cluster.

    Attributes:
        client: of `distributed`.
        blocks: in order.
        key: of this pass, under which workers keep programs.
        worker_of: the address of the worker of each block.
        sent: the future of each block that was sent.
        answers: so far; the first is None.
        n_losses: blocks that were lost with their workers.
    """

    client: Any = field()
    blocks: list[Block] = field()
    key: str = field(factory=lambda: uuid4().hex)
    worker_of: dict[int, str] = field(factory=dict)
    sent: dict[int, Any] = field(factory=dict)
    answers: list[Any] = field(factory=list)
    n_losses: int = field(default=0)

    def advance(self, answered: Any) -> Iterator[Any]:
        """Hand an answer to all programs, and yield what they ask or found out, in the order of blocks."""
        self.answers.append(answered)
        self._assign()
        futures = [self._step(number, answered) for number in range(len(self.blocks))]
        for number in range(len(futures)):
            asked = self._found(number, futures[number])
            # Sums are dropped on the worker as soon as they have been added up here.
            futures[number] = None
            while isinstance(asked, Forgotten):
                asked = self._again(number)
            yield asked

    def leave(self) -> None:
        """Let workers forget the programs of this pass; those of a cluster that is gone have nothing to forget."""
        with suppress(Exception):
            self.client.run(_forget, self.key, on_error="ignore")

    def _step(self, number: int, told: Any) -> Any:
        n_answers = len(self.answers)
        block = self.sent[number] if n_answers == 1 else None
        where = {"workers": [self.worker_of[number]], "allow_other_workers": True}
        return self.client.submit(_advance, self.key, number, block, told, n_answers, pure=False, **where)

    def _again(self, number: int) -> Any:
        """Start a program anew on a worker that is there, and bring it to where it was."""
        self.n_losses += 1
        if self.n_losses > MOST_LOSSES * len(self.blocks):
            raise ComputeError("The Dask cluster keeps losing workers; see their logs. Finished folds are kept.")
        self.worker_of.pop(number)
        self._assign()
        where = {"workers": [self.worker_of[number]], "allow_other_workers": True}
        again = self.client.submit(_repeat, self.key, number, self.sent[number], self.answers, pure=False, **where)
        return self._found(number, again)

    def _found(self, number: int, future: Any) -> Any:
        """Return what a program asks or found out; that it is forgotten if its worker has died."""
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:
                if future.done():
                    raise
                # A call that waits for a block whose worker died with it would wait for ever, and Dask says nothing.
                if self.worker_of[number] not in workers_of(self.client):
                    future.cancel()
                    return Forgotten()
            except Exception as error:
                if is_lost_worker(error):
                    return Forgotten()
                raise

    def _assign(self) -> None:
        """Give each block that has no living worker the one with the fewest blocks, and send it there."""
        workers = self._workers()
        for number, block in enumerate(self.blocks):
            while self.worker_of.get(number) not in workers:
                load = [sum(one == worker for one in self.worker_of.values()) for worker in workers]
                chosen = workers[load.index(min(load))]
                own = block.detached()
                try:
                    (self.sent[number],) = self.client.scatter([own], workers=[chosen], hash=False, timeout=PATIENCE)
                    self.worker_of[number] = chosen
                except (TimeoutError, OSError, KeyError):
                    # Of a worker that has just died its scheduler may not know.
                    workers = self._workers()

    def _workers(self) -> list[str]:
        """Return the addresses of all workers; where there is none, one that is started anew is waited for."""
        with suppress(TimeoutError):
            self.client.wait_for_workers(1, timeout=WAITING)
        workers = sorted(workers_of(self.client))
        if not workers:
            raise ComputeError("The Dask cluster has no workers any more. Start some, and go on with --resume.")
        return workers


def _programs() -> dict[Any, Steps]:
    """Return the programs that this worker keeps."""
    from distributed import get_worker

    worker = get_worker()
    kept: dict[Any, Steps] = worker.__dict__.setdefault("bliss_programs", {})
    return kept


def _advance(key: str, number: int, block: Block | None, told: Any, n_answers: int) -> Any:
    """Take one step of a program on a worker."""
    programs = _programs()
    if block is not None:
        programs[key, number] = Steps(block)
    steps = programs.get((key, number))
    if steps is None or steps.n_answers != n_answers - 2:
        return Forgotten()
    with threadpool_limits(limits=1):
        return steps.advance(told)


def _repeat(key: str, number: int, block: Block, answers: list[Any]) -> Any:
    """Start a program, and give it all answers so far."""
    steps = _programs()[key, number] = Steps(block)
    with threadpool_limits(limits=1):
        for told in answers[:-1]:
            steps.advance(told)
        return steps.advance(answers[-1])


def _forget(key: str, dask_worker: Any) -> None:
    programs = dask_worker.__dict__.get("bliss_programs", {})
    for one in [one for one in programs if one[0] == key]:
        del programs[one]
