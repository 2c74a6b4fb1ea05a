"""Arrays that whoever is given them can read but not change."""

from typing import Any

import numpy as np


def read_only(values: Any) -> Any:
    """Return a view of an array that cannot be written to; everything else as it is.

    Components share the arrays of a fold. One that wrote into them would change what all others see, and what was
    counted; numpy refuses that with "assignment destination is read-only". Sparse matrices stay as they are, because
    SciPy and scikit-learn sort their indices in place.

    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> read_only(array)[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    >>> array[0] = 1.0
    """
    if isinstance(values, np.ndarray):
        return _locked(values)
    return values


def _locked(array: Any) -> Any:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
