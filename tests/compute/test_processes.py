"""How many threads linear algebra may use while a fit is at work."""

import os
import subprocess
import sys

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
