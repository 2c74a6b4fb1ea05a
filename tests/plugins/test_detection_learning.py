"""The reward, the classifier, picks, measures and baselines of detection, against numbers by hand and brute force."""

import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bliss_detection.detector.average_precision import Curve, Detections, corloc, precision_recall
from bliss_detection.detector.judgement import run_files
from bliss_detection.detector.mined_svm import Detector
from bliss_detection.detector.pictures import sheet
from bliss_detection.features.described_boxes import Described
from bliss_detection.images.annotations import Annotation
from bliss_detection.images.image_packages import image_package
from bliss_detection.images.photos import Photos
from bliss_detection.inference.balanced_ridge import BalancedLeastSquares, BalancedRidge
from bliss_detection.inference.box_labels import Inference, binary_bags, infer_boxes, inferred_scores
from bliss_detection.inference.detection_prior import DetectionPrior, dist_gaps, labels_of_bags
from bliss_detection.inference.latent_svm import SmoothedLatentSvm, _Problem, projected
from bliss_detection.inference.max_cover import MaxCover
from bliss_detection.inference.mean_distances import MeanDistances
from bliss_detection.inference.mi_alternation import Alternation
from bliss_detection.inference.picking_methods import METHODS, RULES, WEAK, Passes, Task
from bliss_detection.inference.picks import Candidates
from bliss_detection.inference.pruning import pruned
from bliss_framework import Bags, Fold, LabelSpace, MissingExtraError, Outcome, Part, UnknownNameError, WeakLabels
from bliss_framework.testing import check_classifier, check_reward


def part(bags, weak, n_classes=2, X=None):
    """A part of bags; every label is possible in positive bags, 0 alone in the others."""
    grouped, values = Bags.from_ids(bags), np.array(weak)
    positive = grouped.spread(values if values.ndim == 1 else values.any(axis=1)) > 0
    candidates = np.zeros((len(bags), n_classes), dtype=bool)
    candidates[:, 0] = True
    candidates[positive, 1:] = True
    space = LabelSpace(candidates, np.arange(n_classes))
    rows = np.zeros((len(bags), 1)) if X is None else X
    return Part(rows, grouped, WeakLabels(values, tuple(range(n_classes))), space)


# The prior


def six_boxes(assignment):
    """Three images of two boxes: A (a dog) is trained on; B (a dog) and C (no dog) are held out."""
    fold = Fold(part(["A", "A"], [1]), part(["B", "B", "C", "C"], [1, 0]), n_neighbors=2)
    scores, heldout = np.array([[0.9], [-0.3]]), np.array([[0.8], [-0.5], [-0.4], [0.1]])
    return Outcome(
        fold,
        np.array(assignment),
        (scores[:, 0] > 0).astype(np.intp),
        scores,
        (heldout[:, 0] > 0).astype(np.intp),
        heldout,
    )


def test_six_boxes_by_hand():
    """The rewards of six boxes in three images, worked out on paper (docs/explanation/detection.md).

    Outputs: a1 = 0.9, a2 = -0.3 in A; b1 = 0.8, b2 = -0.5 in B; c1 = -0.4, c2 = 0.1 in C.
    DistGap of a1 before eta: 0.9 - 0.1 to C, less 0.9 - 0.8 to B: 0.7. Of a2: 0.1 to C, less 0.2 to B: -0.1.
    eta makes that 1 and 0. The two nearest held-out outputs of a1 are b1 and c2: recall 1 and 1, precision 1 and 0, so
    the MIL reward is 1/7 + 6/7 * 1/2 = 4/7. Those of a2 are c1 and b2: all 1, so it is 1.
    """
    outcome = six_boxes([1, 0])
    gaps = dist_gaps(
        outcome.scores[:, 0], outcome.heldout_scores[:, 0], outcome.fold.heldout, np.array([True, False]), 1
    )
    assert gaps == pytest.approx([0.7, -0.1])
    reward = DetectionPrior().prepare(outcome.fold, None)
    assert reward(outcome) == pytest.approx([4 / 7, 1.0])
    # A label that the classifier does not predict earns nothing, whatever the gap.
    assert reward(six_boxes([0, 1])) == pytest.approx([0.0, 0.0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6)), min_size=1, max_size=25),
    st.integers(1, 4),
    st.lists(st.floats(-9, 9), min_size=1, max_size=10),
    st.integers(0, 2**31),
)
def test_mean_distances_are_those_of_brute_force(instances, k, queries, seed):
    """Sums of mean distances to the k nearest outputs of each bag, with ties and small bags, are exact."""
    bags = Bags.from_ids([bag for bag, _ in instances])
    outputs = np.array([value / 2 for _, value in instances])
    weights = np.random.default_rng(seed).normal(size=bags.n_bags)
    expected = np.zeros(len(queries))
    for bag, weight in enumerate(weights):
        distances = np.sort(np.abs(np.array(queries)[:, None] - outputs[bags.index == bag][None]), axis=1)
        expected += weight * distances[:, :k].mean(axis=1)
    assert MeanDistances(outputs, bags, weights, k)(np.array(queries)) == pytest.approx(expected, abs=1e-9)


def test_the_prior_wraps_any_reward():
    """The kit passes for several inner rewards, and an unknown one is refused when the component is made."""
    check_reward(DetectionPrior())
    check_reward(DetectionPrior({"name": "mil-marginal"}, k=3))
    with pytest.raises(UnknownNameError, match="mill"):
        DetectionPrior("mill")


def test_bags_without_other_bags_give_no_gap():
    """Without held-out bags of one kind the gap says nothing: every reward is halved."""
    outcome = six_boxes([1, 0])
    only = part(["B", "B", "C", "C"], [1, 1])
    alone = Outcome(
        Fold(outcome.fold.train, only, 2),
        outcome.assignment,
        outcome.labels,
        outcome.scores,
        outcome.heldout_labels,
        outcome.heldout_scores,
    )
    inner = DetectionPrior("mil").prepare(alone.fold, None)
    # All held-out instances now have recall and precision 1.
    assert inner(alone) == pytest.approx([0.5, 0.5])


def test_labels_of_bags_in_every_regime():
    """Which positive classes a bag has, from 0/1, from label sets without the negative class, from proportions."""
    assert labels_of_bags(part(["a", "b"], [1, 0])).tolist() == [[True], [False]]
    sets = part(["a", "b"], [[1, 0], [0, 1]], n_classes=3)
    assert labels_of_bags(sets).tolist() == [[True, False], [False, True]]
    shares = part(["a", "b"], [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], n_classes=3)
    assert labels_of_bags(shares).tolist() == [[True, False], [False, False]]


# The classifier


def test_balanced_ridge_passes_the_kit():
    """Both thresholds keep the contract of a classifier."""
    check_classifier(BalancedRidge())
    check_classifier(BalancedRidge(recall=0.0))


def test_balanced_ridge_is_its_formula():
    """The outputs are those of the whitened difference of means, computed with an inverse in double precision."""
    rng = np.random.default_rng(0)
    X, H = rng.normal(size=(40, 5)), rng.normal(size=(30, 5))
    labels = (np.arange(40) % 4 == 0).astype(np.intp)
    bags = np.repeat(np.arange(10), 4)
    prepared = BalancedRidge(ridge=0.3, recall=0.0).prepare(
        part(bags, [1] * 10, X=X), part(np.repeat(np.arange(10), 3), [1, 0] * 5, X=H), rng
    )
    found = prepared.pull(labels[None], None)
    covariance = np.cov(X.T, bias=True) + 0.3 * np.eye(5)
    w = np.linalg.inv(covariance) @ (X[labels == 1].mean(axis=0) - X[labels == 0].mean(axis=0))
    w /= np.linalg.norm(w)
    middle = (X[labels == 1].mean(axis=0) + X[labels == 0].mean(axis=0)) @ w / 2
    assert found.train_scores[0, :, 0] == pytest.approx(X @ w - middle, abs=1e-5)
    assert found.heldout_scores[0, :, 0] == pytest.approx(H @ w - middle, abs=1e-5)


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_the_threshold_lets_a_share_of_positive_bags_be_found(share):
    """At least that share of the held-out positive bags has a positive instance, and one less at a higher threshold."""
    rng = np.random.default_rng(1)
    weak = np.array([1, 0] * 10)
    heldout = part(np.repeat(np.arange(20), 3), weak.tolist(), X=rng.normal(size=(60, 4)))
    train = part(np.repeat(np.arange(10), 4), [1] * 10, X=rng.normal(size=(40, 4)))
    prepared = BalancedRidge(recall=share).prepare(train, heldout, rng)
    scores = prepared.pull(rng.integers(0, 2, (1, 40)), None).heldout_scores[0, :, 0]
    best = heldout.bags.max(scores)[weak == 1]
    assert (best > 0).sum() == round(share * 10)


def test_the_estimator_is_the_same_model():
    """After inference the same least squares is trained, with weights that count like copies."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X[y == 1] += 2
    weights = 1.0 + (np.arange(30) % 3)
    copies = np.repeat(np.arange(30), weights.astype(int))
    weighted = BalancedLeastSquares(0.1).fit(X, y, weights).decision_function(X)
    assert weighted == pytest.approx(BalancedLeastSquares(0.1).fit(X[copies], y[copies]).decision_function(X), abs=1e-5)


# Small images


def described(n=12, seed=0, n_test=4):
    """Images of six boxes; in every other one, the second box is the object, and its features say so."""
    rng = np.random.default_rng(seed)
    boxes = np.array(
        [[0, 0, 60, 60], [10, 10, 30, 30], [12, 10, 32, 30], [40, 40, 58, 58], [2, 40, 20, 58], [40, 2, 58, 20]]
    )
    labels = np.array([[1 if i % 2 == 0 else -1] for i in range(n)], dtype=np.int8)
    X = rng.normal(size=(n, 6, 8)) * 0.2
    X[::2, 1, 0] += 2.0
    X[::2, 2, 0] += 1.5
    X = (X / np.linalg.norm(X, axis=2, keepdims=True)).reshape(-1, 8).astype(np.float32)
    truth = tuple(
        Annotation(("dog",), boxes[1:2].astype(np.float32), np.zeros(1, dtype=bool))
        if i % 2 == 0
        else Annotation((), np.zeros((0, 4), np.float32), np.zeros(0, dtype=bool))
        for i in range(n)
    )
    photos = Photos(
        name="toy",
        classes=("dog",),
        ids=tuple(map(str, range(n))),
        sources=tuple(np.zeros((60, 60, 3), np.uint8) for _ in range(n)),
        sizes=np.full((n, 2), 60, np.float32),
        labels=labels,
        train=np.arange(n) < n - n_test,
        truth=truth,
    )
    return Described(photos, np.tile(boxes, (n, 1)).astype(np.float32), np.arange(n + 1) * 6, X)


QUICK = Inference(n_rounds=10, n_folds=2, n_neighbors=5, n_negatives=6)


class TestInference:
    def test_an_image_is_split_where_boxes_are_ruled_out(self):
        """Allowed boxes of an image with the class are a positive bag, its others a negative bag of their own."""
        images = described(n_test=0)
        allowed = np.tile([False, True, True, False, False, False], 12)
        rows, bags, weak = binary_bags(images, 0, allowed, 6, 0)
        of_first = np.flatnonzero(rows < 6)
        assert weak[of_first].tolist() == [0, 1, 1, 0, 0, 0]
        assert len(set(bags[of_first].tolist())) == 2
        for bag in np.unique(bags):
            assert len(set(weak[bags == bag].tolist())) == 1
            assert len({int(i) // 6 for i in rows[bags == bag]}) == 1

    def test_negatives_are_drawn_and_positives_all_kept(self):
        """Of each image without the class n boxes are drawn; of one with it all stay; test images are not there."""
        images = described()
        rows, _, weak = binary_bags(images, 0, None, 2, 0)
        counts = np.bincount(rows // 6, minlength=12)
        assert counts[:8].tolist() == [6, 2] * 4
        assert counts[8:].sum() == 0
        assert weak.sum() == 24
        assert not np.array_equal(rows, binary_bags(images, 0, None, 2, 1)[0])

    def test_images_that_say_nothing_are_left_out(self):
        """An image whose label is 0 is in no bag."""
        images = described()
        images.photos.labels[0, 0] = 0
        rows, _, _ = binary_bags(images, 0, None, 6, 0)
        assert rows.min() == 6

    def test_boxes_with_a_choice_have_a_lead(self):
        """Boxes of images with the class have a lead in [-1, 1]; all others NaN; the same seed gives the same bits."""
        images = described()
        lead = infer_boxes(images, 0, None, QUICK, 3)
        free = np.tile(np.repeat([True, False], 6), 6) & (np.arange(72) < 48)
        assert (~np.isnan(lead) == free).all()
        assert (np.abs(lead[free]) <= 1).all()
        assert np.array_equal(lead, infer_boxes(images, 0, None, QUICK, 3), equal_nan=True)
        ranked = inferred_scores(images, 0, lead, 0.1)
        assert (np.isnan(ranked) == np.isnan(lead)).all()


class TestPicks:
    def test_the_best_and_the_vote(self):
        """The best box has the highest score; the vote goes to the box that the weighted ones overlap most."""
        images = described(n=4, n_test=0)
        candidates = Candidates.of(images, 0)
        assert candidates.images.tolist() == [0, 2]
        scores = np.tile([0.1, 0.5, 0.4, 0.9, np.nan, 0.0], 4)
        assert candidates.best(scores) == {0: 3, 2: 15}
        weights = np.tile([0.0, 0.5, 0.6, 0.7, 0.0, -5.0], 4)
        # Boxes 1 and 2 overlap by 18/22: 0.5 + 0.6 * 0.818 and 0.6 + 0.5 * 0.818 beat the 0.7 of box 3.
        assert candidates.voted(weights) == {0: 2, 2: 14}
        assert candidates.voted(np.full(24, np.nan)) == candidates.voted(np.ones(24))

    def test_what_is_near(self):
        """Boxes that overlap the pick by the share that is asked for, in its own image alone."""
        images = described(n=4, n_test=0)
        near = Candidates.of(images, 0).near({0: 1}, 0.5)
        assert np.flatnonzero(near).tolist() == [1, 2]


class TestMeasures:
    def test_average_precision_by_hand(self):
        """Four detections of two objects: right, wrong, right, a second one of the first object.

        Recall 1/2, 1/2, 1, 1 and precision 1, 1/2, 2/3, 1/2. At 0 to 0.5 the best precision is 1 (six points), above it
        2/3 (five points): (6 + 5 * 2/3) / 11. The area is 1/2 * 1 + 1/2 * 2/3.
        """
        images = described(n=4, n_test=4)
        found = Detections(np.array([0, 1, 2, 0]), images.boxes[[1, 7, 13, 2]], np.array([0.9, 0.8, 0.7, 0.6]))
        curve = precision_recall(images.photos, "dog", found)
        assert curve.recall.tolist() == [0.5, 0.5, 1.0, 1.0]
        assert curve.precision == pytest.approx([1.0, 0.5, 2 / 3, 0.5])
        assert curve.average_2007() == pytest.approx((6 + 5 * 2 / 3) / 11)
        assert curve.average() == pytest.approx(5 / 6)

    def test_difficult_objects_count_neither_way(self):
        """A detection of a difficult object is neither right nor wrong, and the object is not missed."""
        images = described(n=4, n_test=4)
        images.photos.truth[0].difficult[:] = True
        found = Detections(np.array([0, 2]), images.boxes[[1, 13]], np.array([0.9, 0.8]))
        curve = precision_recall(images.photos, "dog", found)
        assert (curve.n_objects, curve.recall.tolist(), curve.precision.tolist()) == (1, [0.0, 1.0], [0.0, 1.0])

    def test_nothing_found(self):
        """Without detections both averages are 0."""
        nothing = Curve(np.zeros(0), np.zeros(0), 3)
        assert (nothing.average_2007(), nothing.average()) == (0.0, 0.0)

    def test_corloc(self):
        """The share of images whose pick overlaps an object by half or more."""
        images = described(n=8, n_test=0)
        assert corloc(images, "dog", {0: 1, 2: 14, 4: 27, 6: 36}) == 0.5


def test_the_detector_learns_the_boxes_that_it_is_given():
    """Boxes that overlap the chosen ones by half are positive, those below 0.3 negative, and scores tell them apart."""
    images = described(n=20)
    chosen = {i: images.boxes[6 * i + 1 : 6 * i + 2] for i in range(0, 16, 2)}
    positives, negatives = Detector().examples(images, 0, chosen)
    assert set(positives % 6) == {1, 2}
    assert len(negatives) == 8 * 6 + 8 * 4
    scores = Detector(C=1.0).scores(images, 0, chosen, 0).reshape(20, 6)
    assert (scores[16::2, 1] > scores[17::2].max()).all()


class TestBaselines:
    @pytest.mark.parametrize("name", [name for name in WEAK if name not in ("whole-image", "vote", "mi-svm", "paper")])
    def test_what_learns_finds_the_objects(self, name):
        """On features that tell objects apart, every method that learns picks them in most images."""
        images = described(n=24)
        for rule in RULES:
            task = Task(images, 0, 0, QUICK, Passes(2, rule=rule))
            picks = WEAK[name](task)
            assert set(picks) == set(range(0, 20, 2))
            assert corloc(images, "dog", picks) >= 0.8, rule

    def test_what_learns_nothing(self):
        """The whole image is the first box of each image, and the vote needs no features."""
        images = described()
        task = Task(images, 0, 0, QUICK, Passes())
        assert WEAK["whole-image"](task) == {0: 0, 2: 12, 4: 24, 6: 36}
        assert len({pick % 6 for pick in WEAK["vote"](task).values()}) == 1
        assert METHODS[-1] == "supervised"

    def test_alternation_ends_where_nothing_changes(self):
        """Scores that do not depend on the picks end it after two turns."""
        images = described()
        calls = []

        def score(picks):
            calls.append(picks)
            return np.tile(np.arange(6.0), 12)

        picks = Alternation().picks(Candidates.of(images, 0), score)
        assert (picks, len(calls)) == ({0: 5, 2: 17, 4: 29, 6: 41}, 2)

    def test_max_cover_prefers_what_only_positive_images_share(self):
        """Its windows are those whose nearest images are positive ones; small windows are no candidates."""
        images = described(n=24)
        assert corloc(images, "dog", MaxCover(n_components=8).picks(Candidates.of(images, 0), 0)) >= 0.9
        large = MaxCover(n_components=8, smallest=0.5).picks(Candidates.of(images, 0), 0)
        assert {pick % 6 for pick in large.values()} == {0}

    def test_slope_of_the_latent_svm(self):
        """The gradient is that of finite differences."""
        images = described()
        images = Described(images.photos, images.boxes, images.starts, images.X.astype(np.float64))
        problem = _Problem(SmoothedLatentSvm(smoothness=0.5), images, 0)
        problem.X = problem.X.astype(np.float64)
        at = np.random.default_rng(0).normal(size=9) * 0.5
        _, slope = problem.value_and_slope(at)
        for i in range(9):
            step = np.zeros(9)
            step[i] = 1e-2
            rise = problem.value_and_slope(at + step)[0] - problem.value_and_slope(at - step)[0]
            assert rise / 2e-2 == pytest.approx(slope[i], abs=2e-3)

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
    def test_projection_onto_the_simplex(self, values):
        """Shares sum to 1 and are optimal: v - a is one number where a > 0, and no larger elsewhere."""
        shares = projected(np.array([[*values, -np.inf]]))[0]
        assert shares.sum() == pytest.approx(1.0)
        assert shares[-1] == 0.0
        left = np.array(values) - shares[:-1]
        level = left[shares[:-1] > 0]
        assert level == pytest.approx(np.full(len(level), level[0]), abs=1e-9)
        assert (left <= level[0] + 1e-9).all()


class TestFiles:
    def test_without_the_extras_tables_are_left(self, monkeypatch):
        """Where pillow and matplotlib are missing the tables are written, and two sentences say what to install."""
        for module in ("PIL", "PIL.Image", "PIL.ImageDraw", "matplotlib", "matplotlib.figure"):
            monkeypatch.setitem(sys.modules, module, None)
        images = described(n=4, n_test=2)
        curve = Curve(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.5, 2 / 3]), 2)
        scores = {"dog": np.zeros(len(images.boxes))}
        files, notes = run_files(images, {"dog": {0: 1}}, {"bliss": {"dog": curve}}, scores)
        assert set(files) == {"boxes.csv", "boxes.json", "curves.csv"}
        assert files["boxes.csv"].splitlines()[1] == "dog,0,10.0,10.0,30.0,30.0,1"
        assert files["curves.csv"].splitlines()[1:] == ["bliss,dog,0.5000,1.0000", "bliss,dog,1.0000,0.6667"]
        assert any("pip install" in note and "matplotlib" in note for note in notes)
        assert any("pip install" in note and "pillow" in note for note in notes)

    def test_a_missing_extra_is_one_sentence(self, monkeypatch):
        """The sentence names the package and the pip command."""
        monkeypatch.setitem(sys.modules, "cv2", None)
        with pytest.raises(MissingExtraError, match=r"need opencv.*pip install .*opencv"):
            image_package("cv2")

    def test_pictures_are_sheets_of_boxes(self):
        """Correct picks are drawn first, in green; a wrong one is red, and the object that it missed yellow."""
        image = pytest.importorskip("PIL.Image", reason="pillow is not installed; it is part of the extra detection")
        found = image.open(io.BytesIO(sheet(described(n=4, n_test=0), "dog", {0: 1, 2: 15})))
        pixels = np.asarray(found).astype(int)
        assert found.size == (6 * 220, 2 * 220)
        first, second = pixels[:220], pixels[220:]
        green = (first[..., 1] > 150) & (first[..., 0] < 110)
        red = (second[..., 0] > 170) & (second[..., 1] < 110)
        yellow = (second[..., 0] > 170) & (second[..., 1] > 150)
        assert min(green.sum(), red.sum(), yellow.sum()) > 100
        assert not ((first[..., 0] > 170) & (first[..., 1] < 110)).any()


def test_pruning_keeps_the_objects_and_never_all_of_an_image():
    """The multi-class inference rules out most boxes of positive images, not their objects, and leaves each image some.

    Ten images are few for one draw (seeds 0 to 9 keep 0.7 to 1.0 of the objects), so the share is that of five.
    """
    images = described(n=24)
    shown, training = np.arange(24) % 2 == 0, np.arange(24) < 20
    kept, objects = [], []
    for seed in range(5):
        allowed = pruned(images, seed, lambda stage: None)[:, 0].reshape(24, 6)
        assert not allowed[~(shown & training)].any()
        assert allowed[shown & training].any(axis=1).all()
        kept.append(allowed[shown & training].mean())
        objects.append(allowed[shown & training, 1].mean())
    assert np.mean(objects) >= 0.7
    assert np.mean(kept) <= np.mean(objects) / 1.5
