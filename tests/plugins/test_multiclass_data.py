"""Data and baselines of multi-class MIL: IDX files, bags out of labelled sets, and one machine for each label."""

import gzip
import struct

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from bliss_framework import Bags, DataError, LabelSpace, Part, Scaling, SettingsError, WeakLabels
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.plugin import Rows, balance_weights, draw_labels
from bliss_framework.testing import Example, baseline_checks
from bliss_multiclass_mil.baselines.one_vs_rest import OneVsRestBagMeanSvm, OneVsRestMiSvm
from bliss_multiclass_mil.baselines.relabel_softmax import RelabelSoftmax
from bliss_multiclass_mil.datasets.generator import drawn_bags, make_bags
from bliss_multiclass_mil.datasets.handwritten import load_digits_bags, load_mnist_bags
from bliss_multiclass_mil.datasets.idx import read_idx
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime
from bliss_multiclass_mil.regime.relabelling import relabelled

PROPERTY = settings(max_examples=40, deadline=None)


def idx_bytes(array, code, kind):
    """An IDX file as its description has it: two zeros, the kind of number, lengths, numbers, all big-endian."""
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
    return head + struct.pack(f">{array.size}{kind}", *array.ravel().tolist())


class TestIdx:
    @pytest.mark.parametrize("zipped", [False, True])
    @pytest.mark.parametrize(
        ("code", "kind", "dtype"),
        [(8, "B", "u1"), (9, "b", "i1"), (11, "h", "i2"), (12, "i", "i4"), (13, "f", "f4"), (14, "d", "f8")],
    )
    def test_round_trip(self, tmp_path, code, kind, dtype, zipped):
        """Every kind of number comes back as it was written, zipped or not."""
        array = np.arange(24).reshape(2, 3, 4).astype(dtype)
        raw = idx_bytes(array, code, kind)
        (tmp_path / "file").write_bytes(gzip.compress(raw) if zipped else raw)
        found = read_idx(tmp_path / "file")
        assert found.dtype == np.dtype(dtype)
        assert np.array_equal(found, array)
        assert found.flags.writeable

    @pytest.mark.parametrize(
        ("raw", "message"),
        [
            (b"", "is no IDX file"),
            (b"PK\x03\x04", "is no IDX file: it starts with 50 4b 03 04"),
            (b"\0\0\x07\x01\0\0\0\0", "is no IDX file"),
            (b"\0\0\x08\x03\0\0", "ends within its header of 3 dimensions"),
            (b"\0\0\x08\x01\0\0\0\x05abc", r"holds 3 bytes, but its shape \(5,\) needs 5"),
            (b"\0\0\x08\x01\0\0\0\x02abc", r"holds more than 2 bytes, but its shape \(2,\) needs 2"),
            (b"\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xffabc", "has 15 bytes and says that it holds"),
            (gzip.compress(b"\0\0\x08\x01\0\0\0\x01a", mtime=0)[:-6], "is a damaged gzip file"),
        ],
    )
    def test_damaged_files(self, tmp_path, raw, message):
        """A file that is none, or is cut off, is refused in one sentence that names it."""
        path = tmp_path / "file"
        path.write_bytes(raw)
        with pytest.raises(DataError, match=message) as caught:
            read_idx(path)
        assert str(path) in str(caught.value)

    def test_no_file(self, tmp_path):
        """A missing file is a sentence too."""
        with pytest.raises(DataError, match="cannot be read: No such file"):
            read_idx(tmp_path / "none")


class TestGenerator:
    @given(
        st.integers(20, 120),
        st.integers(1, 5),
        st.integers(0, 6),
        st.sampled_from([[0], [1, 3], [0, 1, 2, 3]]),
        st.integers(0, 99),
    )
    @PROPERTY
    def test_facts(self, n, smallest, more, positive, seed):
        """Each row is used once at most, sizes lie in the range, and a label set is that of the bag's instances."""
        X, y = np.arange(n)[:, None] * 1.0, np.arange(n) % 4
        data = make_bags(X, y, positive, (smallest, smallest + more), seed=seed)
        bags = Bags.from_ids(data.bags)
        assert len(np.unique(data.X)) == len(data.X)
        assert bags.sizes.min() >= smallest
        assert bags.sizes.max() <= smallest + more
        assert n - len(data.X) < smallest + more
        names = [str(c) if c in positive else "negative" for c in y[data.X[:, 0].astype(int)]]
        assert data.instance_labels.tolist() == names
        for position, one in enumerate(data.weak):
            there = {name for name, bag in zip(names, bags.index, strict=True) if bag == position}
            assert set(one) == there - {"negative"}

    def test_one_seed_one_data_set(self):
        """The same seed makes the same bags, another one others; a number of bags is kept."""
        X, y = np.arange(200.0)[:, None], np.arange(200) % 5
        one, same, other = (make_bags(X, y, [1], seed=seed) for seed in (3, 3, 4))
        assert one.sha256() == same.sha256() != other.sha256()
        assert len(make_bags(X, y, [1], n_bags=7).weak) == 7
        assert set(Bags.from_ids(make_bags(X, y, [1], bag_size=4).bags).sizes) == {4}

    def test_which_rows_were_taken(self):
        """What else is known of the rows can be brought into the order of the bags."""
        X, y = np.arange(200.0)[:, None], np.arange(200) % 5
        data = make_bags(X, y, [1], (3, 5), seed=4)
        rows, bags = drawn_bags(200, (3, 5), seed=4)
        assert np.array_equal(data.X, X[rows])
        assert np.array_equal(data.bags, bags)

    def test_rows_keep_their_kind(self):
        """Sparse rows stay sparse and single precision stays single."""
        X, y = np.eye(30, dtype=np.float32), np.arange(30) % 3
        assert make_bags(X, y, [1]).X.dtype == np.float32
        assert np.array_equal(make_bags(sp.csr_matrix(X), y, [1]).X.toarray(), make_bags(X, y, [1]).X)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"positive": [7]}, "positive has 7, which is no class"),
            ({"positive": []}, "positive must be a list"),
            ({"positive": "1"}, "positive must be a list"),
            ({"bag_size": (5, 3)}, "bag_size must be two integers"),
            ({"bag_size": (0, 3)}, "bag_size must be two integers"),
            ({"bag_size": (1, 2, 3)}, "bag_size must be two integers"),
            ({"bag_size": (2.5, 3)}, "bag_size must be two integers"),
            ({"n_bags": 1000}, "n_bags = 1000 of 5 to 15 need more than the 60 instances"),
            ({"bag_size": (50, 60)}, "60 instances are too few for two bags"),
        ],
    )
    def test_options(self, options, message):
        """An option that cannot be used is named with what is allowed."""
        with pytest.raises(SettingsError, match=message):
            make_bags(np.zeros((60, 1)), np.arange(60) % 3, **{"positive": [1], **options})


class TestDataSets:
    def test_digits(self):
        """The digits are those of scikit-learn, each once, from 0 to 1; 0 to 4 are labels, as in the paper."""
        data = load_digits_bags()
        X = load_digits().data
        ours = np.sort(data.X @ np.random.default_rng(0).random(64))
        theirs = np.sort(X / 16 @ np.random.default_rng(0).random(64))
        assert np.isin(ours.round(9), theirs.round(9)).all()
        assert sorted(set(data.instance_labels.tolist())) == ["0", "1", "2", "3", "4", "negative"]
        assert data.regime == "multiclass-mil"
        assert len(X) - len(data.X) < 15
        assert set(load_digits_bags(positive=[1, 3, 5, 7, 9]).instance_labels) == {*"13579", "negative"}

    def test_datasets_are_registered(self):
        """Both data sets are made by name with options, and say where they come from."""
        registry = default_plugins().registry
        data = registry.create("dataset", {"name": "digits-multiclass", "n_bags": 20, "bag_size": [3, 4]})
        assert len(data.weak) == 20
        for component in registry.components("dataset"):
            if component.name.endswith("-multiclass"):
                assert set(component.details) == {"source", "size", "licence"}

    def mnist(self, folder, n=40, zipped=True):
        for prefix in ("train", "t10k"):
            images = np.arange(n * 6).reshape(n, 2, 3) % 256
            for name, array in (("images-idx3", images), ("labels-idx1", np.arange(n) % 10)):
                raw = idx_bytes(array.astype(np.uint8), 8, "B")
                path = folder / f"{prefix}-{name}-ubyte{'.gz' if zipped else ''}"
                path.write_bytes(gzip.compress(raw) if zipped else raw)

    @pytest.mark.parametrize("zipped", [False, True])
    def test_mnist(self, tmp_path, zipped):
        """MNIST is read from a folder, its pixels from 0 to 1 in single precision."""
        self.mnist(tmp_path, zipped=zipped)
        data = load_mnist_bags(str(tmp_path), part="test", bag_size=(2, 3))
        assert data.X.dtype == np.float32
        assert data.X.shape[1] == 6
        assert 0.9 < data.X.max() <= 1.0
        rows = (np.arange(240).reshape(40, 6) / 255).astype(np.float32)
        digit = [int(np.flatnonzero((rows == row).all(axis=1))[0]) % 10 for row in data.X]
        assert data.instance_labels.tolist() == [str(d) if d < 5 else "negative" for d in digit]

    def test_mnist_that_is_not_there(self, tmp_path):
        """Without a path, or with files missing or not matching, one sentence says what is needed."""
        with pytest.raises(SettingsError, match="needs the folder that holds train-images"):
            load_mnist_bags()
        with pytest.raises(DataError, match="holds neither train-images-idx3-ubyte nor"):
            load_mnist_bags(str(tmp_path))
        with pytest.raises(SettingsError, match="part must be one of 'train', 'test'"):
            load_mnist_bags(str(tmp_path), part="valid")
        self.mnist(tmp_path)
        (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(idx_bytes(np.zeros(3, dtype=np.uint8), 8, "B"))
        with pytest.raises(DataError, match="40 images but 3 labels"):
            load_mnist_bags(str(tmp_path))

    def test_the_real_mnist(self, shared):
        """The paper's set: about 6,000 bags, of which half a percent have no label."""
        data = load_mnist_bags(str(shared / "data" / "mnist"))
        sizes = np.bincount([len(one) for one in data.weak])
        assert abs(len(data.weak) - 5994) < 120
        assert sizes / sizes.sum() == pytest.approx(np.array([31, 322, 1200, 2024, 1795, 622]) / 5994, abs=0.02)


def small(seed=0, n_bags=30):
    """Bags whose instances of a label are shifted along an axis of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n_bags * 3)
    X = rng.normal(size=(len(y), 4)) + 4 * np.eye(4)[y]
    return make_bags(X, y, [1, 2], (1, 4), seed=seed)


BASELINES = [OneVsRestMiSvm(), OneVsRestBagMeanSvm(), RelabelSoftmax(random_state=0, max_iter=30)]


class TestBaselines:
    @pytest.mark.parametrize("baseline", BASELINES, ids=repr)
    def test_conformance(self, baseline):
        """Every baseline passes the kit on an example of the regime."""
        data = small()
        sets = np.empty(len(data.weak), dtype=object)
        sets[:] = [frozenset(one) for one in data.weak]
        for check in baseline_checks(baseline, Example(MultiClassMilRegime(), data.X, data.bags, sets)):
            check()

    @pytest.mark.parametrize("baseline", BASELINES, ids=repr)
    @pytest.mark.parametrize("sparse", [False, True])
    def test_learn_easy_labels(self, baseline, sparse):
        """Well separated labels are found in instances and in bags, of dense and sparse rows."""
        data, other = small(n_bags=100), small(1)
        cast = sp.csr_matrix if sparse else np.asarray
        model = baseline.fit(cast(data.X), data.weak, data.bags)
        assert model.classes_.tolist() == ["negative", "1", "2"]
        ids, predicted = model.predict_bags(cast(other.X), other.bags)
        truth = np.array([[int(label in one) for label in "12"] for one in other.weak])
        assert predicted.shape == model.score_bags(cast(other.X), other.bags)[1].shape == (len(ids), 2)
        assert (predicted == truth).mean() > 0.85
        # The mean of a bag is no instance, so instances are the weak side of a baseline of means.
        least = 0.6 if isinstance(model, OneVsRestBagMeanSvm) else 0.85
        assert (model.predict(cast(other.X)) == other.instance_labels).mean() > least

    def test_mi_svm_settles(self):
        """Trained on the labels that its own scores imply, the machine of a label is the same: a fixed point."""
        data = small(n_bags=40)
        model = OneVsRestMiSvm(scaling="none").fit(data.X, data.weak, data.bags)
        bags = Bags.from_ids(data.bags)
        for position, label in enumerate("12"):
            scores = model.decision_function(data.X)[:, position + 1]
            allowed = bags.spread(np.array([label in one for one in data.weak]))
            implied = allowed & (scores > 0)
            lone = allowed & bags.spread(~bags.any(implied)) & (scores == bags.spread(bags.max(scores)))
            again = LinearSVC(dual="auto", random_state=0).fit(data.X, implied | lone)
            assert again.coef_[0] == pytest.approx(model.coef_[position], abs=1e-3)

    def test_bag_mean_svm_is_linear_in_means(self):
        """The score of a bag is that of its mean row."""
        data = small()
        model = OneVsRestBagMeanSvm().fit(data.X, data.weak, data.bags)
        bags = Bags.from_ids(data.bags)
        means = bags.mean(Scaling("auto").fit(data.X).transform(data.X))
        assert model.score_bags(data.X, data.bags)[1] == pytest.approx(means @ model.coef_.T + model.intercept_)
        sparse = Rows(sp.csr_matrix(data.X)).bag_means(bags).array
        assert sparse.toarray() == pytest.approx(bags.mean(data.X))

    @pytest.mark.parametrize("baseline", BASELINES, ids=repr)
    def test_a_label_of_every_bag(self, baseline):
        """A label that all bags have, beside one that some have, is predicted everywhere."""
        X, bags = np.random.default_rng(0).normal(size=(40, 2)), np.repeat(np.arange(10), 4)
        sets = [["x", "y"] if i % 2 else ["x"] for i in range(10)]
        assert baseline.fit(X, sets, bags).predict_bags(X, bags)[1][:, 0].all()

    def test_settings(self):
        """Parameters that cannot be used are refused when the baseline is fitted."""
        data = small()
        for model, name in ((OneVsRestMiSvm(C=0), "C"), (OneVsRestMiSvm(max_iter=0), "max_iter")):
            with pytest.raises(SettingsError, match=name):
                model.fit(data.X, data.weak, data.bags)


class TestRelabelling:
    def part(self, sets, sizes, n_negative=1):
        bags = Bags.from_ids(np.repeat(np.arange(len(sizes)), sizes))
        weak = WeakLabels(np.array(sets), ("negative", "a", "b"))
        space = MultiClassMilRegime(n_negative=n_negative).label_space(weak, bags)
        return Part(np.zeros((bags.n_rows, 1)), bags, weak, space)

    def test_labels_are_the_best_candidates(self):
        """The largest output wins where the bag allows its label; what no instance takes goes to the nearest one."""
        part = self.part([[1, 0], [0, 0], [1, 1]], [2, 1, 3])
        scores = np.array(
            [[0.0, -2, 9], [0, -1, 9], [0, 9, 9], [5, 9, 0], [5, 8, 4], [5, 0, 2]],
        )
        assert relabelled(scores, part, every_label=False).tolist() == [0, 0, 0, 1, 1, 0]
        # In bag 0 label a falls short by 1 in the second row; in bag 2 label b by 3 in the last one.
        assert relabelled(scores, part, every_label=True).tolist() == [0, 1, 0, 1, 1, 2]

    def test_one_decision_value(self):
        """With one label the decision value is positive for it."""
        part = Part(
            np.zeros((3, 1)),
            Bags.from_ids([0, 0, 1]),
            WeakLabels(np.array([[1], [0]]), ("negative", "a")),
            LabelSpace(np.array([[True, True], [True, True], [True, False]]), np.array([0, 1])),
        )
        assert relabelled(np.array([[-2.0], [-1.0], [3.0]]), part, every_label=False).tolist() == [0, 0, 0]
        assert relabelled(np.array([[-2.0], [-1.0], [3.0]]), part, every_label=True).tolist() == [0, 1, 0]

    def test_draws_are_over_classes(self):
        """Five negative labels together are as likely as the one label of the set, and labels outside it never."""
        part = self.part([[1, 0]] * 2, [4000, 4000], n_negative=5)
        labels = draw_labels(part.space.draw_weights(), np.random.default_rng(0))
        counts = np.bincount(labels, minlength=7) / len(labels)
        assert counts == pytest.approx([0.1] * 5 + [0.5, 0.0], abs=0.02)
        weights = balance_weights(labels[None], part.space, 0.5, None)[0]
        share = (labels < 5).mean()
        # With exponent 1/2 the summed weights of classes are to each other as the roots of their counts.
        assert weights[labels < 5].sum() / weights[labels == 5].sum() == pytest.approx((share / (1 - share)) ** 0.5)

    def test_labels_settle(self):
        """Few rounds are enough on easy bags, every label of a set has an instance, and folds are settled apart."""
        data = small(n_bags=60)
        model = RelabelSoftmax(n_folds=3, scaling="none", random_state=0).fit(data.X, data.weak, data.bags)
        assert len(model.n_rounds_) == 3
        assert max(model.n_rounds_) < 60
        there = {(bag, label) for bag, label in zip(data.bags.tolist(), model.labels_.tolist(), strict=True)}
        bags = Bags.from_ids(data.bags)
        full = {bag for bag, one, size in zip(bags.ids.tolist(), data.weak, bags.sizes, strict=True) if len(one) < size}
        wanted = {(bag, label) for bag, one in zip(bags.ids.tolist(), data.weak, strict=True) for label in one}
        assert {pair for pair in wanted if pair[0] in full} <= there
        assert (model.labels_ == data.instance_labels).mean() > 0.9

    def test_rounds_across_folds(self):
        """A random start is mended by rounds across folds, and stays without them, or where bags are too few."""
        data = small(n_bags=60)
        given = {"n_rounds": 0, "scaling": "none", "random_state": 0}
        start, found = (RelabelSoftmax(**given, relabel_rounds=n).fit(data.X, data.weak, data.bags) for n in (0, 8))
        assert (start.n_rounds_, start.n_relabel_rounds_) == ([0], 0)
        right = [float((model.labels_ == data.instance_labels).mean()) for model in (start, found)]
        assert right[0] < 0.7
        assert right[1] > 0.95
        assert 1 <= found.n_relabel_rounds_ <= 8
        few = np.isin(data.bags, np.unique(data.bags)[:4])
        with pytest.warns(UserWarning, match="takes 5 bags, and there are 4"):
            RelabelSoftmax(**given, relabel_rounds=8).fit(data.X[few], data.weak[:4], data.bags[few])

    def test_one_label_is_two_classes(self):
        """Bags of one label or none are scored by one decision value."""
        rng = np.random.default_rng(0)
        X, bags = rng.normal(size=(60, 2)), np.arange(60) // 3
        X[::6] += 5
        model = RelabelSoftmax(random_state=0).fit(X, [["a"] if b % 2 == 0 else [] for b in range(20)], bags)
        assert model.predict([[5.0, 5.0], [0.0, 0.0]]).tolist() == ["a", "negative"]
        assert model.score_bags(X, bags)[1].shape == (20, 1)

    @pytest.mark.parametrize(
        "settings", [{"n_folds": 0}, {"n_rounds": -1}, {"relabel_rounds": -1}, {"class_balance": -1}, {"n_steps": 0}]
    )
    def test_settings(self, settings):
        """Parameters that cannot be used are refused by name."""
        data = small()
        with pytest.raises(SettingsError, match=next(iter(settings))):
            RelabelSoftmax(**settings).fit(data.X, data.weak, data.bags)
