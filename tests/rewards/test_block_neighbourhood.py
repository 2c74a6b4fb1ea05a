"""Neighbourhoods and rewards of blocks against those of the whole, by ranks and by quantile bins."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from bliss_framework import Bags, Fold, LabelSpace, Part, WeakLabels
from bliss_framework.plugin import block_neighbour_means, neighbourhood
from bliss_framework.rewards import block_neighbourhood
from bliss_framework.rewards.block_neighbourhood import one_of_each_run
from bliss_framework.testing.blocks import answered, cut_into_blocks, rewards_in_blocks
from bliss_framework.testing.examples import outcome_from
from bliss_llp.rewards.recall_precision_of_shares import LlpReward
from bliss_mil.rewards.paper_reward import MilReward
from bliss_multiclass_mil.rewards.paper_reward import MultiClassMilReward

PROPERTY = settings(max_examples=60, deadline=None)
KINDS = {"mil": MilReward, "llp": LlpReward, "multiclass-mil": MultiClassMilReward}


def weak_of(kind, n_bags, rng):
    """Return weak labels of bags, and the class of each label."""
    if kind == "mil":
        # Often all bags are of one class.
        return rng.integers(0, 2, n_bags) * rng.integers(0, 2), (0, 1)
    if kind == "llp":
        return rng.dirichlet(np.ones(3), n_bags), (0, 1, 2)
    return rng.integers(0, 2, (n_bags, 2)), (0, 0, 1, 2)


def part_of(kind, sizes, rng, weighted):
    """Make bags of these sizes."""
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    weak, class_of_label = weak_of(kind, len(sizes), rng)
    space = LabelSpace(np.ones((bags.n_rows, len(class_of_label)), dtype=bool), np.array(class_of_label))
    weights = rng.uniform(0.2, 3.0, bags.n_rows) if weighted else None
    return Part(np.zeros((bags.n_rows, 1)), bags, WeakLabels(weak, tuple(sorted(set(class_of_label)))), space, weights)


def outcome_of(kind, sizes, heldout_sizes, rng, *, k, levels=None, weighted=False, dtype=np.float64):
    """Make an outcome with random scores; few levels make ties, and no level makes all scores equal."""
    train, heldout = part_of(kind, sizes, rng, weighted), part_of(kind, heldout_sizes, rng, weighted)
    n_scores = 1 if kind == "mil" else train.space.n_labels
    drawn = [rng.normal(size=(part.n_rows, n_scores)) for part in (train, heldout)]
    if levels is not None:
        drawn = [np.round(scores * levels) for scores in drawn]
    scores, heldout_scores = (one.astype(dtype) for one in drawn)
    assignment = rng.integers(0, train.space.n_labels, train.n_rows)
    return outcome_from(Fold(train, heldout, k), assignment, scores, heldout_scores)


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=8)


@pytest.mark.parametrize("kind", KINDS)
@PROPERTY
@given(
    sizes=SIZES,
    heldout_sizes=SIZES,
    n_blocks=st.integers(1, 6),
    k=st.integers(1, 12),
    levels=st.sampled_from([None, 2, 1, 0]),
    weighted=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    gamma=st.sampled_from([0.0, 1 / 7, 1.0]),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_rewards_are_those_of_the_whole(
    kind, sizes, heldout_sizes, n_blocks, k, levels, weighted, dtype, gamma, alpha, seed
):
    """By ranks rewards and diagnostics in blocks are the ordinary ones, whatever ties and classes there are."""
    rng = np.random.default_rng(seed)
    whole = outcome_of(kind, sizes, heldout_sizes, rng, k=k, levels=levels, weighted=weighted, dtype=dtype)
    reward = KINDS[kind](gamma, alpha)
    function, form = reward.prepare(whole.fold, None), reward.in_blocks()
    found = rewards_in_blocks(form, whole, n_blocks)
    assert np.allclose(found, function(whole), rtol=0, atol=1e-12)
    assert set(answered(form.diagnostic, cut_into_blocks(whole, n_blocks))) == {function.diagnostic(whole)}


def test_midpoints_are_rounded_as_in_memory():
    """Between neighbours in single precision there is no midpoint, and the neighbourhood is the ordinary one."""
    step = np.float32(2.0**-23)
    low, high = 1 + step, 1 + 2 * step
    part = part_of("mil", [1, 1], np.random.default_rng(0), False)
    scores = np.array([[high], [low]], dtype=np.float32)
    whole = outcome_from(Fold(part, part, 1), np.zeros(2, dtype=np.intp), scores, scores[::-1])
    quantity = np.array([0.0, 1.0])
    expected = neighbourhood(whole).mean(quantity)
    assert (
        expected.tolist()
        != neighbourhood(evolve(whole, scores=scores.astype(float), heldout_scores=scores[::-1].astype(float)))
        .mean(quantity)
        .tolist()
    )
    assert means_in_blocks(whole, 2, quantity)[:, 0].tolist() == expected.tolist()


def test_a_block_without_a_bag_of_some_class():
    """A block all of whose held-out bags are negative earns by the positive bags of the other."""
    rng = np.random.default_rng(0)
    whole = outcome_of("mil", [2] * 4, [3] * 6, rng, k=4)
    for weak in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]):
        heldout = evolve(whole.fold.heldout, weak=WeakLabels(np.array(weak), (0, 1)))
        one = evolve(whole, fold=evolve(whole.fold, heldout=heldout))
        blocks = cut_into_blocks(one, 2)
        assert [len(set(block.outcome.fold.heldout.weak.values.tolist())) for block in blocks] == [1, 1]
        reward = MilReward(alpha=0.5)
        assert np.allclose(rewards_in_blocks(reward.in_blocks(), one, 2), reward(one), rtol=0, atol=1e-12)


def means_in_blocks(whole, n_blocks, *quantities):
    """Return the means (n, Q) over neighbourhoods of an outcome that is cut into blocks."""
    blocks = cut_into_blocks(whole, n_blocks)
    of_block = {id(block.outcome): [one[block.heldout] for one in quantities] for block in blocks}
    found = answered(lambda own, m: block_neighbour_means(own, m, *of_block[id(own)]), blocks)
    means = np.empty((len(whole.assignment), len(quantities)))
    for block, own in zip(blocks, found, strict=True):
        means[block.train] = own
    return means


@PROPERTY
@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=60), st.integers(1, 9))
def test_one_of_each_run_keeps_ranks(values, length):
    """Below any value there are, up to half a run, as many rows as those that were chosen below it stand for."""
    values = np.array(values)
    chosen = one_of_each_run(values, length)
    m, n = len(values), -(-len(values) // length)
    assert len(set(chosen.tolist())) == len(chosen) == n
    assert (np.diff(values[chosen]) >= 0).all()
    for value in np.unique(values):
        rank, standing = (values <= value).sum(), (values[chosen] <= value).sum() * m / n
        assert abs(rank - standing) <= m / n / 2 + 1


@PROPERTY
@given(
    n_blocks=st.integers(1, 4),
    length=st.integers(2, 6),
    runs=st.integers(2, 12),
    k=st.integers(1, 20),
    levels=st.sampled_from([None, 3]),
    seed=st.integers(0, 10**6),
)
def test_bins_are_bounded(n_blocks, length, runs, k, levels, seed):
    """The k nearest that stand for bins of r reach over (k - 2 B) r to (k + 2 B) r rows.

    Of what grows with the output their mean differs from that over all these rows by at most 4 B / k.
    """
    rng = np.random.default_rng(seed)
    m = n_blocks * length * runs
    whole = outcome_of("mil", [3] * n_blocks, [length] * (runs * n_blocks), rng, k=k, levels=levels)
    heldout, scores = whole.heldout_scores[:, 0], whole.scores[:, 0]
    above = heldout > 0.3
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(block_neighbourhood, "MOST_RANKS", m - 1)
        patched.setattr(block_neighbourhood, "N_BINS", -(-m // length))
        means = means_in_blocks(whole, n_blocks, above)[:, 0]
    standing = np.concatenate(
        [block.heldout[one_of_each_run(heldout[block.heldout], length)] for block in cut_into_blocks(whole, n_blocks)]
    )
    nearest = min(k, len(standing))
    for x, score in enumerate(scores):
        distances = np.abs(heldout - score)
        radius = np.sort(distances[standing])[nearest - 1]
        within = distances <= radius
        assert (distances < radius).sum() <= (nearest + 2 * n_blocks) * length
        assert within.sum() >= (nearest - 2 * n_blocks) * length
        assert abs(means[x] - above[within].mean()) <= 4 * n_blocks / nearest + 1e-12


def test_bins_have_the_expectation_of_all_rows():
    """Means by bins are those of a sample: in the mean of many the same, and apart by its deviation, 1/2 k^-1/2."""
    rng = np.random.default_rng(0)
    whole = outcome_of("mil", [10] * 100, [10] * 2000, rng, k=25)
    chance = 1 / (1 + np.exp(-whole.heldout_scores[:, 0]))
    quantity = rng.random(len(chance)) < chance
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(block_neighbourhood, "MOST_RANKS", 3000)
        patched.setattr(block_neighbourhood, "N_BINS", 2500)
        found = means_in_blocks(whole, 4, quantity)[:, 0]
    wide = evolve(whole, fold=evolve(whole.fold, n_neighbors=25 * 8))
    expected = neighbourhood(wide).mean(quantity)
    assert abs((found - expected).mean()) < 0.01
    assert 0.5 < (found - expected).std() / (0.5 / np.sqrt(25)) < 1.1


def test_equal_outputs_are_not_chosen_by_their_place():
    """Of rows that no output tells apart, what repeats with the length of a run is chosen as often as it is there."""
    regular = np.arange(6000) % 6 == 0
    chosen = one_of_each_run(np.zeros(6000), 6)
    assert abs(regular[chosen].mean() - regular.mean()) < 0.04


def test_bins_of_several_outputs():
    """With an output for each label, each has bins of its own."""
    rng = np.random.default_rng(0)
    whole = outcome_of("multiclass-mil", [5] * 40, [5] * 800, rng, k=50)
    reward = MultiClassMilReward(alpha=0.0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(block_neighbourhood, "MOST_RANKS", 3000)
        patched.setattr(block_neighbourhood, "N_BINS", 1000)
        found = rewards_in_blocks(reward.in_blocks(), whole, 3)
    expected = reward(evolve(whole, fold=evolve(whole.fold, n_neighbors=200)))
    assert ((found > 0) == (expected > 0)).all()
    assert abs((found - expected)[expected > 0].mean()) < 0.01
    assert np.abs(found - expected).max() < 0.3
