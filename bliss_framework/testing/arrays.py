"""Comparing records by what their arrays hold."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import fields, has

from bliss_framework.errors import DataError


def arrays_of(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield copies of all arrays in a record, and in the records that it holds."""
    if isinstance(value, np.ndarray):
        yield value.copy()
    elif hasattr(value, "indptr"):
        yield from (value.data.copy(), value.indices.copy(), value.indptr.copy())
    elif has(type(value)):
        for one in fields(type(value)):
            yield from arrays_of(getattr(value, one.name))


@contextmanager
def unchanged(*records: Any) -> Iterator[None]:
    """Assert that nothing in the records changes while the block runs."""
    before = [list(arrays_of(record)) for record in records]
    yield
    for arrays, record in zip(before, records, strict=True):
        for old, new in zip(arrays, arrays_of(record), strict=True):
            assert np.array_equal(old, new, equal_nan=old.dtype.kind == "f"), (
                f"it changed an array of {type(record).__name__}"
            )


def pickled(component: Any) -> Any:
    """Send a component to another process and back, as workers do."""
    try:
        return pickle.loads(pickle.dumps(component))
    except Exception as error:
        raise AssertionError(
            f"it cannot be sent to a worker process ({error}); define its class at the top level of a module"
        ) from error


def refusal(work: Callable[[], Any], advice: str) -> str:
    """Return the text of the DataError that a call must raise.

    Args:
        work: must raise a DataError.
        advice: what to do if it does not.
    """
    try:
        work()
    except DataError as error:
        return str(error)
    raise AssertionError(advice)


def assert_close(found: Any, expected: Any, what: str, slack: float = 1e-9) -> None:
    """Assert that two arrays are equal up to a slack, or to the rounding of their dtype where that is more."""
    slack = max(slack, 1e-4 if np.asarray(found).dtype == np.float32 else 0.0)
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, f"{what}: shapes {found.shape} and {expected.shape}"
    assert np.allclose(found, expected, rtol=slack, atol=slack, equal_nan=True), (
        f"{what}: values differ by up to {np.nanmax(np.abs(found - expected)):g}"
    )
