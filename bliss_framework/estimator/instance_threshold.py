"""Where the scores of instances are cut in two classes."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.estimator.configure import FitConfig
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.labels import WeakLabels


def instance_threshold(
    config: FitConfig,
    scores: NDArray[np.float64],
    bags: Bags,
    weak: WeakLabels,
    classes: NDArray[np.intp] | None,
) -> float:
    """Return the instance threshold that is configured; 0 for several classes, whose scores are compared.

    Args:
        config: says whether the threshold is a number, or the regime chooses it.
        scores: (n,) out-of-fold scores of two classes, or (n, C).
        bags: of the n instances.
        weak: their weak labels.
        classes: (n,) inferred classes, or None while settings are chosen.
    """
    if scores.ndim > 1:
        return 0.0
    fixed = fixed_threshold(config["instance_threshold"], config.learnt_share)
    return float(config.regime.reading.instance_threshold(scores, bags, weak, classes)) if fixed is None else fixed


def fixed_threshold(wanted: float | str, inherited_share: float) -> float | None:
    """Return the instance threshold that needs no out-of-fold scores, or None.

    Only scores that learnt what instances inherit are shifted as a whole, so "auto" cuts all others at 0, like the
    paper.

    >>> fixed_threshold("auto", inherited_share=0.0)
    0.0
    >>> fixed_threshold("auto", inherited_share=0.5) is None
    True
    """
    if not isinstance(wanted, str):
        return float(wanted)
    return 0.0 if wanted == "auto" and inherited_share == 0 else None
