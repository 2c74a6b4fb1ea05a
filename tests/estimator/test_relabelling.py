"""`relabel_rounds`: rounds after inference, for BLISS and for the control without a bandit."""

from typing import ClassVar

import numpy as np
import pytest

from bliss_classifiers.ridge import KernelRidge
from bliss_framework import BlissClassifier, infer_labels
from bliss_framework.estimator.configure import configure
from bliss_framework.estimator.memory_estimate import DataSize, Work, estimate
from bliss_framework.estimator.time_estimate import estimate_seconds
from bliss_framework.extension.contracts import Profile
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.kernel.events import RelabellingStarted
from bliss_framework.plugin import check_training

ROUNDS = 3


@pytest.fixture(scope="module")
def data():
    """Forty bags of four rows, of which positive ones hold a witness or two that overlap the others a little."""
    rng = np.random.default_rng(5)
    bags, weak = np.repeat(np.arange(40), 4), np.arange(40) % 2
    X = rng.normal(size=(160, 3))
    X[::4] += 2.5 * weak[:, None]
    X[1::8] += 2.5 * weak[::2, None]
    return X, weak, bags


@pytest.fixture
def short(bliss):
    """A function that makes an unfitted learner with kernel ridge in every pull."""
    return lambda **parameters: bliss(
        **{"classifier": "kernel-ridge", "class_balance": 0.5, "n_rounds": 8, **parameters}
    )


class TestLabels:
    def test_means_are_those_of_the_bandit(self, short, data):
        """Rounds change labels, confidence and what is undecided, and leave means and pulls of arms alone."""
        X, weak, bags = data
        plain, rounds = (short(relabel_rounds=n).fit(X, weak, bags=bags) for n in (0, ROUNDS))
        assert np.array_equal(plain.label_means_, rounds.label_means_, equal_nan=True)
        assert np.array_equal(plain.label_pulls_, rounds.label_pulls_)
        assert np.array_equal(plain.fold_, rounds.fold_)
        assert (plain.labels_ != rounds.labels_).any()
        assert rounds.labels_[~np.isin(bags, np.flatnonzero(weak))].tolist() == [0] * 80
        assert plain.inference_["n_pulls"] == rounds.inference_["n_pulls"]
        assert 1 <= rounds.inference_["n_relabel_rounds"] <= ROUNDS
        assert "n_relabel_rounds" not in plain.inference_

    def test_confidence_is_a_share_of_labellings(self, short, data):
        """With r rounds confidence is a multiple of 1 / (r + 1), at least that, and 1 for what is known."""
        X, weak, bags = data
        model = short(relabel_rounds=ROUNDS).fit(X, weak, bags=bags)
        n = model.inference_["n_relabel_rounds"] + 1
        assert set(np.round(model.confidence_ * n, 9).tolist()) <= set(range(1, n + 1))
        assert model.confidence_[model.known_].tolist() == [1.0] * 80
        assert not model.undecided_.any()

    def test_undecided_is_what_ties_in_the_last_round(self, short, data):
        """Instances whose arms tie after one round of the bandit are decided by classifiers with other outputs."""
        X, weak, bags = data
        few = {"n_rounds": 1, "n_inferences": 1}
        plain, rounds = (short(relabel_rounds=n, **few).fit(X, weak, bags=bags) for n in (0, ROUNDS))
        assert plain.undecided_.any()
        assert not rounds.undecided_.any()

    def test_one_round_by_hand(self, short, data):
        """After one round each label is what kernel ridge, trained on the labels of other bags, says of some split.

        Which bags a bag was dealt with is not told, but there is a fold for each bag that explains all of its labels.
        """
        X, weak, bags = data
        start, found = (infer_labels(X, weak, bags, **given(short(relabel_rounds=n))) for n in (0, 1))
        # All classifiers that have not seen a bag agree where the outputs are far from 0.
        far = 0
        for bag in np.flatnonzero(weak):
            own = bags == bag
            puller = KernelRidge().estimator(0).fit(X[~own], start.classes[~own])
            scores = puller.decision_function(X[own])
            sure = np.abs(scores) > 0.5
            far += int(sure.sum())
            assert (found.classes[own][sure] == (scores[sure] > 0)).all()
        assert far > 20

    def test_labels_alone(self, short, data):
        """`infer_labels` gives the labels that `fit` learns."""
        X, weak, bags = data
        model = short(relabel_rounds=ROUNDS)
        found = infer_labels(X, weak, bags, **given(model))
        model.fit(X, weak, bags=bags)
        assert found.classes.tolist() == model.labels_.tolist()
        assert found.confidence.tolist() == model.confidence_.tolist()

    def test_order_and_processes_change_nothing(self, short, data):
        """Shuffled rows and two processes give the same bits for each row, ties and all."""
        X, weak, bags = data
        rows = np.random.default_rng(2).permutation(160)
        one = short(relabel_rounds=ROUNDS).fit(X, weak, bags=bags)
        shuffled = short(relabel_rounds=ROUNDS).fit(X[rows], dict(enumerate(weak.tolist())), bags=bags[rows])
        spread = short(relabel_rounds=ROUNDS, n_jobs=2).fit(X, weak, bags=bags)
        for name in ("labels_", "confidence_", "undecided_", "training_scores_"):
            assert np.array_equal(getattr(one, name)[rows], getattr(shuffled, name)), name
            assert np.array_equal(getattr(one, name), getattr(spread, name)), name

    def test_rounds_are_told(self, short, data):
        """A listener hears how many rounds there may be, and of each, after the folds."""
        X, weak, bags = data
        told = []
        infer_labels(X, weak, bags, emit=told.append, **given(short(relabel_rounds=ROUNDS)))
        names = [type(event).__name__ for event in told]
        assert names.index("RelabellingStarted") > len(names) - 1 - names[::-1].index("FoldFinished")
        started = told.index(RelabellingStarted(ROUNDS))
        assert names[started + 1 :] == ["RelabellingAdvanced"] * (len(told) - started - 1)
        assert [one.round for one in told[started + 1 :]] == list(range(1, len(told) - started))

    def test_too_few_bags(self, short, data):
        """With four bags there are no rounds, which is said, and the labels are those of the bandit."""
        X, weak, bags = (part[:n] for part, n in zip(data, (16, 4, 16), strict=True))
        plain = short(n_folds=2).fit(X, weak, bags=bags)
        with pytest.warns(UserWarning, match="not relabelled across folds: that takes 5 bags, and there are 4"):
            rounds = short(n_folds=2, relabel_rounds=ROUNDS).fit(X, weak, bags=bags)
        assert plain.labels_.tolist() == rounds.labels_.tolist()
        assert plain.confidence_.tolist() == rounds.confidence_.tolist()


def given(model):
    """Return the parameters of a learner that are set."""
    return {name: value for name, value in model.get_params(deep=False).items() if value is not None}


class TestControl:
    def test_it_starts_from_what_is_inherited(self, short, data):
        """Without a bandit nothing but the rounds pulls, and the final classifier learns the labels at their end."""
        X, weak, bags = data
        control = short(inherited_share=1.0, relabel_rounds=ROUNDS).fit(X, weak, bags=bags)
        assert control.inference_["n_pulls"] == 0
        assert control.inference_["n_relabel_rounds"] > 0
        assert np.isnan(control.inference_["mean_reward"])
        assert set(control.fold_.tolist()) == {-1}
        # In MIL instances inherit the label of their bag, so the rounds took some of those labels away.
        assert 40 < (control.labels_ == 0).sum() < 160
        assert (control.labels_[np.isin(bags, np.flatnonzero(weak))] == 0).any()
        learnt = BlissClassifier(**{**given(control), "final_classifier": Learning()}).fit(X, weak, bags=bags)
        assert Learning.seen[0] == sorted(learnt.labels_.tolist())

    def test_it_draws_where_a_bag_says_little(self):
        """Of bags with a share of a half the control starts with a draw for each instance."""
        rng = np.random.default_rng(0)
        X, bags = rng.normal(size=(120, 2)), np.arange(120) // 4
        first = Listening()
        control = {"regime": "llp", "classifier": first, "inherited_share": 1.0, "relabel_rounds": 1}
        BlissClassifier(**control, random_state=0).fit(X, [0.5] * 20 + [0.0] * 10, bags=bags)
        assert len(first.heard) == 5
        assert all(0.2 < np.mean(labels) < 0.5 for labels in first.heard)

    def test_without_rounds_it_is_what_it_was(self, short, data):
        """`relabel_rounds=0` leaves the control alone: every instance has the label of its bag."""
        X, weak, bags = data
        control = short(inherited_share=1.0).fit(X, weak, bags=bags)
        assert control.labels_.tolist() == weak[bags].tolist()

    def test_chosen_settings(self, short, data):
        """A grid may hold rounds, with a bandit and without; each of them is an inference of its own."""
        X, weak, bags = data
        grid = {"relabel_rounds": [0, 2], "inherited_share": [0.0, 1.0], "n_inferences": [1]}
        model = short(settings="select", grid=grid, n_members=4, inherited_share=None, n_inferences=None).fit(
            X, weak, bags=bags
        )
        chosen = {(one["relabel_rounds"], one["inherited_share"]) for one in model.inference_["chosen"]}
        assert chosen == {(0, 0.0), (2, 0.0), (0, 1.0), (2, 1.0)}
        assert model.labels_.shape == (160,)


class Listening(KernelRidge):
    """Kernel ridge that remembers the assignments that it is given."""

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "heard", [])

    def prepare(self, train, heldout, rng):
        prepared = super().prepare(train, heldout, rng)

        class Heard:
            def pull(self_, assignments, weights):
                self.heard.append(assignments[0].tolist())
                return prepared.pull(assignments, weights)

        return Heard()


class Learning(KernelRidge):
    """Kernel ridge whose scikit-learn form is a plain one that remembers the labels that it is given."""

    seen: ClassVar[list[list[int]]] = []

    def estimator(self, random_state):
        from sklearn.linear_model import LogisticRegression

        class Remembering(LogisticRegression):
            def fit(self, X, y, sample_weight=None):
                Learning.seen.append(sorted(y.tolist()))
                return super().fit(X, y, sample_weight)

        return Remembering()


class TestEstimates:
    def of(self, data, **parameters):
        X, weak, bags = data
        checked = check_training(X, weak, bags)
        settings = {"classifier": "kernel-ridge", "n_folds": 2, "train_on": "one", "final_classifier": "same"}
        config = configure({**settings, **parameters}, Profile.of(checked.bags, False), default_plugins().registry)
        return config, checked.read_by(config.regime)

    def test_memory(self, data):
        """Five classifiers of four fifths of the rows are held at once, which is said, with a bandit or without."""
        for share in (0.0, 1.0):
            (none, read), (some, _) = (self.of(data, relabel_rounds=n, inherited_share=share) for n in (0, 9))
            size = DataSize.of(read, none)
            alone = some.classifier.memory(size.problem(128, 32))
            names = [stage.what for stage in estimate(some, size, 1).stages]
            assert "relabelling across folds" in names
            (stage,) = (one for one in estimate(some, size, 1).stages if one.what == "relabelling across folds")
            assert 5 * alone < stage.own < 5 * alone + 160 * 1000
            assert "relabelling across folds" not in [one.what for one in estimate(none, size, 1).stages]

    def test_time(self, data, monkeypatch):
        """Five times as many pulls as rounds are added, and five preparations."""
        from bliss_framework.estimator import time_estimate

        monkeypatch.setattr(time_estimate, "_costs", lambda config, data: time_estimate.Costs(7.0, 2.0, 0.0))
        (none, read), (some, _) = (self.of(data, relabel_rounds=n) for n in (0, 9))
        seconds = [estimate_seconds(one, read, 1, Work(final=False)) for one in (none, some)]
        assert seconds[1] - seconds[0] == 5 * (7.0 + 9 * 2.0)
