"""A reward in blocks, without the machine that runs blocks: its questions are answered here, by plain sums."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts import Asking, BlockReward, Effects, Gathered, Total
from bliss_framework.kernel.pull import Outcome, Part
from bliss_framework.rewards.influence import Influence
from bliss_framework.testing.examples import with_heldout_rows, with_train_rows


@frozen(eq=False)
class BlockOutcome:
    """What of an outcome is in a block.

    Attributes:
        outcome: of these rows.
        train: positions of its training instances.
        heldout: of its held-out instances.
    """

    outcome: Outcome = field()
    train: NDArray[np.intp] = field()
    heldout: NDArray[np.intp] = field()


def cut_into_blocks(outcome: Outcome, n_blocks: int) -> list[BlockOutcome]:
    """Deal the whole bags of an outcome to blocks, of which each has a training and a held-out bag.

    Args:
        outcome: to be cut.
        n_blocks: at most; no more than there are bags in either part.
    """
    fold = outcome.fold
    n = min(n_blocks, fold.train.bags.n_bags, fold.heldout.bags.n_bags)
    blocks = []
    for train, heldout in zip(_dealt(fold.train, n), _dealt(fold.heldout, n), strict=True):
        own = with_heldout_rows(with_train_rows(outcome, train), heldout)
        blocks.append(BlockOutcome(evolve(own, fold=evolve(own.fold, n_neighbors=fold.n_neighbors)), train, heldout))
    return blocks


def _dealt(part: Part, n: int) -> list[NDArray[np.intp]]:
    return [part.bags.rows_of(bags) for bags in np.array_split(np.arange(part.bags.n_bags), n)]


def rewards_in_blocks(
    reward: BlockReward, outcome: Outcome, n_blocks: int, smoother: Influence | None = None
) -> NDArray[np.float64]:
    """Return the rewards (n,) of an outcome that is cut into blocks.

    Args:
        reward: in its form for blocks.
        outcome: the whole.
        n_blocks: at most.
        smoother: (m, n) matrix or operator, effects of training labels on held-out outputs, for rewards that ask.
    """
    blocks = cut_into_blocks(outcome, n_blocks)
    rewards = np.empty(len(outcome.assignment))
    for block, own in zip(blocks, answered(reward.rewards, blocks, smoother), strict=True):
        rewards[block.train] = own
    return rewards


def answered(
    method: Callable[[Outcome, int], Asking[Any]], blocks: Sequence[BlockOutcome], smoother: Influence | None = None
) -> list[Any]:
    """Run a method of a reward on all blocks, and return what it found out in each of them."""
    n_heldout = sum(len(block.heldout) for block in blocks)
    asking = [method(block.outcome, n_heldout) for block in blocks]
    answers: Sequence[Any] = [None] * len(blocks)
    while True:
        asked, found = [], []
        for one, answer in zip(asking, answers, strict=True):
            try:
                asked.append(one.send(answer))
            except StopIteration as done:
                found.append(done.value)
        assert not (asked and found), "some blocks ask a question where others are done"
        if found:
            return found
        answers = _answers(asked, blocks, smoother)


def _answers(asked: list[Any], blocks: Sequence[BlockOutcome], smoother: Influence | None) -> Sequence[Any]:
    kind = type(asked[0])
    assert kind in (Total, Gathered, Effects), f"a question must be Total, Gathered or Effects; got {asked[0]!r}"
    assert {type(one) for one in asked} == {kind}, "blocks ask different questions at the same time"
    if kind is Total:
        assert len({np.shape(one.values) for one in asked}) == 1, "arrays to be added up differ in shape"
        return [np.sum([one.values for one in asked], axis=0)] * len(blocks)
    if kind is Gathered:
        return [np.concatenate([one.rows for one in asked])] * len(blocks)
    assert smoother is not None, "the reward asks for effects, and the classifier has no smoother"
    parts = [np.reshape(one.slopes, (len(block.heldout), -1)) for one, block in zip(asked, blocks, strict=True)]
    slopes = np.concatenate(parts)[np.argsort(np.concatenate([block.heldout for block in blocks]))]
    effects = smoother.T @ slopes
    return [effects[block.train] for block in blocks]
