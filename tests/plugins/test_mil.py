"""Binary MIL: the paper's reward against its formula, the regime, weak labels, and pulls with one class."""

import pickle
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, LinearSVC

from bliss_classifiers.sklearn_adapter import SklearnClassifier
from bliss_framework import (
    Bags,
    DataError,
    Fold,
    LabelSpace,
    Outcome,
    ParameterNeededError,
    Part,
    Predictions,
    SettingsError,
    WeakLabels,
)
from bliss_framework.extension.components import resolve
from bliss_framework.kernel.pull import outcome_of
from bliss_framework.plugin import best_threshold, binary_precision, binary_recall
from bliss_mil.datasets.musk1 import DETAILS, load_musk1
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.regime.weak_labels import check_binary
from bliss_mil.rewards.paper_reward import MilReward

PROPERTY = settings(max_examples=120, deadline=None)
G = 1 / 7


def part_of(
    ids: Sequence[Any], weak: dict, class_of_label: Sequence[int] = (0, 1), X: Any = None, w: Any = None
) -> Part:
    """Rows with these bag ids and weak labels by id; every label is a candidate."""
    bags = Bags.from_ids(np.asarray(ids))
    values = np.array([weak[name] for name in bags.ids.tolist()], dtype=np.int8)
    space = LabelSpace(np.ones((len(ids), len(class_of_label)), dtype=bool), np.asarray(class_of_label))
    return Part(np.zeros((len(ids), 1)) if X is None else X, bags, WeakLabels(values, (0, 1)), space, w)


def outcome(
    pi: Sequence[int],
    f: Sequence[int],
    s: Any,
    f_held: Sequence[int],
    s_held: Any,
    bags_held: Sequence[Any],
    weak: dict,
    k: int,
    class_of_label: Sequence[int] = (0, 1),
    weights: Any = None,
) -> Outcome:
    """One pull: labels pi, predictions f with scores s, and the same of the held-out set."""
    train = part_of(range(len(pi)), dict.fromkeys(range(len(pi)), 1), class_of_label)
    heldout = part_of(bags_held, weak, class_of_label, w=None if weights is None else np.asarray(weights, dtype=float))
    scores, held_scores = (np.asarray(values, dtype=float) for values in (s, s_held))
    if scores.ndim == 1:
        scores, held_scores = scores[:, None], held_scores[:, None]
    return Outcome(Fold(train, heldout, k), np.asarray(pi), np.asarray(f), scores, np.asarray(f_held), held_scores)


# The reward in numbers

# Two positive bags P, Q and a negative bag N. P has a predicted positive, Q has none, N has a false positive.
SMALL = {
    "f_held": [1, 0, 0, 0, 1, 0],
    "s_held": [3.0, -1.0, -2.0, -3.0, 2.0, -4.0],
    "bags_held": ["P", "P", "Q", "Q", "N", "N"],
    "weak": {"P": 1, "Q": 1, "N": 0},
}


def test_recall_and_precision_of_a_small_case():
    """Rec is 0 in a positive bag without a predicted positive; Prec is 0 for a predicted positive in a negative bag."""
    case = outcome([1], [1], [0.0], **SMALL, k=1)
    assert binary_recall(case).tolist() == [True, True, False, False, True, True]
    assert binary_precision(case).tolist() == [True, True, True, True, False, True]


@pytest.mark.parametrize(
    ("score", "k", "alpha", "expected"),
    [
        # N = {3.0}: Rec 1, Prec 1.
        (3.0, 1, 1.0, G + 6 * G),
        # N = {3.0, 2.0}: Rec (1 + 1)/2 = 1 reaches alpha, Prec (1 + 0)/2.
        (2.6, 2, 1.0, G + 6 * G * 0.5),
        # N = {2.0}: Rec 1, Prec 0: a negative bag with a predicted positive.
        (2.0, 1, 1.0, G),
        # N = {-2.0, -1.0}: Rec (0 + 1)/2 stays below alpha = 1, so precision earns nothing.
        (-1.6, 2, 1.0, G * 0.5),
        # The same with alpha = 0.5: Prec (1 + 1)/2 counts.
        (-1.6, 2, 0.5, G * 0.5 + 6 * G),
        # All six: Rec 4/6, Prec 5/6.
        (0.0, 6, 1.0, G * 4 / 6),
        (0.0, 6, 0.6, G * 4 / 6 + 6 * G * 5 / 6),
        # alpha = 0 always lets precision count: N = {-2.0}: Rec 0, Prec 1.
        (-2.0, 1, 0.0, 6 * G),
    ],
)
def test_reward_of_a_small_case(score, k, alpha, expected):
    """The reward is gamma Rec + (1 - gamma) 1[Rec >= alpha] Prec, with means over the neighbours of x."""
    case = outcome([1], [1], [score], **SMALL, k=k)
    assert MilReward(alpha=alpha)(case) == pytest.approx([expected])


@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
def test_gamma_shares_the_reward(gamma):
    """With Rec = 1 and Prec = 1/2 the reward is gamma + (1 - gamma)/2."""
    case = outcome([1], [1], [2.6], **SMALL, k=2)
    assert MilReward(gamma=gamma)(case) == pytest.approx([gamma + (1 - gamma) / 2])


def test_a_label_that_the_classifier_does_not_predict_earns_nothing():
    """1[pi = f]: of four rows with the same neighbours only those whose label is predicted are paid."""
    case = outcome([1, 0, 1, 0], [1, 1, 0, 0], [3.0] * 4, **SMALL, k=1)
    assert MilReward()(case).tolist() == pytest.approx([1.0, 0.0, 0.0, 1.0])


def test_duplicate_scores_are_shared():
    """One neighbour among a positive and a negative bag at the same distance is both: 1/7 + 6/7 * 1/2 = 4/7."""
    for order in (1, -1):
        case = outcome([1], [1], [0.0], [1, 1][::order], [1.0, 1.0][::order], ["p", "n"][::order], {"p": 1, "n": 0}, 1)
        assert MilReward()(case)[0] == pytest.approx(0.571429, abs=5e-7)


def test_more_neighbours_than_heldout_rows_are_all():
    """k = 50 of four rows is k = 4: Rec 1, Prec 3/4, 1/7 + 6/7 * 3/4 = 0.785714."""
    rewards = [
        MilReward()(outcome([1], [1], [0.0], [1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4], list("aabb"), {"a": 1, "b": 0}, k))[0]
        for k in (50, 4)
    ]
    assert rewards[0] == rewards[1] == pytest.approx(0.785714, abs=5e-7)


def test_a_negative_bag_with_a_predicted_positive_lowers_precision():
    """Turning the only false positive into a negative raises the reward of every row that has it nearby."""
    good = {**SMALL, "f_held": [1, 0, 1, 0, 0, 0]}
    bad = {**SMALL, "f_held": [1, 0, 1, 0, 1, 0]}
    paid = [MilReward()(outcome([1], [1], [2.0], **case, k=6))[0] for case in (good, bad)]
    assert paid == pytest.approx([1.0, G + 6 * G * 5 / 6])


@pytest.mark.parametrize("alpha", [0.4, 0.7, 1.0])
def test_recall_below_alpha_earns_gamma_at_most(alpha):
    """Wherever the mean recall of the neighbours is below alpha, a row earns gamma times that recall."""
    rng = np.random.default_rng(7)
    ids = np.repeat(np.arange(30), 3)
    weak = {i: int(i % 4 > 0) for i in range(30)}
    f_held = (rng.random(90) < 0.05).astype(int)
    s_held, s = rng.normal(size=90), rng.normal(size=60)
    case = outcome(np.ones(60, int), np.ones(60, int), s, f_held, s_held, ids, weak, k=9)
    paid = MilReward(alpha=alpha)(case)
    below = 0
    for x in range(60):
        near = sorted(range(90), key=lambda h: abs(s_held[h] - s[x]))[:9]
        met = sum(weak[ids[h]] == 0 or f_held[ids == ids[h]].any() for h in near) / 9
        if met < alpha - 1e-9:
            below += 1
            assert paid[x] == pytest.approx(G * met)
        else:
            assert paid[x] > G * met
    assert below > 3


@pytest.mark.parametrize("k", [3, 7, 10, 49, 98])
@pytest.mark.parametrize("weighted", [False, True])
def test_full_recall_reaches_alpha_of_one(k, weighted):
    """A neighbourhood of ones has mean recall 1, never a bit less, with and without bag weights."""
    rng = np.random.default_rng(k)
    weights = 1 / rng.integers(1, 9, 98) if weighted else None
    case = outcome(
        [0] * 50, [0] * 50, rng.normal(size=50), [0] * 98, rng.normal(size=98), np.arange(98) // 7,
        dict.fromkeys(range(14), 0), k, weights=weights,
    )  # fmt: skip
    assert MilReward(alpha=1.0)(case).tolist() == pytest.approx([1.0] * 50)


@pytest.mark.parametrize("weights", [None, [0.1] * 60, [1 / 3] * 60])
def test_a_share_that_equals_alpha_is_reached(weights):
    """Where every ten neighbours hold seven that are met, alpha = 0.7 is reached everywhere in spite of rounding."""
    f_held = ([1] * 7 + [0] * 3) * 6
    met = dict.fromkeys(range(60), 1)
    # Scores between the fifth and the sixth of ten neighbours.
    scores = np.arange(4.5, 55.0)
    pi = [1] * len(scores)
    case = outcome(pi, pi, scores, f_held, np.arange(60.0), range(60), met, 10, weights=weights)
    assert MilReward(alpha=0.7)(case) == pytest.approx([G * 0.7 + 6 * G] * len(scores))


def test_bags_count_alike_with_bag_weights():
    """With weights 1/|bag| a bag of four false positives weighs like a bag of one: Prec (1 + 0)/2 instead of 1/5."""
    case = {
        "f_held": [1, 1, 1, 1, 1],
        "s_held": [1.0, 1.1, 1.2, 1.3, 1.4],
        "bags_held": ["n", "n", "n", "n", "p"],
        "weak": {"n": 0, "p": 1},
    }
    plain = MilReward()(outcome([1], [1], [0.0], **case, k=5))
    weighted = MilReward()(outcome([1], [1], [0.0], **case, k=5, weights=[0.25] * 4 + [1.0]))
    assert plain == pytest.approx([G + 6 * G / 5])
    assert weighted == pytest.approx([G + 6 * G / 2])


# The reward as a loop over the paper's formula


def paper(case: Outcome, gamma: Fraction, alpha: Fraction) -> list[float]:
    """R_x(pi(x)) of every training row, in fractions, one row, neighbour and bag at a time."""
    held = case.fold.heldout
    meaning = case.fold.train.space.class_of_label
    n_held = held.n_rows

    def rec(h: int) -> int:
        bag = held.bags.index[h]
        if held.weak.values[bag] == 0:
            return 1
        return int(any(meaning[case.heldout_labels[g]] == 1 for g in range(n_held) if held.bags.index[g] == bag))

    def prec(h: int) -> int:
        return int(meaning[case.heldout_labels[h]] == 0 or held.weak.values[held.bags.index[h]] == 1)

    rewards = []
    for x in range(len(case.assignment)):
        column = 0 if case.scores.shape[1] == 1 else case.labels[x]
        query = Fraction(float(case.scores[x, column]))
        distance = [abs(Fraction(float(case.heldout_scores[h, column])) - query) for h in range(n_held)]
        kth = sorted(distance)[min(case.fold.n_neighbors, n_held) - 1]
        near = [h for h in range(n_held) if distance[h] <= kth]
        weight = {h: Fraction(1) if held.weights is None else Fraction(float(held.weights[h])) for h in near}
        total = sum(weight.values())
        mean_rec = sum(weight[h] * rec(h) for h in near) / total
        mean_prec = sum(weight[h] * prec(h) for h in near) / total
        local = gamma * mean_rec + (1 - gamma) * (mean_prec if mean_rec >= alpha else 0)
        rewards.append(float(local) if case.assignment[x] == case.labels[x] else 0.0)
    return rewards


@st.composite
def outcomes(draw: Any, weighted: bool = False) -> Outcome:
    """Small outcomes with one or two negative labels, many equal scores, and any k."""
    class_of_label = draw(st.sampled_from([(0, 1), (0, 0, 1)]))
    n_labels = len(class_of_label)
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 10))
    label = st.integers(0, n_labels - 1)
    score = st.integers(-6, 6).map(lambda quarters: quarters / 4)
    row = score if n_labels == 2 else st.lists(score, min_size=n_labels, max_size=n_labels)
    weak = {name: draw(st.integers(0, 1)) for name in range(4)}
    power = st.integers(-3, 3).map(lambda e: 2.0**e)
    return outcome(
        draw(st.lists(label, min_size=n, max_size=n)),
        draw(st.lists(label, min_size=n, max_size=n)),
        draw(st.lists(row, min_size=n, max_size=n)),
        draw(st.lists(label, min_size=m, max_size=m)),
        draw(st.lists(row, min_size=m, max_size=m)),
        draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)),
        weak,
        draw(st.integers(1, 12)),
        class_of_label,
        draw(st.lists(power, min_size=m, max_size=m)) if weighted else None,
    )


@PROPERTY
@given(outcomes(), st.sampled_from([(1, 7), (0, 1), (1, 2)]), st.sampled_from([(1, 1), (1, 2), (3, 4), (2, 3), (0, 1)]))
def test_rewards_are_those_of_the_formula(case, gamma, alpha):
    """The reward of every row is that of the paper's formula, with all neighbours that tie, for any k."""
    expected = paper(case, Fraction(*gamma), Fraction(*alpha))
    found = MilReward(gamma=gamma[0] / gamma[1], alpha=alpha[0] / alpha[1])(case)
    assert found.tolist() == pytest.approx(expected, abs=1e-9)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


@PROPERTY
@given(outcomes(weighted=True), st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_weighted_rewards_are_those_of_the_formula(case, alpha):
    """With weights of the held-out rows both means are weighted, and so is what is compared with alpha."""
    expected = paper(case, Fraction(1, 7), Fraction(*alpha))
    assert MilReward(alpha=alpha[0] / alpha[1])(case).tolist() == pytest.approx(expected, abs=1e-9)


@PROPERTY
@given(outcomes(), st.data())
def test_order_of_heldout_rows_and_names_of_bags_are_no_matter(case, data):
    """Permuting the held-out rows and renaming their bags leaves every bit of the rewards as it was."""
    held = case.fold.heldout
    order = data.draw(st.permutations(range(held.n_rows)))
    ids = held.bags.spread(held.bags.ids).tolist()
    weak = dict(zip(held.bags.ids.tolist(), held.weak.values.tolist(), strict=True))
    permuted = outcome(
        case.assignment,
        case.labels,
        case.scores if case.scores.shape[1] > 1 else case.scores[:, 0],
        case.heldout_labels[order],
        (case.heldout_scores if case.scores.shape[1] > 1 else case.heldout_scores[:, 0])[order],
        [f"bag {9 - ids[h]}" for h in order],
        {f"bag {9 - name}": label for name, label in weak.items()},
        case.fold.n_neighbors,
        case.fold.train.space.class_of_label,
    )
    assert MilReward()(permuted).tolist() == MilReward()(case).tolist()


def test_the_diagnostic_gives_a_hint():
    """Where no neighbourhood reaches alpha the diagnostic says how high recall was and what to do; else it is None."""
    hopeless = outcome(
        [0, 0], [0, 0], [0.0, 9.0], [0, 0, 0], [0.0, 1.0, 9.0], ["p", "n", "q"], {"p": 1, "n": 0, "q": 1}, 2
    )
    # N(0.0) = {p, n}: Rec 1/2; N(9.0) = {q, n}: Rec 1/2.
    said = MilReward(alpha=0.9).diagnostic(hopeless)
    assert "never reached alpha = 0.9 (the highest was 0.50)" in said
    assert "reward.alpha=0.8" in said
    assert MilReward(alpha=0.5).diagnostic(hopeless) is None


@pytest.mark.parametrize("name", ["gamma", "alpha"])
@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, "1", None, True])
def test_parameters_of_the_reward_are_shares(name, value):
    """gamma and alpha lie in [0, 1]; anything else is refused by name."""
    with pytest.raises(SettingsError, match=f"{name} must be a number from 0 to 1"):
        MilReward(**{name: value})


def test_defaults_are_the_papers():
    """By default gamma is 1/7 and alpha is 1; regime and the paper's reward go by the name "mil"."""
    reward = resolve("reward", "mil")
    assert isinstance(reward, MilReward)
    assert (reward.gamma, reward.alpha) == (1 / 7, 1.0)
    assert isinstance(resolve("regime", "mil"), MilRegime)
    assert MilRegime().presets.paper["reward"] == "mil"


# Pulls with one class


ONE_CLASS = [
    SVC(),
    LinearSVC(),
    LogisticRegression(),
    SGDClassifier(),
    GaussianProcessClassifier(),
    GradientBoostingClassifier(n_estimators=2),
]


def pulled(classifier: Any, assignments: Any, n_labels: int = 2, X: Any = None) -> tuple[Fold, Predictions]:
    """Pull a scikit-learn classifier through the adapter on eight rows; all held-out bags are negative."""
    rng = np.random.default_rng(0)
    class_of_label = (0,) * (n_labels - 1) + (1,)
    train = part_of(range(8), dict.fromkeys(range(8), 0), class_of_label, X=rng.normal(size=(8, 2)) if X is None else X)
    heldout = part_of([0, 0, 1, 1, 1], {0: 0, 1: 0}, class_of_label, X=rng.normal(size=(5, 2)))
    prepared = SklearnClassifier(classifier).prepare(train, heldout, np.random.default_rng(1))
    return Fold(train, heldout, 3), prepared.pull(np.asarray(assignments), None)


@pytest.mark.parametrize("classifier", ONE_CLASS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("n_labels", [2, 3])
def test_one_label_is_predicted_everywhere(classifier, n_labels):
    """A pull with one label predicts that label for every row, with classifiers that refuse to learn from it."""
    assignments = np.repeat(np.arange(n_labels)[:, None], 8, axis=1)
    _, predictions = pulled(classifier, assignments, n_labels)
    for label in range(n_labels):
        assert predictions.train_labels[label].tolist() == [label] * 8
        assert predictions.heldout_labels[label].tolist() == [label] * 5
    assert np.isfinite(predictions.train_scores).all()


@pytest.mark.parametrize("classifier", ONE_CLASS, ids=lambda one: type(one).__name__)
def test_all_negative_is_right_where_all_bags_are_negative(classifier):
    """With negative held-out bags alone, the assignment of label 0 earns 1 everywhere."""
    fold, predictions = pulled(classifier, [[0] * 8])
    assert MilReward()(outcome_of(fold, np.zeros(8, int), predictions, 0)).tolist() == pytest.approx([1.0] * 8)


def test_a_batch_may_mix_one_label_and_several():
    """Pulls of a batch are trained each on its own: one of a single label does not touch the others."""
    mixed = [[0] * 8, [0, 1] * 4, [1] * 8]
    _, together = pulled(SVC(), mixed)
    _, alone = pulled(SVC(), mixed[1:2])
    assert together.train_scores[1].tolist() == alone.train_scores[0].tolist()
    assert together.train_labels[[0, 2]].tolist() == [[0] * 8, [1] * 8]


@pytest.mark.parametrize("classifier", [SVC(kernel="no such kernel"), LinearSVC(C=-1)])
def test_a_value_error_for_another_reason_propagates(classifier):
    """A wrong parameter is not mistaken for an assignment of one class."""
    with pytest.raises(ValueError, match="parameter"):
        pulled(classifier, [[0, 1] * 4])


def test_missing_values_are_not_hidden():
    """NaN in the rows is the classifier's error to raise."""
    with pytest.raises(ValueError, match="NaN"):
        pulled(SVC(), [[0, 1] * 4], X=np.full((8, 2), np.nan))


# The regime


def mil_part(**options: Any) -> tuple[MilRegime, WeakLabels, Bags]:
    """A positive bag of two rows, a negative one of two, and a positive and a negative one of one row."""
    bags = Bags.from_ids(["a", "b", "a", "c", "b", "d"])
    regime = MilRegime(**options)
    return regime, regime.check(np.array([1, 0, 1, 0]), bags), bags


def test_candidates_follow_the_bags():
    """Rows of positive bags may be either, rows of negative bags are negative; alone in a positive bag is positive."""
    regime, weak, bags = mil_part()
    space = regime.label_space(weak, bags)
    either, negative, positive = [True, True], [True, False], [False, True]
    assert space.candidates.tolist() == [either, negative, either, positive, negative, negative]
    assert space.class_of_label.tolist() == [0, 1]


def test_negative_bags_may_be_free():
    """A literal reading of the paper gives both labels to every row."""
    regime, weak, bags = mil_part(negative_bags="free")
    assert regime.label_space(weak, bags).candidates.all()


@pytest.mark.parametrize(("name", "value"), [("negative_bags", "none"), ("negative_bags", True), ("weights", "row")])
def test_parameters_of_the_regime_are_checked(name, value):
    """A word that is not allowed is refused with those that are."""
    with pytest.raises(SettingsError, match=f"{name} must be one of"):
        MilRegime(**{name: value})


def test_strata_are_the_weak_labels():
    """Folds share positive and negative bags."""
    regime, weak, _ = mil_part()
    assert regime.strata(weak).tolist() == [1, 0, 1, 0]


def test_weights_let_bags_count_alike():
    """Weights 1/|bag| add up to the same for every bag, with mean 1 over rows; by default there are none."""
    regime, weak, bags = mil_part(weights="bag")
    weights = regime.instance_weights(bags, weak)
    assert weights.mean() == pytest.approx(1.0)
    assert bags.sum(weights) == pytest.approx([1.5] * 4)
    plain, weak, bags = mil_part()
    assert plain.instance_weights(bags, weak) is None


def test_a_bag_is_as_positive_as_its_most_positive_row():
    """The score of a bag is its largest, and it must exceed the threshold."""
    regime, _, bags = mil_part()
    scores = np.array([-1.0, -2.0, 0.5, 0.0, -0.1, 3.0])
    assert regime.reading.bag_scores(scores, bags).tolist() == [0.5, -0.1, 0.0, 3.0]
    assert regime.reading.bag_labels(scores, bags, 0.0).tolist() == [1, 0, 0, 1]
    assert regime.reading.bag_labels(scores, bags, 0.5).tolist() == [0, 0, 0, 1]


def test_weak_score_of_a_small_case():
    """Bag accuracy 1/3 (P), recall over rows of positive bags 2/4, precision over rows 5/6."""
    found = MilRegime().reading.weak_score(outcome([1], [1], [0.0], **SMALL, k=1))
    assert found == pytest.approx({"bag_accuracy": 1 / 3, "recall": 0.5, "precision": 5 / 6})


def test_weak_score_without_positive_bags():
    """Where there is nothing to find, recall is 1."""
    case = outcome([0], [0], [0.0], [0, 1], [0.0, 1.0], ["n", "m"], {"n": 0, "m": 0}, 1)
    assert MilRegime().reading.weak_score(case) == {"bag_accuracy": 0.5, "recall": 1.0, "precision": 0.5}


def test_evaluation_is_that_of_scikit_learn():
    """Accuracy and AUC of bags are the usual ones; with one class of bags there is no AUC."""
    rng = np.random.default_rng(0)
    truth, scores = np.repeat([0, 1], 20), rng.normal(size=40)
    found = MilRegime().reading.evaluate((scores > 0).astype(int), scores, WeakLabels(truth, (0, 1)))
    right = sum((score > 0) == label for score, label in zip(scores, truth, strict=True))
    pairs = [(scores[i] > scores[j]) for i in range(20, 40) for j in range(20)]
    assert found == pytest.approx({"bag_accuracy": right / 40, "bag_auc": np.mean(pairs)})
    assert found["bag_auc"] == pytest.approx(roc_auc_score(truth, scores))
    assert set(MilRegime().reading.evaluate(np.ones(3), np.ones(3), WeakLabels(np.ones(3), (0, 1)))) == {"bag_accuracy"}


@PROPERTY
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 1)), min_size=1, max_size=14))
def test_the_bag_threshold_is_the_best_of_all(pairs):
    """No threshold at all classifies more bags rightly, and the one chosen is no bag's own score."""
    scores, truth = np.array([float(s) for s, _ in pairs]), np.array([t for _, t in pairs])

    def right(threshold: float) -> int:
        return sum((s > threshold) == (t == 1) for s, t in zip(scores, truth, strict=True))

    chosen = best_threshold(scores, truth)
    assert right(chosen) == max(right(q / 2) for q in range(-13, 14))
    assert chosen not in scores


@PROPERTY
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 1)), min_size=2, max_size=14), st.randoms())
def test_the_bag_threshold_is_where_a_logistic_curve_says_one_half(pairs, random):
    """It is that of scikit-learn's logistic regression on scores of deviation 1, in whatever order bags come."""
    scores, truth = np.array([float(s) for s, _ in pairs]), np.array([t for _, t in pairs])
    assume(len(set(scores)) > 1 and len(set(truth)) > 1)
    found = MilRegime().reading.bag_threshold(scores, WeakLabels(truth, (0, 1)))
    z = (scores - scores.mean()) / scores.std()
    curve = LogisticRegression(C=5.0, tol=1e-10, max_iter=1000).fit(z[:, None], truth)
    slope, shift = float(curve.coef_[0, 0]), float(curve.intercept_[0])
    assume(abs(slope) > 0.05)
    if slope < 0:
        assert found == best_threshold(scores, truth)
    elif z.min() < -shift / slope < z.max():
        assert found == pytest.approx(scores.mean() - scores.std() * shift / slope, abs=0.01)
    else:
        assert not scores.min() < found < scores.max()
    shuffled = random.sample(range(len(pairs)), len(pairs))
    assert MilRegime().reading.bag_threshold(scores[shuffled], WeakLabels(truth[shuffled], (0, 1))) == found


def test_bags_that_lie_far_apart_are_told_apart():
    """The bag threshold is between two classes that do not overlap; many tied scores do no harm."""
    scores, truth = np.repeat([0.0, 10.0], 400), np.repeat([0, 1], 400)
    assert MilRegime().reading.bag_threshold(scores, WeakLabels(truth, (0, 1))) == pytest.approx(5.0)
    assert np.isfinite(MilRegime().reading.bag_threshold(scores, WeakLabels(np.tile([0, 1], 400), (0, 1))))


@pytest.mark.parametrize("unit", [1e-300, 1e-3, 7.0, 1e300])
def test_the_bag_threshold_follows_the_unit_of_scores(unit):
    """Scores of any size are cut at the same place."""
    scores, truth = np.array([-1.0, 0.5, 2.0, 3.0]), WeakLabels(np.array([0, 0, 1, 1]), (0, 1))
    reading = MilRegime().reading
    assert reading.bag_threshold(unit * scores, truth) == pytest.approx(unit * reading.bag_threshold(scores, truth))


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_of_bags_has_a_threshold_beyond_it(label):
    """Where all bags are alike, so are all predictions."""
    scores, truth = np.array([1.0, 2.0, 4.0]), np.full(3, label)
    threshold = MilRegime().reading.bag_threshold(scores, WeakLabels(truth, (0, 1)))
    assert ((scores > threshold) == label).all()


# Weak labels

FOUR = Bags.from_ids(["a", "b", "a", "c", "d"])


@pytest.mark.parametrize(
    ("weak", "classes"),
    [
        (np.array([0, 1, 1, 0]), (0, 1)),
        (np.array([0.0, 1.0, 1.0, 0.0]), (0, 1)),
        (np.array([False, True, True, False]), (0, 1)),
        (np.array([0, 1, 1, 0], dtype=np.float32), (0, 1)),
        (np.array([0, 1, 1, 0], dtype=object), (0, 1)),
        (np.array(["0", "1", "1", "0"]), (0, 1)),
        (np.array(["0.0", "1.0", "1", "0"]), (0, 1)),
        (np.array([-1, 1, 1, -1]), (-1, 1)),
        (np.array(["-1", "1", "1", "-1"]), (-1, 1)),
    ],
)
def test_plain_weak_labels(weak, classes):
    """Numbers, booleans and their text forms say by themselves which class is positive."""
    found = check_binary(weak, FOUR, None)
    assert found.values.tolist() == [0, 1, 1, 0]
    assert found.classes == classes


@pytest.mark.parametrize(
    ("weak", "positive", "values", "classes"),
    [
        (["neg", "pos", "pos", "neg"], "pos", [0, 1, 1, 0], ("neg", "pos")),
        (["neg", "pos", "pos", "neg"], "neg", [1, 0, 0, 1], ("pos", "neg")),
        ([2, 1, 1, 2], 2, [1, 0, 0, 1], (1, 2)),
        ([0, 1, 1, 0], 0, [1, 0, 0, 1], (1, 0)),
        ([False, True, True, False], True, [0, 1, 1, 0], (False, True)),
    ],
)
def test_a_positive_label_decides(weak, positive, values, classes):
    """The user's positive label means class 1, even against the usual order; classes are (negative, positive)."""
    found = check_binary(np.array(weak), FOUR, positive)
    assert found.values.tolist() == values
    assert found.classes == classes


@pytest.mark.parametrize(("positive", "classes"), [("True", (0, 1)), ("true", (0, 1)), ("FALSE", (1, 0))])
def test_true_and_false_may_be_said_as_words(positive, classes):
    """Files say true and false as 1 and 0, so the words name them."""
    read = check_binary(np.array([1, 0, 1]), Bags.from_ids([0, 0, 1, 2]), positive)
    assert read.classes == classes
    assert read.values.tolist() == [int(value == classes[1]) for value in (1, 0, 1)]


def test_an_empty_name_is_no_label():
    """Empty text is a missing label, not the name of the negative class."""
    with pytest.raises(DataError, match="Bag 1 has no weak label"):
        check_binary(np.array(["tumour", "", "tumour"]), Bags.from_ids([0, 0, 1, 2]), "tumour")


@pytest.mark.parametrize("weak", [["cat", "dog", "dog", "cat"], [1, 2, 2, 1], [0, 255, 255, 0], ["1", "2", "2", "1"]])
def test_two_names_need_a_positive_label(weak):
    """Names do not say which one is positive, so the message asks for it."""
    with pytest.raises(DataError, match=r"which one is positive.*positive_label"):
        check_binary(np.array(weak), FOUR, None)


@pytest.mark.parametrize(
    ("negative", "positive"),
    [
        ("no", "yes"),
        (" NO", "Yes"),
        ("normal", "abnormal"),
        ("normal", "Tumor"),
        ("non-musk", "musk"),
        ("False", "True"),
    ],
)
def test_words_that_everybody_knows(negative, positive):
    """Such words need no positive label: the classes keep the user's words, and a note says which one was taken."""
    found = check_binary(np.array([negative, positive, positive, negative]), FOUR, None)
    assert (found.values.tolist(), found.classes) == ([0, 1, 1, 0], (negative, positive))
    assert found.notes == (
        f"Of the weak labels {positive!r} is taken for positive and {negative!r} for negative; positive_label says "
        f"otherwise.",
    )
    other = check_binary(np.array([negative, positive, positive, negative]), FOUR, negative)
    assert (other.classes, other.notes) == ((positive, negative), ())


@pytest.mark.parametrize(
    ("weak", "typed", "classes"),
    [
        ([1, 2, 2, 1], "2", (1, 2)),
        (["1", "2", "2", "1"], 2, ("1", "2")),
        ([1.0, 2.0, 2.0, 1.0], "2", (1.0, 2.0)),
        ([False, True, True, False], "True", (False, True)),
        ([True, False, False, True], "false", (True, False)),
        (["7", "007", "007", "7"], "007", ("7", "007")),
        (["a ", "b", "b", "a "], "b ", ("a ", "b")),
    ],
)
def test_a_positive_label_that_is_typed(weak, typed, classes):
    """A console types text and files hold numbers as text, so the value may be spelt otherwise than the label."""
    found = check_binary(np.array(weak), FOUR, typed)
    assert (found.values.tolist(), found.classes) == ([0, 1, 1, 0], classes)


@pytest.mark.parametrize(
    ("weak", "reason"),
    [
        ([0] * 4, "(negative), so every instance is negative, and nothing is left to infer"),
        (["benign"] * 4, "('benign', negative), so every instance is negative"),
        ([1] * 4, "(positive), so any instance may be positive, and no negative bag says what is not"),
        (["yes"] * 4, "('yes', positive), so any instance may be positive"),
        (["x"] * 4, "('x'), so nothing tells positive from negative"),
    ],
)
def test_one_class_of_bags_and_what_holds_then(weak, reason):
    """Bags of one class are refused with what is known all the same."""
    with pytest.raises(DataError) as caught:
        check_binary(np.array(weak), FOUR, None)
    assert str(caught.value).startswith(f"All 4 bags have the same class {reason}")


def test_the_question_is_asked_without_words_of_an_interface():
    """The error says which parameter is needed and a value; whoever shows it says how to set it."""
    with pytest.raises(ParameterNeededError) as caught:
        check_binary(np.array(["cat", "dog", "dog", "cat"]), FOUR, None)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.component, error.name, error.parameter, error.example) == ("regime", "mil", "positive_label", "dog")
    assert error.question == "The weak labels are 'cat' and 'dog': which one is positive?"
    assert str(error).endswith("""for instance regime={"name": "mil", "positive_label": 'dog'}.""")


def test_ordinary_classification_needs_no_positive_label():
    """Where every row is its own bag, the larger class is positive, as in scikit-learn."""
    alone = Bags.from_ids(np.arange(3))
    found = check_binary(np.array(["b", "a", "b"]), alone, None)
    assert found.values.tolist() == [1, 0, 1]
    assert found.classes == ("a", "b")


@pytest.mark.parametrize(
    ("weak", "positive", "message"),
    [
        ([0, 1, np.nan, 0], None, "Bag 'c' has no weak label"),
        (np.array([0, None, 1, 0], dtype=object), None, "Bag 'b' has no weak label"),
        (["x", "y", None, "x"], "x", "Bag 'c' has no weak label"),
        ([0, 0.3, 1, 0], None, r"Bag 'b' has the weak label 0.3.*llp"),
        ([0, np.inf, 1, 0], None, "Bag 'b' has the weak label inf"),
        ([0, 1, 2, 1], None, "found 3: 0, 1, 2"),
        (["a", "b", "c", "a"], "a", "two classes; found 3: 'a', 'b', 'c'"),
        ([1, 1, 1, 1], None, r"All 4 bags have the same class \(positive\)"),
        ([0, 0, 0, 0], None, r"All 4 bags have the same class \(negative\)"),
        ([-1, -1, -1, -1], None, r"All 4 bags have the same class \(negative\)"),
        (["x", "x", "x", "x"], "x", r"All 4 bags have the same class \('x'\)"),
        (["x", "y", "y", "x"], "z", "positive_label is 'z', but the weak labels are 'x' and 'y'"),
        ([[0, 1], [1, 0], [1, 1], [0, 0]], None, r"one weak label for each bag; got an array of shape \(4, 2\)"),
    ],
)
def test_weak_labels_that_mil_cannot_use(weak, positive, message):
    """Missing, fractional, too many or too few classes are refused, by bag, by value and with what is allowed."""
    with pytest.raises(DataError, match=message):
        check_binary(np.array(weak), FOUR, positive)


def test_sets_belong_to_another_regime():
    """A set of labels for a bag is not one of two classes."""
    weak = np.empty(4, dtype=object)
    weak[:] = [{"cat"}, 0, 1, 1]
    with pytest.raises(DataError, match="multiclass-mil"):
        check_binary(weak, FOUR, None)


# MUSK1


def test_packaged_musk1():
    """MUSK1 has 92 bags, 47 of them positive, 476 rows and 166 features, as its description says."""
    data = load_musk1()
    bags = Bags.from_ids(data.bags)
    assert data.X.shape == (476, 166)
    assert (bags.n_bags, int(np.sum(data.weak))) == (92, 47)
    assert DETAILS["size"] == "92 bags (47 positive), 476 instances, 166 features"
    assert np.isfinite(data.X).all()
