"""Intervals and paired comparisons, beside published figures and other ways to compute them."""

from math import comb

import numpy as np
import pytest

from bliss_framework.estimator.uncertainty import (
    BagRatio,
    difference_of,
    exact_p,
    interval_of_area,
    interval_of_ratio,
    interval_of_share,
    wilson,
)


def share(right):
    """A share of bags, each right or wrong."""
    right = np.asarray(right, dtype=float)
    return BagRatio(right, np.ones(len(right)))


class TestShares:
    @pytest.mark.parametrize(
        ("right", "n", "low", "high"),
        [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
    )
    def test_published_intervals(self, right, n, low, high):
        """Wilson's intervals are those in the table of Newcombe (1998), method 3."""
        interval = interval_of_share(right, n)
        assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)

    def test_a_share_of_bags_has_that_interval(self):
        """Bags that are right or wrong take Wilson's interval."""
        assert interval_of_ratio(share([1] * 9 + [0])) == interval_of_share(9, 10)


class TestAreas:
    def test_published_error(self):
        """The standard error is that of Hanley and McNeil's example: 0.032 at an area of 0.893 with 51 and 58 cases."""
        interval = interval_of_area(0.893, 51, 58)
        odds = [np.log(end / (1 - end)) for end in (interval.low, interval.high)]
        assert (odds[1] - odds[0]) / (2 * 1.96) * 0.893 * (1 - 0.893) == pytest.approx(0.032, abs=0.0006)

    @pytest.mark.parametrize("area", [0.0, 0.5, 1.0])
    def test_ends_are_areas(self, area):
        """However extreme the area, it lies in its interval, and the interval between 0 and 1."""
        interval = interval_of_area(area, 5, 7)
        assert 0 <= interval.low <= area <= interval.high <= 1
        assert interval.high - interval.low > 0.1


class TestOtherMeasures:
    @pytest.mark.parametrize("n", [400, 6000])
    def test_means(self, n):
        """For the mean of many bags, drawing them again gives the interval of the normal distribution."""
        values = np.random.default_rng(1).beta(5, 2, n)
        interval = interval_of_ratio(BagRatio(values, np.ones(n)))
        half = 1.96 * values.std() / np.sqrt(n)
        assert interval.high - interval.low == pytest.approx(2 * half, rel=0.1)
        assert (interval.high + interval.low) / 2 == pytest.approx(values.mean(), abs=half / 5)

    def test_nothing_below_the_line(self):
        """Where nothing is to be found the measure is perfect, as that of label sets is."""
        assert BagRatio(np.zeros(3), np.zeros(3)).value == 1


class TestDifferences:
    @pytest.mark.parametrize(("first", "second"), [(8, 1), (5, 5), (0, 0), (3, 9)])
    def test_exact_test(self, first, second):
        """The p is twice the lesser tail of a fair coin, at most 1."""
        n, least = first + second, min(first, second)
        tail = sum(comb(n, k) for k in range(least + 1)) / 2**n
        assert exact_p(first, second) == pytest.approx(min(2 * tail, 1))

    def test_only_bags_that_differ_count(self):
        """Five bags that one method alone has right are within noise, and six are not, among ten or a thousand."""
        for n_same in (5, 995):
            for n_alone, beyond in ((5, False), (6, True)):
                first = share([1] * n_alone + [1] * n_same)
                second = share([0] * n_alone + [1] * n_same)
                assert difference_of(first, second).beyond_noise is beyond
                assert difference_of(second, first).value == pytest.approx(-n_alone / (n_alone + n_same))

    def test_other_measures_are_paired_too(self):
        """A small lead in each bag is beyond noise, however much the bags differ; the same twice is not."""
        rng = np.random.default_rng(0)
        values = rng.random(60)
        first, second = BagRatio(values, np.ones(60)), BagRatio(values - 0.01 * rng.random(60), np.ones(60))
        assert difference_of(first, second).by == "paired-bootstrap"
        assert difference_of(first, second).p == pytest.approx(2 / 1001)  # None of 1,000 draws is on the other side.
        assert difference_of(first, second).beyond_noise
        assert not difference_of(first, first).beyond_noise

    def test_several_comparisons(self):
        """The best of several methods was picked, so a p counts as often as there were comparisons."""
        first, second = share([1] * 6 + [0] * 6), share([0] * 12)
        assert [difference_of(first, second, n).p for n in (1, 3, 100)] == [1 / 32, 3 / 32, 1.0]
        assert difference_of(first, second).beyond_noise
        assert not difference_of(first, second, 3).beyond_noise


class TestGroups:
    GROUPS = np.repeat(np.arange(15), 4)

    def test_the_share_is_the_same_and_its_interval_wider(self):
        """Four equal bags of each patient say as much as one bag of each: the interval of shares of 15, not of 60."""
        of_patients = np.repeat([1.0, 0.0], [9, 6])
        bags = share(np.repeat(of_patients, 4)).of_groups(self.GROUPS)
        assert bags.value == 0.6
        interval = interval_of_ratio(bags)
        half = 1.96 * np.sqrt(0.6 * 0.4 / 15)
        assert interval.high - interval.low == pytest.approx(2 * half, rel=0.25)  # Draws of 15 are in steps.
        assert interval.high - interval.low > 1.5 * (wilson(0.6, 60)[1] - wilson(0.6, 60)[0])

    def test_few_patients_are_no_proof(self):
        """Twelve bags more that are right are beyond noise, unless they are all of three patients."""
        first, second = share([1] * 60), share([0] * 12 + [1] * 48)
        assert difference_of(first, second).p == pytest.approx(2 / 2**12)
        assert not difference_of(first.of_groups(self.GROUPS), second.of_groups(self.GROUPS)).beyond_noise
