"""The warning that the bandit learnt nothing."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import BlissWarning
from bliss_framework.kernel.crossfit import CrossFit


def warn_of_collapse(found: CrossFit, classes: NDArray[Any]) -> None:
    """Say once and plainly when the bandit learnt nothing."""
    complaints = [fold.never_informed for fold in found.folds]
    never = complaints[0] if complaints and all(complaints) else None
    if found.collapsed:
        free = ~found.inferred.known
        ended = sorted({str(classes[c]) for c in np.unique(found.inferred.classes[free])})
        warnings.warn(
            f"Label inference collapsed: all free instances of every fold got one label ({' or '.join(ended)}). Try "
            f'train_on="rest", class_balance=0.5, other n_folds, or more bags.{f" Also, {never}" if never else ""}',
            BlissWarning,
            stacklevel=4,
        )
    elif never:
        warnings.warn(f"Label inference was never informed: {never}", BlissWarning, stacklevel=4)
