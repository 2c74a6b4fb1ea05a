"""Checks of a regime."""

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.inputs import check_training
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import BagEvidence, BagHead, BagReading, FittedBagHead, HeadFit, Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.folds import deal_folds
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.rows import Rows
from bliss_framework.testing.arrays import pickled, refusal, unchanged
from bliss_framework.testing.checks import Check, Example
from bliss_framework.testing.examples import fold_of, outcomes, part_of


def regime_checks(example: Example) -> list[Check]:
    """List the checks of the regime of an example."""
    tests = _RegimeChecks(example)
    return [
        Check("is-a-regime", tests.is_a_regime),
        Check("weak-labels", tests.weak_labels),
        Check("missing-weak-label", tests.missing_weak_label),
        Check("candidates", tests.candidates),
        Check("strata", tests.strata),
        Check("reading", tests.reading),
        Check("bag-scores-and-labels", tests.bags),
        Check("measures", tests.measures),
        Check("bag-head", tests.head),
        Check("weak-score", tests.weak_score),
        Check("prior", tests.prior),
        Check("constraint", tests.constraint),
        Check("instance-weights", tests.instance_weights),
        Check("changes-no-input", tests.changes_no_input),
        Check("picklable", tests.picklable),
        Check("default-reward-is-installed", tests.default_reward),
        Check("whole-fit", tests.whole_fit),
        Check("words-of-bags", tests.words_of_bags),
    ]


class _RegimeChecks:
    def __init__(self, example: Example) -> None:
        self.example = example
        self.regime = example.regime

    def is_a_regime(self) -> None:
        assert isinstance(self.regime, Regime), "a regime must be an instance of a subclass of Regime"
        assert "reward" in self.regime.presets.defaults, "presets must name a reward"

    def weak_labels(self) -> None:
        part, _ = part_of(self.example)
        n_bags = part.bags.n_bags
        assert len(part.weak.values) == n_bags, f"check returned {len(part.weak.values)} weak labels for {n_bags} bags"
        assert len(part.weak.classes) >= 2, "there must be at least two classes"

    def missing_weak_label(self) -> None:
        boxed = np.empty(len(self.example.weak), dtype=object)
        boxed[:] = list(self.example.weak)
        boxed[0] = None
        given = check_training(self.example.X, boxed, self.example.bags)
        if self.regime.empty_labels:
            self.regime.check(given.weak, given.bags)
            return
        advice = (
            "a bag without weak label (None) was accepted; raise DataError naming the bag, or set empty_labels where "
            "nothing need be known of a bag"
        )
        said = refusal(lambda: self.regime.check(given.weak, given.bags), advice)
        assert str(given.bags.ids[0]) in said, f"the error does not name the bag: {said}"

    def candidates(self) -> None:
        part, _ = part_of(self.example)
        space = part.space
        assert space.candidates.dtype == bool, "candidates must be booleans"
        assert len(space.candidates) == part.n_rows, f"{len(space.candidates)} rows of candidates, {part.n_rows} rows"
        assert space.candidates.any(axis=1).all(), "an instance has no candidate label"
        assert len(space.class_of_label) == space.n_labels, "class_of_label must have one entry for each label"
        assert space.free.any(), "the example leaves nothing to infer"

    def strata(self) -> None:
        part, strata = part_of(self.example)
        assert strata.shape == (part.bags.n_bags,), f"strata have shape {strata.shape}"
        assert strata.dtype.kind == "i", f"strata must be integers, not {strata.dtype}"
        assert strata.min() >= 0, "strata must be integers from 0"

    def reading(self) -> None:
        assert isinstance(self.regime.reading, BagReading), "reading must be an instance of a subclass of BagReading"

    def bags(self) -> None:
        reading, (part, _) = self.regime.reading, part_of(self.example)
        scores = _random_scores(part)
        assert len(reading.bag_scores(scores, part.bags)) == part.bags.n_bags, "one score (or row) for each bag"
        assert len(reading.bag_labels(scores, part.bags, 0.0)) == part.bags.n_bags, "one label for each bag"

    def measures(self) -> None:
        reading, (part, _) = self.regime.reading, part_of(self.example)
        scores = _random_scores(part)
        predicted = reading.bag_labels(scores, part.bags, 0.0)
        found = reading.evaluate(predicted, reading.bag_scores(scores, part.bags), part.weak)
        assert found, "evaluate must return at least one measure"
        assert all(isinstance(value, float) for value in found.values()), f"measures must be floats: {dict(found)}"

    def head(self) -> None:
        head, (part, strata) = self.regime.head, part_of(self.example)
        if head is None:
            return
        assert isinstance(head, BagHead), "head must be None or an instance of a subclass of BagHead"
        folds = deal_folds(strata, 2, np.random.default_rng(0))
        refusal = head.refusal(part.bags, part.weak, folds)
        assert refusal is None, f"the head refuses the bags of the example: {refusal}"
        scores = _random_scores(part)
        bag_scores = np.asarray(self.regime.reading.bag_scores(scores, part.bags))
        own = BagEvidence(Rows(part.X), part.bags, (scores,), bag_scores)
        with unchanged(part):
            found = head.fit(own, part.weak, folds)
        assert isinstance(found, HeadFit), "fit must return a HeadFit"
        fitted, said = found.fitted, found.parts
        assert isinstance(fitted, FittedBagHead), "what is fitted must be a FittedBagHead"
        for of_rows in (found.instance_scores, pickled(fitted).instance_scores(own.rows)):
            assert (of_rows is None) == (found.instance_scores is None), "instances are scored always or never"
            assert of_rows is None or of_rows.shape == scores.shape, (
                f"instance_scores must have the shape {scores.shape}"
            )
        for parts in (said, pickled(fitted).parts(own)):
            assert parts, "a head must say something"
            for name, values in parts.items():
                assert values.shape == bag_scores.shape, f'the part "{name}" has shape {values.shape}'
                assert np.isfinite(values).all(), f'the part "{name}" must be finite'
        assert set(said) == set(fitted.parts(own)), "parts must have the same names in training and after it"

    def weak_score(self) -> None:
        for outcome in outcomes(fold_of(self.example)):
            found = self.regime.reading.weak_score(outcome)
            assert all(np.isfinite(value) for value in found.values()), f"weak_score must be finite: {dict(found)}"

    def prior(self) -> None:
        part, _ = part_of(self.example)
        prior = self.regime.draw_prior(part)
        if prior is not None:
            assert prior.shape == part.space.candidates.shape, f"the prior has shape {prior.shape}"
            assert (prior >= 0).all(), "chances must not be negative"

    def constraint(self) -> None:
        part, _ = part_of(self.example)
        constrain = self.regime.constraint()
        if constrain is None:
            return
        bounds = np.where(part.space.candidates, np.random.default_rng(0).random(part.space.candidates.shape), -np.inf)
        assignment = constrain(bounds, part)
        assert part.space.candidates[np.arange(part.n_rows), assignment].all(), (
            "a label that is no candidate was assigned"
        )

    def instance_weights(self) -> None:
        part, _ = part_of(self.example)
        if part.weights is not None:
            assert part.weights.shape == (part.n_rows,), f"weights have shape {part.weights.shape}"
            assert (part.weights > 0).all(), "weights must be positive"

    def changes_no_input(self) -> None:
        part, _ = part_of(self.example)
        with unchanged(part):
            self.regime.label_space(part.weak, part.bags)
            self.regime.strata(part.weak)

    def picklable(self) -> None:
        copy = evolve(self.example, regime=pickled(self.regime))
        assert np.array_equal(part_of(copy)[1], part_of(self.example)[1]), "the copy gives other strata"

    def default_reward(self) -> None:
        resolve("reward", self.regime.presets.defaults["reward"])

    def whole_fit(self) -> None:
        ids, labels = self._fitted().predict_bags(self.example.X, self.example.bags)
        n_bags = Bags.from_ids(self.example.bags).n_bags
        assert len(ids) == len(labels) == n_bags, f"{len(labels)} bag predictions for {n_bags} bags"

    def words_of_bags(self) -> None:
        part, _ = part_of(self.example)
        _, labels = self._fitted().predict_bags(self.example.X, self.example.bags)
        try:
            self.regime.check_test(np.asarray(labels), part.bags, part.weak.bag_words)
        except DataError as error:
            raise AssertionError(
                f"check_test refuses what predict_bags returns ({error}); give the words of bags as bag_classes of "
                f"WeakLabels, or accept them in check_test"
            ) from error

    def _fitted(self) -> BlissClassifier:
        model = BlissClassifier(regime=self.regime, n_rounds=5, n_folds=2, n_neighbors=3, random_state=0)
        return model.fit(self.example.X, self.example.weak, bags=self.example.bags)


def _random_scores(part: Part) -> NDArray[np.float64]:
    shape = (part.n_rows,) if part.space.n_classes == 2 else (part.n_rows, part.space.n_classes)
    return np.random.default_rng(0).normal(size=shape)
