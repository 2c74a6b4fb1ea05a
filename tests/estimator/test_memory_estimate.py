"""What fits say that they will take: against what they do take, and against what there is."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve, frozen

from bliss_framework import BlissClassifier, MemoryNeededError, PluginError, SettingsError
from bliss_framework.compute.memory import Room
from bliss_framework.estimator import memory_estimate
from bliss_framework.estimator.configure import configure
from bliss_framework.estimator.memory_estimate import DataSize, Work, check_memory, estimate
from bliss_framework.extension.contracts import Classifier, ProblemSize, Profile
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.lockstep import runner
from bliss_framework.plugin import Rows, RowView, check_training
from bliss_framework.testing.examples import plain_part
from bliss_framework.validators import size_in_bytes

REGISTRY = default_plugins().registry
MANY = {"regime": "mil", "classifier": {"name": "kernel-ridge", "n_landmarks": 0}, "final_classifier": "same"}


def peak_of(work):
    """Return the bytes of arrays that some work holds at its peak."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def part_of(X):
    """Return a part of a fold, of which rows are a view."""
    return evolve(plain_part(X, 2), X=RowView.of(Rows(X)))


def data_of(n_rows, n_columns=3, bag_size=10, sparse=False):
    """Rows in bags, the first one of every second bag far from the others."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    bags = np.arange(n_rows) // bag_size
    X[::bag_size, 0] += 5.0 * (bags[::bag_size] % 2)
    return sp.csr_matrix(X) if sparse else X, np.arange(bags[-1] + 1) % 2, bags


def sizes(n_rows=40_000, n_bags=400, n_columns=50, **profile):
    """The size of data with even bags."""
    return DataSize(Profile(n_rows, n_bags, **profile), n_columns, 8.0 * n_columns, 2)


def config_of(size=None, **given):
    """Configure a fit of data with a size."""
    return configure({**MANY, **given}, (size or sizes()).profile, REGISTRY)


@pytest.fixture
def room(monkeypatch):
    """A function that says how much memory there is."""

    def leave(together=None, alone=None, worker=None):
        rooms = [None if n is None else Room(n, "on this machine") for n in (together, alone)]
        monkeypatch.setattr(memory_estimate, "memory_left", lambda: rooms)
        monkeypatch.setattr(memory_estimate, "least_worker_memory", lambda: worker)

    return leave


class TestClassifiers:
    @pytest.mark.parametrize("name", ["kernel-ridge", "svm-rbf", "svm-linear"])
    @pytest.mark.parametrize(("n", "m"), [(900, 900), (300, 2700)])
    def test_tables_of_pairs(self, name, n, m):
        """What is said of label inference is what arrays take, and at most a third more."""
        classifier, rng = REGISTRY.create("classifier", name), np.random.default_rng(0)
        train, heldout = (part_of(rng.normal(size=(rows, 10))) for rows in (n, m))

        def work():
            prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
            prepared.pull(rng.integers(0, 2, (1, n)), None)
            _ = prepared.smoother

        said = classifier.memory(ProblemSize(n, m, 10, 80.0))
        # The cache of libsvm is none of numpy's arrays.
        outside = min(200e6, 4 * n * n) if name.startswith("svm") else 0.0
        assert 0.95 <= said / (peak_of(work) + outside) <= 1.33

    @pytest.mark.parametrize(
        ("spec", "n_columns"),
        [("ridge", 300), ({"name": "kernel-ridge", "n_landmarks": 300}, 20)],
        ids=["rows", "features"],
    )
    def test_sums(self, spec, n_columns):
        """What is said of sums over rows, or over features, is what arrays take, and at most twice that."""
        classifier, rng = REGISTRY.create("classifier", spec), np.random.default_rng(0)
        train, heldout = (part_of(rng.normal(size=(20_000, n_columns))) for _ in range(2))

        def work():
            prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
            prepared.pull(rng.integers(0, 2, (1, 20_000)), None)
            prepared.smoother.rmatmat(np.ones((20_000, 1)))

        said = classifier.memory(ProblemSize(20_000, 20_000, n_columns, 8.0 * n_columns))
        assert 0.95 <= said / peak_of(work) <= 2.0

    @pytest.mark.parametrize(("n", "m"), [(1000, 1000), (500, 2500)])
    def test_final_fits(self, n, m):
        """So is what is said of a final fit and the scores after it."""
        classifier, rng = REGISTRY.create("classifier", "kernel-ridge"), np.random.default_rng(0)
        X, others = rng.normal(size=(n, 5)), rng.normal(size=(m, 5))

        def work():
            fitted = classifier.estimator(0).fit(X, np.arange(n) % 2)
            fitted.decision_function(others)

        assert 0.95 <= classifier.final_memory(ProblemSize(n, m, 5, 40.0)) / peak_of(work) <= 1.33

    @pytest.mark.parametrize("name", ["logistic", "balanced-ridge", "cooperative-softmax"])
    def test_no_table_of_pairs(self, name):
        """What grows with rows alone is said so: ten times the rows, at most ten times the memory."""
        classifier = REGISTRY.create("classifier", name)
        small, large = (classifier.memory(ProblemSize(n, n, 20, 160.0)) for n in (10_000, 100_000))
        assert small < large <= 10 * small

    def test_covariances(self):
        """`balanced-ridge` holds a matrix of all pairs of columns, twice in double precision."""
        classifier = REGISTRY.create("classifier", "balanced-ridge")
        rng = np.random.default_rng(0)
        train, heldout = (part_of(rng.normal(size=(200, 1500))) for _ in range(2))
        taken = peak_of(lambda: classifier.prepare(train, heldout, rng).pull(rng.integers(0, 2, (1, 200)), None))
        assert 0.95 <= classifier.memory(ProblemSize(200, 200, 1500, 12_000.0)) / taken <= 1.33

    def test_the_default(self):
        """A classifier that says nothing is taken to ask for its rows, to copy them and to predict."""

        class Silent(Classifier):
            def prepare(self, train, heldout, rng):
                raise NotImplementedError

            def estimator(self, random_state):
                raise NotImplementedError

        size = ProblemSize(100, 50, 4, 32.0, n_labels=3, n_pulls=2)
        # Outputs and scores of three labels and one prediction, of 150 rows in two pulls.
        assert Silent().memory(size) == Silent().final_memory(size) == 2 * 150 * 32 + 8 * 150 * 2 * (3 + 3 + 1)


class TestFits:
    @pytest.mark.parametrize("given", [{}, {"n_folds": 5, "train_on": "one"}], ids=["defaults", "paper's folds"])
    def test_a_whole_fit(self, given):
        """The estimate of a fit is what its arrays take, and at most half as much again."""
        X, y, bags = data_of(1500)
        model = BlissClassifier(n_rounds=2, random_state=0, **given)
        checked = check_training(X, y, bags)
        config = configure(model.get_params(deep=False), Profile.of(checked.bags, False), REGISTRY)
        said = estimate(config, DataSize.of(checked.read_by(config.regime), config), None).added
        BlissClassifier(n_rounds=2, random_state=0, **given).fit(X[:60], y[:6], bags=bags[:60])
        taken = peak_of(lambda: model.fit(X, y, bags=bags))
        assert 0.95 <= said / taken <= 1.5

    @pytest.mark.parametrize("n_folds", [10, 20])
    def test_a_whole_fit_in_lockstep(self, n_folds, monkeypatch):
        """So it is where all folds run together, each of which holds its parts and arms beside those of the others."""
        monkeypatch.setattr(runner, "MANY_ROWS", 1000)
        monkeypatch.setattr(memory_estimate, "MANY_ROWS", 1000)
        X, y, bags = data_of(30_000)
        given = {"classifier": {"name": "kernel-ridge", "n_landmarks": 20}, "n_rounds": 2, "n_folds": n_folds}
        model = BlissClassifier(random_state=0, train_on="one", **given)
        checked = check_training(X, y, bags)
        config = configure(model.get_params(deep=False), Profile.of(checked.bags, False), REGISTRY)
        said = estimate(config, DataSize.of(checked.read_by(config.regime), config), None)
        assert said.stages[0].what == "label inference on all folds together"
        BlissClassifier(n_rounds=2, random_state=0).fit(X[:60], y[:6], bags=bags[:60])
        taken = peak_of(lambda: model.fit(X, y, bags=bags))
        assert 0.95 <= said.added / taken <= 1.5

    def test_sizes_of_data(self):
        """Dense rows count as doubles, sparse rows by their entries with their columns."""
        X, y, bags = data_of(40, 6)
        config = config_of()
        dense = DataSize.of(check_training(X, y, bags).read_by(config.regime), config)
        assert (dense.row_bytes, dense.n_labels, dense.n_columns, dense.profile.n_bags) == (48.0, 2, 6, 4)
        X[:, :3] = 0.0
        thin = DataSize.of(check_training(sp.csr_matrix(X), y, bags).read_by(config.regime), config)
        assert thin.row_bytes == 3 * 12

    def test_processes(self):
        """Each process holds a fold, or an out-of-fold fit, of its own beside what a worker takes."""
        one, four = (estimate(config_of(), sizes(), n_jobs) for n_jobs in (1, 4))
        rows = 40_000 * memory_estimate.KEYS
        fold = one.stages[0].total - rows
        assert four.stages[0].total == rows + 4 * (fold + memory_estimate.WORKER)
        final = one.stages[1].total
        assert four.stages[1].own == final
        assert four.stages[1].total == final + 4 * (final + memory_estimate.WORKER)
        assert four.process == one.process + memory_estimate.WORKER

    @pytest.mark.parametrize("given", [{"name": "ridge"}, {"name": "kernel-ridge", "n_landmarks": 500}])
    def test_sums_are_added_up_in_one_process(self, given):
        """Out-of-fold fits that take sums over many rows are spread over nothing."""
        one, four = (estimate(config_of(classifier=given), sizes(), n_jobs) for n_jobs in (1, 4))
        assert four.stages[1] == one.stages[1]

    def test_no_more_processes_than_folds(self):
        """Ten processes infer three folds in three of them."""
        config = config_of(n_folds=3, train_on="rest")
        three, ten = (estimate(config, sizes(), n_jobs).stages[0].total for n_jobs in (3, 10))
        assert three == ten

    def test_an_evaluation(self):
        """Its fits run side by side, each of them whole, on a part of the bags."""
        work = Work(inference=False, final=False, fits=8, train_share=0.5)
        (stage,) = estimate(config_of(), sizes(), 2, work).stages
        half = estimate(config_of(), sizes(20_000, 200), 1)
        assert stage.each == memory_estimate.WORKER + half.added
        assert stage.n_workers == 2

    def test_nothing_is_inferred(self):
        """The control without a bandit needs no fold."""
        control = estimate(config_of(inherited_share=1.0), sizes(), 4)
        assert control.stages[0].total == 40_000 * memory_estimate.KEYS

    def test_candidates(self):
        """Of several settings the one that takes most counts."""
        grid = {"classifier": ["ridge", "balanced-ridge"]}
        chosen = config_of(settings="select", grid=grid, classifier=None)
        largest = max(estimate(one, sizes(), None).added for one in chosen.candidates)
        assert estimate(chosen, sizes(), None).added == largest

    @pytest.mark.parametrize("said", [-1, float("nan"), "much", None, True])
    def test_a_classifier_that_says_no_number(self, said):
        """It is named, before it is trained."""

        @frozen
        class Odd(Classifier):
            def prepare(self, train, heldout, rng):
                raise NotImplementedError

            def estimator(self, random_state):
                raise NotImplementedError

            def memory(self, size):
                return said

        with pytest.raises(PluginError, match=r'Classifier "Odd" says that it takes .* bytes; it must be a number\.$'):
            estimate(config_of(classifier=Odd()), sizes(), None)


class TestRefusals:
    def refused(self, n_jobs=None, max_memory=None, work=None, **given):
        X, y, bags = data_of(8000, 2)
        checked = check_training(X, y, bags)
        config = configure({**MANY, **given}, Profile.of(checked.bags, False), REGISTRY)
        with pytest.raises(MemoryNeededError) as caught:
            check_memory(config, checked.read_by(config.regime), lambda: REGISTRY, n_jobs, max_memory, work)
        return caught.value

    def test_words(self, room):
        """One paragraph has the figure, what takes it, what there is, and a setting that fits."""
        room(together=500_000_000)
        said = str(self.refused())
        assert "of memory, 846 MB of it for the final fit on all rows, and only 500 MB more are left on this" in said
        assert said.endswith(" MB.")
        assert ' With final_classifier="kernel-ridge" it needs about ' in said  # By way of landmarks.

    def test_the_setting_fits(self, room):
        """With the setting that is named the same data are not refused."""
        room(together=500_000_000)
        change = self.refused().settings
        X, y, bags = data_of(8000, 2)
        checked = check_training(X, y, bags)
        config = configure({**MANY, **change}, Profile.of(checked.bags, False), REGISTRY)
        needed = check_memory(config, checked.read_by(config.regime), lambda: REGISTRY, None, None)
        assert needed.added <= 500_000_000

    def test_fewer_processes(self, room):
        """Where fewer processes are enough, nothing else is changed."""
        room(together=1_200_000_000)
        change = self.refused(n_jobs=8, n_folds=8).settings
        assert list(change) == ["n_jobs"]
        size = sizes(8000, 800, 2)
        this, more = (
            estimate(config_of(size, n_folds=8), size, change["n_jobs"] + further).added for further in (0, 1)
        )
        assert this <= 1_200_000_000 < more

    def test_the_classifier_too(self, room):
        """Where label inference does not fit either, another classifier is named, which fits."""
        room(together=120_000_000)
        error = self.refused(n_folds=3, train_on="rest")
        assert error.settings == {"classifier": "ridge"}

    def test_nothing_fits(self, room):
        """Where no setting is found the sentence says what else there is."""
        room(together=1000)
        error = self.refused(max_memory=None)
        assert error.settings is None
        assert str(error).endswith(
            "and nothing is left on this machine. Use fewer rows or columns, or a machine with more; max_memory allows "
            "to try it."
        )

    def test_a_limit_of_a_process(self, room):
        """Fewer processes are no help against it."""
        room(together=10**12, alone=500_000_000)
        assert self.refused(n_jobs=8).settings == {"final_classifier": "kernel-ridge"}

    def test_a_worker_of_a_cluster(self, room, monkeypatch):
        """A fold must fit into a worker, wherever that is."""
        room(together=10**12, worker=100_000_000)
        error = self.refused(n_jobs=2)
        assert "in a worker of the cluster" in str(error)

    def test_a_limit_of_the_user(self, room):
        """It counts all that this process has already, and comes before what the machine says."""
        room(together=1000)
        assert "of the 700 MB of max_memory" in str(self.refused(max_memory="700MB"))
        X, y, bags = data_of(8000, 2)
        checked = check_training(X, y, bags)
        config = config_of()
        check_memory(config, checked.read_by(config.regime), lambda: REGISTRY, None, "100GB")

    def test_a_fit_begins_nothing(self, room, monkeypatch):
        """`fit` refuses before any fold."""
        room(together=1000)
        monkeypatch.setattr("bliss_framework.estimator.fit.cross_fit", lambda *arguments: 1 / 0)
        X, y, bags = data_of(8000, 2)
        with pytest.raises(MemoryNeededError):
            BlissClassifier(random_state=0, **MANY).fit(X, y, bags=bags)

    def test_little_is_always_there(self, room):
        """Small data are held against nothing, so a machine that counts badly stops nobody."""
        room(together=0)
        X, y, bags = data_of(100)
        assert len(BlissClassifier(n_rounds=2, random_state=0).fit(X, y, bags=bags).labels_) == 100

    def test_labels_alone(self, room):
        """Where nothing is trained on the labels, the final fit is not counted."""
        room(together=500_000_000)
        X, y, bags = data_of(8000, 2)
        checked = check_training(X, y, bags)
        config = config_of(n_folds=20, train_on="one")
        check_memory(config, checked.read_by(config.regime), lambda: REGISTRY, None, None, Work(final=False))


class TestSizes:
    @pytest.mark.parametrize(
        ("text", "n_bytes"), [("4GB", 4 * 10**9), ("500 mb", 5 * 10**8), ("1.5KB", 1500), (17, 17), ("17", 17)]
    )
    def test_what_is_a_size(self, text, n_bytes):
        """Units are powers of a thousand, in any case; a number is bytes."""
        assert size_in_bytes(text) == n_bytes

    @pytest.mark.parametrize("size", ["much", "-4GB", "0", 0, -1, True, 4.5, "GB", "4 GiB"])
    def test_what_is_none(self, size):
        """It is refused with an example."""
        X, y, bags = data_of(40)
        with pytest.raises(SettingsError, match=r"^max_memory must be a size such as 500MB or 4GB; got "):
            BlissClassifier(max_memory=size).fit(X, y, bags=bags)


def test_the_benchmark_covers_every_classifier():
    """Whoever adds a built-in classifier adds it to the measured ones; the adapter has no size of its own."""
    text = (Path(__file__).parents[1] / "benchmarks" / "bench_memory.py").read_text()
    assert [name for name in REGISTRY.names("classifier") if f'"{name}"' not in text] == ["sklearn"]
