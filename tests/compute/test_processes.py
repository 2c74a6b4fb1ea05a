"""How many threads linear algebra may use while a fit is at work."""

import os
import signal
import subprocess
import sys
import threading

from bliss_framework.compute.processes import signals_heard_as_before

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


def test_signals_that_another_library_takes_over_are_given_back():
    """Who heard SIGTERM before hears it afterwards; in a thread, where nobody may take it over, nothing is done."""
    mine, theirs = (lambda *_: None), (lambda *_: None)
    before = signal.signal(signal.SIGTERM, mine)
    try:
        with signals_heard_as_before():
            signal.signal(signal.SIGTERM, theirs)
        assert signal.getsignal(signal.SIGTERM) is mine
        done = []

        def in_a_thread():
            with signals_heard_as_before():
                done.append(True)

        thread = threading.Thread(target=in_a_thread)
        thread.start()
        thread.join()
        assert done
    finally:
        signal.signal(signal.SIGTERM, before)
