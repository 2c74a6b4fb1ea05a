"""The contracts of regimes and rewards: what an author must write, and what comes without a word."""

import pickle

import numpy as np
import pytest
from attrs import evolve, field, frozen

from bliss_framework import BlissClassifier
from bliss_framework.plugin import (
    Bags,
    ClassReading,
    DataError,
    LabelSpace,
    Outcome,
    Presets,
    Regime,
    Reward,
    RewardFunction,
    WeakLabels,
)
from bliss_framework.testing import check_regime, mil_example, regime_checks
from bliss_framework.testing.checks import Example


@frozen
class Agreement(Reward):
    """A reward that keeps nothing for a fold."""

    weight: float = field(default=1.0)

    def __call__(self, outcome: Outcome) -> np.ndarray:
        return self.weight * (outcome.assignment == outcome.labels)


@frozen
class Halved(Agreement):
    """A reward that changes another one by inheritance."""

    def __call__(self, outcome: Outcome) -> np.ndarray:
        return Agreement.__call__(self, outcome) / 2


class Prepared(Reward):
    """A reward that is prepared for a fold."""

    def prepare(self, fold, classifier):
        return Agreement()


class Callable(Prepared):
    """One that is called, too."""

    def __call__(self, outcome):
        return np.zeros(len(outcome.assignment))


class TestReward:
    """`prepare` is the one abstract method, and a function is enough."""

    @pytest.mark.parametrize("reward", [Agreement(), Halved(), pickle.loads(pickle.dumps(Agreement()))])
    def test_a_function_is_its_own_reward_function(self, reward):
        """A class with `__call__` alone can be made, is prepared as it is, and has nothing to say."""
        assert reward.prepare(None, None) is reward
        assert reward.diagnostic(None) is None

    def test_a_prepared_reward_stays_prepared(self):
        """`__call__` of a subclass does not replace a `prepare` that there is."""
        assert isinstance(Callable().prepare(None, None), Agreement)
        assert not callable(Prepared())

    def test_nothing_is_no_reward(self):
        """A class without `prepare` and `__call__` is abstract."""

        class Nothing(Reward):
            pass

        with pytest.raises(TypeError, match="prepare"):
            Nothing()
        with pytest.raises(TypeError, match="__call__"):
            type("Function", (RewardFunction,), {})()


@frozen
class Candidates(Regime):
    """Each row comes with a set of possible classes: an ordinary regime of three methods."""

    presets = Presets(defaults={"reward": Agreement()})
    reading = ClassReading()
    rows_are_bags = True

    def check(self, weak, bags):
        for bag, one in zip(bags.ids.tolist(), weak.tolist(), strict=True):
            if not isinstance(one, tuple) or not one:
                raise DataError(f"Bag {bag} has no set of classes.")
        return WeakLabels(np.array([[c in one for c in (0, 1, 2)] for one in weak.tolist()], dtype=np.int8), (0, 1, 2))

    def label_space(self, weak, bags):
        return LabelSpace(bags.spread(weak.values) > 0, np.arange(3))


def boxed(sets):
    """Put sets into an array of objects."""
    weak = np.empty(len(sets), dtype=object)
    weak[:] = sets
    return weak


class TestRegime:
    """Three methods make a regime."""

    def test_defaults(self):
        """Strata number the weak labels, candidates are equally likely, and all else is left to the framework."""
        regime, bags = Candidates(), Bags.from_ids([0, 1, 2])
        weak = regime.check(boxed([(0,), (0, 1), (0,)]), bags)
        assert regime.strata(weak).tolist() == [0, 1, 0]
        assert regime.inherited(weak, bags).tolist() == [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
        assert regime.constraint() is None
        assert regime.draw_prior(None) is None
        assert regime.instance_weights(bags, weak) is None

    def test_weak_labels_of_a_test_set(self):
        """Classes, sets of them and rows of a matrix are read; what was not there in training is refused."""
        regime, bags = Candidates(), Bags.from_ids([0, 1])
        assert regime.check_test(np.array([2, 0]), bags, (0, 1, 2)).values.tolist() == [2, 0]
        assert regime.check_test(boxed([(1, 2), (0,)]), bags, (0, 1, 2)).values.tolist() == [[0, 1, 1], [1, 0, 0]]
        assert regime.check_test(np.eye(3)[:2], bags, (0, 1, 2)).values.tolist() == [[1, 0, 0], [0, 1, 0]]
        for wrong in (np.array([7, 0]), boxed([(1, 7), (0,)])):
            with pytest.raises(DataError, match="7"):
                regime.check_test(wrong, bags, (0, 1, 2))

    def test_it_passes_the_kit(self):
        """Three methods and a ready reading keep the whole contract."""
        rng = np.random.default_rng(0)
        y = np.arange(60) % 3
        sets = [(c,) if i % 5 == 0 else tuple(sorted({c, (c + 1) % 3})) for i, c in enumerate(y.tolist())]
        X = np.eye(3)[y] * 3 + rng.normal(size=(60, 3))

        check_regime(Example(Candidates(), X, np.arange(60), boxed(sets)))
        model = BlissClassifier(Candidates(), n_rounds=10, random_state=0).fit(X, boxed(sets))
        assert model.score(X, boxed(sets)) > 0.8


WORDS = ("dull", "musk")


def known(word):
    """Refuse what is no word of a bag."""
    if word not in WORDS:
        raise DataError(f"{word!r} is none of {WORDS}.")
    return word


@frozen
class InWords(Regime):
    """MIL whose bags speak of molecules and whose instances speak of shapes; each row has its number with it."""

    presets = Presets(defaults={"reward": "mil"})

    @property
    def reading(self):
        return ClassReading()

    def check(self, weak, bags):
        values = np.array([WORDS.index(known(value)) for value in weak.tolist()], dtype=np.int8)
        return WeakLabels(values, (0, 1), of_rows=np.arange(float(bags.n_rows)), bag_classes=WORDS)

    def label_space(self, weak, bags):
        positive = bags.spread(weak.values == 1)
        return LabelSpace(np.stack([np.ones(bags.n_rows, dtype=bool), positive], axis=1), np.arange(2))


class Watching(Reward):
    """Sees that rows and what is known of them stay together, and that the regime is at hand."""

    def __call__(self, outcome):
        for part in (outcome.fold.train, outcome.fold.heldout):
            assert np.array_equal(part.weak.of_rows, part.X[:, 0])
        assert isinstance(outcome.fold.regime, InWords)
        return (outcome.assignment == outcome.labels).astype(float)


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
@pytest.mark.parametrize("settings", ["default", "select"])
def test_what_is_known_of_rows_stays_with_them(settings):
    """Whatever puts rows into another order or takes some of them, `of_rows` follows; bags keep their own words."""
    example = mil_example()
    X = np.column_stack([np.arange(40.0), example.X])
    order = np.random.default_rng(0).permutation(40)
    X, bags = X[order], example.bags[order]
    X[:, 0] = np.arange(40.0)
    words = {bag: ("dull", "musk")[label] for bag, label in zip(np.unique(bags), [0, 1] * 6, strict=True)}
    parameters = {
        "scaling": "none",
        "n_rounds": 4,
        "n_folds": 2,
        "n_neighbors": 3,
        "random_state": 0,
        "n_inferences": 1,
    }
    grid = {"inherited_share": (0.0, 0.5)}
    model = BlissClassifier(InWords(), reward=Watching(), settings=settings, grid=grid, **parameters).fit(
        X, words, bags
    )
    assert set(model.predict_bags(X, bags)[1].tolist()) <= {"dull", "musk"}
    assert set(model.predict(X).tolist()) <= {0, 1}
    right = [words[bag] == label for bag, label in zip(*model.predict_bags(X, bags), strict=True)]
    assert model.evaluate(X, words, bags)["bag_accuracy"] == pytest.approx(np.mean(right))


@frozen
class Undeclared(InWords):
    """Its bags speak words of their own, but it does not say so."""

    def check(self, weak, bags):
        return evolve(super().check(weak, bags), bag_classes=None)

    def check_test(self, weak, bags, classes):
        return self.check(weak, bags)


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
@pytest.mark.parametrize(("regime", "fails"), [(InWords(), False), (Undeclared(), True)])
def test_predicted_bags_are_in_the_words_of_bags(regime, fails):
    """The kit finds out where `predict_bags` returns what `check_test` does not take."""
    example = mil_example()
    words = np.where(example.weak == 1, "musk", "dull")
    checks = {one.name: one for one in regime_checks(Example(regime, example.X, example.bags, words))}
    if fails:
        with pytest.raises(AssertionError, match="bag_classes"):
            checks["words-of-bags"]()
    else:
        checks["words-of-bags"]()
