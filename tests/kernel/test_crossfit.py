"""The cross-fit: folds of whole bags, averaged means, passes, and the same bits however folds are run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import define, field, fields

from bliss_bandits.cucb import Cucb
from bliss_classifiers.ridge import KernelRidge
from bliss_framework import PluginError, RewardError
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.kernel.crossfit import CrossFit, cross_fit
from bliss_framework.kernel.events import FoldFinished, FoldStarted, RoundFinished
from bliss_framework.kernel.fold_task import Components, run_fold
from bliss_framework.kernel.inference import InferenceSettings
from bliss_framework.kernel.pull import Fold, Part
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.rewards.paper_reward import MilReward

SWEEP = 2


GENERAL = {one.name: TABLE[one.name].default for one in fields(InferenceSettings)} | {"n_inferences": 1}


def settings_of(**chosen: Any) -> InferenceSettings:
    """Return settings of Algorithm 1, the general ones but for what is chosen."""
    return InferenceSettings(**{**GENERAL, **chosen})


@define
class Watched:
    """A classifier that remembers every fold it was prepared for; its predictions are the assigned labels."""

    puller: Callable[..., Any]
    prepared: list[tuple[Part, Part]] = field(factory=list)
    pullers: list[Any] = field(factory=list)

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> Any:
        self.prepared.append((train, heldout))
        self.pullers.append(self.puller(heldout.n_rows, []))
        return self.pullers[-1]

    @property
    def rows(self) -> list[tuple[list[int], list[int]]]:
        """The row numbers of every training part and held-out set: X holds them."""
        return [(part.X[:, 0].astype(int).tolist(), rest.X[:, 0].astype(int).tolist()) for part, rest in self.prepared]


@define
class Paying:
    """A reward that pays by fold: a function from a fold to a function from an outcome to rewards."""

    reward: Callable[..., Any]
    by_fold: Callable[[Fold], Callable[..., Any]]
    diagnose: Callable[..., str | None] = lambda outcome: None

    def prepare(self, fold: Fold, classifier: Any) -> Any:
        return self.reward(self.by_fold(fold), self.diagnose)


class PlainRegime:
    """A regime without a prior or constraint; its weak score is the number of held-out rows."""

    def draw_prior(self, part: Part) -> None:
        return None

    def constraint(self) -> None:
        return None

    @property
    def reading(self) -> "PlainRegime":
        return self

    def weak_score(self, outcome: Any) -> dict[str, float]:
        return {"heldout_rows": float(outcome.fold.heldout.n_rows)}


def alike(fold: Fold) -> Callable[..., Any]:
    """Pay every label the same."""
    return lambda outcome: np.full(fold.train.n_rows, 0.5)


@pytest.fixture(scope="session")
def components_for(stub_puller, stub_reward) -> Callable[..., Components]:
    """Return a factory of components with a watched stub classifier and a reward that pays by fold."""

    def made(by_fold=alike, strategy=None, regime=None, diagnose=lambda outcome: None) -> Components:
        return Components(
            Watched(stub_puller), Paying(stub_reward, by_fold, diagnose), strategy or Cucb(), regime or PlainRegime()
        )

    return made


def fit(components: Components, data: Part, strata=None, seed: int = 0, **options: Any) -> CrossFit:
    """Run a small cross-fit, quietly about folds and neighbours unless those are given."""
    chosen = {"n_rounds": 3, "n_folds": 3, "n_neighbors": 1, **options}
    strata = data.weak.values if strata is None else strata
    keywords = {name: chosen.pop(name) for name in ("run_tasks", "emit") if name in chosen}
    return cross_fit(components, data, np.asarray(strata, dtype=np.intp), settings_of(**chosen), seed, **keywords)


def toy(n_positive: int, n_negative: int, size: int = 4, gap: float = 4.0, seed: int = 0) -> tuple[MilRegime, Part]:
    """Two-dimensional bags; the first row of each positive bag is shifted."""
    from bliss_framework import Bags, WeakLabels

    rng = np.random.default_rng(seed)
    n_bags = n_positive + n_negative
    X = rng.normal(size=(n_bags * size, 2))
    X[: n_positive * size : size] += gap
    bags = Bags.from_ids(np.repeat(np.arange(n_bags), size))
    weak, regime = WeakLabels(np.repeat([1, 0], [n_positive, n_negative]), (0, 1)), MilRegime()
    return regime, Part(X, bags, weak, regime.label_space(weak, bags))


def real(regime: MilRegime, **reward: float) -> Components:
    """The components of binary MIL with kernel ridge."""
    return Components(KernelRidge(), MilReward(**reward), Cucb(), regime)


def bits(found: CrossFit) -> tuple:
    """Everything that a result holds, for comparisons to the last bit."""
    inferred = found.inferred
    return (
        inferred.labels.tolist(),
        inferred.confidence.tolist(),
        inferred.undecided.tolist(),
        np.nan_to_num(inferred.means, nan=-1.0).tolist(),
        inferred.pulls.tolist(),
        found.mean_reward,
        found.weak_score,
        found.n_pulls,
    )


# Folds


@pytest.mark.parametrize("train_on", ["one", "rest"])
def test_bags_are_never_split(components_for, make_part, train_on):
    """Training part and held-out set of a fold share no bag, and together they are all rows."""
    data = make_part([3, 1, 4, 2, 5, 2, 1], weak=[1, 1, 1, 0, 0, 0, 0])
    components = components_for()
    fit(components, data, train_on=train_on)
    times = np.zeros(data.n_rows, dtype=int)
    for train, heldout in components.classifier.rows:
        assert sorted(train + heldout) == list(range(data.n_rows))
        assert not set(data.bags.index[train]) & set(data.bags.index[heldout])
        times[train] += 1
    assert set(times.tolist()) == {1 if train_on == "one" else 2}


@pytest.mark.parametrize("train_on", ["one", "rest"])
@pytest.mark.parametrize("n_inferences", [1, 3])
def test_labels_come_from_the_folds_that_trained_on_a_row(components_for, make_part, train_on, n_inferences):
    """The means of a row are the average over its folds, and its pulls add up over folds and inferences.

    Each fold pays label 1 one amount of its own, and label 0 nothing.
    """
    data = make_part([2, 3, 2, 1, 2, 2], weak=[0, 0, 0, 1, 1, 1])

    def amount(heldout_rows: list[int]) -> float:
        return 0.1 + 0.02 * min(heldout_rows) + 0.01 * len(heldout_rows)

    def by_fold(fold):
        pays = amount(fold.heldout.X[:, 0].astype(int).tolist())
        return lambda outcome: pays * outcome.assignment

    components = components_for(by_fold)
    found = fit(components, data, train_on=train_on, n_inferences=n_inferences)
    for row in range(data.n_rows):
        paid = [amount(heldout) for train, heldout in components.classifier.rows if row in train]
        assert len(paid) == (1 if train_on == "one" else 2)
        assert found.inferred.means[row] == pytest.approx([0.0, sum(paid) / len(paid)])
        assert found.inferred.pulls[row].sum() == len(paid) * n_inferences * (SWEEP + 3)
    assert (found.inferred.labels == 1).all()
    assert found.n_pulls == 3 * n_inferences * (SWEEP + 3)
    assert found.n_folds == len(found.folds) == 3


def test_folds_are_stratified(components_for, make_part):
    """Each of three folds trains on a third of the 6 positive and of the 12 negative bags."""
    data = make_part([1] * 18, weak=[1] * 6 + [0] * 12)
    components = components_for()
    fit(components, data)
    assert [(int(part.weak.values.sum()), part.n_rows) for part, _ in components.classifier.prepared] == [(2, 6)] * 3


def test_more_folds_than_bags():
    """With three bags, five folds become three, with one warning that names both numbers."""
    regime, data = toy(2, 1)
    found = fit(real(regime), data, n_folds=5)
    (warning,) = found.warnings
    assert warning.startswith("n_folds was reduced from 5 to 3: there are 3 bags")
    assert found.n_folds == 3


def test_folds_that_bags_allow_need_no_warning():
    """Two folds of two bags are fine."""
    regime, data = toy(1, 1)
    found = fit(real(regime), data, n_folds=2)
    assert found.n_folds == 2
    assert found.warnings == ()


def test_more_neighbours_than_heldout_rows():
    """The k of neighbours is cut to the smallest held-out set, and says so once for all folds, rounds and passes."""
    regime, data = toy(1, 1)
    (warning,) = fit(real(regime), data, n_folds=2, n_neighbors=50, n_passes=2).warnings
    assert warning == "n_neighbors was reduced from 50 to 4, the size of the smallest held-out set."


def test_a_fold_never_asks_for_more_neighbours_than_there_are(components_for, make_part):
    """A reward sees k cut down to the rows of its own held-out set, fold by fold."""
    seen = []

    def by_fold(fold):
        seen.append((fold.n_neighbors, fold.heldout.n_rows))
        return alike(fold)

    fit(components_for(by_fold), make_part([1, 2, 6]), n_neighbors=5, train_on="rest", strata=[0, 0, 0])
    assert sorted(seen) == [(1, 1), (2, 2), (5, 6)]


@pytest.mark.parametrize("train_on", ["one", "rest"])
@pytest.mark.parametrize("seed", range(4))
def test_two_positive_bags_are_in_different_folds(components_for, make_part, train_on, seed):
    """With 2 positive bags of 40 and two folds, each training part and each held-out set has one."""
    data = make_part([1] * 40, weak=[1] * 2 + [0] * 38)
    components = components_for()
    fit(components, data, seed=seed, n_folds=2, train_on=train_on)
    for train, heldout in components.classifier.prepared:
        assert train.weak.values.sum() == heldout.weak.values.sum() == 1


def test_a_fold_without_arms_is_left_out(components_for, make_part):
    """A fold of known rows alone is never pulled; its rows are known with certainty."""
    candidates = [[True, True]] * 2 + [[True, False]] * 4
    data = make_part([2, 2, 2], weak=[1, 0, 0], candidates=candidates)
    components = components_for()
    found = fit(components, data)
    assert components.classifier.rows == [([0, 1], [2, 3, 4, 5])]
    assert len(found.folds) == 1
    assert found.n_folds == 3
    assert found.inferred.known.tolist() == [False] * 2 + [True] * 4
    assert found.inferred.confidence[2:].tolist() == [1.0] * 4


def test_nothing_to_infer():
    """Bags of one row leave no doubt in MIL, so nothing is pulled and every label is certain."""
    regime, data = toy(6, 6, size=1)
    found = fit(real(regime), data)
    assert found.n_pulls == found.n_folds == 0
    assert found.folds == ()
    assert found.inferred.labels.tolist() == [1] * 6 + [0] * 6
    assert found.inferred.confidence.tolist() == [1.0] * 12
    assert not found.inferred.undecided.any()
    assert not found.collapsed
    assert np.isnan(found.mean_reward)
    assert found.weak_score == {}
    assert set(found.seconds.values()) == {0.0}


# Results


def test_labels_that_are_paid_are_found(components_for, make_part):
    """When a reward pays for the true label alone, every free row gets it, with confidence 1."""
    data = make_part([4] * 6, weak=[1, 1, 1, 0, 0, 0])
    truth = np.random.default_rng(0).integers(0, 2, data.n_rows)

    def by_fold(fold):
        wanted = truth[fold.train.X[:, 0].astype(int)]
        return lambda outcome: outcome.assignment == wanted

    found = fit(components_for(by_fold), data)
    assert found.inferred.labels.tolist() == truth.tolist()
    assert found.inferred.confidence.tolist() == [1.0] * data.n_rows
    assert not found.inferred.undecided.any()
    assert found.mean_reward == 1.0
    assert not found.collapsed


def test_an_arm_is_averaged_over_the_folds_that_pulled_it(components_for, make_part):
    """A fold that never pulled an arm does not lower its mean."""
    data = make_part([8] * 3, class_of_label=(0, 1, 2))
    pays = np.linspace(0.1, 0.9, data.n_rows * 3).reshape(-1, 3)

    def by_fold(fold):
        rows = fold.train.X[:, 0].astype(int)
        return lambda outcome: pays[rows, outcome.assignment]

    few = {"n_rounds": 1, "n_first_draws": 1, "train_on": "rest"}
    found = fit(components_for(by_fold), data, **few)
    times = np.zeros(pays.shape)
    for fold in found.folds:
        times[fold.rows] += fold.arms.pulls > 0
    assert (times == 1).any()
    pulled = found.inferred.pulls > 0
    assert found.inferred.means[pulled] == pytest.approx(pays[pulled])


def test_rows_that_earn_the_same_are_undecided(components_for, make_part):
    """Where every label earns the same nothing is decided, and the labels are drawn by lot."""
    found = fit(components_for(), make_part([10] * 6))
    assert found.inferred.undecided.all()
    assert (found.inferred.confidence == 0).all()
    assert set(found.inferred.labels.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("favoured", "collapsed"), [(lambda rows: rows >= 0, True), (lambda rows: rows % 2 == 0, False)]
)
def test_one_class_everywhere_is_a_collapse(components_for, make_part, favoured, collapsed):
    """When all free rows of every fold end in one class the result says so, and only then."""

    def by_fold(fold):
        wanted = favoured(fold.train.X[:, 0].astype(int)).astype(int)
        return lambda outcome: outcome.assignment == wanted

    found = fit(components_for(by_fold), make_part([4] * 6))
    assert found.collapsed is collapsed


def test_one_fold_in_one_class_is_no_collapse(components_for, make_part):
    """A collapse is told of only where no fold found two classes."""

    def by_fold(fold):
        rows = fold.train.X[:, 0].astype(int)
        wanted = (rows % 2) * (0 not in rows)
        return lambda outcome: outcome.assignment == wanted

    found = fit(components_for(by_fold), make_part([4] * 6))
    assert sorted(fold.one_class for fold in found.folds) == [False, False, True]
    assert not found.collapsed


def test_two_negative_labels_are_one_class_of_a_collapse(components_for, make_part):
    """Rows that end in two different negative labels have collapsed into the negative class all the same."""

    def by_fold(fold):
        wanted = fold.train.X[:, 0].astype(int) % 2
        return lambda outcome: outcome.assignment == wanted

    assert fit(components_for(by_fold), make_part([4] * 6, class_of_label=(0, 0, 1))).collapsed


@pytest.mark.parametrize("content_in", [None, 2])
def test_a_reward_that_is_never_content(components_for, make_part, content_in):
    """A fold is uninformative if every diagnostic says so; one that says nothing is enough."""
    looks = iter(range(1000))
    components = components_for(diagnose=lambda outcome: None if next(looks) == content_in else "lower alpha")
    found = fit(components, make_part([2] * 6), n_rounds=5)
    expected = ["lower alpha"] * 3 if content_in is None else [None, "lower alpha", "lower alpha"]
    assert [fold.uninformative for fold in found.folds] == expected


def test_recall_below_alpha_everywhere_is_diagnosed():
    """With positive bags that no classifier can tell from others, MIL's reward names alpha in every fold."""
    regime, data = toy(2, 10, gap=0.0)
    found = fit(real(regime), data, n_rounds=20, n_neighbors=24, n_folds=2)
    assert all("never reached alpha = 1" in str(fold.uninformative) for fold in found.folds)


def test_mean_reward_and_weak_score_are_averages_over_folds(components_for, make_part):
    """The inferred labels are pulled once more in each fold: three folds that pay 0.2, 0.4 and 0.9 give 0.5."""
    amounts = iter([0.2, 0.4, 0.9])

    def by_fold(fold):
        pays = next(amounts)
        return lambda outcome: pays * outcome.assignment

    components = components_for(by_fold)
    found = fit(components, make_part([1, 2, 3]))
    assert found.mean_reward == pytest.approx(0.5)
    # Held-out sets of 6 - 1, 6 - 2 and 6 - 3 rows.
    assert found.weak_score == {"heldout_rows": 4.0}
    for puller in components.classifier.pullers:
        assert puller.assignments[-1].tolist() == [1] * puller.assignments.shape[1]


def test_a_measure_that_a_fold_lacks_is_left_out(components_for, make_part):
    """A regime may have a measure for some held-out sets alone, as AUC needs bags of both classes."""

    class Changing(PlainRegime):
        def weak_score(self, outcome):
            n_rows = outcome.fold.heldout.n_rows
            return {"heldout_rows": float(n_rows)} | ({"auc": 0.5} if n_rows > 3 else {})

    found = fit(components_for(regime=Changing()), make_part([1, 2, 3]))
    assert found.weak_score == {"heldout_rows": 4.0}


def test_the_last_look_is_balanced_like_every_pull(components_for, make_part):
    """The reward of the inferred labels comes from a classifier with the class weights of all other pulls."""

    def by_fold(fold):
        wanted = (fold.train.X[:, 0] % 4 == 0).astype(int)
        return lambda outcome: outcome.assignment == wanted

    components = components_for(by_fold)
    fit(components, make_part([4] * 4), n_folds=2, class_balance=1.0)
    for puller in components.classifier.pullers:
        assignments, weights = puller.calls[-1]
        assert assignments.tolist() == [[1, 0, 0, 0, 1, 0, 0, 0]]
        # Raw weights 8/2 and 8/6 with the mean (2 * 4 + 6 * 4/3) / 8 = 2.
        assert weights[0] == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3] * 2)


def test_seconds_are_added_up(components_for, make_part):
    """The time of a cross-fit is that of its folds."""
    found = fit(components_for(), make_part([2] * 6))
    for what in ("classifier", "reward", "strategy"):
        assert found.seconds[what] == pytest.approx(sum(fold.arms.seconds[what] for fold in found.folds))


# Passes


def by_row_number(n_rows: int) -> Callable[[Fold], Callable[..., Any]]:
    """Pay label 1 of row i i/n, label 0 nothing: the higher the row, the more confident its label."""

    def by_fold(fold):
        pays = fold.train.X[:, 0] / n_rows
        return lambda outcome: pays * outcome.assignment

    return by_fold


@pytest.mark.parametrize("train_on", ["one", "rest"])
def test_confident_rows_join_later_passes(components_for, make_part, train_on):
    """In the second pass a quarter of the rows outside join the training data: the most confident, as inferred."""
    data = make_part([4] * 6)
    components = components_for(by_row_number(24))
    found = fit(components, data, n_passes=2, pass_share=0.25, train_on=train_on)
    assert len(components.classifier.rows) == 6
    for (train, heldout), (part, _) in list(
        zip(components.classifier.rows, components.classifier.prepared, strict=True)
    )[3:]:
        own = [row for row in range(24) if row not in heldout]
        joined = sorted(heldout)[-int(0.25 * len(heldout)) :]
        assert train == own + joined
        # They are no arms: their one candidate is the label 1 that the first pass inferred.
        assert part.space.free.tolist() == [True] * len(own) + [False] * len(joined)
        assert part.space.known[len(own) :].tolist() == [1] * len(joined)
    folds_of_a_row = 1 if train_on == "one" else 2
    assert found.inferred.pulls.sum(axis=1).tolist() == [folds_of_a_row * (SWEEP + 3.0)] * 24
    assert found.n_pulls == 2 * 3 * (SWEEP + 3)


def test_rows_that_joined_are_always_pulled_with_their_label(components_for, make_part):
    """A row that joined the training data has its inferred label in every assignment of the pass."""
    components = components_for(by_row_number(24))
    fit(components, make_part([4] * 6), n_passes=2, pass_share=0.5)
    for (part, _), puller in list(zip(components.classifier.prepared, components.classifier.pullers, strict=True))[3:]:
        known = ~part.space.free
        assert known.sum() == 8
        assert (puller.assignments[:, known] == 1).all()


def test_the_undecided_never_join(components_for, make_part):
    """Rows whose labels tie stay out of later training data, however large the share."""
    components = components_for()
    fit(components, make_part([4] * 6), n_passes=3, pass_share=1.0)
    assert [len(train) for train, _ in components.classifier.rows] == [8] * 9


def test_known_rows_never_join(components_for, make_part):
    """Rows with one candidate do not crowd out the inferred ones: only those join later passes."""
    candidates = np.ones((24, 2), dtype=bool)
    candidates[::2, 1] = False
    components = components_for(by_row_number(24))
    fit(components, make_part([4] * 6, candidates=candidates), n_passes=2, pass_share=1.0)
    for (train, heldout), _ in list(zip(components.classifier.rows, components.classifier.prepared, strict=True))[3:]:
        joined = [row for row in train if row in heldout]
        assert joined
        assert all(row % 2 == 1 for row in joined)


def test_bags_of_the_heldout_set_stay_whole(components_for, make_part):
    """Rows that joined the training data still count in the recall of their bags."""
    components = components_for(by_row_number(24))
    fit(components, make_part([4] * 6), n_passes=2, pass_share=1.0)
    for _, heldout in components.classifier.prepared:
        assert heldout.bags.sizes.tolist() == [4] * 4


def test_results_of_folds_are_those_of_the_last_pass(components_for, make_part):
    """What is said of folds, and the labels, come from the last pass; pulls are counted in all of them."""
    folds = iter(range(100))

    def by_fold(fold):
        number, label = (0.25, 0) if next(folds) < 3 else (0.75, 1)
        return lambda outcome: number * (outcome.assignment == label)

    found = fit(components_for(by_fold), make_part([4] * 6), n_passes=2, pass_share=0.0)
    assert found.mean_reward == 0.75
    assert (found.inferred.labels == 1).all()
    assert len(found.folds) == 3
    assert found.n_pulls == 6 * (SWEEP + 3)


def test_no_share_no_passes(components_for, make_part):
    """With a share of 0 later passes train on their own folds alone."""
    components = components_for(by_row_number(24))
    fit(components, make_part([4] * 6), n_passes=2, pass_share=0.0)
    assert [len(train) for train, _ in components.classifier.rows] == [8] * 6


# Seeds and workers


def reversed_tasks(work, tasks, emit):
    """Run the last task first, and hand the results over in order."""
    results = {task.fold: work(task, emit) for task in reversed(tasks)}
    return [results[task.fold] for task in tasks]


def test_any_order_of_tasks_gives_the_same_bits():
    """Folds share no generator: run backwards, they give the same labels, means and confidence scores."""
    regime, data = toy(8, 8)
    options = {"n_passes": 2, "n_inferences": 2, "n_parallel": 2, "n_rounds": 12, "n_neighbors": 5}
    components = real(regime, alpha=0.7)
    forwards = fit(components, data, **options)
    assert bits(forwards) == bits(fit(components, data, **options))
    assert bits(forwards) == bits(fit(components, data, run_tasks=reversed_tasks, **options))


def test_one_task_can_be_run_alone():
    """A task holds all that a worker needs: run again on its own it finds the same arms."""
    regime, data = toy(6, 6)
    kept = []

    def keeping(work, tasks, emit):
        for task in tasks:
            kept.append((task, work(task, emit)))
            yield kept[-1][1]

    fit(real(regime), data, run_tasks=keeping)
    task, result = kept[-1]
    assert run_fold(task).arms.means.tolist() == result.arms.means.tolist()


def test_folds_and_passes_draw_on_their_own(components_for, make_part):
    """No two folds, passes or inferences start from the same random assignment."""
    components = components_for()
    fit(components, make_part([20] * 3), n_passes=2, n_inferences=2, pass_share=0.0)
    sweeps = [puller.calls[0][0] for puller in components.classifier.pullers]
    assert len({tuple(assignment) for assignments in sweeps for assignment in assignments.tolist()}) == 3 * 2 * 2


def test_another_seed_gives_other_folds_and_draws():
    """Different seeds lead to different pulls."""
    regime, data = toy(8, 8)
    assert len({str(bits(fit(real(regime), data, seed=seed))) for seed in range(4)}) == 4


def test_the_caller_keeps_its_random_state():
    """Inference draws from generators of its own, never from numpy's global one."""
    regime, data = toy(4, 4)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    fit(real(regime), data)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


# Events and errors


@pytest.mark.parametrize("n_passes", [1, 2])
def test_events_tell_of_folds_and_rounds(components_for, make_part, n_passes):
    """Each fold of each pass starts, tells of its rounds, and finishes with the mean reward of its labels."""
    told: list[Any] = []
    fit(components_for(), make_part([2] * 6), n_passes=n_passes, emit=told.append)
    expected = []
    for number in range(1, n_passes + 1):
        for fold in range(3):
            expected.append(FoldStarted(number, fold, 3, 3))
            expected += [RoundFinished(number, fold, t, 3, 0.5) for t in (1, 2, 3)]
            expected.append(FoldFinished(number, fold, 0.5))
    assert told == expected


def test_an_error_says_which_fold_and_pass(components_for, make_part):
    """A broken reward is reported with its fold and pass; the kind of the error stays."""
    folds = iter(range(100))

    def by_fold(fold):
        broken = next(folds) == 4
        return lambda outcome: np.full(fold.train.n_rows, 7.0 if broken else 0.5)

    with pytest.raises(RewardError, match=r"the reward returned 7.0 .* in round 0") as raised:
        fit(components_for(by_fold), make_part([2] * 6), n_passes=2)
    assert raised.value.__notes__ == ["(fold 2 of 3, pass 2)"]


def test_a_reward_that_fails_on_the_inferred_labels(components_for, make_part):
    """The pull of the inferred labels is held to the contract like all others."""
    pulls = iter(range(100))

    def by_fold(fold):
        return lambda outcome: np.full(2, np.nan if next(pulls) == SWEEP + 3 else 0.5)

    with pytest.raises(PluginError, match="nan"):
        fit(components_for(by_fold), make_part([2] * 3))
