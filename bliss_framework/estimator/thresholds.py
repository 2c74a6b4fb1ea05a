"""Where the scores of instances are cut in two classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels


def instance_cut(
    parameters: Mapping[str, Any],
    scores: NDArray[np.float64],
    bags: Bags,
    weak: WeakLabels,
    classes: NDArray[np.intp] | None,
    regime: Regime,
) -> float:
    """Return the instance threshold that the settings ask for; 0 for several classes, whose scores are compared.

    Args:
        parameters: of `BlissClassifier`.
        scores: (n,) out-of-fold scores of two classes, or (n, C).
        bags: of the n instances.
        weak: their weak labels.
        classes: (n,) inferred classes, or None while settings are chosen.
        regime: chooses the threshold where the settings ask for it.
    """
    if scores.ndim > 1:
        return 0.0
    fixed = fixed_cut(parameters)
    return float(regime.reading.instance_threshold(scores, bags, weak, classes)) if fixed is None else fixed


def fixed_cut(parameters: Mapping[str, Any]) -> float | None:
    """Return the instance threshold that needs no out-of-fold scores, or None.

    Only scores that learnt what instances inherit are shifted as a whole, so "auto" cuts all others at 0, like the
    paper.

    >>> fixed_cut({"instance_threshold": "auto", "inherited_share": 0.0})
    0.0
    >>> fixed_cut({"instance_threshold": "auto", "inherited_share": 0.5}) is None
    True
    """
    wanted = parameters["instance_threshold"]
    if not isinstance(wanted, str):
        return float(wanted)
    return 0.0 if wanted == "auto" and parameters["inherited_share"] == 0 else None
