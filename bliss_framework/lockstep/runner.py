"""Running all folds of a pass at once, over blocks of whole bags."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bliss_framework.extension.contracts.classifier import SumsForm
from bliss_framework.extension.contracts.reward import BlockReward
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.events import Emit, FoldFinished, FoldStarted, RoundFinished
from bliss_framework.kernel.fold_task import FoldResult, FoldTask
from bliss_framework.kernel.inference import ArmResult
from bliss_framework.kernel.pull import Fold, Outcome
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows
from bliss_framework.lockstep.centre import Centre
from bliss_framework.lockstep.program import OF_HELDOUT, OF_TRAINING, Block, BlockResult, FoldBlock, Question, program

MANY_ROWS = 100_000  # From here on a pass over the rows costs more than what is done beside it.
BLOCK_ROWS = 1 << 16  # Rows in a block, if bags are small.
FORM = 1 << 30  # The place of the classifier's own generator among those of folds.

# Runs programs: is given blocks and a function that answers the questions of all of them.
Answer = Callable[[Iterable[Question]], Any]
RunBlocks = Callable[[Sequence[Block], Answer], list[list[BlockResult]]]


def blocks_of(bags: Bags, n_rows: int) -> list[slice]:
    """Cut rows into runs of whole bags, all of about the same size, of at most about so many rows.

    The rows of a bag are beside each other.

    >>> blocks_of(Bags.from_ids([4, 4, 4, 7, 7, 9]), 3)
    [slice(0, 3, None), slice(3, 6, None)]
    """
    ends = np.cumsum(np.bincount(bags.index))
    n_blocks = -(-bags.n_rows // n_rows)
    number = np.ceil(ends * n_blocks / bags.n_rows)
    last = np.flatnonzero(np.append(number[1:] != number[:-1], True))
    stops = ends[last].tolist()
    return [slice(first, stop) for first, stop in zip([0, *stops[:-1]], stops, strict=True)]


class Steps:
    """A program that knows how many answers it has had."""

    def __init__(self, block: Block) -> None:
        self.program = program(block)
        self.n_answers = -1

    def advance(self, answered: Any) -> Question | list[BlockResult]:
        """Hand over an answer, None at the start; return the next question, or what was found out in the end."""
        self.n_answers += 1
        try:
            return self.program.send(answered)
        except StopIteration as done:
            result: list[BlockResult] = done.value
            return result


def in_turn(blocks: Sequence[Block], answer: Answer) -> list[list[BlockResult]]:
    """Run the programs of all blocks in this process, each a step at a time, with one thread of linear algebra."""
    with threadpool_limits(limits=1):
        programs = [Steps(block) for block in blocks]
        return until_done(answer, lambda answered: (one.advance(answered) for one in programs))


def until_done(answer: Answer, advance: Callable[[Any], Iterator[Any]]) -> list[list[BlockResult]]:
    """Hand answers to all programs, and their questions to the centre, until they have results.

    Args:
        answer: makes an answer of the questions of all blocks.
        advance: hands an answer to all programs, and yields in the order of blocks what they ask or found out.
    """
    answered: Any = None
    while True:
        asked = advance(answered)
        first = next(asked)
        if isinstance(first, list):
            return [first, *asked]
        answered = answer(chain([first], asked))


def forms_of(tasks: Sequence[FoldTask]) -> tuple[SumsForm, BlockReward] | None:
    """Return classifier and reward in their forms for blocks; None where rows are few, or one of them has none.

    Weights that follow the labels would change the normal equations in every pull.
    """
    if not tasks or tasks[0].data.n_rows <= MANY_ROWS or tasks[0].settings.class_balance > 0:
        return None
    first = tasks[0]
    reward = first.components.reward.in_blocks()
    if reward is None:
        return None
    seed = np.random.SeedSequence(first.seed.entropy, spawn_key=(*first.seed.spawn_key[:-1], FORM))
    data = first.data
    form = first.components.classifier.in_sums(data.rows, data.weights, np.random.default_rng(seed))
    return None if form is None else (form, reward)


def run_in_lockstep(
    tasks: list[FoldTask], emit: Emit, form: SumsForm, reward: BlockReward, run_blocks: RunBlocks = in_turn
) -> Iterator[FoldResult]:
    """Run the folds of one pass together, and yield their results in order.

    Args:
        tasks: all folds of a pass, on the same data.
        emit: is told of rounds; they are those of all folds at once.
        form: the classifier.
        reward: in its form for blocks.
        run_blocks: runs the programs of blocks.
    """
    data, settings = tasks[0].data, tasks[0].settings
    places = _places(tasks)
    folds_of_group, group_of_row = training_groups(tasks)
    blocks = []
    for number, place in enumerate(places):
        groups = tuple(np.flatnonzero(group_of_row[place] == group) for group in range(len(folds_of_group)))
        blocks.append(_block(number, place, tasks, form, reward, groups))
    n_columns = 1 if data.space.n_labels == 2 else data.space.n_labels
    centre = Centre(
        form.ridge, n_columns, np.array([len(task.rows) + len(task.extra) for task in tasks]), folds_of_group
    )
    for task in tasks:
        emit(FoldStarted(task.pass_number, task.fold, task.n_folds, settings.n_rounds))

    def answer(questions: Iterable[Question]) -> Any:
        progress: list[tuple[int, float, int]] = []
        answered = centre.answer(_noting(progress, questions))
        if progress:
            _tell(progress, tasks, emit)
        return answered

    results = run_blocks(blocks, answer)
    n_pulls = settings.n_inferences * (blocks[0].n_sweeps + settings.n_rounds)
    for number, task in enumerate(tasks):
        result = _gathered(task, [own[number] for own in results], n_pulls)
        emit(FoldFinished(task.pass_number, task.fold, result.mean_reward))
        yield result


def training_groups(tasks: Sequence[FoldTask]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which folds train on a group of rows (G, K), and the group of each row (n,).

    The sums of a row are the same in every fold that trains on it, so they are taken once, of each group.
    """
    trains = np.zeros((tasks[0].data.n_rows, len(tasks)), dtype=bool)
    for k, task in enumerate(tasks):
        trains[np.concatenate([task.rows, task.extra]), k] = True
    packed = np.packbits(trains, axis=1)
    _, first, group_of_row = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return trains[first], group_of_row.ravel()


def _places(tasks: Sequence[FoldTask]) -> list[slice]:
    """Cut blocks so large that each holds training and held-out rows of every fold: no component is given none."""
    n_rows, bags = BLOCK_ROWS, tasks[0].data.bags
    while True:
        places = blocks_of(bags, n_rows)
        if len(places) == 1 or all(_in_all(rows, places) for task in tasks for rows in (task.rows, task.heldout)):
            return places
        n_rows *= 2


def _in_all(rows: NDArray[np.intp], places: Sequence[slice]) -> bool:
    edges = np.searchsorted(rows, [0, *(place.stop for place in places)])
    return bool((np.diff(edges) > 0).all())


def _block(
    number: int,
    place: slice,
    tasks: Sequence[FoldTask],
    form: SumsForm,
    reward: BlockReward,
    groups: tuple[NDArray[np.intp], ...],
) -> Block:
    first, settings = tasks[0], tasks[0].settings
    rows = np.arange(place.start, place.stop)
    own = first.data.rows.take(rows)
    candidates = first.data.space.candidates.sum(axis=1).max()
    return Block(
        number=number,
        rows=own,
        groups=groups,
        folds=tuple(_fold_block(task, place, rows, own) for task in tasks),
        form=form,
        reward=reward,
        strategy=first.components.strategy,
        regime=first.components.regime,
        settings=settings,
        n_sweeps=int(candidates) if settings.n_first_draws is None else settings.n_first_draws,
    )


def _fold_block(task: FoldTask, place: slice, rows: NDArray[np.intp], own: Rows | RowView) -> FoldBlock:
    train, extra, heldout = (_inside(chosen, place) for chosen in (task.rows, task.extra, task.heldout))
    data = evolve(task.data.take(rows), X=own)
    return FoldBlock(np.concatenate([train, extra]), len(extra), heldout, len(task.heldout), data, task.seed)


def _inside(rows: NDArray[np.intp], place: slice) -> NDArray[np.intp]:
    """Return the positions in a block of rows that are in it; rows are sorted."""
    first, last = np.searchsorted(rows, [place.start, place.stop])
    return np.asarray(rows[first:last] - place.start)


def _noting(progress: list[tuple[int, float, int]], questions: Iterable[Question]) -> Iterator[Question]:
    for one in questions:
        if one.progress is not None:
            progress.append(one.progress)
        yield one


def _tell(progress: Sequence[tuple[int, float, int]], tasks: Sequence[FoldTask], emit: Emit) -> None:
    t, n = progress[0][0], sum(count for _, _, count in progress)
    reward = sum(total for _, total, _ in progress) / max(n, 1)
    for task in tasks:
        emit(RoundFinished(task.pass_number, task.fold, t, task.settings.n_rounds, reward))


def _gathered(task: FoldTask, parts: Sequence[BlockResult], n_pulls: int) -> FoldResult:
    """Put together what all blocks found out about one fold, and judge it as a whole."""
    train = task.data.take(np.concatenate([task.rows, task.extra]))
    regime = task.components.regime
    fold = Fold(train, task.data.take(task.heldout), min(task.settings.n_neighbors, len(task.heldout)), regime)

    n_extra = [part.n_extra for part in parts]
    outcome = Outcome(
        fold,
        *(_own_first([part.outcome[name] for part in parts], n_extra) for name in OF_TRAINING),
        *(np.concatenate([part.outcome[name] for part in parts]) for name in OF_HELDOUT),
    )
    means, pulls, rewards = (
        _own_first([getattr(part, name) for part in parts], n_extra) for name in ("means", "pulls", "rewards")
    )
    free, n = train.space.free, len(task.rows)
    classes = train.space.class_of_label[outcome.assignment]
    one_class = len(np.unique(classes[free])) == 1 and free.sum() > 1
    seconds = {"classifier": 0.0, "reward": 0.0, "strategy": 0.0}
    said = parts[0].diagnostics
    arms = ArmResult(means[:n], pulls[:n], n_pulls, said, seconds)
    score = dict(regime.reading.weak_score(outcome))
    uninformative = said[-1] if said and all(said) else None
    return FoldResult(task.rows, arms, float(rewards[free].mean()), score, bool(one_class), uninformative)


def _own_first(arrays: Sequence[NDArray[Any]], n_extra: Sequence[int]) -> NDArray[Any]:
    """Put the rows of all blocks one below the other, and extra rows, the last of each, below them all."""
    ends = [len(one) - n for one, n in zip(arrays, n_extra, strict=True)]
    own = [one[:end] for one, end in zip(arrays, ends, strict=True)]
    return np.concatenate(own + [one[end:] for one, end in zip(arrays, ends, strict=True)])
