"""Work that is spread over processes of this machine or of a cluster."""

import subprocess
import sys

import numpy as np
import pytest

from bliss_framework import BlissClassifier, MissingExtraError, RunError, SettingsError, UnknownNameError, engine
from bliss_framework.compute.engines import check_engine
from bliss_framework.compute.processes import in_parallel, several

QUICK = {"n_rounds": 5, "n_folds": 3, "n_inferences": 1, "random_state": 0}


@pytest.fixture
def fit(toy):
    """A function that fits BLISS with a number of processes, and returns bits that must not depend on it."""
    X, bags, weak = toy()
    y = [weak[bag] for bag in dict.fromkeys(bags.tolist())]

    def fitted(n_jobs, **parameters):
        model = BlissClassifier(**{**QUICK, **parameters}, n_jobs=n_jobs).fit(X, y, bags=bags)
        return model.label_means_, model.confidence_, model.score_bags(X, bags)[1]

    return fitted


def assert_same_bits(some, others):
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one, other)


class TestRefusals:
    def test_an_unknown_engine(self):
        """The nearest name and the list are said."""
        with pytest.raises(
            UnknownNameError, match=r'^No engine "dusk"\. Did you mean "dask"\? There are: local, dask, '
        ):
            check_engine("dusk")

    def test_an_address_of_this_machine(self):
        """The local engine is no cluster that one could reach at an address."""
        with pytest.raises(SettingsError, match='has no address; got "tcp://host:8786"'):
            check_engine("local", "tcp://host:8786")

    @pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("ray", "ray")])
    def test_a_missing_package(self, name, module, monkeypatch):
        """One sentence holds the pip command, before anything is started."""
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError) as caught:
            check_engine(name)
        assert str(caught.value) == (
            f'The engine "{name}" needs a package that is not installed: pip install "bliss-framework[{name}]".'
        )


FORKING = """
from joblib import parallel_config
from bliss_framework.compute.processes import in_parallel

with parallel_config(backend="multiprocessing"):
    results = in_parallel(2, pow, [(2, 3), (3, 2), (2, -1), ("broken", 2)])
    found = [next(results), next(results)]
    try:
        next(results)
    except TypeError as error:
        print(*found, type(error).__name__)
"""


class TestSpreading:
    def test_results_come_in_order(self):
        """Whatever returns first, results are in the order of the arguments."""
        assert list(in_parallel(2, pow, [(base, 2) for base in range(7)])) == [0, 1, 4, 9, 16, 25, 36]

    def test_a_backend_that_returns_all_or_nothing(self):
        """A backend without generators is asked for a few calls at a time, so that finished ones can be kept."""
        # In a process of its own: this backend forks, and a fork of a process with threads may wait for ever.
        done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60)
        assert done.stdout == "8 9 TypeError\n", done.stderr

    def test_a_worker_does_not_spread_its_own_work(self):
        """What runs on a worker sees one process, whatever the engine of the caller."""
        assert list(in_parallel(2, several, [(None,), (None,)])) == [False, False]

    def test_the_local_engine_changes_nothing(self, fit):
        """A with block of the local engine, with two processes, gives the bits of one."""
        expected = fit(1)
        with engine("local"):
            assert_same_bits(fit(2), expected)


class TestDask:
    @pytest.fixture
    def scheduler(self):
        """The address of a cluster on this machine with workers of the given number of threads."""
        distributed = pytest.importorskip("distributed", reason="needs the extra dask")
        clusters = []

        def start(threads, n_workers=2):
            cluster = distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=threads,
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
            )
            clusters.append(cluster)
            return cluster.scheduler_address

        yield start
        for cluster in clusters:
            cluster.close()

    def test_bits(self, fit, scheduler):
        """Inference and the choice of settings have the bits of one process; where n_jobs is None all workers help."""
        select = {"settings": "select", "grid": {"classifier.width": [0.5, 1.0]}, "n_members": 1}
        with engine("dask", scheduler(threads=1)):
            assert several(None)
            spread, chosen = fit(None), fit(2, **select)
        assert_same_bits(spread, fit(1))
        assert_same_bits(chosen, fit(1, **select))

    def test_refusals(self, scheduler, monkeypatch):
        """No scheduler, no workers, and workers of several threads are refused in one sentence."""
        monkeypatch.setattr("bliss_framework.compute.engines.PATIENCE", 0.5)
        with (
            pytest.raises(RunError, match=r"^No dask scheduler answers at tcp://127\.0\.0\.1:9: "),
            engine("dask", "tcp://127.0.0.1:9"),
        ):
            pass
        with pytest.raises(RunError, match="has no workers; start some"), engine("dask", scheduler(1, n_workers=0)):
            pass
        with pytest.raises(RunError, match="have 2 threads"), engine("dask", scheduler(2, n_workers=1)):
            pass


def test_ray(fit):
    """A ray cluster that starts and ends with the block gives the bits of one process, and sends no statistics."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    with engine("ray", n_jobs=2):
        spread = fit(2)
    assert not ray.is_initialized()
    assert_same_bits(spread, fit(1))
