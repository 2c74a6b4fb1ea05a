"""All folds at once over blocks of whole bags: the same pulls and rewards as a fold by itself has."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from bliss_bandits.cucb import Cucb
from bliss_classifiers.ridge import KernelRidge, Ridge
from bliss_framework import Bags, BlissClassifier, Fold, LabelSpace, PluginError
from bliss_framework.compute.processes import with_lockstep
from bliss_framework.kernel.crossfit import cross_fit
from bliss_framework.kernel.events import RoundFinished, silent
from bliss_framework.kernel.fold_task import Components
from bliss_framework.kernel.inference import InferenceSettings
from bliss_framework.kernel.pull import Part, outcome_of
from bliss_framework.lockstep import runner
from bliss_framework.lockstep.runner import blocks_of, forms_of, in_turn, run_in_lockstep
from bliss_framework.plugin import BlockReward, Gathered, Reward, Rows, RowView, Total
from bliss_llp.regime.llp_regime import LlpRegime
from bliss_llp.rewards.marginal_effect import LlpMarginalReward
from bliss_llp.rewards.recall_precision_of_shares import LlpReward
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.rewards.marginal_effect import MilMarginalReward
from bliss_mil.rewards.paper_reward import MilReward
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime
from bliss_multiclass_mil.rewards.paper_reward import MultiClassMilReward


class Agreement(Reward):
    """Pays for labels that are predicted; it has no form for blocks of its own."""

    def __call__(self, outcome):
        return (outcome.assignment == outcome.labels).astype(float)


PROPERTY = settings(max_examples=40, deadline=None)
SETTINGS = InferenceSettings(
    n_rounds=4,
    n_folds=3,
    train_on="one",
    n_inferences=2,
    n_passes=1,
    pass_share=0.0,
    n_parallel=2,
    n_neighbors=5,
    n_first_draws=None,
    class_balance=0.0,
)


def mil_part(n_bags=30, size=4, weights=None):
    """Bags of which every second is positive, and its first row is shifted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_bags * size, 3))
    y = np.arange(n_bags) % 2
    X[::size, 0] += 3.0 * y
    bags, regime = Bags.from_ids(np.repeat(np.arange(n_bags), size)), MilRegime(weights="instance")
    weak = regime.check(y, bags)
    return Part(X, bags, weak, regime.label_space(weak, bags), weights), regime


def llp_part():
    """Bags of which the shares of three classes are known."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 4)) + 3.0 * np.eye(3, 4)[truth]
    bags, regime = Bags.from_ids(np.repeat(np.arange(30), 4)), LlpRegime()
    shares = bags.mean(np.eye(3)[truth])
    weak = regime.check(shares, bags)
    return Part(X, bags, weak, regime.label_space(weak, bags)), regime


def label_sets_part():
    """Bags of up to two labels, and two negative labels beside them."""
    rng = np.random.default_rng(0)
    sets = rng.random((30, 2)) < 0.6
    X = rng.normal(size=(120, 4))
    X[::4, 0] += 3.0 * sets[:, 0]
    X[1::4, 1] += 3.0 * sets[:, 1]
    bags, regime = Bags.from_ids(np.repeat(np.arange(30), 4)), MultiClassMilRegime(n_negative=2)
    names = np.empty(30, dtype=object)
    names[:] = [frozenset(np.array(["a", "b"])[one]) for one in sets]
    weak = regime.check(names, bags)
    return Part(X, bags, weak, regime.label_space(weak, bags)), regime


CASES = {
    "mil": (mil_part, Ridge(ridge=0.7), MilMarginalReward()),
    "weighted": (
        lambda: mil_part(weights=np.random.default_rng(1).uniform(0.3, 3, 120)),
        Ridge(ridge=0.7),
        MilMarginalReward(),
    ),
    "landmarks": (mil_part, KernelRidge(n_landmarks=20), MilMarginalReward()),
    "shares": (llp_part, Ridge(ridge=0.7), LlpMarginalReward()),
    "mil, paper": (mil_part, Ridge(ridge=0.7), MilReward(alpha=0.8)),
    "weighted, paper": (
        lambda: mil_part(weights=np.random.default_rng(1).uniform(0.3, 3, 120)),
        Ridge(ridge=0.7),
        MilReward(alpha=0.8),
    ),
    "shares, paper": (llp_part, Ridge(ridge=0.7), LlpReward()),
    "label sets, paper": (label_sets_part, Ridge(ridge=0.7), MultiClassMilReward(alpha=0.5)),
}


def fitted(case, n_rows, emit=silent, **other):
    """Run all folds in lock-step over blocks of about so many rows; return the fit, and what each program returned."""
    make, classifier, reward = CASES[case]
    part, regime = make()
    said, tasks_seen = [], []

    def run_blocks(blocks, answer):
        found = in_turn(blocks, answer)
        said.extend(found)
        return found

    def run_tasks(work, tasks, emit):
        tasks_seen.extend(tasks)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(runner, "BLOCK_ROWS", n_rows)
            patched.setattr(runner, "MANY_ROWS", 1)
            yield from run_in_lockstep(tasks, emit, *forms_of(tasks), run_blocks)

    components = Components(classifier, reward, Cucb(), regime)
    found = cross_fit(components, part, regime.strata(part.weak), evolve(SETTINGS, **other), 3, run_tasks, emit)
    return found, said, tasks_seen


@pytest.mark.parametrize("train_on", ["one", "rest"])
@pytest.mark.parametrize("n_rows", [1000, 25])
@pytest.mark.parametrize("case", CASES)
def test_a_pull_is_that_of_the_fold_by_itself(case, n_rows, train_on):
    """Predictions and rewards of the last pull are those of classifier and reward that have the whole fold."""
    found, said, tasks = fitted(case, n_rows, train_on=train_on)
    assert (len(said) == 1) == (n_rows == 1000)
    _, classifier, reward = CASES[case]
    for number, task in enumerate(tasks):
        outcomes = [own[number].outcome for own in said]
        assignment = np.concatenate([one["assignment"] for one in outcomes])
        fold = Fold(task.data.take(task.rows), task.data.take(task.heldout), 5, task.components.regime)
        # The landmarks of all folds are those of the whole data, so they are handed to the classifier of the fold.
        own = with_landmarks(classifier, task, tasks[0])
        prepared = own(fold)
        outcome = outcome_of(fold, assignment, prepared.pull(assignment[None], None), 0)
        heldout = np.concatenate([one["heldout_scores"] for one in outcomes])
        assert np.allclose(heldout, outcome.heldout_scores, atol=2e-4)
        assert np.allclose(np.concatenate([one["scores"] for one in outcomes]), outcome.scores, atol=2e-4)
        rewards = np.concatenate([own[number].rewards for own in said])
        assert np.allclose(rewards, reward.prepare(fold, prepared)(outcome), atol=2e-3)
        assert found.folds[number].mean_reward == pytest.approx(rewards[fold.train.space.free].mean())
        assert found.folds[number].weak_score == pytest.approx(task.components.regime.reading.weak_score(outcome))


def with_landmarks(classifier, task, first):
    """Return a function that prepares a classifier for a fold, on the features that all folds share."""
    if not isinstance(classifier, KernelRidge):
        return lambda fold: classifier.prepare(fold.train, fold.heldout, np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runner, "MANY_ROWS", 1)
        form = forms_of([first])[0]

    def prepared(fold):
        train, heldout = (evolve(part, X=form.landmarks.of(part.X)) for part in (fold.train, fold.heldout))
        return Ridge(ridge=classifier.ridge).prepare(train, heldout, np.random.default_rng(0))

    return prepared


class InBlocks(BlockReward):
    """Pays for labels that are predicted, after asking something."""

    def __init__(self, question):
        self.question = question

    def rewards(self, outcome, n_heldout):
        yield self.question
        return (outcome.assignment == outcome.labels).astype(float)


class Returning(InBlocks):
    """Returns rewards where it should be a generator."""

    def rewards(self, outcome, n_heldout):
        return (outcome.assignment == outcome.labels).astype(float)


class Mixed(InBlocks):
    """Asks for the bags of all blocks, which come in order, or for sums, by the size of the fold."""

    def rewards(self, outcome, n_heldout):
        (total,) = yield Total(np.array([len(outcome.heldout_labels)]))
        assert total == n_heldout
        if n_heldout % 8:
            names = yield Gathered(outcome.fold.heldout.bags.ids)
            assert (np.diff(names) > 0).all()
            assert 4 * len(names) == n_heldout
        else:
            sums = yield Total(np.ones((2, 3)))
            assert sums.shape == (2, 3)
            assert (sums == sums[0, 0]).all()
        return (outcome.assignment == outcome.labels).astype(float)


def in_lockstep(reward, monkeypatch):
    """Run all folds over two blocks and more with a reward in its form for blocks."""
    part, regime = mil_part(n_bags=31)
    monkeypatch.setattr(runner, "BLOCK_ROWS", 25)
    monkeypatch.setattr(runner, "MANY_ROWS", 1)

    def run_tasks(work, tasks, emit):
        form, _ = forms_of(tasks)
        yield from run_in_lockstep(tasks, emit, form, reward)

    components = Components(Ridge(), MilMarginalReward(), Cucb(), regime)
    return cross_fit(components, part, regime.strata(part.weak), SETTINGS, 3, run_tasks, silent)


def test_folds_may_ask_different_questions(monkeypatch):
    """Each pull has the answer to its own question, whatever others ask."""
    found = in_lockstep(Mixed(None), monkeypatch)
    assert {len(fold.rows) % 8 for fold in found.folds} == {0, 4}


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (InBlocks(np.zeros(1)), "yields Total, Gathered or Effects"),
        (Returning(None), "is a generator, with a yield in it"),
    ],
)
def test_what_a_reward_must_ask(reward, said, monkeypatch):
    """A reward that asks in another way is told how, as a fault of its plugin."""
    with pytest.raises(PluginError, match=said):
        in_lockstep(reward, monkeypatch)


def test_a_reward_that_never_tells_labels_apart_says_so():
    """The diagnostic of the whole fold comes from all of its blocks."""
    never, _, _ = fitted("mil, paper", 25, n_rounds=20)
    assert [fold.uninformative for fold in never.folds] == [None] * 3
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "bliss_mil.rewards.paper_reward._judged",
            lambda outcome: (np.full(len(outcome.heldout_labels), 0.25), np.ones(len(outcome.heldout_labels))),
        )
        never, said, _ = fitted("mil, paper", 25, n_rounds=20)
    assert all("never reached alpha = 0.8 (the highest was 0.25)" in fold.uninformative for fold in never.folds)
    assert len(said[0][0].diagnostics) == 10


def test_every_block_has_rows_of_every_fold():
    """Blocks grow until no component is given a training part or a held-out set without rows."""
    _, said, tasks = fitted("mil", 4)
    assert 1 < len(said) < 30
    for own in said:
        assert all(len(one.outcome["assignment"]) and len(one.outcome["heldout_labels"]) for one in own)
    assert len(tasks) == 3


def test_every_arm_is_pulled_as_often_as_was_asked():
    """The sweep and the rounds of both inferences are counted once for each row, whatever the blocks."""
    found, _, _ = fitted("mil", 25)
    free = ~found.inferred.known
    assert (found.inferred.pulls[free].sum(axis=1) == 2 * (2 + 4)).all()
    assert found.n_pulls == 3 * 2 * (2 + 4)


def test_later_passes_train_on_confident_rows():
    """In a second pass rows outside the fold join, and no arm of theirs is counted."""
    found, said, tasks = fitted("mil", 25, n_passes=2, pass_share=0.5)
    assert all(len(task.extra) for task in tasks[3:])
    assert all(len(fold.arms.means) == len(task.rows) for fold, task in zip(found.folds, tasks[3:], strict=True))
    assert sum(part[0].n_extra for part in said[len(said) // 2 :]) == len(tasks[3].extra)


def test_rounds_are_told_of_with_the_reward_of_all_blocks():
    """Each fold hears of each batch of rounds, with the mean reward over all blocks and folds."""
    told = []
    fitted("mil", 25, emit=told.append)
    rounds = [event for event in told if isinstance(event, RoundFinished)]
    assert [event.round for event in rounds if event.fold == 0] == [0, 0, 2, 4]
    assert all(0 < event.mean_reward < 1 for event in rounds)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 20))
@PROPERTY
def test_blocks_are_runs_of_whole_bags(sizes, n_rows):
    """Blocks cover all rows in order, cut no bag, and exceed their size by less than a bag."""
    bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
    places = blocks_of(bags, n_rows)
    assert [place.start for place in places] == [0, *(place.stop for place in places[:-1])]
    assert places[-1].stop == bags.n_rows
    for place in places:
        assert np.isin(bags.index, bags.index[place]).sum() == place.stop - place.start
        assert place.stop - place.start < n_rows + max(sizes)


class TestChoice:
    """Folds run in lock-step where rows are many and components have the forms for it."""

    def chosen(self, monkeypatch, classifier=None, reward=None, **other):
        part, regime = mil_part()
        seen = []
        components = Components(classifier or Ridge(), reward or MilMarginalReward(), Cucb(), regime)

        def run_tasks(work, tasks, emit):
            seen.append(forms_of(tasks) is not None)
            return [work(task, emit) for task in tasks]

        monkeypatch.setattr(runner, "MANY_ROWS", 119)
        cross_fit(components, part, regime.strata(part.weak), evolve(SETTINGS, **other), 3, run_tasks)
        return seen == [True]

    def test_many_rows(self, monkeypatch):
        """Least squares by sums, and a reward with a form for blocks, can."""
        assert self.chosen(monkeypatch)
        assert self.chosen(monkeypatch, reward=MilReward())
        assert self.chosen(monkeypatch, KernelRidge(n_landmarks=10))

    def test_components_without_such_a_form(self, monkeypatch):
        """A kernel of all rows with all, a reward without a form, and weights that follow labels cannot."""
        assert not self.chosen(monkeypatch, KernelRidge())
        assert not self.chosen(monkeypatch, reward=Agreement())
        assert not self.chosen(monkeypatch, class_balance=0.5)

    def test_few_rows(self):
        """Of few rows every fold runs by itself."""
        part, regime = mil_part()
        ran = []

        def run_tasks(work, tasks, emit):
            ran.append(len(tasks))
            return [work(task, emit) for task in tasks]

        components = Components(Ridge(), MilMarginalReward(), Cucb(), regime)
        cross_fit(components, part, regime.strata(part.weak), SETTINGS, 3, with_lockstep(run_tasks))
        assert ran == [3]


def test_a_mapped_file_gives_the_same_bits(monkeypatch, tmp_path):
    """Rows in a file and rows in memory lead to the same labels and scores, to the last bit."""
    monkeypatch.setattr(runner, "MANY_ROWS", 50)
    monkeypatch.setattr(runner, "BLOCK_ROWS", 30)
    monkeypatch.setattr("bliss_framework.kernel.row_view.MANY_VALUES", 10)
    part, _ = mil_part()
    np.save(tmp_path / "X.npy", part.X.astype(np.float32))
    y, bags = np.arange(30) % 2, np.repeat(np.arange(30), 4)
    models = [
        BlissClassifier(classifier="ridge", n_rounds=5, random_state=0).fit(X, y, bags=bags)
        for X in (np.load(tmp_path / "X.npy", mmap_mode="r"), np.load(tmp_path / "X.npy"))
    ]
    for name in ("label_means_", "training_scores_", "confidence_"):
        first, second = (getattr(model, name) for model in models)
        assert np.array_equal(first, second, equal_nan=True)


def test_blocks_share_the_rows_in_memory_until_they_are_sent(monkeypatch):
    """Blocks that run here are views of all rows, one that is sent holds its own alone, and both do the same."""
    monkeypatch.setattr(runner, "MANY_ROWS", 50)
    monkeypatch.setattr(runner, "BLOCK_ROWS", 30)
    part, regime = mil_part()
    part = evolve(part, X=RowView.of(Rows(part.X)))
    found = []

    def run_blocks(blocks, answer):
        alone = [one.detached() for one in blocks]
        for block, own in zip(blocks, alone, strict=True):
            assert block.rows.base is part.rows.base
            assert all(fold.data.rows is own.rows for fold in own.folds)
            assert len(own.rows.base) == own.rows.shape[0] < part.n_rows
            assert np.array_equal(own.rows.array, block.rows.array)
        found.append(len(blocks))
        return in_turn(alone, answer)

    def run_tasks(work, tasks, emit):
        return run_in_lockstep(tasks, emit, *forms_of(tasks), run_blocks)

    components = Components(Ridge(), MilMarginalReward(), Cucb(), regime)
    sent = cross_fit(components, part, regime.strata(part.weak), SETTINGS, 3, run_tasks)
    here = cross_fit(components, part, regime.strata(part.weak), SETTINGS, 3, with_lockstep(run_tasks))
    assert found[0] > 1
    assert np.array_equal(sent.inferred.means, here.inferred.means, equal_nan=True)


def test_one_label_everywhere_is_predicted_everywhere():
    """Where all rows of a fold have the same label in a pull, the prediction is that label, in every block."""
    part, regime = mil_part()
    # Candidates leave one label only in every row but those of the last bag.
    candidates = part.space.candidates.copy()
    candidates[:, 1] = False
    candidates[-4:] = [[True, False]] * 3 + [[True, True]]
    data = evolve(part, space=LabelSpace(candidates, part.space.class_of_label))
    scores = []

    def run_blocks(blocks, answer):
        def listening(questions):
            said = answer(questions)
            if isinstance(said, tuple):
                scores.append(said[1])
            return said

        return in_turn(blocks, listening)

    def run_tasks(work, tasks, emit):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(runner, "BLOCK_ROWS", 25)
            patched.setattr(runner, "MANY_ROWS", 1)
            yield from run_in_lockstep(tasks, emit, *forms_of(tasks), run_blocks)

    components = Components(Ridge(), MilMarginalReward(), Cucb(), regime)
    cross_fit(components, data, regime.strata(data.weak), SETTINGS, 3, run_tasks)
    alone = np.concatenate([one.ravel() for one in scores])
    assert set(alone.tolist()) == {-1, 0}


@pytest.mark.parametrize("n_passes", [1, 2])
def test_groups_are_rows_that_the_same_folds_train_on(n_passes):
    """Each row is in one group, and the groups of a fold are its training rows and the extra ones."""
    _, _, tasks = fitted("mil", 25, n_passes=n_passes, pass_share=0.5)
    tasks = tasks[-3:]
    folds_of_group, group_of_row = runner.training_groups(tasks)
    for k, task in enumerate(tasks):
        own = np.flatnonzero(np.isin(group_of_row, np.flatnonzero(folds_of_group[:, k])))
        assert set(own) == {*task.rows, *task.extra}
    assert len(np.unique(folds_of_group, axis=0)) == len(folds_of_group)
