"""Cross-validation: whole bags, the same folds for every method, and figures that a pencil would give."""

from copy import copy

import numpy as np
import pytest

from bliss_framework.runs.comparison import compare
from bliss_framework.runs.evaluation.fits import run_fit, run_fits
from bliss_framework.runs.evaluation.measures import evaluation_of, notes_of, seconds_of, summary
from bliss_framework.runs.evaluation.methods import Method, bliss_method
from bliss_framework.runs.evaluation.plan import drawn_share, plan_fits
from bliss_framework.runs.folder.checkpoint import Checkpoint
from bliss_framework.runs.settings.records import EvaluationSettings

NOWHERE = Checkpoint(None)


def fitted(model):
    """The way to fit a model, whatever the seed."""
    return lambda data, seed, emit: copy(model).fit(data.X, data.weak, bags=data.ids)


@pytest.fixture
def problem(experiment):
    """Fourteen bags of three rows with known truth; the shift is small, so that mistakes are made."""
    return experiment(data={"n_pos": 6, "n_neg": 8, "size": 3, "gap": 1.5, "seed": 3}).problem


@pytest.fixture
def evaluated(problem, mean_above_limit):
    """A function that evaluates the stub, and returns its fits, its pieces and what it was fitted on."""

    def evaluate(cv=4, repeats=1, seed=0, n_jobs=1, names=("stub",)):
        seen = {name: [] for name in names}
        methods = [Method(name, fitted(mean_above_limit(seen[name]))) for name in names]
        fits = plan_fits(problem, methods, EvaluationSettings(cv, repeats), seed)
        return fits, run_fits(problem, fits, n_jobs, NOWHERE, lambda event: None), seen

    return evaluate


def by_hand(problem, test_bags):
    """Learn and predict as the stub does, with Python lists only: {bag id: score}, {row: predicted class}."""
    rows = {}
    for row, bag in enumerate(np.asarray(problem.dataset.bags).tolist()):
        rows.setdefault(bag, []).append(row)
    ids = list(rows)
    X, y = problem.dataset.X, dict(zip(ids, np.asarray(problem.dataset.weak).tolist(), strict=True))
    mean = {bag: sum(X[row].mean() for row in rows[bag]) / len(rows[bag]) for bag in ids}
    test = [ids[position] for position in test_bags]
    sides = []
    for side in (0, 1):
        own = [mean[bag] for bag in ids if bag not in test and y[bag] == side]
        sides.append(sum(own) / len(own))
    limit = sum(sides) / 2
    instances = {row: int(X[row].mean() > limit) for bag in test for row in rows[bag]}
    return {bag: mean[bag] - limit for bag in test}, instances, y


class TestFolds:
    @pytest.mark.parametrize("cv", [2, 4, 5, 14])
    def test_each_bag_is_tested_once_and_whole(self, problem, evaluated, cv):
        """The test bags of a repeat are all bags, each once, and training sees no row of them."""
        fits, pieces, seen = evaluated(cv, repeats=2)
        ids = problem.bags.ids.tolist()
        for repeat in range(2):
            own = [fit for fit in fits if fit.repeat == repeat]
            assert sorted(np.concatenate([fit.test_bags for fit in own]).tolist()) == list(range(14))
            assert len(own) == cv
        for fit, (trained_on, n_rows) in zip(fits, seen["stub"], strict=True):
            assert trained_on == set(ids) - {ids[position] for position in fit.test_bags}
            assert n_rows == 3 * len(trained_on)
            rows = pieces["stub", fit.repeat, fit.fold]["rows"]
            tested = [np.asarray(problem.dataset.bags).tolist()[row] for row in rows]
            assert {bag: tested.count(bag) for bag in tested} == {ids[position]: 3 for position in fit.test_bags}

    def test_each_fold_has_its_share_of_both_classes(self, problem, evaluated):
        """Six positive and eight negative bags make three folds with two positive bags each."""
        fits, _, _ = evaluated(cv=3)
        assert [int(problem.weak.values[fit.test_bags].sum()) for fit in fits] == [2, 2, 2]

    def test_all_methods_get_the_same_folds(self, evaluated):
        """Two methods are trained on the same bags, fold by fold and repeat by repeat."""
        _, _, seen = evaluated(repeats=2, names=("first", "second"))
        assert seen["first"] == seen["second"]
        assert len(seen["first"]) == 8

    def test_repeats_have_other_folds(self, evaluated):
        """Each repeat deals the bags anew, and another seed deals them otherwise."""
        dealt = [
            [sorted(fit.test_bags.tolist()) for fit in evaluated(seed=seed, repeats=2)[0] if fit.repeat == repeat]
            for seed, repeat in ((0, 0), (0, 1), (1, 0))
        ]
        assert dealt[0] != dealt[1]
        assert dealt[0] != dealt[2]

    def test_no_more_folds_than_bags(self, evaluated):
        """With more folds than bags each bag is a fold."""
        assert len(evaluated(cv=40)[0]) == 14

    def test_no_folds(self, problem):
        """Without cv nothing is fitted."""
        assert plan_fits(problem, [], EvaluationSettings(), 0) == []

    def test_the_largest_seed(self, problem):
        """A repeat after the largest seed starts at 0 again, instead of being no seed."""
        fits = plan_fits(problem, [Method("x", fitted(None))], EvaluationSettings(2, 2), 2**32 - 1)
        assert [fit.seed for fit in fits] == [2**32 - 1, 2**32 - 1, 0, 0]


class TestFigures:
    @pytest.mark.parametrize("repeats", [1, 3])
    def test_accuracy_and_auc_are_those_of_pooled_folds(self, problem, evaluated, repeats):
        """Doing it by hand: all test bags of a repeat together, accuracy by counting, AUC by counting pairs."""
        fits, pieces, _ = evaluated(repeats=repeats)
        document = evaluation_of(problem, "stub", pieces, EvaluationSettings(4, repeats))
        accuracies, areas = [], []
        for repeat in range(repeats):
            scores = {}
            for fit in fits:
                if fit.repeat == repeat:
                    own, _, y = by_hand(problem, fit.test_bags)
                    scores |= own
            accuracies.append(sum((scores[bag] > 0) == (y[bag] == 1) for bag in scores) / 14)
            pairs = [(scores[p], scores[n]) for p in scores if y[p] == 1 for n in scores if y[n] == 0]
            areas.append(sum((p > n) + (p == n) / 2 for p, n in pairs) / len(pairs))
        assert document["bag_accuracy"]["runs"] == pytest.approx(accuracies, abs=1e-12)
        assert document["bag_auc"]["runs"] == pytest.approx(areas, abs=1e-12)
        assert 0.5 < accuracies[0] < 1.0
        assert (document["cv"], document["repeats"]) == (4, repeats)

    def test_instance_accuracy_is_that_of_pooled_folds(self, problem, evaluated):
        """Where truth is known each instance counts once for a repeat, overall and within its true class."""
        fits, pieces, _ = evaluated()
        document = evaluation_of(problem, "stub", pieces, EvaluationSettings(4))["instance_accuracy"]["test"]
        predicted = {}
        for fit in fits:
            predicted |= by_hand(problem, fit.test_bags)[1]
        truth = problem.dataset.instance_labels.tolist()
        right = [predicted[row] == truth[row] for row in range(42)]
        assert document["overall"]["runs"] == [sum(right) / 42]
        positive = [right[row] for row in range(42) if truth[row] == 1]
        assert document["per_class"]["1"]["mean"] == sum(positive) / len(positive) == sum(positive) / 6

    def test_mean_and_deviation(self):
        """Runs 1, 2, 3 and 6 have mean 3 and, divided by 4, variance 14/4."""
        assert summary([1.0, 2.0, 3.0, 6.0]) == {"mean": 3.0, "sd": pytest.approx(3.5**0.5), "runs": [1, 2, 3, 6]}
        assert summary([0.25]) == {"mean": 0.25, "sd": 0.0, "runs": [0.25]}

    def test_seconds_and_notes_belong_to_their_method(self):
        """Seconds are added up; a warning is told once, with the number of fits that it came from."""
        pieces = {
            ("a", 0, 0): {"seconds": 1.0, "notes": ["collapsed"]},
            ("a", 0, 1): {"seconds": 0.5, "notes": ["collapsed", "slow"]},
            ("b", 0, 0): {"seconds": 7.0, "notes": ["other"]},
        }
        assert seconds_of(pieces, "a") == 1.5
        assert notes_of(pieces, "a") == ["collapsed (2 of 2 fits)", "slow (1 of 2 fits)"]


class TestProcesses:
    def test_two_processes_give_the_same_bits(self, experiment):
        """One job or two, BLISS and a baseline give the same predictions and scores, to the last bit.

        There are rows enough for the algebra library to use several threads, which would change last bits.
        """
        data = {"n_pos": 20, "n_neg": 20, "size": 15, "d": 166}
        prepared = experiment(cv=2, data=data, final_classifier="kernel-ridge")
        methods = [bliss_method(prepared.bliss), *prepared.baselines]
        fits = plan_fits(prepared.problem, methods, prepared.settings.evaluation, 0)
        one, two = (run_fits(prepared.problem, fits, n_jobs, NOWHERE, lambda event: None) for n_jobs in (1, 2))
        assert len(one) == 4
        for place, piece in one.items():
            assert {**piece, "seconds": 0} == {**two[place], "seconds": 0}

    def test_the_same_seed_gives_the_same_comparison(self, experiment, lasting):
        """Two comparisons with one seed agree in all but seconds; with another seed they do not."""
        first, second, other = (
            lasting(
                compare(experiment(cv=2, data={"gap": 1.0}, random_state=seed), ["bliss"], lambda event: None).document
            )
            for seed in (0, 0, 1)
        )
        assert first == second
        assert first["methods"] != other["methods"]

    def test_warnings_of_a_fit_are_kept_with_it(self, problem, mean_above_limit):
        """What a method warns of in a fit becomes a note of that fit, and does not reach the screen."""

        class Loud(mean_above_limit):
            def fit(self, X, y, bags=None):
                import warnings

                warnings.warn("watch out", stacklevel=1)
                return super().fit(X, y, bags)

        (fit, *_) = plan_fits(problem, [Method("loud", fitted(Loud()))], EvaluationSettings(2), 0)
        assert run_fit(problem, fit)["notes"] == ["watch out"]


class TestTestShare:
    @pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
    @pytest.mark.parametrize("seed", range(5))
    def test_each_stratum_gives_its_share(self, share, seed):
        """Of each kind of bag that share is drawn, give or take one, and every bag may be drawn."""
        strata = np.repeat([0, 1, 2], [10, 23, 7])
        test = drawn_share(strata, share, np.random.default_rng(seed))
        assert len(test) == len(set(test.tolist())) == round(share * 40)
        assert (np.abs(np.bincount(strata[test], minlength=3) - share * np.bincount(strata)) <= 1.0).all()

    def test_every_bag_is_drawn_at_times(self):
        """No bag is always in training."""
        rng = np.random.default_rng(0)
        drawn = [drawn_share(np.repeat([0, 1], 5), 0.2, rng) for _ in range(60)]
        assert set(np.concatenate(drawn).tolist()) == set(range(10))

    def test_there_is_always_something_to_train_and_to_test_on(self):
        """Two bags are one of each, whatever the share."""
        for share in (0.01, 0.99):
            assert len(drawn_share(np.zeros(2, dtype=int), share, np.random.default_rng(0))) == 1

    def test_all_methods_are_tested_on_the_same_bags(self, problem, mean_above_limit):
        """One fit for each method and repeat, and the result says which share it was."""
        methods = [Method(name, fitted(mean_above_limit([]))) for name in ("one", "other")]
        evaluation = EvaluationSettings(repeats=3, test_share=0.3)
        fits = plan_fits(problem, methods, evaluation, 0)
        assert [(fit.method.name, fit.repeat, fit.fold) for fit in fits] == [
            (name, repeat, 0) for repeat in range(3) for name in ("one", "other")
        ]
        assert all(len(fit.test_bags) == 4 for fit in fits)
        assert all(
            np.array_equal(one.test_bags, other.test_bags) for one, other in zip(fits[::2], fits[1::2], strict=True)
        )
        document = evaluation_of(problem, "one", run_fits(problem, fits, 1, NOWHERE, lambda event: None), evaluation)
        assert (document["test_share"], document["repeats"], "cv" in document) == (0.3, 3, False)
        assert len(document["bag_accuracy"]["runs"]) == 3
