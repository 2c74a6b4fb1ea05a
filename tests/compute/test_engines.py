"""Work that is spread over processes of this machine or of a cluster."""

import os
import signal
import subprocess
import sys
import warnings
from importlib import import_module

import numpy as np
import pytest
from joblib import parallel_config

from bliss_framework import (
    BlissClassifier,
    ComputeError,
    MissingExtraError,
    RunError,
    SettingsError,
    UnknownNameError,
    engine,
)
from bliss_framework.compute import processes
from bliss_framework.compute.engines import check_engine
from bliss_framework.compute.processes import Spread, in_parallel, least_worker_memory, several

QUICK = {"n_rounds": 5, "n_folds": 3, "n_inferences": 1, "random_state": 0}


def doubled(number):
    """Warn of a number, and double it."""
    warnings.warn(f"{number} is small", FutureWarning, stacklevel=1)
    return 2 * number


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("backend", "way"), [("loky", "calls"), ("threading", "calls"), ("loky", "sums")])
def test_what_calls_warn_of_is_heard_wherever_they_are_made(n_jobs, backend, way):
    """Results come in order, and every warning is that of this process, of the same category."""
    with parallel_config(backend=backend), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(getattr(Spread(n_jobs), way)(doubled, [(3,), (1,), (2,)])) == [6, 2, 4]
    said = [(str(one.message), one.category) for one in caught if one.category is FutureWarning]
    assert sorted(said) == [(f"{number} is small", FutureWarning) for number in (1, 2, 3)]


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
        package = {"dask": "dask[distributed]>=2024.8", "ray": "ray>=2.35"}[name]
        said = f'The engine "{name}" needs a package that is not installed: pip install "{package}".'
        assert str(caught.value) == said


def killed():
    """Kill the process that this runs in, as the system does where memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def without_memory():
    """Ask for more memory than any machine has."""
    return np.empty(2**56)


class TestLostWorkers:
    def test_a_killed_process(self):
        """One sentence says what happened, and what needs less memory."""
        with pytest.raises(ComputeError) as caught:
            list(in_parallel(2, killed, [(), ()]))
        assert str(caught.value) == (
            "A process that helped with the work was killed from outside, or could not be started "
            "(TerminatedWorkerError). Most often memory has run out: use fewer processes (n_jobs), or more folds "
            "(n_folds)."
        )
        assert isinstance(caught.value, RunError)

    def test_what_is_finished_comes_first(self):
        """Results that were there before a worker died are yielded, so that they can be kept."""
        results = in_parallel(2, eval, [("1 + 1",), ("__import__('time').sleep(1)",), ("__import__('os')._exit(9)",)])
        assert next(results) == 2
        with pytest.raises(ComputeError):
            list(results)

    def test_memory_that_runs_out_in_a_worker(self):
        """It is the same error as in one process."""
        with pytest.raises(MemoryError):
            list(in_parallel(2, without_memory, [(), ()]))

    def test_an_error_of_the_work_itself(self):
        """It comes through as it is."""
        with pytest.raises(ZeroDivisionError):
            list(in_parallel(2, eval, [("1 / 0",), ("2",)]))

    @pytest.mark.parametrize(
        ("module", "name", "engine_of"),
        [
            ("distributed.scheduler", "KilledWorker", "dask"),
            ("distributed.client", "FutureCancelledError", "dask"),
            ("distributed.comm.core", "CommClosedError", "dask"),
            ("ray.exceptions", "ActorDiedError", "ray"),
            ("ray.exceptions", "OutOfMemoryError", "ray"),
        ],
    )
    def test_clusters(self, monkeypatch, module, name, engine_of):
        """What a cluster raises where a worker or all of it is gone is told in the same way."""
        error = type(name, (Exception,), {"__module__": module})

        def failing(n_jobs, calls):
            yield 1
            raise error("tcp://host:8786 is gone")

        monkeypatch.setattr(processes, "_results", failing)
        results = in_parallel(2, abs, [(1,), (2,)])
        assert next(results) == 1
        with pytest.raises(ComputeError) as caught:
            next(results)
        lost = f"A worker of the {engine_of} cluster was killed, or the cluster went away ({name})."
        assert str(caught.value).startswith(lost)


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
        # A scheduler that is gone already is tried for as long as this, half a minute if nothing is said.
        with pytest.importorskip("dask").config.set({"distributed.comm.timeouts.connect": "2s"}):
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

    def test_memory_of_workers(self):
        """A cluster says how much memory its smallest worker has; without a cluster nobody does."""
        distributed = pytest.importorskip("distributed", reason="needs the extra dask")
        assert least_worker_memory() is None
        own = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        with (
            distributed.LocalCluster(n_workers=2, memory_limit="2GB", **own) as cluster,
            engine("dask", cluster.scheduler_address),
        ):
            assert least_worker_memory() == 2 * 10**9
            assert processes.on_cluster()
        assert not processes.on_cluster()

    def test_a_worker_that_dies_again_and_again(self, scheduler):
        """Dask gives a call up whose workers die; what is finished is yielded, then one sentence says so."""
        with engine("dask", scheduler(threads=1)):
            results = in_parallel(2, eval, [("1 + 1",), ("__import__('os').kill(__import__('os').getpid(), 9)",)])
            assert next(results) == 2
            with pytest.raises(ComputeError, match=r"^A worker of the dask cluster was killed, .* \(KilledWorker\)\."):
                next(results)

    def test_what_calls_share_travels_once(self, scheduler):
        """An array that all calls are given is sent to the cluster once, and results come in order."""
        distributed = pytest.importorskip("distributed", reason="needs the extra dask")
        address, array, sent = scheduler(threads=1), np.arange(10.0), []
        with distributed.Client(address) as client, parallel_config(backend="dask", client=client):
            scatter = client.scatter
            client.scatter = lambda values, **options: sent.append(values) or scatter(values, **options)
            found = list(in_parallel(2, np.add, [(array, float(i)) for i in range(9)]))
        assert len(sent) == 1
        assert [one.tolist() for one in found] == [(array + i).tolist() for i in range(9)]

    def test_a_cluster_that_goes_away(self, scheduler):
        """What was finished before is yielded, then one sentence says that the cluster is gone."""
        distributed = pytest.importorskip("distributed", reason="needs the extra dask")
        address = scheduler(threads=1)
        with distributed.Client(address) as client, parallel_config(backend="dask", client=client):
            results = in_parallel(2, eval, [("1 + 1",), ("__import__('time').sleep(10)",)])
            assert next(results) == 2
            client.shutdown()
            with pytest.raises(ComputeError, match=r"^A worker of the dask cluster was killed, or the cluster went"):
                next(results)

    @pytest.mark.parametrize("many_rows", [10**6, 10], ids=["fold by fold", "in blocks"])
    def test_a_worker_without_the_plugin(self, scheduler, monkeypatch, tmp_path, many_rows):
        """What a worker cannot import is named, with what to do, wherever the cluster stumbles over it."""
        pytest.importorskip("distributed", reason="needs the extra dask")
        address = scheduler(threads=1)
        name = f"reward_of_my_own_{many_rows}"
        lines = (
            "from attrs import frozen",
            "from bliss_framework.plugin import BlockReward",
            "from bliss_mil.rewards.marginal_effect import MilMarginalReward",
            "class InBlocks(BlockReward):",
            "    def rewards(self, outcome, n_heldout): yield",
            "    def diagnostic(self, outcome, n_heldout): yield",
            "@frozen",
            "class Own(MilMarginalReward):",
            "    def in_blocks(self): return InBlocks()",
        )
        (tmp_path / f"{name}.py").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr("bliss_framework.lockstep.runner.MANY_ROWS", many_rows)
        X, bags = np.random.default_rng(0).normal(size=(160, 3)), np.repeat(np.arange(16), 10)
        model = BlissClassifier(reward=import_module(name).Own(), classifier="ridge", n_jobs=2, n_rounds=2)
        with engine("dask", address), pytest.raises(ComputeError) as said:
            model.fit(X, np.arange(16) % 2, bags=bags)
        assert str(said.value).startswith(f"A worker cannot import '{name}'. Workers need the packages")

    def test_refusals(self, scheduler, monkeypatch):
        """No scheduler, no workers, and workers of several threads are refused in one sentence."""
        monkeypatch.setattr("bliss_framework.compute.engines.PATIENCE", 0.5)
        with (
            pytest.raises(RunError, match=r"^No dask scheduler answers at tcp://127\.0\.0\.1:9: "),
            engine("dask", "tcp://127.0.0.1:9"),
        ):
            pass
        with pytest.raises(RunError) as refusal, engine("dask", "tcp://ann:secret@127.0.0.1:9"):
            pass
        assert "tcp://ann:***@127.0.0.1:9" in str(refusal.value)
        assert "secret" not in str(refusal.value)
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
