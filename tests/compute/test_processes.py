"""How many threads linear algebra may use while a fit is at work."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from bliss_framework.compute.processes import signals_put_off

LATER = """
import numpy
from threadpoolctl import threadpool_info
from bliss_framework.compute.processes import one_blas_thread

with one_blas_thread():
    first = {one["filepath"] for one in threadpool_info()}
import sklearn.svm
before = {one["filepath"]: one["num_threads"] for one in threadpool_info()}
with one_blas_thread():
    assert {one["num_threads"] for one in threadpool_info()} == {1}
assert {one["filepath"]: one["num_threads"] for one in threadpool_info()} == before
print(max(before[path] for path in set(before) - first))
"""


def test_a_library_that_is_loaded_later_has_one_thread_too():
    """scikit-learn brings an OpenMP library after the first look; in the next block it has one thread, not three."""
    environment = os.environ | {"OMP_NUM_THREADS": "3"}
    found = subprocess.run([sys.executable, "-c", LATER], env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "3"


@pytest.fixture
def heard():
    """The signals that this process hears of its own accord."""
    numbers = []
    before = signal.signal(signal.SIGTERM, lambda number, _: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, before)


def test_signals_are_put_off(heard):
    """A signal within the block is heard after it, by who heard it before and not by who took it over meanwhile."""
    theirs = []
    with signals_put_off():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
        signal.signal(signal.SIGTERM, lambda number, _: theirs.append(number))
    assert heard == [signal.SIGTERM]
    signal.raise_signal(signal.SIGTERM)
    assert (heard, theirs) == ([signal.SIGTERM] * 2, [])


def test_signals_that_are_ignored_stay_so(heard):
    """What nohup has a process ignore is not heard after the block either."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with signals_put_off():
        signal.raise_signal(signal.SIGTERM)
    assert (heard, signal.getsignal(signal.SIGTERM)) == ([], signal.SIG_IGN)


def test_threads_leave_signals_alone(heard):
    """No thread but the first may say who hears them."""
    done = []

    def in_a_thread():
        with signals_put_off():
            done.append(True)

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert done
