"""Sums, ridge, softmax and reward on a torch device, against NumPy in double and the components that they are like.

Tolerances: sums of stored rows are right to 2e-6 of the sum of absolute products, whatever the storage. Storage itself
rounds each value by at most 2^-24 (float32), 2^-11 (float16) or 2^-8 (bfloat16) of it.
"""

import pickle
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from bliss_classifiers.ridge import Ridge
from bliss_framework import (
    Bags,
    BlissClassifier,
    DataError,
    LabelSpace,
    MissingExtraError,
    Part,
    SettingsError,
    WeakLabels,
    load_model,
    save_model,
)
from bliss_framework.lockstep import runner
from bliss_framework.plugin import MemoryNeededError, ProblemSize, Rows, RowView
from bliss_framework.testing import classifier_checks, mil_example, reward_checks, verify
from bliss_framework.testing.examples import fold_of, outcomes
from bliss_mil.rewards.marginal_effect import MilMarginalReward
from bliss_multiclass_mil.classifier.cooperative_softmax import CooperativeSoftmax
from bliss_multiclass_mil.classifier.estimator import CooperativeSoftmaxClassifier
from bliss_multiclass_mil.classifier.objective import Groups, Objective as NumpyObjective, SoftObjective
from bliss_torch import device as device_module, sums as sums_module
from bliss_torch.descent import Descents, descend
from bliss_torch.device import STORAGES, Device, held
from bliss_torch.least_squares import TorchLeastSquares
from bliss_torch.marginal_effect import TorchMilMarginalReward
from bliss_torch.objective import LabelLosses, Objective, ShareLosses
from bliss_torch.ridge import TorchRidge
from bliss_torch.softmax import TorchSoftmax
from bliss_torch.softmax_classifier import TorchSoftmaxClassifier
from bliss_torch.sums import TorchSums

PROPERTY = settings(max_examples=30, deadline=None)
SUMS = 2e-6
ROUNDED = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
GROUPINGS = [(0, 1), (0, 1, 2), (0, 0, 1, 2), (0, 1, 0, 1, 0)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(203, 7))
X[RNG.random(X.shape) < 0.3] = 0.0
WEIGHTS = RNG.uniform(0.1, 3.0, len(X))
TARGETS = RNG.normal(size=(len(X), 3))
COEFFICIENTS = RNG.normal(size=(8, 5))


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs the extra torch")


@pytest.fixture(params=["cpu", "cuda"])
def place(request, torch):
    """Where a device of this name is."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return request.param


def sums_on(place="cpu", storage="float32"):
    """Sums on a device."""
    return TorchSums(Device(place, storage, "a test"))


def rounded(values, storage):
    """Round to nearest, ties to even, by NumPy and by the bits of single precision."""
    single = np.asarray(values, dtype=np.float32)
    if storage != "bfloat16":
        return single.astype(storage).astype(np.float64)
    bits = single.view(np.uint32)
    kept = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return kept.view(np.float32).astype(np.float64)


def plain_part(rows, class_of_label=(0, 1), weights=None):
    """Rows that are bags of their own, and may have any label."""
    n = rows.shape[0]
    space = LabelSpace(np.ones((n, len(class_of_label)), dtype=bool), np.array(class_of_label))
    return Part(rows, Bags.from_ids(np.arange(n)), WeakLabels(np.zeros(n, dtype=np.int8), (0, 1)), space, weights)


def mil_data(n_bags=30, size=5):
    """Bags of which every second has a row that is shifted by four deviations."""
    rng = np.random.default_rng(3)
    rows, y = rng.normal(size=(n_bags * size, 4)), np.arange(n_bags) % 2
    rows[::size, 0] += 4.0 * y
    return rows, y, np.repeat(np.arange(n_bags), size)


class TestSums:
    """Gram, moments and outputs are products with a column of ones."""

    @pytest.fixture(params=["dense", "sparse", "view", "mapped"])
    def rows(self, request, tmp_path, monkeypatch):
        """The same rows in several forms, read nine or ten at a time."""
        monkeypatch.setattr(device_module, "CPU_VALUES", 63)
        monkeypatch.setattr(device_module, "CPU_GRAM_VALUES", 70)
        np.save(tmp_path / "rows.npy", X)
        forms = {
            "dense": lambda: Rows(X),
            "sparse": lambda: Rows(sp.csr_matrix(X)),
            "view": lambda: RowView(np.flipud(X), np.arange(len(X))[::-1]),
            "mapped": lambda: Rows(np.load(tmp_path / "rows.npy", mmap_mode="r")),
        }
        return forms[request.param]()

    @pytest.mark.parametrize("storage", STORAGES)
    def test_sums_are_those_of_the_stored_rows(self, place, rows, storage):
        """They equal products of rounded rows in double to within 2e-6: half precision touches the rows alone."""
        sums = sums_on(place, storage)
        there, ones = sums.held(rows), np.ones((len(X), 1))
        stored = np.hstack([rounded(X, storage), ones])
        size, own = np.abs(stored), np.diag(WEIGHTS)
        assert (np.abs(sums.gram(there) - stored.T @ stored) <= SUMS * (size.T @ size)).all()
        assert (np.abs(sums.gram(there, WEIGHTS) - stored.T @ own @ stored) <= SUMS * (size.T @ own @ size)).all()
        assert (np.abs(sums.moments(there, TARGETS) - stored.T @ TARGETS) <= SUMS * (size.T @ np.abs(TARGETS))).all()
        found = sums.outputs(there, COEFFICIENTS)
        assert found.dtype == np.float32
        assert (np.abs(found - stored @ COEFFICIENTS) <= SUMS * (size @ np.abs(COEFFICIENTS))).all()

    @pytest.mark.parametrize("storage", STORAGES)
    def test_storage_rounds_by_what_is_stated(self, place, storage):
        """Beside the rows as they are given, a product is off by what its two values are rounded by."""
        sums, size = sums_on(place, storage), np.abs(np.c_[X, np.ones(len(X))])
        found, exact = sums.gram(sums.held(Rows(X))), np.c_[X, np.ones(len(X))].T @ np.c_[X, np.ones(len(X))]
        assert (np.abs(found - exact) <= (2.1 * ROUNDED[storage] + SUMS) * (size.T @ size)).all()

    @pytest.mark.parametrize("storage", STORAGES)
    def test_single_precision_adds_up_in_double(self, torch, storage):
        """Twenty million ones, which in single precision stop at 2^24, are counted to the last."""
        sums = sums_on(storage=storage)
        assert sums.gram(sums.held(Rows(np.ones((20_000_000, 1), dtype=np.float32))))[0, 0] == 20_000_000.0

    def test_taken_rows(self, torch, rows):
        """Some rows have the sums of these rows, in the order in which they are taken."""
        sums, chosen = sums_on(), np.array([5, 2, 200])
        there = sums.held(rows).take(chosen)
        assert there.shape == (3, 7)
        assert sums.outputs(there, COEFFICIENTS) == pytest.approx(
            np.c_[X, np.ones(len(X))][chosen] @ COEFFICIENTS, rel=1e-5, abs=1e-5
        )

    @PROPERTY
    @given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
    def test_bag_sums(self, given_rows):
        """The sum of each bag is that over its rows, however bags are mixed."""
        pytest.importorskip("torch", reason="needs the extra torch")
        ids, values = (np.array(one) for one in zip(*given_rows, strict=True))
        bags = Bags.from_ids(ids)
        expected = np.bincount(bags.index, values)
        found = sums_on().bag_sums(values, bags).numpy()
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(values).sum() + 1e-30)
        assert sums_on().bag_sums(np.c_[values, -values], bags).numpy() == pytest.approx(np.c_[found, -found])

    def test_everything_is_made_on_the_device(self, torch, monkeypatch):
        """No step of the sums and objectives mixes what is on another device with what is here: torch would refuse."""
        monkeypatch.setattr(Device, "check", lambda self: None)
        monkeypatch.setattr(sums_module, "_array", lambda tensor: tensor)
        monkeypatch.setattr(device_module, "_stored", lambda block, device: device.tensor(block.dense()))
        device = Device("meta", "float16", "a test")  # A device of torch that has shapes and no values.
        sums, there = TorchSums(device), held(Rows(X), device)
        made = [sums.gram(there, WEIGHTS), sums.moments(there, TARGETS), sums.outputs(there, COEFFICIENTS)]
        made.append(sums.bag_sums(TARGETS, Bags.from_ids(np.arange(len(X)) % 9)))
        weights = device.tensor(np.ones((2, len(X))))
        shares = ShareLosses(device.tensor(np.ones((3, len(X)))))
        points = torch.zeros((2, 24), dtype=torch.float64, device="meta")
        made += Objective(there, shares, 3, 0.1)(points[:1])
        with monkeypatch.context() as patched:
            # What depends on values cannot be had there.
            patched.setattr(torch.Tensor, "__setitem__", lambda tensor, place, value: None)
            labels = LabelLosses(device.indices(np.zeros((2, len(X)))).int(), weights, np.array([0, 0, 1]))
            made += Objective(there, labels, 3, 0.1)(points)
        assert {one.device.type for one in made} == {"meta"}


class TestDevice:
    def test_torch_is_left_as_it_was(self, torch):
        """Threads, gradients and the global generator of torch are those of before, after work and after a failure."""
        before = torch.get_num_threads(), torch.is_grad_enabled(), torch.get_default_dtype()
        state = torch.get_rng_state()
        device = Device("cpu", "float32", "a test")
        for failure in (None, ValueError):
            with nullcontext() if failure is None else pytest.raises(failure), device.computing():
                assert torch.get_num_threads() == 1
                if failure:
                    raise failure
        TorchSoftmaxClassifier(device="cpu").fit(X, X[:, 0] > 0).predict(X)
        assert (torch.get_num_threads(), torch.is_grad_enabled(), torch.get_default_dtype()) == before
        assert torch.equal(torch.get_rng_state(), state)

    @pytest.mark.parametrize("make", [TorchRidge, TorchSoftmax, TorchMilMarginalReward])
    def test_torch_is_missing(self, make, monkeypatch):
        """One sentence holds the pip command, when the component is chosen and not in the midst of work."""
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtraError, match=r'^torch-\S+ needs torch, which is not installed: pip install "'):
            make()

    @pytest.mark.parametrize("make", [TorchRidge, TorchSoftmax, TorchMilMarginalReward])
    @pytest.mark.parametrize("name", ["gpu", "cuda:x", "", 0, None])
    def test_names_of_devices(self, make, name):
        """What is no name of a device is refused, whether torch is there or not."""
        with pytest.raises(SettingsError, match='device must be "auto", "cpu", "cuda" or "cuda:0" and so on; got'):
            make(device=name)

    def test_kinds_of_storage(self):
        """Storage is one of three."""
        for make in (TorchRidge, TorchSoftmax):
            with pytest.raises(SettingsError, match="storage must be one of 'float32', 'float16', 'bfloat16'"):
                make(storage="int8")

    @pytest.mark.parametrize(("there", "words"), [(0, "no CUDA device"), (1, "1 CUDA device"), (2, "2 CUDA devices")])
    def test_a_device_that_is_not_there(self, torch, monkeypatch, there, words):
        """It is refused in one sentence before any work: the classifier is never prepared."""
        monkeypatch.setattr(torch.cuda, "is_available", lambda: there > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
        monkeypatch.setattr(TorchRidge, "prepare", lambda *_: pytest.fail("label inference started"))
        rows, y, bags = mil_data()
        model = BlissClassifier(classifier={"name": "torch-ridge", "device": "cuda:2"})
        with pytest.raises(SettingsError) as caught:
            model.fit(rows, y, bags=bags)
        assert str(caught.value) == (
            f'torch-ridge cannot use the device "cuda:2", because torch sees {words} here: choose device="auto" or '
            f'"cpu".'
        )

    def test_auto_is_cuda_where_that_is(self, torch, monkeypatch):
        """The device is chosen by what torch sees."""
        for there, expected in ((True, "cuda"), (False, "cpu")):
            monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
            assert Device("auto", "float32", "a test").place == expected

    @pytest.mark.parametrize(("storage", "largest"), [("float16", 7e4), ("float32", 1e39), ("bfloat16", 1e39)])
    def test_values_that_cannot_be_stored(self, torch, storage, largest):
        """They are named, instead of becoming infinite; what is a little smaller is stored."""
        with pytest.raises(
            DataError, match=f"values of up to {largest:.2g}.*, which {storage} cannot hold".replace("+", r"\+")
        ):
            held(Rows(np.array([[1.0], [largest]])), Device("cpu", storage, "a test"))
        held(Rows(np.array([[1.0], [largest / 10]])), Device("cpu", storage, "a test"))

    def test_a_device_that_is_full(self, torch):
        """What torch says of too little memory becomes a sentence with settings that need less."""
        words = r'^a test needs more memory than there is on the device "cpu": choose'
        with pytest.raises(MemoryNeededError, match=words), Device("cpu", "float32", "a test").computing():
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    def test_memory(self, torch, monkeypatch):
        """Half precision takes half of what rows take; rows of a file or on another device take nothing here."""
        size = ProblemSize(100_000, 100_000, 100, 800.0)
        mapped = ProblemSize(100_000, 100_000, 100, 800.0, mapped=True)
        for make in (TorchRidge, TorchSoftmax):
            single, half = make(device="cpu"), make(device="cpu", storage="float16")
            assert single.memory(size) - half.memory(size) == 2 * 200_000 * 100
            assert single.memory(size) - single.memory(mapped) == 4 * 200_000 * 100
            monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
            large = ProblemSize(10**7, 10**7, 1280, 8 * 1280.0)
            assert make().memory(large) < 0.2 * 4 * 2 * 10**7 * 1280
            monkeypatch.undo()


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("make", [TorchRidge, TorchSoftmax])
@pytest.mark.parametrize("storage", STORAGES)
def test_kit_of_classifiers(make, storage):
    """Both pass the conformance kit of classifiers, in any storage."""
    classifier = make(storage=storage)
    verify(classifier, classifier_checks(classifier))


class TestRidge:
    @pytest.mark.parametrize("class_of_label", [(0, 1), (0, 1, 2)])
    @pytest.mark.parametrize("kind", ["alike", "weighted", "pulls weighted"])
    def test_pulls_solve_the_normal_equations(self, place, class_of_label, kind):
        """Scores are those of a dense solver in double to within 1e-4, and labels those of `ridge`."""
        rng, n_labels = np.random.default_rng(1), len(class_of_label)
        rows, others = rng.normal(size=(90, 6)), rng.normal(size=(40, 6))
        fixed = rng.uniform(0.2, 3.0, 90) if kind == "weighted" else None
        of_pulls = rng.uniform(0.2, 3.0, (4, 90)) if kind == "pulls weighted" else None
        parts = [plain_part(rows, class_of_label, fixed), plain_part(others, class_of_label)]
        assignments = rng.integers(0, n_labels, (4, 90))
        found = TorchRidge(0.7, place).prepare(*parts, rng).pull(assignments, of_pulls)
        like = Ridge(0.7).prepare(*parts, rng).pull(assignments, of_pulls)
        assert np.array_equal(found.train_labels, like.train_labels)
        assert np.array_equal(found.heldout_labels, like.heldout_labels)
        A = np.c_[rows, np.ones(90)]
        for p, assignment in enumerate(assignments):
            w = of_pulls[p] if of_pulls is not None else np.ones(90) if fixed is None else fixed
            t = 2.0 * np.eye(n_labels)[assignment] - 1.0
            solved = np.linalg.solve(A.T @ (A * w[:, None]) + 0.7 * np.eye(7), A.T @ (t * w[:, None]))
            expected = (np.c_[others, np.ones(40)] @ solved)[:, 1 if n_labels == 2 else 0 :]
            expected = expected if n_labels > 2 else expected[:, :1]
            assert found.heldout_scores[p] == pytest.approx(expected, abs=1e-4)

    @pytest.mark.usefixtures("torch")
    def test_influence_is_the_smoother_and_its_transpose(self):
        """M t are the held-out outputs, and M' g has the inner products with t that g has with M t."""
        rng = np.random.default_rng(2)
        parts = plain_part(X[:120], weights=WEIGHTS[:120]), plain_part(X[120:])
        prepared = TorchRidge().prepare(*parts, rng)
        labels = rng.integers(0, 2, (1, 120))
        t, g = 2.0 * labels[0] - 1.0, rng.normal(size=len(X) - 120)
        outputs = prepared.smoother @ t
        assert outputs.ravel() == pytest.approx(prepared.pull(labels, None).heldout_scores[0, :, 0], abs=1e-5)
        assert (prepared.smoother.rmatvec(g).ravel() @ t) == pytest.approx(float(g @ outputs.ravel()), rel=1e-4)
        assert prepared.respond(np.c_[t, -t])[:, 1] == pytest.approx(-outputs.ravel(), abs=1e-5)
        assert np.asarray(Ridge().prepare(*parts, rng).smoother @ t).ravel() == pytest.approx(outputs.ravel(), abs=1e-4)

    @pytest.mark.usefixtures("torch")
    @pytest.mark.parametrize("reward", ["mil-marginal", "torch-mil-marginal", "mil"])
    def test_the_labels_of_a_small_fit_are_those_of_ridge(self, reward):
        """Inferred labels and predictions equal those with `ridge`; scores of the final fit do to within 1e-3."""
        rows, y, bags = mil_data()
        options = {"n_rounds": 12, "random_state": 0, "final_classifier": "same"}
        ours = BlissClassifier(classifier="torch-ridge", reward=reward, **options).fit(rows, y, bags=bags)
        plain = "mil" if reward == "mil" else "mil-marginal"
        theirs = BlissClassifier(classifier="ridge", reward=plain, **options).fit(rows, y, bags=bags)
        assert np.array_equal(ours.labels_, theirs.labels_)
        assert np.array_equal(ours.predict(rows), theirs.predict(rows))
        assert ours.decision_function(rows) == pytest.approx(theirs.decision_function(rows), abs=1e-3)

    @pytest.mark.usefixtures("torch")
    @pytest.mark.parametrize("reward", ["mil-marginal", "torch-mil-marginal"])
    def test_in_lock_step(self, monkeypatch, reward):
        """Over blocks of bags all sums are made on the device, and the labels are those of `ridge`."""
        monkeypatch.setattr(runner, "MANY_ROWS", 1)
        monkeypatch.setattr(runner, "BLOCK_ROWS", 60)
        called = []
        for name in ("held", "gram", "moments", "outputs"):
            whole = getattr(TorchSums, name)
            monkeypatch.setattr(
                TorchSums,
                name,
                lambda self, *given, name=name, whole=whole: (called.append(name), whole(self, *given))[1],
            )
        rows, y, bags = mil_data(60)
        options = {"n_rounds": 8, "random_state": 0, "n_folds": 3}
        theirs = BlissClassifier(classifier="ridge", reward="mil-marginal", **options).fit(rows, y, bags=bags)
        assert called == []
        ours = BlissClassifier(classifier="torch-ridge", reward=reward, **options).fit(rows, y, bags=bags)
        assert called.count("gram") >= 3 * 3
        assert {"held", "moments", "outputs"} <= set(called)
        assert np.array_equal(ours.labels_, theirs.labels_)

    @pytest.mark.usefixtures("torch")
    def test_too_many_columns(self):
        """As many unknowns would be a matrix that is too large, so other classifiers are named."""
        parts = (plain_part(sp.csr_matrix((10, 4000))),) * 2
        with pytest.raises(
            DataError, match=r'at most 3999 of them, and the rows have 4000: take the classifier "ridge"'
        ):
            TorchRidge().prepare(*parts, RNG)

    @pytest.mark.usefixtures("torch")
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_final_fit_by_sums(self, n_classes):
        """Sums of parts add up to the fit on all, which solves the normal equations."""
        rng = np.random.default_rng(5)
        shares = rng.dirichlet(np.ones(n_classes), len(X))
        whole = TorchLeastSquares(0.3).fit_shares(X, shares, WEIGHTS)
        begun = TorchLeastSquares(0.3).begun(Rows(X), WEIGHTS)
        parts = [begun.sums(Rows(X[one]), shares[one], WEIGHTS[one]) for one in (slice(0, 50), slice(50, None))]
        added = begun.solved(parts[0] + parts[1], n_classes)
        A, t = np.c_[X, np.ones(len(X))], (2.0 * shares - 1.0)[:, 1 if n_classes == 2 else 0 :]
        expected = A @ np.linalg.solve(A.T @ (A * WEIGHTS[:, None]) + 0.3 * np.eye(8), A.T @ (t * WEIGHTS[:, None]))
        for model in (whole, added):
            assert model.decision_function(X).reshape(len(X), -1) == pytest.approx(expected, abs=1e-4)
        assert TorchLeastSquares().begun(Rows(sp.csr_matrix((10, 4000))), None) is None


class TestReward:
    @pytest.mark.usefixtures("torch")
    def test_it_is_mil_marginal(self):
        """The rewards are those of `mil-marginal` to within 1e-5, and so is the form for blocks."""
        fold = fold_of(mil_example())
        prepared = Ridge().prepare(fold.train, fold.heldout, RNG)
        ours, theirs = TorchMilMarginalReward(2.0, 0.5), MilMarginalReward(2.0, 0.5)
        for outcome in outcomes(fold):
            found, expected = (one.prepare(fold, prepared)(outcome) for one in (ours, theirs))
            assert found == pytest.approx(expected, abs=1e-5)
            slopes = [one.in_blocks().slopes(outcome, np.array([[9.0], [3.0], [8.0]])) for one in (ours, theirs)]
            assert slopes[0] == pytest.approx(slopes[1], abs=1e-6)

    @pytest.mark.usefixtures("torch")
    def test_kit(self):
        """It passes the conformance kit of rewards."""
        verify("torch-mil-marginal", reward_checks(TorchMilMarginalReward(), mil_example()))


class TestObjective:
    @pytest.mark.parametrize("class_of_label", GROUPINGS)
    def test_values_and_gradients(self, torch, monkeypatch, class_of_label):
        """They are those of the cooperative softmax on NumPy in double, to within 1e-5, whatever the blocks."""
        monkeypatch.setattr(device_module, "CPU_VALUES", 200)
        rng, L = np.random.default_rng(4), len(class_of_label)
        labels, weights = rng.integers(0, L, (3, len(X))), rng.uniform(0.2, 2.0, (3, len(X)))
        weights /= weights.sum(axis=1, keepdims=True)
        points = rng.normal(size=(3, L, 8))
        device = Device("cpu", "float32", "a test")
        losses = LabelLosses(device.indices(labels).int(), device.tensor(weights), np.array(class_of_label))
        found = Objective(held(Rows(X), device), losses, L, 0.3)(torch.from_numpy(points.reshape(3, -1)))
        expected = NumpyObjective(X, labels, weights, Groups.from_classes(class_of_label), 0.3)(points)
        assert found[0].numpy() == pytest.approx(expected[0], rel=1e-5)
        assert found[1].numpy() == pytest.approx(expected[1].reshape(3, -1), abs=1e-5)

    def test_soft_labels(self, torch):
        """Shares of classes have the value and gradient that they have on NumPy."""
        rng = np.random.default_rng(6)
        shares = rng.dirichlet(np.ones(3), len(X)).T / len(X)
        point = rng.normal(size=(1, 3, 8))
        device = Device("cpu", "float32", "a test")
        objective = Objective(held(Rows(X), device), ShareLosses(device.tensor(shares)), 3, 0.2)
        found = objective(torch.from_numpy(point.reshape(1, -1)))
        expected = SoftObjective(X, shares, Groups.from_classes(range(3)), 0.2)(point)
        assert found[0].numpy() == pytest.approx(expected[0], rel=1e-5)
        assert found[1].numpy() == pytest.approx(expected[1].reshape(1, -1), abs=1e-6)

    @PROPERTY
    @given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 4))
    def test_descents_end_at_the_lowest_point(self, seed, n_problems, size):
        """Quadratic functions are followed to where a solver of linear equations finds their gradient to be 0."""
        torch = pytest.importorskip("torch", reason="needs the extra torch")
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(n_problems, size, size))
        A = A @ A.transpose(0, 2, 1) + np.eye(size)
        b = rng.normal(size=(n_problems, size))
        H, c = torch.from_numpy(A), torch.from_numpy(b)

        def function(points):
            slopes = torch.einsum("pij,pj->pi", H, points) - c
            return ((slopes - c) * points).sum(dim=1) / 2, slopes

        found, _ = descend(function, Descents.at(torch.zeros((n_problems, size), dtype=torch.float64)), 300, 0.1, 1e-9)
        assert found.points.numpy() == pytest.approx(np.linalg.solve(A, b[:, :, None])[:, :, 0], abs=1e-6)

    def test_some_descents_go_on(self, torch):
        """Problems that are put back have what they remember, and the others have forgotten nothing."""
        points = torch.zeros((3, 2), dtype=torch.float64)
        ones = torch.ones((3, 2), dtype=torch.float64)
        old = Descents.at(points).remembering(ones, ones)
        new = old.take([2]).remembering(3 * ones[:1], 5 * ones[:1])
        both = old.put([2], new)
        assert both.points[:, 0].tolist() == [1.0, 1.0, 3.0]
        assert [one[:, 0].tolist() for one in both.steps] == [[0.0, 0.0, 1.0], [1.0, 1.0, 2.0]]
        assert [one[:, 0].tolist() for one in both.changes] == [[0.0, 0.0, 1.0], [1.0, 1.0, 5.0]]


class TestSoftmax:
    def pulled(self, classifier, class_of_label, n_pulls=2, each=None):
        """Pull four assignments of a noisy rule several times: all at once, or that of one position alone."""
        rng, L = np.random.default_rng(7), len(class_of_label)
        parts = plain_part(X[:150], class_of_label), plain_part(X[150:], class_of_label)
        prepared, found = classifier.prepare(*parts, np.random.default_rng(1)), []
        for _ in range(n_pulls):
            rule = (1.5 * X[:150, 0] + rng.normal(size=(4, 150)) + L / 2).astype(int)
            assignments, weights = np.clip(rule, 0, L - 1), rng.uniform(0.5, 2.0, (4, 150))
            chosen = slice(None) if each is None else slice(each, each + 1)
            found.append(prepared.pull(assignments[chosen], weights[chosen]))
        return found

    @pytest.mark.parametrize("class_of_label", GROUPINGS)
    def test_pulls_are_those_of_the_cooperative_softmax(self, place, class_of_label):
        """The same few steps from the same start: scores agree to within 0.01 of their size, and labels do."""
        ours = self.pulled(TorchSoftmax(l2=0.01, n_steps=5, device=place), class_of_label)
        theirs = self.pulled(CooperativeSoftmax(l2=0.01, n_steps=5, precision="float64"), class_of_label)
        for found, expected in zip(ours, theirs, strict=True):
            assert found.heldout_scores.shape == expected.heldout_scores.shape
            size = np.abs(expected.heldout_scores).max()
            assert found.heldout_scores == pytest.approx(expected.heldout_scores, abs=0.01 * size)
            assert (found.train_labels == expected.train_labels).mean() > 0.99

    @pytest.mark.parametrize("class_of_label", GROUPINGS)
    def test_a_batch_is_one_after_the_other(self, torch, class_of_label):
        """Four assignments in one tensor have the scores that each has alone, in every pull from where it stopped."""
        classifier = TorchSoftmax(l2=0.01, n_steps=5)
        together = self.pulled(classifier, class_of_label)
        for p in range(4):
            for all_, alone in zip(together, self.pulled(classifier, class_of_label, each=p), strict=True):
                assert all_.train_scores[p] == pytest.approx(alone.train_scores[0], abs=2e-3)

    def test_a_label_that_is_not_used(self, torch):
        """It is never predicted, whatever earlier pulls taught of it."""
        part = plain_part(X, (0, 1, 2))
        prepared = TorchSoftmax(n_steps=1).prepare(part, part, np.random.default_rng(0))
        for _ in range(9):
            # Learnt so well that a step does not unlearn it.
            earlier = prepared.pull(np.full((1, len(X)), 2) * (X[:, 0] > -2), None)
        assert (earlier.train_labels == 2).mean() > 0.9
        found = prepared.pull((X[:, 0] > 0).astype(int)[None], None)
        assert not (found.train_labels == 2).any()

    def test_the_final_fit(self, torch):
        """The coefficients are those of the cooperative softmax on NumPy, and scores are made without torch."""
        y = np.clip((1.5 * X[:, 0] + RNG.normal(size=len(X)) + 1.5).astype(int), 0, 2)
        ours = TorchSoftmaxClassifier(l2=0.02, tol=1e-6, random_state=0).fit(X, y, WEIGHTS)
        theirs = CooperativeSoftmaxClassifier(l2=0.02, tol=1e-8, random_state=0).fit(X, y, WEIGHTS)
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-3)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-3)
        soft = TorchSoftmaxClassifier(l2=0.02, tol=1e-6, random_state=0).fit_shares(X, np.eye(3)[y], WEIGHTS)
        assert soft.coef_ == pytest.approx(ours.coef_, abs=1e-6)


class TestBits:
    @pytest.mark.parametrize("storage", ["float32", "float16"])
    def test_one_seed_one_result(self, torch, storage):
        """Pulls and final fits have the same bits again, and with any number of threads of torch."""
        before, found = torch.get_num_threads(), []
        rows, labels = np.tile(X, (12, 20)), np.random.default_rng(8).integers(0, 2, (2, 12 * len(X)))
        part = plain_part(rows)
        try:
            for n_threads in (1, 2, 2):
                torch.set_num_threads(n_threads)
                for make in (TorchRidge, TorchSoftmax):
                    classifier = make(device="cpu", storage=storage)
                    pulled = classifier.prepare(part, part, np.random.default_rng(0)).pull(labels, None)
                    final = classifier.estimator(0).set_params(**{"max_iter": 3} if make is TorchSoftmax else {})
                    found.append((pulled.train_scores, final.fit(rows, labels[0]).coef_))
        finally:
            torch.set_num_threads(before)
        for place, (scores, coefficients) in enumerate(found[2:]):
            assert np.array_equal(scores, found[place % 2][0])
            assert np.array_equal(coefficients, found[place % 2][1])


class TestWithoutTorch:
    BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Blocker())
"""

    LOADED = """
import numpy as np
from bliss_framework import load_model
from bliss_framework.plugin import load_plugins
components = [one.component for one in load_plugins().registry.registrations if one.plugin == "torch"]
print(len(components), all("extra torch" in one.summary for one in components))
for name in ("torch-ridge", "torch-softmax"):
    np.save(f"{name}.npy", load_model(f"{name}.skops").decision_function(np.load("rows.npy")))
print("torch" in sys.modules)
"""

    def test_plugins_are_listed_and_saved_models_predict(self, torch, tmp_path):
        """Where there is no torch the components say which extra they need, and what learnt on a device predicts."""
        rows, y, bags = mil_data()
        np.save(tmp_path / "rows.npy", rows)
        expected = {}
        for name in ("torch-ridge", "torch-softmax"):
            final = {"name": name, **({"max_iter": 5} if name == "torch-softmax" else {})}
            model = BlissClassifier(classifier="ridge", final_classifier=final, n_rounds=2, n_folds=2, random_state=0)
            save_model(model.fit(rows, y, bags=bags), tmp_path / f"{name}.skops")
            expected[name] = model.decision_function(rows)
            assert np.array_equal(load_model(tmp_path / f"{name}.skops").decision_function(rows), expected[name])
        code = self.BLOCKED + self.LOADED
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout) == (0, "3 True\nFalse\n"), done.stderr
        for name, scores in expected.items():
            assert np.array_equal(np.load(tmp_path / f"{name}.npy"), scores)

    def test_components_travel(self, torch):
        """A classifier that is sent to a worker is the same one; what is on a device is made there."""
        for one in (TorchRidge(0.5, "cpu", "float16"), TorchSoftmax(), TorchRidge().in_sums(Rows(X), None, RNG)):
            assert repr(pickle.loads(pickle.dumps(one))) == repr(one)
