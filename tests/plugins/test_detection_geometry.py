"""Boxes, pooling, proposals and generated scenes of detection, against pixels counted one by one."""

import numpy as np
import pytest

from bliss_detection.boxes.geometry import areas, clipped, distinct, overlaps, suppressed
from bliss_detection.boxes.grid_windows import GridWindows
from bliss_detection.features.array_cache import Cache
from bliss_detection.features.gradients_and_colours import GradientsAndColours
from bliss_detection.features.pooling import box_means, box_sums, grid_means, integral
from bliss_detection.features.reduction import Reduction, box_geometry
from bliss_detection.images.scenes import SHAPES, Scenes, inside
from bliss_framework import SettingsError


def pixels(box, side=12):
    """The pixels of a box with whole corners."""
    mask = np.zeros((side, side), dtype=bool)
    x0, y0, x1, y1 = (int(c) for c in box)
    mask[y0:y1, x0:x1] = True
    return mask


def random_boxes(n, side, rng):
    """Boxes with whole corners, none of them empty."""
    low = rng.integers(0, side - 1, (n, 2))
    high = low + 1 + rng.integers(0, side - low)
    return np.concatenate([low, np.minimum(high, side)], axis=1).astype(np.float64)


def test_overlap_is_that_of_counted_pixels():
    """Intersection over union of boxes with whole corners is that of their pixels."""
    rng = np.random.default_rng(0)
    boxes, others = random_boxes(9, 12, rng), random_boxes(7, 12, rng)
    found = overlaps(boxes, others)
    for i, one in enumerate(boxes):
        for j, other in enumerate(others):
            a, b = pixels(one), pixels(other)
            assert found[i, j] == pytest.approx((a & b).sum() / (a | b).sum())


def test_boxes_that_only_touch_do_not_overlap():
    """A shared edge or corner is no overlap, and no boxes give an empty table."""
    boxes = np.array([[0.0, 0.0, 2.0, 2.0], [2.0, 0.0, 4.0, 2.0], [2.0, 2.0, 3.0, 3.0]])
    assert (overlaps(boxes, boxes) == np.eye(3)).all()
    assert overlaps(np.zeros((0, 4)), boxes).shape == (0, 3)


def test_suppression_keeps_the_best_of_each_heap():
    """A box goes where a better kept one overlaps it by more than is allowed; a box next to a suppressed one stays."""
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [0, 4, 10, 14], [20, 0, 30, 10]], dtype=float)
    overlap = overlaps(boxes, boxes)
    assert suppressed(overlap, np.array([0.9, 0.8, 0.7, 0.1]), 0.3, 100) == [0, 3]
    assert suppressed(overlap, np.array([0.7, 0.9, 0.8, 0.1]), 0.5, 100) == [1, 2, 3]
    assert suppressed(overlap, np.array([0.9, 0.8, 0.7, 0.1]), 1.0, 2) == [0, 1]


def test_proposals_start_with_the_whole_image():
    """Small boxes and near copies of earlier ones are left out, and the first n stay."""
    boxes = np.array([[0, 0, 50, 50], [1, 0, 51, 50], [0, 0, 9, 50], [60, 60, 90, 90]], dtype=np.float32)
    found = distinct(boxes, (100, 100), 10, 0.9, 10)
    assert found.tolist() == [[0, 0, 100, 100], [0, 0, 50, 50], [60, 60, 90, 90]]
    assert len(distinct(boxes, (100, 100), 10, 0.9, 2)) == 2


def test_clipping_keeps_boxes_in_the_image():
    """What is beyond the edges is cut off."""
    assert clipped(np.array([[-5.0, 2.0, 200.0, 30.0]]), (100, 20)).tolist() == [[0.0, 2.0, 100.0, 20.0]]


def test_pooling_is_the_mean_of_the_pixels():
    """Means in boxes with whole corners are those of their pixels; with fractions, of a map that is finer."""
    rng = np.random.default_rng(1)
    values, boxes = rng.normal(size=(3, 12, 12)), random_boxes(20, 12, rng)
    inside_means, _ = box_means(values, boxes)
    for box, found in zip(boxes, inside_means, strict=True):
        assert found == pytest.approx(values[:, pixels(box)].mean(axis=1))
    fine = values.repeat(4, axis=1).repeat(4, axis=2)
    shifted = boxes / 4
    assert box_means(values, shifted)[0] == pytest.approx(box_means(fine, boxes)[0])


def test_ring_is_what_lies_around_the_box():
    """The ring goes up to 1.6 times the sides, as far as the map goes."""
    values = np.arange(100.0).reshape(1, 10, 10)
    _, around = box_means(values, np.array([[0.0, 0.0, 5.0, 5.0]]))
    # 1.6 times a side of 5 around its middle ends at 6.5; the map starts at 0.
    fine = values[0].repeat(2, axis=0).repeat(2, axis=1)
    wide = fine[:13, :13].sum() / 4
    assert around[0, 0] == pytest.approx((wide - values[0, :5, :5].sum()) / (6.5**2 - 25))


def test_quarters_follow_one_another():
    """The 2 x 2 grid holds upper left, upper right, lower left, lower right."""
    values = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    assert grid_means(values, np.array([[0.0, 0.0, 2.0, 2.0]]), 2).tolist() == [[1.0, 2.0, 3.0, 4.0]]
    assert box_sums(integral(values), np.array([[0.0, 0.0, 2.0, 2.0]])).tolist() == [[10.0]]


def test_windows_are_boxes_of_the_image():
    """GridWindows lie inside, the whole image comes first, and a square of any place is matched by half at least."""
    windows = GridWindows(smallest=0.3, largest=0.8, step=0.3)
    boxes = windows.boxes(np.zeros((60, 80, 3), dtype=np.uint8))
    assert boxes[0].tolist() == [0, 0, 80, 60]
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= [80, 60]).all()
    rng = np.random.default_rng(0)
    for side in (20, 30, 45):
        place = rng.uniform(0, [80 - side, 60 - side], (50, 2))
        squares = np.concatenate([place, place + side], axis=1)
        assert (overlaps(squares, boxes).max(axis=1) >= 0.5).all()


def test_descriptor_tells_colours_and_directions_apart():
    """Red and blue, and horizontal and vertical stripes, have other features; a copy has the same."""
    red, blue = np.zeros((20, 20, 3), np.uint8), np.zeros((20, 20, 3), np.uint8)
    red[..., 0], blue[..., 2] = 200, 200
    across, down = np.zeros((20, 20, 3), np.uint8), np.zeros((20, 20, 3), np.uint8)
    across[::4], down[:, ::4] = 255, 255
    box = np.array([[2.0, 2.0, 18.0, 18.0]])
    first, second, third, fourth = (GradientsAndColours(cell=1).blocks(one, box) for one in (red, blue, across, down))
    assert np.abs(first["box"] - second["box"]).max() > 0.3
    assert np.abs(third["grid"] - fourth["grid"]).max() > 0.1
    again = GradientsAndColours(cell=1).blocks(red.copy(), box)
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_box_geometry():
    """Corners, sides and area are shares of the image."""
    found = box_geometry(np.array([[10.0, 0.0, 60.0, 50.0]]), np.array([[100.0, 50.0]]))
    assert found[0].tolist() == pytest.approx([0.1, 0, 0.6, 1, 0.5, 1, 0.5, np.log(0.5) / 4])


def test_reduction_keeps_the_directions_of_most_variance(tmp_path):
    """With all components, angles between rows are those of the joined and centred blocks; rows have length 1."""
    rng = np.random.default_rng(0)
    blocks = {name: rng.normal(size=(40, 4)).astype(np.float16) for name in ("box", "ring", "grid")}
    boxes, sizes = random_boxes(40, 12, rng), np.full((40, 2), 12.0)
    train = np.arange(40) < 30
    Reduction(n_components=12, geometry=0.0).write(tmp_path, blocks, boxes, sizes, train)
    X = np.load(tmp_path / "X.npy")
    weights = {"box": 1.0, "ring": 0.5, "grid": 0.5}
    unit = {n: b.astype(float) / np.linalg.norm(b.astype(float), axis=1, keepdims=True) for n, b in blocks.items()}
    joined = np.concatenate([weights[name] * unit[name] for name in weights], axis=1)
    centred = joined - joined[train].mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    assert pytest.approx(centred @ centred.T, abs=1e-5) == X @ X.T
    assert np.load(tmp_path / "share.npy")[0] == pytest.approx(1.0)


def test_scenes_hold_what_their_labels_say():
    """Each label has a true box in the image, the same seed makes the same images, another seed others."""
    photos = Scenes(n_train=12, n_test=6).photos()
    assert photos.n_images == 18
    assert photos.train.sum() == 12
    for i in range(photos.n_images):
        for column, name in enumerate(SHAPES):
            boxes, _ = photos.objects(i, name)
            assert (len(boxes) > 0) == (photos.labels[i, column] == 1)
        assert (photos.truth[i].boxes >= 0).all()
        assert (photos.truth[i].boxes <= 96).all()
        assert (areas(photos.truth[i].boxes) > 0).all()
    assert Scenes(n_train=12, n_test=6).photos().sha256() == photos.sha256()
    assert Scenes(n_train=12, n_test=6, seed=1).photos().sha256() != photos.sha256()


def test_shapes_touch_their_boxes():
    """A shape fills the square from -1 to 1, so its box is tight."""
    x, y = np.meshgrid(np.linspace(-1.5, 1.5, 301), np.linspace(-1.5, 1.5, 301))
    for shape in range(len(SHAPES)):
        there = inside(shape, x, y)
        for values in (x[there], y[there]):
            assert values.min() == pytest.approx(-1, abs=0.02)
            assert values.max() == pytest.approx(1, abs=0.02)


def test_settings_are_checked():
    """A value that cannot be used is refused with its name."""
    with pytest.raises(SettingsError, match="n_sizes"):
        GridWindows(n_sizes=0)
    with pytest.raises(SettingsError, match="geometry"):
        Reduction(geometry=-1.0)


class TestCache:
    def test_an_entry_is_made_once(self, tmp_path):
        """The second request with the same inputs maps what is there; other inputs make another entry."""
        made = []

        def make(path):
            made.append(path)
            np.save(path / "X.npy", np.arange(len(made)))

        cache = Cache(tmp_path / "cache")
        first = cache.arrays("boxes", {"images": "a"}, make)["X"]
        again = cache.arrays("boxes", {"images": "a"}, make)["X"]
        other = cache.arrays("boxes", {"images": "b"}, make)["X"]
        assert (len(first), len(again), len(other), len(made)) == (1, 1, 2, 2)
        assert isinstance(again, np.memmap)

    def test_a_damaged_entry_is_made_again(self, tmp_path):
        """A file that was cut off, or a manifest that is none, is no reason to stop."""
        made = []

        def make(path):
            made.append(path)
            np.save(path / "X.npy", np.arange(100.0))

        cache = Cache(tmp_path)
        cache.arrays("boxes", {}, make)
        (folder,) = tmp_path.iterdir()
        for name in ("X.npy", "manifest.json"):
            (folder / name).write_bytes((folder / name).read_bytes()[:90])
            assert cache.arrays("boxes", {}, make)["X"].tolist() == np.arange(100.0).tolist()
        assert len(made) == 3

    def test_an_interrupted_entry_leaves_nothing(self, tmp_path):
        """What breaks while an entry is made leaves neither it nor a part of it."""

        def breaks(path):
            np.save(path / "X.npy", np.arange(3))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Cache(tmp_path).arrays("boxes", {}, breaks)
        assert list(tmp_path.iterdir()) == []
