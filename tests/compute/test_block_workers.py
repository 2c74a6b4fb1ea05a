"""Programs of blocks give the same bits on one thread, on several, and on the workers of Dask, of which one dies."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from bliss_framework import BlissClassifier
from bliss_framework.compute import block_workers
from bliss_framework.compute.block_workers import workers_of
from bliss_framework.compute.engines import engine
from bliss_framework.lockstep import runner


@pytest.fixture
def data(monkeypatch):
    """Forty bags of five rows, in blocks of fifty rows."""
    monkeypatch.setattr(runner, "MANY_ROWS", 100)
    monkeypatch.setattr(runner, "BLOCK_ROWS", 50)
    rng = np.random.default_rng(0)
    y, bags = np.arange(40) % 2, np.repeat(np.arange(40), 5)
    X = rng.normal(size=(200, 3))
    X[::5, 0] += 3.0 * y
    return X, y, bags


def fitted(data, n_rounds=6, **other):
    """Return what was inferred, with few rounds."""
    X, y, bags = data
    model = BlissClassifier(classifier="ridge", n_rounds=n_rounds, n_folds=3, random_state=0, **other)
    model.fit(X, y, bags=bags)
    return model.label_means_.tobytes() + model.training_scores_.tobytes()


@pytest.mark.parametrize("reward", ["mil-marginal", "mil"])
def test_threads_change_no_bit(data, monkeypatch, reward):
    """With two jobs blocks run on two threads, and nothing else is different."""
    used = []
    threads = block_workers.on_threads
    monkeypatch.setattr(block_workers, "on_threads", lambda n, *rest: used.append(n) or threads(n, *rest))
    assert fitted(data, reward=reward) == fitted(data, reward=reward, n_jobs=2)
    assert used == [2]


def test_an_error_of_a_reward_comes_through(data, monkeypatch):
    """What breaks in a block on a thread is raised as it is in one process."""
    monkeypatch.setattr(
        "bliss_mil.rewards.marginal_effect.bag_slopes", lambda *arguments: np.full(3, np.nan) + arguments[0][:2]
    )
    messages = []
    for n_jobs in (1, 2):
        with pytest.raises(Exception, match="reward") as caught:
            fitted(data, n_jobs=n_jobs)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


class TestDask:
    """The workers of a cluster."""

    @pytest.mark.parametrize("reward", ["mil-marginal", "mil"])
    def test_workers_change_no_bit(self, data, reward):
        """One worker and two give the bits of this process."""
        pytest.importorskip("distributed", reason="needs the extra dask")
        here = fitted(data, reward=reward)
        for n_workers in (1, 2):
            with engine("dask", n_jobs=n_workers):
                assert fitted(data, reward=reward) == here

    def test_workers_are_asked_for(self, monkeypatch):
        """Workers are found although the client, as it does every few seconds, has just forgotten them."""
        distributed = pytest.importorskip("distributed", reason="needs the extra dask")
        with engine("dask", n_jobs=1):
            client = distributed.get_client()
            sync = client.sync

            def forgetful(*arguments, **options):
                answer = sync(*arguments, **options)
                sync(client._update_scheduler_info, n_workers=0)
                return answer

            monkeypatch.setattr(client, "sync", forgetful)
            assert client.scheduler_info()["workers"] == {}
            assert list(workers_of(client)) == list(client.nthreads())

    @pytest.mark.slow
    def test_a_worker_that_dies(self, data):
        """Its blocks go on elsewhere, and repeat what was done, to the same bits."""
        distributed = pytest.importorskip("distributed", reason="needs the extra dask")
        here = fitted(data, n_rounds=25)
        killed = []
        with engine("dask", n_jobs=2):
            client = distributed.get_client()
            first, pid = sorted(client.run(os.getpid).items())[0]

            def kill():
                while not client.run(_n_programs, workers=[first], on_error="ignore").get(first):
                    time.sleep(0.05)
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

            thread = threading.Thread(target=kill)
            thread.start()
            assert fitted(data, n_rounds=25) == here
            thread.join()
        assert killed == [pid]


def _n_programs(dask_worker):
    return len(dask_worker.__dict__.get("bliss_programs", {}))
