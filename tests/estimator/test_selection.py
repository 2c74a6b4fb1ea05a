"""Settings chosen on held-out bags: candidates of a grid, their scores, and the average of the best."""

from itertools import pairwise

import numpy as np
import pytest
from attrs import evolve
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from bliss_framework import (
    Bags,
    BlissClassifier,
    SettingsError,
    UnknownNameError,
    WeakLabels,
    load_model,
    save_model,
)
from bliss_framework.estimator import fit_best as fitting, label_inference, selection
from bliss_framework.estimator.configure import configure
from bliss_framework.estimator.events import SelectionAdvanced, SelectionStarted
from bliss_framework.estimator.inputs import check_training
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.estimator.selection import groups_of, trials_of
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.readings.thresholds import logistic_threshold
from bliss_mil.regime.mil_regime import MilRegime

QUICK = {"n_rounds": 6, "n_folds": 2, "n_inferences": 1, "n_neighbors": 5}
GRID = {
    "final_classifier": ["same"],
    "classifier.width": [0.5, 2.0],
    "inherited_share": [0.0, 0.5, 1.0],
    "regime.bag_score": ["max", "mean"],
}
SEED = int(check_random_state(0).randint(2**31 - 1))  # What a model with random_state=0 starts from.


@pytest.fixture(scope="module")
def bags_of_text(toy):
    """Rows, bag ids and the weak label of each bag: twenty bags that are not easy to tell apart."""
    X, bags, weak = toy(seed=3, n_pos=10, n_neg=10, size=3, gap=1.5)
    return X, bags, np.array(list(weak.values()))


@pytest.fixture(scope="module")
def select():
    """A function that makes an unfitted model which chooses among few settings."""

    def make(**parameters):
        return BlissClassifier(**{"settings": "select", "grid": GRID, "random_state": 0, **QUICK, **parameters})

    return make


@pytest.fixture(scope="module")
def ranked(bags_of_text, select):
    """All candidates of the grid with their scores, best first."""
    return select().rank_settings(*bags_of_text[::2], bags=bags_of_text[1])


@pytest.fixture(scope="module")
def averaged(bags_of_text, select):
    """A model of the three best settings."""
    X, bags, y = bags_of_text
    return select(n_members=3).fit(X, y, bags=bags)


def candidates(grid, sparse=False, **own):
    """Return the configurations of a grid, under what the user gives."""
    given = {**own, "settings": "select", "grid": grid}
    return list(configure(given, Profile(60, 20, sparse), default_plugins().registry).candidates)


# Candidates


def test_every_combination_is_a_candidate():
    """The last axis of a grid moves fastest, and all else stays as the user set it."""
    found = candidates({"n_folds": [2, 3], "inherited_share": [0.0, 1.0]}, n_rounds=7)
    chosen = [(one.chosen["n_folds"], one.chosen["inherited_share"]) for one in found]
    assert chosen == [(2, 0.0), (2, 1.0), (3, 0.0), (3, 1.0)]
    assert [(one["n_folds"], one["n_rounds"]) for one in found] == [(2, 7)] * 2 + [(3, 7)] * 2
    assert [one.inference.n_folds for one in found] == [2, 2, 3, 3]


def test_an_empty_grid_has_one_candidate():
    """Where nothing is left to choose, the user's settings are the only ones."""
    (one,) = candidates({})
    # The regime chooses a share out of fold where settings are not chosen; else a half stands in for it.
    alone = configure({"inherited_share": 0.5}, Profile(60, 20), default_plugins().registry)
    assert (one.chosen, one.config) == ({}, alone.config)


@pytest.mark.parametrize(
    ("own", "left"),
    [
        ({}, {"n_folds", "classifier", "classifier.width", "final_classifier.C", "regime.weights"}),
        ({"n_folds": 3}, {"classifier", "classifier.width", "final_classifier.C", "regime.weights"}),
        ({"n_folds": 5}, {"classifier", "classifier.width", "final_classifier.C", "regime.weights"}),
        ({"classifier": "svm-linear"}, {"n_folds", "final_classifier.C", "regime.weights"}),
        (
            {"classifier": {"name": "kernel-ridge", "ridge": 0.3}},
            {"n_folds", "classifier.width", "final_classifier.C", "regime.weights"},
        ),
        (
            {"classifier": {"name": "kernel-ridge", "width": 1.0}, "final_classifier": "logistic"},
            {"n_folds", "regime.weights"},
        ),
        (
            {"regime": {"name": "mil", "positive_label": 1}},
            {"n_folds", "classifier", "classifier.width", "final_classifier.C", "regime.weights"},
        ),
        (
            {"regime": {"name": "mil", "weights": "instance"}},
            {"n_folds", "classifier", "classifier.width", "final_classifier.C"},
        ),
    ],
)
def test_what_the_user_set_is_not_chosen(own, left):
    """An axis is left out where its parameter is given, be it as the default is; the name of a regime is no choice."""
    grid = {
        "n_folds": [2],
        "classifier": ["kernel-ridge"],
        "classifier.width": [0.5],
        "final_classifier.C": [1.0],
        "regime.weights": ["bag"],
    }
    (one,) = candidates(grid, **{"final_classifier": "svm-rbf", **own})
    assert set(one.chosen) == left
    for name, value in own.items():
        kept = one[name]
        if isinstance(value, dict):
            assert {key: kept[key] for key in value} == value
        elif TABLE[name].is_component:
            assert kept["name"] == value
        else:
            assert kept == value


def test_the_name_of_a_regime_is_no_choice():
    """Data say which regime they are for, so a regime that is not the default keeps the axes of its parameters."""
    grid = {"regime.bag_score": ["mean"], "strategy.exploration": [0.5]}
    (one,) = candidates(grid, regime={"name": "mil"}, strategy="kl-ucb")
    assert one.chosen == {"regime.bag_score": "mean"}


def test_parameters_of_a_component_become_its_table():
    """A name becomes a table, and what the user's table holds stays in it."""
    (one,) = candidates({"classifier.width": [0.5], "regime.bag_score": ["mean"]}, classifier="kernel-ridge")
    assert one["classifier"] == {"name": "kernel-ridge", "ridge": 1.0, "width": 0.5, "n_landmarks": 0}
    assert one.classifier.width == 0.5
    assert (one["regime"]["bag_score"], one.regime.bag_score) == ("mean", "mean")
    (one,) = candidates({"classifier.width": [0.5]}, classifier={"name": "kernel-ridge", "ridge": 0.3})
    assert one["classifier"] == {"name": "kernel-ridge", "ridge": 0.3, "width": 0.5, "n_landmarks": 0}


@pytest.mark.parametrize("first", ["reward", "reward.steepness"])
def test_a_component_and_its_parameters_in_any_order(first):
    """The choice of a component never undoes that of its parameters."""
    axes = {"reward": ["mil-marginal"], "reward.steepness": [5.0]}
    (one,) = candidates(dict(sorted(axes.items(), key=lambda item: item[0] != first)))
    assert one["reward"] == {"name": "mil-marginal", "steepness": 5.0, "gain": 0.7}


def test_a_parameter_of_the_reward_that_nobody_named():
    """Without a name it is the regime's own."""
    (one,) = candidates({"reward.gain": [0.5]})
    assert one["reward"] == {"name": "mil-marginal", "steepness": 3.4, "gain": 0.5}


def test_the_same_classifier_in_the_end():
    """The final classifier "same" is the classifier of that very candidate."""
    found = candidates({"final_classifier": ["same"], "classifier.width": [0.5, 2.0]})
    assert [one.final.width for one in found] == [0.5, 2.0]
    assert [one.final_spec["width"] for one in found] == [0.5, 2.0]


@pytest.mark.parametrize(
    ("grid", "error", "said"),
    [
        ({"n_fold": [2]}, SettingsError, 'The grid has "n_fold", which is no parameter. Allowed: regime, classifier, '),
        ({"n_folds.x": [2]}, SettingsError, 'The grid has "n_folds.x", which is no parameter.'),
        ({"n_members": [2]}, SettingsError, 'The grid has "n_members", which is no parameter.'),
        ({"random_state": [2]}, SettingsError, 'The grid has "random_state", which is no parameter.'),
        ({"bag_threshold": [0.0]}, SettingsError, 'The grid has "bag_threshold", which is no parameter.'),
        ({"self_training": [1]}, SettingsError, 'The grid has "self_training", which is no parameter.'),
        ({"instance_threshold": [0.0]}, SettingsError, 'The grid has "instance_threshold", which is no parameter.'),
        ({"n_folds": []}, SettingsError, 'The grid must give "n_folds" a list of values; got [].'),
        ({"scaling": "auto"}, SettingsError, "The grid must give \"scaling\" a list of values; got 'auto'."),
        ({"n_folds": 3}, SettingsError, 'The grid must give "n_folds" a list of values; got 3.'),
        ({"n_folds": [1]}, SettingsError, "n_folds must be an integer, at least 2; got 1."),
        (
            {"inherited_share": [0.0, 2.0]},
            SettingsError,
            'inherited_share must be "out-of-fold" or a number from 0 to 1',
        ),
        ({"confidence_weights": ["x"]}, SettingsError, "confidence_weights must be True or False; got 'x'."),
        ({"classifier.widht": [1.0]}, SettingsError, 'The classifier "kernel-ridge" has no parameter "widht".'),
        ({"classifier": ["svm"]}, UnknownNameError, 'No classifier "svm" is installed.'),
        ({"regime.bag_score": ["median"]}, SettingsError, "bag_score must be one of 'max', 'mean', 'max-mean'"),
        (["n_folds"], SettingsError, "grid must be a table of lists of values, or None for the regime's own; got "),
    ],
)
def test_grids_that_cannot_be(grid, error, said, bags_of_text, untouched, select):
    """A grid is refused with the name, what was found and what is allowed, before anything is inferred."""
    with pytest.raises(error) as caught:
        candidates(grid)
    assert str(caught.value).startswith(said)
    X, bags, y = bags_of_text
    own = {} if "classifier" in str(grid) else {"classifier": untouched}
    with pytest.raises(error):
        select(**{"grid": grid, "n_folds": None, **own}).fit(X, y, bags=bags)


def test_the_grid_of_mil():
    """72 candidates on dense and sparse rows: two scalings, widths and classifiers, three shares and bag scores."""
    for sparse in (False, True):
        found = candidates(None, sparse)
        assert (len(found), len(groups_of(found))) == (2 * 2 * 2 * 3 * 3, 4)


# What is shared


def test_inference_is_shared_by_what_comes_after_it():
    """Only the width changes what is inferred; candidates that infer nothing join those with their classifier."""
    found = candidates(GRID)
    assert len(found) == 12
    groups = groups_of(found)
    assert sorted(position for group in groups for position in group) == list(range(12))
    assert [{found[i].chosen["classifier.width"] for i in group} for group in groups] == [{0.5}, {2.0}]


def test_where_nothing_is_inferred_groups_follow_the_preparation():
    """The control alone is grouped by the classifier, its scaling and the weights."""
    grid = {
        "classifier.width": [0.5, 2.0],
        "n_folds": [2, 3],
        "scaling": ["auto", "unit"],
        "final_classifier": ["same"],
    }
    groups = groups_of(candidates(grid, inherited_share=1.0))
    assert [len(group) for group in groups] == [2, 2, 2, 2]


def test_number_of_inferences(bags_of_text, select, monkeypatch):
    """Two widths and five folds take ten inferences; the winners take one each of theirs on all bags."""
    sizes = []
    infer = label_inference.labels_to_learn

    def counted(config, data, *rest):
        sizes.append(data.n_rows)
        return infer(config, data, *rest)

    monkeypatch.setattr(selection, "labels_to_learn", counted)
    monkeypatch.setattr(fitting, "labels_to_learn", counted)
    X, bags, y = bags_of_text
    model = select(n_members=12).fit(X, y, bags=bags)
    assert sizes == [48] * 10 + [60] * 2
    assert len(model.members_) == 12
    sizes.clear()
    select(n_members=1).rank_settings(X, y, bags=bags)
    assert sizes == [48] * 10


def test_progress_is_told(bags_of_text, select):
    """A listener hears how many candidates and inferences there are, then of each inference."""
    events = []
    X, bags, y = bags_of_text
    select(n_members=2).rank_settings(X, y, bags, events.append)
    own = [event for event in events if isinstance(event, SelectionStarted | SelectionAdvanced)]
    assert own[0] == SelectionStarted(12, 10, 2)
    assert own[1:] == [SelectionAdvanced(done, 10) for done in range(1, 11)]


# Scores on held-out bags


@pytest.fixture(scope="module")
def problem(bags_of_text):
    """A function that scores all candidates with folds and weak labels of one's own."""
    X, bags, y = bags_of_text
    folds = np.arange(20) % 4

    def judge(weak=y, rows=X, **own):
        data = check_training(rows, weak, bags).read_by(MilRegime())
        return trials_of(candidates(GRID, **QUICK, **own), data, folds, SEED, None, lambda done, total: None)

    return judge, folds


def test_scores_are_those_of_fits_on_the_other_bags(bags_of_text, problem):
    """A plain loop over folds that fits a model with a candidate's settings on the other bags finds its scores."""
    X, bags, y = bags_of_text
    judge, folds = problem
    position = np.repeat(np.arange(20), 3)
    for one in judge():
        expected = np.empty(60)
        for fold in range(4):
            inside = folds[position] != fold
            model = BlissClassifier(**one.config.values, random_state=0)
            model.fit(X[inside], y[folds != fold], bags=bags[inside])
            expected[~inside] = model.decision_function(X[~inside]) + model.instance_threshold_
        assert np.allclose(one.scores, expected, atol=1e-4), one.config.chosen
        by_bag = [list(row) for row in expected.reshape(20, 3)]
        reduce = max if one.config.chosen["regime.bag_score"] == "max" else np.mean
        assert np.allclose(one.bag_scores, [reduce(row) for row in by_bag], atol=1e-4)


def test_a_final_classifier_that_is_not_linear(bags_of_text):
    """So it is with a classifier that must be trained for each candidate, with confidence weights and without."""
    X, bags, y = bags_of_text
    data = check_training(X, y, bags).read_by(MilRegime())
    folds = np.arange(20) % 2
    found = candidates(
        {"final_classifier.C": [0.1, 10.0], "confidence_weights": [True, False]}, final_classifier="svm-rbf", **QUICK
    )
    inside = np.repeat(folds, 3) == 1
    everything = trials_of(found, data, folds, SEED, None, lambda done, total: None)
    for one in everything:
        model = BlissClassifier(**one.config.values, random_state=0)
        model.fit(X[inside], y[folds == 1], bags=bags[inside])
        assert np.allclose(one.scores[~inside], model.decision_function(X[~inside]) + model.instance_threshold_)
    assert len({one.scores.tobytes() for one in everything}) == 4


def test_held_out_bags_have_no_say(bags_of_text, problem):
    """Whatever weak label a bag has, the fold that it judges gets the same scores to the last bit; others do not."""
    _, _, y = bags_of_text
    judge, folds = problem
    position = np.repeat(folds, 3)
    other = y.copy()
    other[0] = 1 - other[0]
    assert folds[0] == 0
    before, after = ({str(one.config.chosen): one.scores for one in judge(weak)} for weak in (y, other))
    for chosen, scores in before.items():
        assert (scores[position == 0] == after[chosen][position == 0]).all()
        assert (scores[position != 0] != after[chosen][position != 0]).all()


def test_rows_of_held_out_bags_have_no_say(bags_of_text, problem):
    """Nor do their rows: not in scaling, in widths or in weights. The other rows of the fold keep their scores."""
    X, _, _ = bags_of_text
    judge, folds = problem
    moved = X.copy()
    moved[:3] += 100.0
    same = (np.repeat(folds, 3) == 0) & (np.arange(60) >= 3)
    regime = {"name": "mil", "weights": "bag"}
    both = (judge(rows=rows, regime=regime) for rows in (X, moved))
    before, after = ({str(one.config.chosen): one.scores for one in found} for found in both)
    for chosen, scores in before.items():
        assert np.allclose(scores[same], after[chosen][same], atol=1e-6)


def test_ranking_is_by_accuracy_and_half_the_area(bags_of_text, ranked):
    """In MIL the score is the accuracy at the bag threshold, plus half the area under the ROC curve."""
    y = bags_of_text[2]
    for one in ranked:
        right = ((one.bag_scores > one.threshold) == (y == 1)).mean()
        assert one.threshold == logistic_threshold(one.bag_scores, y)
        assert one.score == pytest.approx(right + roc_auc_score(y, one.bag_scores) / 2)
    assert all(first.score >= second.score for first, second in pairwise(ranked))
    assert len({one.score for one in ranked}) > 3


def test_ties_keep_the_order_of_the_grid(bags_of_text, select):
    """Settings of an inference that does not happen are all alike, and the first of them wins."""
    X, bags, y = bags_of_text
    grid = {"n_neighbors": [3, 9, 4], "final_classifier": ["same"]}
    found = select(grid=grid, inherited_share=1.0, n_neighbors=None).rank_settings(X, y, bags=bags)
    assert [one.config.chosen["n_neighbors"] for one in found] == [3, 9, 4]
    assert len({one.score for one in found}) == 1


def test_folds_hold_bags_of_every_class(bags_of_text, select):
    """With three positive bags there are three folds, and every candidate is scored on all bags."""
    X, bags, y = bags_of_text
    kept = np.isin(np.repeat(np.arange(20), 3), [0, 1, 2, *range(10, 20)])
    events = []
    found = select().rank_settings(X[kept], y[[0, 1, 2, *range(10, 20)]], bags[kept], events.append)
    assert events[0].n_inferences == 2 * 3
    assert all(np.isfinite(one.bag_scores).all() and len(one.bag_scores) == 13 for one in found)


# The same bits


def fingerprint(model, X, bags):
    ids, scores = model.score_bags(X, bags=bags)
    return model.labels_, model.decision_function(X), scores[np.argsort(ids)]


def test_processes_change_nothing(bags_of_text, select, averaged):
    """With two processes every score has the same bits."""
    X, bags, y = bags_of_text
    two = select(n_members=3, n_jobs=2).fit(X, y, bags=bags)
    for one, other in zip(fingerprint(averaged, X, bags), fingerprint(two, X, bags), strict=True):
        assert (one == other).all()
    assert two.inference_["chosen"] == averaged.inference_["chosen"]


def test_order_of_rows_and_bags_changes_nothing(bags_of_text, select, averaged):
    """Shuffled rows, and bags with them, get the same labels and settings, and the same scores to the last bit."""
    X, bags, y = bags_of_text
    shuffled = np.random.default_rng(1).permutation(60)
    weak = dict(zip(dict.fromkeys(bags.tolist()), y.tolist(), strict=True))
    other = select(n_members=3).fit(X[shuffled], weak, bags=bags[shuffled])
    assert (other.labels_ == averaged.labels_[shuffled]).all()
    assert [one["classifier.width"] for one in other.inference_["chosen"]] == [
        one["classifier.width"] for one in averaged.inference_["chosen"]
    ]
    for one, again in zip(fingerprint(averaged, X, bags)[1:], fingerprint(other, X, bags)[1:], strict=True):
        assert (one == again).all()


def test_the_same_seed_gives_the_same_bits(bags_of_text, select, averaged):
    """Twice the same, and with another seed something else."""
    X, bags, y = bags_of_text
    again, other = (select(n_members=3, random_state=seed).fit(X, y, bags=bags) for seed in (0, 1))
    assert (again.decision_function(X) == averaged.decision_function(X)).all()
    assert (other.decision_function(X) != averaged.decision_function(X)).any()


# The average of the best


@pytest.fixture
def one_and_alone(bags_of_text, select, ranked):
    """The average of one member, and a model with the winner's settings and threshold."""
    X, bags, y = bags_of_text
    best = ranked[0]
    alone = BlissClassifier(**{**best.config.values, "bag_threshold": best.threshold}, random_state=0)
    return select(n_members=1).fit(X, y, bags=bags), alone.fit(X, y, bags=bags)


def test_one_member_scores_as_the_best_settings(bags_of_text, ranked, one_and_alone):
    """It scores bags as the winner does, in units of the winner's deviation on held-out bags."""
    X, bags, _ = bags_of_text
    chosen, _ = one_and_alone
    best, new = ranked[0], X + 0.3 * np.random.default_rng(2).normal(size=X.shape)
    assert chosen.inference_["chosen"] == [{**best.config.chosen, "score": best.score}]
    scores, own = (model.score_bags(new, bags=bags)[1] for model in one_and_alone)
    assert np.allclose(scores * float(best.bag_scores.std()), own)


def test_one_member_decides_as_the_best_settings(bags_of_text, one_and_alone):
    """It calls bags as the winner does."""
    X, bags, _ = bags_of_text
    new = X + 0.3 * np.random.default_rng(2).normal(size=X.shape)
    chosen, alone = (model.predict_bags(new, bags=bags)[1].tolist() for model in one_and_alone)
    assert chosen == alone


def test_members_are_averaged_in_their_own_deviations(bags_of_text, ranked, averaged):
    """The score of a bag is the mean over the winners of their scores, each by its deviation on held-out bags."""
    X, bags, y = bags_of_text
    new = X + 0.3 * np.random.default_rng(2).normal(size=X.shape)
    parameters = [{**one.config.values, "bag_threshold": 0.0} for one in ranked[:3]]
    fitted = [BlissClassifier(**own, random_state=0).fit(X, y, bags=bags) for own in parameters]
    by_bag = [m.score_bags(new, bags=bags)[1] / one.bag_scores.std() for m, one in zip(fitted, ranked, strict=False)]
    assert np.allclose(averaged.score_bags(new, bags=bags)[1], np.mean(by_bag, axis=0) - averaged.bag_threshold_)
    own = [m.decision_function(new) + m.instance_threshold_ for m in fitted]
    by_row = [scores / one.scores.std() for scores, one in zip(own, ranked, strict=False)]
    assert np.allclose(averaged.decision_function(new), np.mean(by_row, axis=0) - averaged.instance_threshold_)
    assert averaged.predict_bags(new, bags=bags)[1].tolist() == (averaged.score_bags(new, bags=bags)[1] > 0).tolist()


def test_the_joint_threshold_is_that_of_averaged_scores(bags_of_text, ranked, averaged):
    """Bags are cut where a logistic curve through the averaged held-out scores says one half."""
    joint = np.mean([one.bag_scores / one.bag_scores.std() for one in ranked[:3]], axis=0)
    assert averaged.bag_threshold_ == pytest.approx(logistic_threshold(joint, bags_of_text[2]), abs=1e-6)


def test_a_threshold_of_ones_own(bags_of_text, select):
    """A number is taken as it is."""
    X, bags, y = bags_of_text
    assert select(n_members=2, bag_threshold=0.25).fit(X, y, bags=bags).bag_threshold_ == 0.25


def test_the_regime_cuts_the_averaged_scores(bags_of_text, ranked, averaged):
    """The instance threshold is the regime's for the averaged held-out scores of the members."""
    _, bags, y = bags_of_text
    joint = np.mean([one.scores / one.scores.std() for one in ranked[:3]], axis=0)
    grouped = Bags.from_ids(bags)
    weak = WeakLabels(y, (0, 1))
    assert averaged.instance_threshold_ == pytest.approx(
        MilRegime().reading.instance_threshold(joint, grouped, weak, None)
    )


def test_one_member_that_learnt_from_bags_is_enough(bags_of_text, select):
    """With "auto" the regime cuts the average as soon as one member learnt what instances inherit."""
    X, bags, y = bags_of_text
    found = {}
    for shares in ([0.0], [0.0, 1.0]):
        grid = {"inherited_share": shares, "final_classifier": ["same"]}
        model = select(grid=grid, n_members=2, instance_threshold="auto").fit(X, y, bags=bags)
        found[len(model.members_)] = model.instance_threshold_
    assert found[1] == 0.0
    assert found[2] != 0.0


def test_an_instance_threshold_of_ones_own(bags_of_text, select):
    """A number is taken off the averaged scores as it is."""
    X, bags, y = bags_of_text
    assert select(n_members=2, instance_threshold=-0.25).fit(X, y, bags=bags).instance_threshold_ == -0.25


def test_more_members_than_candidates(bags_of_text, select):
    """All candidates are averaged."""
    X, bags, y = bags_of_text
    model = select(grid={"inherited_share": [0.0, 0.5]}, final_classifier="kernel-ridge").fit(X, y, bags=bags)
    assert len(model.members_) == len(model.inference_["chosen"]) == 2


def test_labels_are_those_of_all_inferences_of_the_members(bags_of_text, select):
    """Means are averaged over inferences, and pulls added up; members that infer nothing have none."""
    X, bags, y = bags_of_text
    grid = {"classifier.width": [0.5, 2.0]}
    both = select(grid=grid, n_members=2, final_classifier="same").fit(X, y, bags=bags)
    alone = [
        BlissClassifier(
            **{**QUICK, "classifier": {"name": "kernel-ridge", "width": width}}, final_classifier="same", random_state=0
        ).fit(X, y, bags=bags)
        for width in (0.5, 2.0)
    ]
    free = ~both.known_
    assert np.allclose(both.label_means_[free], np.mean([one.label_means_[free] for one in alone], axis=0))
    assert (both.label_pulls_ == sum(one.label_pulls_ for one in alone)).all()
    assert both.inference_["n_pulls"] == sum(one.inference_["n_pulls"] for one in alone)


def test_kept_in_a_file(bags_of_text, averaged, tmp_path):
    """Members, units and thresholds are in the file of a model: what is read back predicts the same bits."""
    X, bags, _ = bags_of_text
    save_model(averaged, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert len(again.members_) == 3
    for one, other in zip(fingerprint(averaged, X, bags), fingerprint(again, X, bags), strict=True):
        assert (one == other).all()
    assert again.inference_ == averaged.inference_
    assert (again.predict_proba(X) == averaged.predict_proba(X)).all()


def test_explained(bags_of_text, averaged):
    """A row of an averaged model can be explained like any other."""
    assert str(averaged.labels_[0]) in averaged.explain(0).sentence()


@pytest.mark.filterwarnings("ignore:There are no bag ids")
def test_ordinary_classification(select):
    """Where every row is a bag of its own, settings are chosen as well."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    assert select(n_members=2).fit(X, y).score(X, y) > 0.9


# The control without a bandit


def test_the_control_infers_nothing(bags_of_text, untouched):
    """With inherited_share=1 no classifier is pulled: the labels are those of the bags, and nothing has a mean."""
    X, bags, y = bags_of_text
    model = BlissClassifier(classifier=untouched, final_classifier="kernel-ridge", inherited_share=1.0, random_state=0)
    model.fit(X, y, bags=bags)
    assert (model.labels_ == np.repeat(y, 3)).all()
    assert (model.inference_["n_pulls"], model.inference_["n_folds"]) == (0, 0)
    assert np.isnan(model.inference_["mean_reward"])
    assert np.isnan(model.label_means_).all()
    assert (model.label_pulls_ == 0).all()
    assert not model.undecided_.any()


def test_the_control_is_a_classifier_on_inherited_labels(bags_of_text):
    """Its scores are those of the final classifier, trained by hand on the scaled rows with the labels of bags."""
    X, bags, y = bags_of_text
    model = BlissClassifier(inherited_share=1.0, final_classifier={"name": "svm-linear", "C": 0.5}, random_state=0)
    model.fit(X, y, bags=bags)
    scaled = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    by_hand = SVC(kernel="linear", C=0.5).fit(scaled, np.repeat(y, 3))
    own = model.decision_function(X) + model.instance_threshold_
    assert np.allclose(own, by_hand.decision_function(scaled), atol=1e-2)


def test_the_control_with_chosen_settings(bags_of_text, select, untouched):
    """The user's share of 1 is not chosen away; a classifier of inference is never asked."""
    X, bags, y = bags_of_text
    model = select(classifier=untouched, inherited_share=1.0, final_classifier="kernel-ridge").fit(X, y, bags=bags)
    assert (model.inference_["n_pulls"], model.inference_["n_folds"]) == (0, 0)
    assert (model.labels_ == np.repeat(y, 3)).all()
    assert all("inherited_share" not in one for one in model.inference_["chosen"])
    assert len(model.members_) == 2


def test_where_winners_infer_nothing_labels_are_inferred_nevertheless(bags_of_text, select):
    """Labels of instances are what was asked for, so one inference is done even if the best settings need none."""
    X, bags, y = bags_of_text
    own = select(n_members=1)
    found = own.rank_settings(X, y, bags)
    control = next(one for one in found if one.config.inference_key is None)
    raised = [evolve(one, score=9.0) if one is control else one for one in found]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "ranked_trials", lambda *_: sorted(raised, key=lambda one: -one.score))
        model = own.fit(X, y, bags=bags)
    assert model.inference_["chosen"][0]["inherited_share"] == 1.0
    assert model.inference_["n_pulls"] > 0
    assert not np.isnan(model.label_means_[~model.known_]).all()


def test_a_grid_of_weights_weighs_each_member_in_its_own_way(bags_of_text, select):
    """Where the grid varies the regime's weights, the winner is trained with the weights that it was chosen with."""
    X, bags, y = bags_of_text
    keep = np.ones(len(bags), dtype=bool)
    keep[np.flatnonzero(bags == bags[0])[1:]] = False
    X, bags = X[keep], bags[keep]
    both = select(grid={"regime.weights": ["instance", "bag"], "inherited_share": [1.0]}, n_members=2)
    members = {one.regime["weights"]: one for one in both.fit(X, y, bags=bags).members_}
    for weights, member in members.items():
        alone = select(grid={"regime.weights": [weights], "inherited_share": [1.0]}, n_members=1).fit(X, y, bags=bags)
        assert np.array_equal(member.scores(X), alone.members_[0].scores(X))
    assert not np.allclose(members["instance"].scores(X), members["bag"].scores(X))
