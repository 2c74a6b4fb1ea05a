"""Parts of the training data that somebody will train on alone: a regime checks them before any work starts."""

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.words import listed_words

MOST_CLASSES = 5  # Of which a message says how many bags there are.


def check_training_parts(data: CheckedData, regime: Regime, heldout: Iterable[NDArray[np.intp]], plan: str) -> None:
    """Refuse folds that leave bags to train on which say too little.

    Args:
        data: all bags, read by the regime.
        regime: what weak labels mean.
        heldout: for each fold the positions of the bags that are not trained on.
        plan: what asks for these folds, such as "cv = 5".

    Raises:
        DataError: with the fold, what is wrong with the other bags, and how many bags of each class there are.
    """
    everything = np.arange(data.bags.n_bags)
    for fold, bags in enumerate(heldout, start=1):
        kept = np.setdiff1d(everything, bags)
        part, positions = data.bags.take(data.bags.rows_of(kept))
        with warnings.catch_warnings():
            # What a regime warns of it has said of all bags.
            warnings.simplefilter("ignore")
            try:
                regime.check(data.weak[positions], part)
            except DataError as error:
                raise DataError(
                    f"With {plan}, fold {fold} leaves {len(kept)} of {len(everything)} bags to train on, which say "
                    f"too little. {error}{_counts(data.labels, regime)} Add bags of the rare kind, or ask for no folds."
                ) from None


def _counts(weak: WeakLabels, regime: Regime) -> str:
    """Say how many bags of each class there are, where bags have classes."""
    if weak.values.ndim != 1 or weak.values.dtype.kind not in "biu" or len(weak.bag_words) > MOST_CLASSES:
        return ""
    counts = np.bincount(weak.values, minlength=len(weak.bag_words)).tolist()
    if regime.binary and len(counts) == 2:
        names = ["negative", "positive"]
    else:
        names = [listed_words([word]) for word in weak.bag_words]
    told = ", ".join(
        f"{n} {name} {'bag' if n == 1 else 'bags'}" for name, n in reversed(list(zip(names, counts, strict=True)))
    )
    return f" All data have {told}."
