"""What a process has only one of, and plugins may set: how numpy treats errors, and the global random generators."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def global_state_kept() -> Iterator[None]:
    """Leave the treatment of floating-point errors and the global generators after a with block as they were before.

    >>> before = np.geterr()
    >>> with global_state_kept():
    ...     _ = np.seterr(all="raise")
    >>> np.geterr() == before
    True
    """
    # The generator that others use, not we.
    of_numpy, of_python = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        with np.errstate():
            yield
    finally:
        np.random.set_state(of_numpy)  # noqa: NPY002
        random.setstate(of_python)
