"""Multi-class MIL: reading label sets, what instances may be, bags, measures, and binary MIL as a special case."""

import itertools
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    hamming_loss,
    precision_score,
    recall_score,
)

from bliss_framework import (
    Bags,
    BlissClassifier,
    BlissWarning,
    DataError,
    Part,
    SettingsError,
    WeakLabels,
    load_model,
    save_model,
)
from bliss_framework.estimator.inputs import check_training
from bliss_framework.plugin import Presets, Profile, best_f1_threshold, best_threshold
from bliss_framework.readings.label_sets import average_precisions, set_measures
from bliss_framework.testing import Example, regime_checks
from bliss_mil.regime.mil_regime import MilRegime
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime, grouped_sets
from bliss_multiclass_mil.regime.relabelling import every_label_kept

PROPERTY = settings(max_examples=60, deadline=None)
REGIME = MultiClassMilRegime()


def boxed(sets):
    """An array with one object for each bag."""
    array = np.empty(len(sets), dtype=object)
    array[:] = sets
    return array


def checked(sets, sizes=None, regime=REGIME):
    """What the regime makes of label sets, passed as a user passes them to `fit`."""
    sizes = sizes or [4] * len(sets)
    ids = np.repeat([f"bag{i}" for i in range(len(sizes))], sizes)
    found = check_training(np.zeros((len(ids), 1)), sets, ids)
    return regime.check(found.weak, found.bags), found.bags


def make_sets(n_bags=16, seed=0, labels=("ant", "bee", "cow"), most=3):
    """Rows, bag ids and label sets: an instance of a label is shifted along an axis of its own."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, n_bags)
    sizes[3] = 1
    bags = np.repeat([f"b{i}" for i in range(n_bags)], sizes)
    X = rng.normal(size=(len(bags), len(labels)))
    sets = []
    for size, start in zip(sizes, np.cumsum(sizes) - sizes, strict=True):
        chosen = rng.permutation(len(labels))[: rng.integers(0, min(most, size) + 1)]
        for offset, label in enumerate(chosen):
            X[start + offset, label] += 4.0
        sets.append(frozenset(labels[i] for i in chosen))
    return X, bags, boxed(sets)


X, BAGS, SETS = make_sets()


@pytest.mark.parametrize(
    "regime",
    [REGIME, MultiClassMilRegime(n_negative=3), MultiClassMilRegime(label_names=["bee", "ant", "cow"])],
    ids=repr,
)
def test_conformance(regime):
    """The regime passes the kit that every plugin author runs, with one negative label and with several."""
    for check in regime_checks(Example(regime, X, BAGS, SETS)):
        check()


class TestReading:
    @pytest.mark.parametrize(
        "sets",
        [
            [{"cat", "dog"}, {"dog"}, set()],
            [frozenset({"cat", "dog"}), frozenset({"dog"}), frozenset()],
            [["dog", "cat", "dog"], ["dog"], []],
            [("cat", "dog"), ("dog",), ()],
            ["cat;dog", "dog", ""],
            [" dog ; cat ;", "dog;", " "],
            [{"cat", "dog"}, "dog", ()],
        ],
    )
    def test_all_forms_say_the_same(self, sets):
        """Sets, lists, tuples, text with a separator, and a mixture of them are the same label sets."""
        weak, _ = checked(sets)
        assert weak.values.tolist() == [[1, 1], [0, 1], [0, 0]]
        assert weak.classes == ("negative", "cat", "dog")

    def test_a_plain_string_is_one_label(self):
        """The text "cat" is the label cat, never the set of its letters."""
        assert checked(["cat", "dog", "cow"])[0].classes == ("negative", "cat", "cow", "dog")

    def test_another_separator(self):
        """The separator is the user's; with another one a semicolon is an ordinary character."""
        assert checked(["a|b", "b;c"], regime=MultiClassMilRegime(separator="|"))[0].classes == (
            "negative",
            "a",
            "b",
            "b;c",
        )

    def test_numbers_are_labels_too(self):
        """Labels that are all integers stay so, in their order; beside other labels all are text."""
        assert checked([{3}, {10}, set()])[0].classes == ("negative", 3, 10)
        assert checked([{3}, {10, "a"}, set()])[0].classes == ("negative", "10", "3", "a")
        assert checked([{3}, {10}, set()], regime=MultiClassMilRegime(negative_label=0))[0].classes == (0, 3, 10)

    def test_integers_come_back_as_integers(self, bliss, tmp_path):
        """A model gives integers back, from a file too; sets of test bags may hold them as text."""
        sets = [{"abc".index(label[0]) + 7 for label in one} for one in SETS]
        model = bliss(regime="multiclass-mil", reward="multiclass-mil", classifier="ridge").fit(X, sets, bags=BAGS)
        labels = sorted(set().union(*sets))
        assert model.classes_.tolist() == ["negative", *labels]
        assert {type(one) for one in [*model.labels_.tolist(), *model.predict(X).tolist()]} <= {int, str}
        assert set(model.labels_.tolist()) - {"negative"} <= set(labels)
        as_text = [";".join(map(str, sorted(one))) for one in sets]
        assert model.score(X, as_text, BAGS) == model.score(X, sets, BAGS)
        save_model(model, tmp_path / "m.skops")
        assert load_model(tmp_path / "m.skops").predict(X).tolist() == model.predict(X).tolist()

    def test_one_class_for_each_bag(self):
        """A column of more than two class numbers is one label for each bag."""
        assert checked([4, 2, 7])[0].values.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]

    def test_a_matrix(self):
        """A matrix of 0 and 1 has one column for each label, named by label_names or by its number."""
        matrix = np.array([[1, 0], [0, 1], [1, 1]])
        weak, _ = checked(matrix)
        assert weak.values.tolist() == matrix.tolist()
        assert weak.classes == ("negative", 1, 2)
        named, _ = checked(matrix, regime=MultiClassMilRegime(label_names=["z", "a"]))
        assert named.classes == ("negative", "z", "a")
        assert checked(matrix == 1)[0].values.tolist() == matrix.tolist()

    def test_a_label_that_no_bag_has(self):
        """One sentence warns of a label that never occurs, in a matrix and in label_names; its column stays."""
        for sets, regime in (
            (np.array([[1, 0], [0, 0]]), MultiClassMilRegime(label_names=["cat", "yak"])),
            ([{"cat"}, set()], MultiClassMilRegime(label_names=["cat", "yak"])),
        ):
            with pytest.warns(BlissWarning, match="No bag has the label 'yak'; nothing can be learnt of it"):
                weak, bags = checked(sets, regime=regime)
            assert weak.values.tolist() == [[1, 0], [0, 0]]
            assert not regime.label_space(weak, bags).candidates[:, 2].any()


class TestRefusals:
    @pytest.mark.parametrize(
        ("sets", "message"),
        [
            ([set(), set(), set()], "All 3 bags have the empty label set"),
            (["", "", ""], "All 3 bags have the empty label set"),
            ([{"a"}, {"a"}], "All 2 bags have the same label set"),
            (
                [{"a", "negative"}, set()],
                "Bag 'bag0' has the label 'negative', which is the name of the negative class",
            ),
            ([{"a"}, None], "Bag 'bag1' has no weak label"),
            ([{"a"}, {np.nan}], "Bag 'bag1' has no weak label"),
            ([{"a"}, {0.5}], "Bag 'bag1' has 0.5 in its label set"),
            ([{"a"}, [["b"]]], r"Bag 'bag1' has \['b'\] in its label set"),
            ([{"a"}, {"b": 1}], "Bag 'bag1' has {'b': 1} in its label set"),
            ([{True}, set()], "Bag 'bag0' has True in its label set"),
            ([1, 0, 1], 'use regime="mil"'),
            ([True, False], 'use regime="mil"'),
            (np.array([[1.0, 0.0], [0.5, 0.0]]), "Bag 'bag1' has 0.5 in column 0"),
            ([[3, 4], [5, 6]], r"Bag 'bag0' has 3 in column 0 .* pass sets"),
            (np.zeros((3, 2, 2)), r"an array of shape \(3, 2, 2\)"),
        ],
    )
    def test_one_sentence(self, sets, message):
        """Label sets that cannot be used are refused before any work, naming the bag and what to do."""
        with pytest.raises(DataError, match=message):
            checked(sets)

    def test_a_set_larger_than_its_bag(self):
        """One sentence warns of bags with more labels than instances, which then hold no negative."""
        with pytest.warns(BlissWarning, match=r"Bag 'bag0' has 3 labels but 2 instances \(1 such bags of 2\)"):
            weak, bags = checked([{"a", "b", "c"}, {"a"}], sizes=[2, 5])
        assert REGIME.label_space(weak, bags).candidates[:2].astype(int).tolist() == [[0, 1, 1, 1]] * 2

    def test_the_whole_of_y_as_one_string(self):
        """Weak labels given as one plain string are refused, not read letter by letter."""
        with pytest.raises(DataError, match="y must hold one weak label for each bag"):
            BlissClassifier(regime="multiclass-mil").fit(X, "cat", bags=BAGS)

    def test_more_labels_in_prediction_than_in_training(self):
        """A label, or a number of columns, that was not there in training is refused when predictions are judged."""
        classes, bags = ("negative", "a", "b"), Bags.from_ids(["x", "x", "y", "y"])
        assert REGIME.check_test(boxed([{"b"}, ()]), bags, classes).values.tolist() == [[0, 1], [0, 0]]
        with pytest.raises(DataError, match="Bag 'y' has the label 'c'; training had 'a', 'b'"):
            REGIME.check_test(boxed([{"a"}, {"c"}]), bags, classes)
        with pytest.raises(DataError, match="training had 2 labels"):
            REGIME.check_test(np.eye(3)[:2], bags, classes)

    def test_names_that_do_not_fit(self):
        """label_names must be a list of different names, as many as a matrix has columns, and name every label."""
        for names in ("abc", ["a", "a"], 3):
            with pytest.raises(SettingsError, match="label_names must"):
                MultiClassMilRegime(label_names=names)
        with pytest.raises(DataError, match="label_names has 1 labels"):
            checked(np.eye(2), regime=MultiClassMilRegime(label_names=["a"]))
        with pytest.raises(DataError, match="Bag 'bag1' has the label 'b'; label_names has 'a'"):
            checked([{"a"}, {"b"}], regime=MultiClassMilRegime(label_names=["a"]))
        with pytest.raises(DataError, match="label_names has the label 'negative'"):
            checked([{"a"}, set()], regime=MultiClassMilRegime(label_names=["a", "negative"]))

    def test_parameters(self):
        """n_negative is a positive integer and the separator some text."""
        for parameters in ({"n_negative": 0}, {"separator": ""}, {"separator": 1}):
            with pytest.raises(SettingsError, match=next(iter(parameters))):
                MultiClassMilRegime(**parameters)

    def test_predictions_that_lack_a_label(self):
        """Where a label was in no training bag, predictions have too few columns, and a hint is given."""
        weak = WeakLabels(np.array([[1, 0], [0, 1]]), ("negative", "a", "b"))
        with pytest.raises(DataError, match=r"1 labels were predicted, but the bags have 2.*label_names"):
            REGIME.reading.evaluate(np.array([[1], [0]]), np.array([[1.0], [0.0]]), weak)


class TestLabelSpace:
    def test_candidates(self):
        """An instance may have a label of its bag's set or any negative label, negative labels first."""
        weak, bags = checked([{"a", "b"}, set(), {"b"}], sizes=[3, 2, 2])
        space = MultiClassMilRegime(n_negative=2).label_space(weak, bags)
        rows = {"bag0": [1, 1, 1, 1], "bag1": [1, 1, 0, 0], "bag2": [1, 1, 0, 1]}
        expected = [rows[bag] for bag in np.repeat(bags.ids, bags.sizes)]
        assert space.candidates.astype(int).tolist() == expected
        assert space.class_of_label.tolist() == [0, 0, 1, 2]

    def test_negative_bags(self):
        """Instances of a bag without labels are known with one negative label, and free among several."""
        weak, bags = checked([{"a"}, set()], sizes=[2, 2])
        assert REGIME.label_space(weak, bags).free.tolist() == [True, True, False, False]
        assert MultiClassMilRegime(n_negative=2).label_space(weak, bags).free.tolist() == [True] * 4

    def test_a_full_bag(self):
        """A bag with as many labels as instances holds no negative; one instance with one label is known."""
        weak, bags = checked([{"a", "b"}, {"a"}, set()], sizes=[2, 1, 2])
        space = REGIME.label_space(weak, bags)
        assert space.candidates[:3].astype(int).tolist() == [[0, 1, 1], [0, 1, 1], [0, 1, 0]]
        assert space.known[2] == 1

    def test_first_draws_are_over_classes(self):
        """With five negative labels a first draw is negative as often as with one."""
        weak, bags = checked([{"a", "b"}, {"a"}], sizes=[3, 3])
        chances = MultiClassMilRegime(n_negative=5).label_space(weak, bags).draw_weights()
        assert chances[0] == pytest.approx([1 / 15] * 5 + [1 / 3] * 2)
        assert chances[3] == pytest.approx([1 / 10] * 5 + [1 / 2, 0])


class TestStrata:
    @given(st.lists(st.tuples(st.tuples(*[st.booleans()] * 3), st.integers(1, 14)), min_size=1, max_size=8))
    @PROPERTY
    def test_strata_are_common_or_alone(self, repeated):
        """A stratum has ten bags or more, unless all bags are one; a set that ten bags have stays one of its own."""
        rows = [row for row, times in repeated for _ in range(times)]
        found = grouped_sets(np.array(rows, dtype=np.int8))
        counts = np.bincount(found)
        assert (counts > 0).all()
        assert len(counts) == 1 or counts.min() >= 10
        for row, count in Counter(rows).items():
            own = {int(f) for f, other in zip(found, rows, strict=True) if other == row}
            assert count < 10 or len(own) == 1
        common = [row for row, count in Counter(rows).items() if count >= 10]
        of_common = {row: found[rows.index(row)] for row in common}
        assert len(set(of_common.values())) == len(common)

    def test_positions_may_come_as_a_column(self, monkeypatch):
        """numpy 2.0.0 gives the positions of unique rows another shape than later versions do."""
        sets = np.repeat([[0, 0], [1, 0], [1, 1]], [10, 12, 14], axis=0)
        expected, unique = grouped_sets(sets).tolist(), np.unique

        def of_old(values, **options):
            found = unique(values, **options)
            return (found[0], found[1].reshape(-1, 1), *found[2:]) if "axis" in options else found

        monkeypatch.setattr(np, "unique", of_old)
        assert grouped_sets(sets).tolist() == expected

    def test_one_label(self):
        """With one label the strata are those of binary MIL, however few the bags."""
        assert REGIME.strata(WeakLabels(np.array([[1], [0], [1]]), ("negative", "a"))).tolist() == [1, 0, 1]


class TestBags:
    def test_scores_are_leads(self):
        """A label's bag score is its largest lead over all other classes, the negative one and the other labels."""
        bags = Bags.from_ids([0, 0, 1])
        scores = np.array([[0.0, 1.0, -2.0], [2.0, 2.5, 1.0], [1.0, 0.0, 4.0]])
        # Label 1: 1 - 0 and 2.5 - 2 in bag 0, 0 - 4 in bag 1. Label 2: -2 - 1 and 1 - 2.5, then 4 - 1.
        assert REGIME.reading.bag_scores(scores, bags).tolist() == [[1.0, -1.5], [-4.0, 3.0]]
        assert REGIME.reading.bag_labels(scores, bags, 0.0).tolist() == [[1, 0], [0, 1]]
        assert REGIME.reading.bag_labels(scores, bags, 1.0).tolist() == [[0, 0], [0, 1]]

    @given(st.integers(0, 10**6))
    @PROPERTY
    def test_above_0_means_that_some_instance_has_it(self, seed):
        """With threshold 0 the predicted set is the set of labels that instances are predicted to have."""
        rng = np.random.default_rng(seed)
        bags, scores = Bags.from_ids(rng.integers(0, 4, 12)), rng.normal(size=(12, 4))
        predicted = scores.argmax(axis=1)
        found = REGIME.reading.bag_labels(scores, bags, 0.0)
        for bag in range(bags.n_bags):
            there = set(predicted[bags.index == bag].tolist()) - {0}
            assert set((np.flatnonzero(found[bag]) + 1).tolist()) == there

    def test_members_share_bag_scores(self):
        """Averaged bag scores are read label by label, not as scores of instances."""
        assert REGIME.reading.labels_of_bag_scores(np.array([[0.5, -1.0], [2.0, 3.0]]), 1.0).tolist() == [
            [0, 0],
            [1, 1],
        ]

    @given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12))
    @PROPERTY
    def test_threshold(self, pairs):
        """No threshold makes fewer errors."""
        scores, truth = np.array([float(s) for s, _ in pairs]), np.array([int(t) for _, t in pairs])
        found = best_threshold(scores, truth)
        errors = [((scores > cut) != truth).sum() for cut in np.arange(-4.0, 4.5, 0.5)]
        assert ((scores > found) != truth).sum() == min(errors)

    @given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=12))
    @PROPERTY
    def test_threshold_of_several_labels(self, pairs):
        """No threshold has a better F1, whatever ties there are."""
        scores, truth = np.array([float(s) for s, _ in pairs]), np.array([int(t) for _, t in pairs])
        found = best_f1_threshold(scores, truth)
        f1 = [f1_score(truth, scores > cut, zero_division=0.0) for cut in np.arange(-4.5, 4.5, 0.5)]
        assert f1_score(truth, scores > found, zero_division=0.0) == pytest.approx(max(f1))
        two = np.stack([scores, scores], axis=1)
        weak = WeakLabels(np.stack([truth, truth], axis=1), ("negative", "a", "b"))
        assert ((two > REGIME.reading.bag_threshold(two, weak)) == (two > found)).all()


class TestMeasures:
    @given(st.lists(st.tuples(*[st.booleans()] * 6), min_size=1, max_size=20))
    @PROPERTY
    def test_against_scikit_learn(self, rows):
        """F1, precision, recall and Hamming accuracy are scikit-learn's, over all pairs of a bag and a label."""
        table = np.array(rows, dtype=np.int8)
        predicted, truth = table[:, :3], table[:, 3:]
        found = set_measures(predicted, truth)
        options = {"average": "micro", "zero_division": 1.0}
        assert found["label_set_f1"] == pytest.approx(f1_score(truth, predicted, **options))
        assert found["label_set_precision"] == pytest.approx(precision_score(truth, predicted, **options))
        assert found["label_set_recall"] == pytest.approx(recall_score(truth, predicted, **options))
        assert found["label_set_hamming"] == pytest.approx(1 - hamming_loss(truth, predicted))

    def test_evaluation(self):
        """The first measure is F1; average precision is that of labels that occur."""
        truth = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
        scores = np.array([[3.0, 2.0, 0.0], [1.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
        weak = WeakLabels(truth, ("negative", "a", "b", "c"))
        found = REGIME.reading.evaluate((scores > 1.5).astype(int), scores, weak)
        assert next(iter(found)) == "label_set_f1"
        # a: ranks 3, 2, 1 are right, wrong, right: (1 + 2/3)/2. b: wrong, right, right: (1/2 + 2/3)/2.
        assert average_precisions(scores, truth)[:2] == pytest.approx([5 / 6, 7 / 12])
        assert found["mean_average_precision"] == pytest.approx((5 / 6 + 7 / 12) / 2)
        assert found["mean_average_precision"] == pytest.approx(
            np.mean([average_precision_score(truth[:, c], scores[:, c]) for c in (0, 1)])
        )
        details = {name: value for name, value in found.items() if "/" in name}
        assert details == {"average_precision/a": pytest.approx(5 / 6), "average_precision/b": pytest.approx(7 / 12)}

    def test_a_perfect_prediction(self):
        """Where everything is right all measures are 1."""
        truth = np.array([[1, 0], [0, 1]])
        found = REGIME.reading.evaluate(truth, truth - 0.5, WeakLabels(truth, ("negative", "a", "b")))
        assert set(found.values()) == {1.0}


class TestBinaryMil:
    """Binary MIL is the special case of one label: sets of zero or one."""

    def fitted(self, regime, reward, y, X, bags, **parameters):
        settings = {"n_rounds": 15, "n_folds": 3, "n_neighbors": 5, "random_state": 0, **parameters}
        return BlissClassifier(regime=regime, reward=reward, **settings).fit(X, y, bags=bags)

    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"classifier": "svm-linear", "n_inferences": 1, "class_balance": 0.5},
            {"strategy": "kl-ucb", "n_passes": 2, "n_parallel": 3, "train_on": "rest"},
            {"settings": "select", "grid": {"classifier.width": [0.5, 2.0]}, "n_members": 2, "n_inferences": 1},
        ],
        ids=["kernel-ridge", "svm", "passes", "select"],
    )
    def test_the_same_bits(self, parameters, monkeypatch):
        """With the same settings, label sets of zero or one label give the arms, labels and scores of binary MIL."""
        for regime in (MilRegime, MultiClassMilRegime):
            monkeypatch.setattr(regime, "presets", Presets(grid={}))
        rows, bags, sets = make_sets(24, seed=1, labels=("ant",), most=1)
        y = np.array([len(one) for one in sets])
        reward = {"alpha": 0.9}
        one = self.fitted("mil", {"name": "mil", **reward}, y, rows, bags, **parameters)
        other = self.fitted("multiclass-mil", {"name": "multiclass-mil", **reward}, sets, rows, bags, **parameters)
        assert np.array_equal(one.label_means_, other.label_means_, equal_nan=True)
        assert np.array_equal(one.label_pulls_, other.label_pulls_)
        assert np.array_equal(one.class_indices_, other.class_indices_)
        assert other.labels_.tolist() == [("negative", "ant")[label] for label in one.labels_]
        assert np.array_equal(one.confidence_, other.confidence_)
        assert np.array_equal(one.decision_function(rows), other.decision_function(rows))
        if parameters.get("settings") != "select":
            assert one.bag_threshold_ == other.bag_threshold_
            assert np.array_equal(one.score_bags(rows, bags)[1], other.score_bags(rows, bags)[1].ravel())
            assert np.array_equal(one.predict_bags(rows, bags)[1], other.predict_bags(rows, bags)[1].ravel())


def fitted(rows, bags, sets, **regime):
    """A small fit of label sets."""
    table = {"name": "multiclass-mil", **regime}
    parameters = {"n_rounds": 20, "n_folds": 2, "n_neighbors": 6, "n_inferences": 1, "random_state": 0}
    return BlissClassifier(table, reward={"name": "multiclass-mil", "alpha": 0.6}, **parameters).fit(rows, sets, bags)


@pytest.fixture(scope="module")
def model():
    return fitted(X, BAGS, SETS)


class TestWholeFit:
    def test_faces(self, model):
        """Instances get names of classes, bags a row of 0 and 1 for the labels, and scores of the same shape."""
        assert set(model.predict(X)) <= {"negative", "ant", "bee", "cow"}
        ids, predicted = model.predict_bags(X, BAGS)
        assert predicted.shape == model.score_bags(X, BAGS)[1].shape == (len(ids), 3)
        assert np.array_equal(predicted == 1, model.score_bags(X, BAGS)[1] > 0)
        assert model.decision_function(X).shape == (len(X), 4)
        assert set(model.evaluate(X, SETS, BAGS)) >= {"label_set_f1", "mean_average_precision"}

    def test_order_of_rows_and_bags(self, model):
        """Rows and bags in any order give the same labels."""
        order = np.random.default_rng(1).permutation(len(X))
        shuffled = Bags.from_ids(BAGS[order])
        by_id = dict(zip(Bags.from_ids(BAGS).ids.tolist(), SETS, strict=True))
        other = fitted(X[order], BAGS[order], boxed([by_id[name] for name in shuffled.ids.tolist()]))
        assert np.array_equal(other.labels_, model.labels_[order])
        assert np.array_equal(other.label_means_, model.label_means_[order], equal_nan=True)

    def test_names_of_labels(self, model):
        """Other names in the same order change nothing but the names."""
        names = {"ant": "x1", "bee": "x2", "cow": "x3", "negative": "negative"}
        other = fitted(X, BAGS, boxed([frozenset(names[label] for label in one) for one in SETS]))
        assert other.labels_.tolist() == [names[label] for label in model.labels_]

    @pytest.mark.parametrize("n_negative", [1, 3])
    def test_labels_are_those_of_the_bag(self, n_negative):
        """No instance is given a label that its bag has not."""
        model = fitted(X, BAGS, SETS, n_negative=n_negative)
        sets = dict(zip(Bags.from_ids(BAGS).ids.tolist(), SETS, strict=True))
        assert all(label in sets[bag] | {"negative"} for label, bag in zip(model.labels_, BAGS, strict=True))
        assert model.label_means_.shape == (len(X), n_negative + 3)

    def test_every_pair_of_labels(self, model):
        """A table of labels and bags can be judged whatever labels the test bags lack."""
        for pair in itertools.combinations(("ant", "bee", "cow"), 2):
            bags, sets = np.repeat(["p", "q"], 4), boxed([frozenset(pair), frozenset()])
            assert 0 <= model.evaluate(X[:8], sets, bags)["label_set_f1"] <= 1


class TestOwnSettings:
    def test_defaults(self):
        """Left alone, a fit has the regime's classifier, folds and rule; what the user sets stays."""
        model = BlissClassifier("multiclass-mil", n_rounds=5, n_inferences=1, random_state=0).fit(X, SETS, BAGS)
        assert model.members_[0].final.estimator.n_features == 500
        assert model.inference_["n_folds"] == 5
        free = MultiClassMilRegime().label_space(REGIME.check(SETS, Bags.from_ids(BAGS)), Bags.from_ids(BAGS)).free
        # Trained on the rest, each instance is in four of the five training parts.
        assert model.label_pulls_[free].sum(axis=1).min() >= 4 * 5
        sparse = REGIME.presets.defaults_for(Profile.of(Bags.from_ids(BAGS), sparse=True))
        assert sparse["classifier"]["n_features"] == 0
        assert sparse["class_balance"] < MultiClassMilRegime(n_negative=3).presets.defaults["class_balance"]
        assert sparse["n_neighbors"] == len(X) // 10
        assert REGIME.presets.defaults_for(Profile(n_rows=10_001, n_bags=10_001))["train_on"] == "one"

    def test_grid(self):
        """Every combination of the regime's own grid is a setting that can be fitted; sparse rows have fewer."""
        model = BlissClassifier(
            "multiclass-mil", settings="select", n_rounds=1, relabel_rounds=0, n_members=6, random_state=0
        )
        model.fit(sp.csr_matrix(X), SETS, BAGS)
        assert len(model.inference_["chosen"]) == 6
        assert len(REGIME.presets.grid["classifier"]) == 2
        assert set(model.inference_["chosen"][0]) >= {"classifier", "class_balance", "inherited_share", "score"}

    def test_every_label_has_an_instance(self):
        """Where the bag has room, each label of its set is the label of some instance, in the end as in each round."""
        kept = fitted(X, BAGS, SETS, assignments="every-label")
        there = {(bag, label) for bag, label in zip(BAGS.tolist(), kept.labels_.tolist(), strict=True)}
        sets = dict(zip(Bags.from_ids(BAGS).ids.tolist(), SETS, strict=True))
        sizes = dict(zip(Bags.from_ids(BAGS).ids.tolist(), Bags.from_ids(BAGS).sizes.tolist(), strict=True))
        assert {(bag, label) for bag, one in sets.items() for label in one if len(one) < sizes[bag]} <= there

    def test_ties_are_drawn(self):
        """Labels with equal bounds are as likely, and the same bounds give the same labels."""
        bags = Bags.from_ids(np.arange(600) // 3)
        weak = WeakLabels(np.repeat([[1, 0, 0]], 200, axis=0), ("negative", "ant", "bee", "cow"))
        part = Part(np.zeros((600, 1)), bags, weak, REGIME.label_space(weak, bags))
        bounds = np.where(part.space.candidates, 0.5, -np.inf)
        labels = every_label_kept(bounds, part)
        assert np.array_equal(labels, every_label_kept(bounds, part))
        # Half of the instances at random, and one more in each of the bags without any, which is one bag in eight.
        assert (labels == 1).mean() == pytest.approx(0.5 + 1 / 8 / 3, abs=0.05)
        assert bags.any(labels == 1).all()
