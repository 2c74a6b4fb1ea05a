"""How long a fit takes: what is measured on a few bags, carried over to all of them."""

import random

import numpy as np
import pytest
from attrs import evolve, frozen

from bliss_framework.estimator import time_estimate
from bliss_framework.estimator.configure import configure
from bliss_framework.estimator.memory_estimate import Work
from bliss_framework.estimator.time_estimate import Costs, estimate_seconds
from bliss_framework.extension.contracts import Classifier, Profile
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.plugin import check_training

GIVEN = {
    "regime": "mil",
    "classifier": "ridge",
    "n_folds": 4,
    "n_rounds": 7,
    "n_first_draws": 3,
    "n_inferences": 2,
    "n_passes": 1,
}


@pytest.fixture
def prepared(toy):
    """A function that configures a fit of toy data of some size, and returns it with the data."""

    def make(n_bags=40, **given):
        X, bags, weak = toy(n_pos=n_bags // 2, n_neg=n_bags // 2)
        checked = check_training(X, [weak[bag] for bag in dict.fromkeys(bags.tolist())], bags)
        config = configure({**GIVEN, **given}, Profile.of(checked.bags, False), default_plugins().registry)
        return config, checked.read_by(config.regime)

    return make


@pytest.fixture
def law(monkeypatch):
    """Measurements that follow a law: a fold costs n, a pull n^2 and a final fit n^3 of the rows in hand."""

    def measured(config, part, strata):
        n = float(part.n_rows)
        return Costs(1e-3 * n, 1e-7 * n**2, 1e-9 * n**3)

    monkeypatch.setattr(time_estimate, "_measured", measured)


class TestCarrying:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            (1.0, 4.0, 4.0 * 100),  # Twice the rows took four times as long, so ten times take a hundred.
            (1.0, 8.0, 8.0 * 1000),
            (1.0, 64.0, 64.0 * 1000),  # Nothing here grows faster than the cube: that was noise.
            (1.0, 1.0, 1.0 * 10),  # Overhead does not grow, but the work that hides behind it does.
            (0.0, 1.0, 1.0 * 10),
            (1.0, 0.0, 0.0),
        ],
    )
    def test_ten_times_the_rows(self, before, now, expected):
        """The growth of the last doubling goes on, within reason."""
        assert Costs(now, now, now).carried(Costs(before, before, before), 10.0) == Costs(expected, expected, expected)

    def test_a_law_is_found(self, prepared, law, monkeypatch):
        """Seconds of all rows follow exactly from the law that small measurements follow."""
        monkeypatch.setattr(time_estimate, "FIRST_ROWS", 40)
        config, data = prepared(400)
        n = data.bags.n_rows
        # Four folds, in each of which two inferences draw three times and pull seven; then six final fits.
        expected = 4 * (1e-3 * n + 20 * 1e-7 * n**2) + 6 * 1e-9 * n**3
        assert estimate_seconds(config, data, None, Work()) == pytest.approx(expected, rel=0.02)

    def test_what_is_to_be_done(self, prepared, law):
        """Without a final fit it is not counted, and fits of an evaluation are counted by what they train on."""
        config, data = prepared()
        whole, labels = (estimate_seconds(config, data, None, Work(final=final)) for final in (True, False))
        final = 6 * 1e-9 * data.bags.n_rows**3
        assert whole - labels == pytest.approx(final)
        fits = estimate_seconds(config, data, None, Work(inference=False, final=False, fits=10, train_share=0.5))
        assert fits == pytest.approx(10 * 0.5 * whole)

    def test_processes(self, prepared, law):
        """Folds are spread, the final fit is not; fits of an evaluation are spread whole."""
        config, data = prepared()
        labels = estimate_seconds(config, data, None, Work(final=False))
        assert estimate_seconds(config, data, 2, Work(final=False)) == pytest.approx(labels / 2)
        work = Work(inference=False, final=False, fits=8)
        assert estimate_seconds(config, data, 4, work) == pytest.approx(estimate_seconds(config, data, 1, work) / 4)

    def test_nothing_is_inferred(self, prepared, law):
        """The control without a bandit trains only."""
        config, data = prepared(inherited_share=1.0)
        assert estimate_seconds(config, data, None, Work()) == pytest.approx(6 * 1e-9 * data.bags.n_rows**3)


class TestMeasuring:
    def test_seconds(self, prepared):
        """A real measurement gives a time above 0, and more rounds take longer."""
        few, many = (estimate_seconds(*prepared(n_rounds=n), None, Work(final=False)) for n in (10, 10_000))
        assert 0 < few < many

    def test_a_fit_is_not_touched(self, prepared):
        """A component may draw from global generators, whose state is as it was after an estimate."""

        @frozen
        class Careless(Classifier):
            def prepare(self, train, heldout, rng):
                random.random(), np.random.random()  # noqa: NPY002
                return inner.prepare(train, heldout, rng)

            def estimator(self, random_state):
                return inner.estimator(random_state)

        config, data = prepared()
        inner = config.classifier
        before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        assert estimate_seconds(evolve(config, classifier=Careless()), data, None, Work()) > 0
        assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002

    def test_a_component_that_raises(self, prepared):
        """Nothing is known then; the fit will say what is wrong."""

        @frozen
        class Broken(type(prepared()[0].reward)):
            def prepare(self, fold, classifier):
                raise RuntimeError("no")

        config, data = prepared()
        assert estimate_seconds(evolve(config, reward=Broken()), data, None, Work()) is None
