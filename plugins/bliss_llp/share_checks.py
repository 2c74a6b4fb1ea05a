"""What shares of bags must be like for anything to be learnt from them."""

import warnings

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, BlissWarning, DataError
from bliss_llp.counts import nearest_counts

FEW_BAGS = 6
ROUNDING = 1e-6
HALF_SQUARED = 0.25


def check_training_shares(shares: NDArray[np.float64], bags: Bags) -> None:
    """Refuse shares (B, C) of one class only, and warn of those that teach little.

    Raises:
        DataError: if one class is left when shares are rounded to what the sizes of bags can reach.

    Warns:
        BlissWarning: if shares are all alike, or there are fewer than six bags.
    """
    refuse_one_class(shares)
    refuse_one_class(nearest_counts(shares, bags.sizes), " when shares are rounded to counts")
    warn_if_alike(shares, bags)
    if bags.n_bags < FEW_BAGS:
        warnings.warn(
            f"There are {bags.n_bags} bags, and shares of fewer than {FEW_BAGS} often do not tell which class is "
            f"which; check predictions on known instances, or make smaller bags.",
            BlissWarning,
            stacklevel=4,
        )


def refuse_one_class(amounts: NDArray[np.floating] | NDArray[np.intp], when: str = "") -> None:
    """Refuse shares or counts (B, C) of one class only; `when` ends the first clause of the message.

    Raises:
        DataError: if there are no two classes that any bag holds.
    """
    present = np.flatnonzero(amounts.sum(axis=0))
    if len(present) < 2:
        raise DataError(
            f"Every bag holds class {int(present[0])} only{when}, so there is nothing to tell apart; pass bags that "
            f"hold two classes or more."
        )


def _are_alike(shares: NDArray[np.float64], overall: NDArray[np.float64], bags: Bags) -> bool:
    sizes = bags.sizes[:, None]
    counts = shares * sizes
    if np.abs(counts - np.round(counts)).max() >= ROUNDING:
        return bool(np.abs(shares - overall).max() < ROUNDING)
    # Whole counts cannot meet the same shares in every bag: rounding alone moves them by half an instance. Counts of
    # random bags vary by size * share * (1 - share), which is less where bags are tiny.
    moved = np.square(counts - sizes * overall).mean(axis=0)
    at_random = (sizes * overall * (1 - overall)).mean(axis=0)
    return bool((moved <= np.minimum(HALF_SQUARED, at_random / 2) + ROUNDING).all())


def warn_if_alike(shares: NDArray[np.float64], bags: Bags) -> None:
    """Warn where every bag has the shares of all, (B, C), as nearly as its size allows: nothing tells classes apart.

    Warns:
        BlissWarning: naming the shares.
    """
    overall = bags.sizes @ shares / bags.n_rows
    if _are_alike(shares, overall, bags):
        listed = ", ".join(f"{share:.3g}" for share in overall)
        warnings.warn(
            f"All bags have the same shares of the classes ({listed}), so nothing tells one class from another and "
            f"predictions mean little; make bags in which the shares differ.",
            BlissWarning,
            stacklevel=4,
        )
