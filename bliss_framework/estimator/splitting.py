"""A splitter for scikit-learn's searches that keeps bags whole and stratifies by weak label."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from bliss_framework.errors import DataError, SettingsError
from bliss_framework.estimator.inputs import bags_of, weak_per_bag
from bliss_framework.kernel.folds import deal_folds, strata_of


class BagKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds of whole bags, for `cv=` of `GridSearchCV` and its kin; pass the bag ids as `groups`.

    With metadata routing, `BagKFold().set_split_request(groups="bags")` takes them from `bags` instead.

    Args:
        n_splits: K, at least 2.
        random_state: seed of the shuffle.

    >>> bags = np.array(["a", "a", "b", "c", "c", "d"])
    >>> y = np.array([1, 1, 0, 1, 1, 0])
    >>> for train, test in BagKFold(2, random_state=0).split(np.zeros((6, 1)), y, bags):
    ...     assert not set(bags[train]) & set(bags[test])
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012 - the form that scikit-learn looks for

    def __init__(self, n_splits: int = 5, random_state: int | None = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return K."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield (training rows, test rows).

        Args:
            X: (n, d) rows; only their number counts.
            y: weak labels, by which bags are stratified, or None.
            groups: (n,) bag ids; None makes every row a bag.

        Raises:
            DataError: if there are fewer bags than folds.
            SettingsError: if there are fewer than two folds.
        """
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < 2:
            raise SettingsError(f"n_splits must be an integer, at least 2; got {self.n_splits!r}.")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        bags = bags_of(np.arange(n_rows) if groups is None else groups)
        if bags.n_rows != n_rows:
            raise DataError(f"X has {n_rows} rows, but groups has {bags.n_rows} ids; pass one bag id for each row.")
        if bags.n_bags < self.n_splits:
            raise DataError(f"BagKFold has {self.n_splits} folds, but there are {bags.n_bags} bags; use fewer folds.")
        named = groups is not None
        strata = np.zeros(bags.n_bags, dtype=np.intp) if y is None else strata_of(weak_per_bag(y, bags, named))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        folds = deal_folds(strata, self.n_splits, rng)
        for fold in range(self.n_splits):
            yield bags.rows_of(np.flatnonzero(folds != fold)), bags.rows_of(np.flatnonzero(folds == fold))
