"""The instance threshold of MIL: how many witnesses positive bags hold, and where the fewest mistakes are expected."""

import numpy as np
import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from bliss_framework import Bags, BlissClassifier, WeakLabels
from bliss_framework.plugin import fewest_mistakes, witness_share
from bliss_mil.datasets.generated import generate_mil
from bliss_mil.regime.mil_regime import MilRegime

PROPERTY = hypothesis_settings(max_examples=60, deadline=None)
SCORES = st.lists(st.integers(-6, 6), min_size=1, max_size=12).map(lambda values: np.array(values, dtype=np.float64))


def drawn(share: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of positive bags with a share of witnesses, which lie apart, and of negative bags."""
    rng = np.random.default_rng(seed)
    negatives = rng.normal(size=round(n * (1 - share)))
    return np.concatenate([negatives, rng.normal(6.0, size=n - len(negatives))]), rng.normal(size=n)


class TestShare:
    @pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9])
    def test_a_known_share_is_found(self, share):
        """With witnesses that lie apart the estimates are close to the share, and below it in the mean."""
        found = [witness_share(*drawn(share, 4000, seed)) for seed in range(10)]
        assert np.abs(np.array(found) - share).max() < 0.06
        assert np.mean(found) < share + 0.01

    def test_bags_without_a_witness_hold_none(self):
        """Where the scores of both kinds of bags have one distribution, hardly any witness is seen."""
        found = [witness_share(*drawn(0.0, 2000, seed)) for seed in range(20)]
        assert np.median(found) < 0.02

    def test_all_apart(self):
        """Where every instance of positive bags lies above all of negative ones, all of them are witnesses."""
        assert witness_share(np.arange(10.0, 20.0), np.arange(10.0)) == 1.0

    def test_no_scores(self):
        """Without an instance whose label is open there is no share to estimate."""
        assert witness_share(np.empty(0), np.arange(3.0)) == 0.0

    @PROPERTY
    @given(SCORES, SCORES, st.randoms(use_true_random=False))
    def test_order_and_scale_change_nothing(self, positive, negative, random):
        """The share is that of a shifted, doubled and shuffled copy."""
        shuffled = np.array(random.sample(positive.tolist(), len(positive)))
        share = witness_share(positive, negative)
        assert 0.0 <= share <= 1.0
        assert witness_share(2.0 * shuffled + 4.0, 2.0 * negative + 4.0) == pytest.approx(share, abs=1e-12)


class TestCut:
    @PROPERTY
    @given(SCORES, SCORES, st.lists(st.integers(-6, 6), max_size=5))
    def test_no_cut_expects_fewer_mistakes(self, positive, negative, known):
        """Counted one by one at every half step, expected mistakes are never fewer than at the cut chosen."""
        share = witness_share(positive, negative)

        def mistakes(cut: float) -> float:
            rate = sum(score > cut for score in negative) / len(negative)
            negatives = (1 - share) * len(positive) * rate
            witnesses = max(sum(score > cut for score in positive) - negatives, 0.0)
            missed = sum(score <= cut for score in known)
            return missed - witnesses + negatives + sum(score > cut for score in negative)

        chosen = fewest_mistakes(positive, negative, np.array(known, dtype=np.float64))
        assert mistakes(chosen) == pytest.approx(min(mistakes(step / 2) for step in range(-15, 16)), abs=1e-9)
        assert chosen not in [*positive, *negative, *known]

    def test_the_middle_of_equally_good_cuts_is_taken(self):
        """One mistake is made at 0.5, at 2.5 and at 4.5, and more elsewhere."""
        assert fewest_mistakes(np.empty(0), np.array([0.0, 2.0, 4.0]), np.array([1.0, 3.0, 5.0])) == 2.5

    def test_bags_of_one_are_counted_once(self):
        """The regime keeps instances that are positive for sure apart from those that may be negatives."""
        rng = np.random.default_rng(4)
        scores = np.concatenate([rng.normal(size=30), rng.normal(1.0, size=10), rng.normal(size=20)])
        ids = [*np.repeat(np.arange(10), 3), *range(10, 20), *np.repeat(np.arange(20, 25), 4)]
        weak = WeakLabels(np.repeat([1, 0], [20, 5]), (0, 1))
        cut = MilRegime().reading.instance_threshold(scores, Bags.from_ids(ids), weak, None)
        assert cut == fewest_mistakes(scores[:30], scores[40:], scores[30:40])
        assert cut != fewest_mistakes(scores[:40], scores[40:], scores[30:40])

    def test_instances_known_to_be_positive_are_no_negatives(self):
        """Positive bags of one instance are witnesses for sure: three of them outweigh a negative above them."""
        scores, ids = np.array([4.0, 5.0, -1.0, -2.0, 1.0, 0.5, 0.5, 0.5]), [0, 0, 1, 1, 2, 3, 4, 5]
        weak = WeakLabels(np.array([1, 0, 0, 1, 1, 1]), (0, 1))
        assert MilRegime().reading.instance_threshold(scores, Bags.from_ids(ids), weak, None) == -0.25
        fewer = WeakLabels(weak.values[:3], (0, 1))
        assert MilRegime().reading.instance_threshold(scores[:5], Bags.from_ids(ids[:5]), fewer, None) > 1.0


class TestFit:
    def test_many_witnesses_are_called_positive(self):
        """Where half of the instances of positive bags are witnesses, more labels are right than by counts."""
        data = generate_mil(witness_rate=0.5, n_bags=40, seed=1)
        truth = data.instance_labels
        model = BlissClassifier(random_state=0, n_rounds=20).fit(data.X, data.weak, bags=data.bags)
        scores = model.decision_function(data.X)
        by_counts = scores > np.quantile(scores, 1 - (model.labels_ == 1).mean())
        assert (model.predict(data.X) == truth).mean() > (by_counts == truth).mean() + 0.05
        assert np.mean(model.predict(data.X)) == pytest.approx(truth.mean(), abs=0.06)

    def test_bags_are_predicted_alike(self):
        """The instance threshold has no say in the labels of bags."""
        data = generate_mil(witness_rate=0.2, n_bags=30, bag_size=10, seed=2)
        found = []
        for threshold in ("out-of-fold", "auto", 0.7):
            model = BlissClassifier(random_state=0, n_rounds=10, instance_threshold=threshold)
            model.fit(data.X, data.weak, bags=data.bags)
            found.append(model.score_bags(data.X, data.bags)[1].tolist())
        assert found[0] == found[1] == found[2]
