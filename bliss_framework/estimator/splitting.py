"""Splitting whole bags, in the form of a scikit-learn splitter."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from bliss_framework.errors import DataError, SettingsError
from bliss_framework.estimator.alignment import per_bag, row_index
from bliss_framework.estimator.inputs import bags_of
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.folds import deal_folds, strata_of


class BagKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds of whole bags, for `cv=` of `GridSearchCV` and its kin; pass the bag ids as `groups`.

    With metadata routing the ids of `bags`, which `fit` and `score` take, do as well. Where bags belong together, such
    as the slides of one patient, pass the patients as `groups` and the bag ids as `bags`.

    Args:
        n_splits: K, at least 2.
        random_state: seed of the shuffle.

    >>> bags = np.array(["a", "a", "b", "c", "c", "d"])
    >>> y = np.array([1, 1, 0, 1, 1, 0])
    >>> for train, test in BagKFold(2, random_state=0).split(np.zeros((6, 1)), y, bags):
    ...     assert not set(bags[train]) & set(bags[test])
    """

    # The form that scikit-learn looks for.
    __metadata_request__split = {"groups": True, "bags": True}  # noqa: RUF012

    def __init__(self, n_splits: int = 5, random_state: int | None = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, bags: Any = None) -> int:
        """Return K."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None, bags: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield (training rows, test rows).

        Args:
            X: (n, d) rows; only their number counts.
            y: weak labels, by which bags are stratified, or None.
            groups: (n,) what is never split: the bag id of each row, or that of something above bags.
            bags: (n,) bag ids, where `groups` is something else.

        Raises:
            DataError: if there are neither bags nor groups, a bag is in two groups, or there are too few for the folds.
            SettingsError: if there are fewer than two folds.
        """
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < 2:
            raise SettingsError(f"n_splits must be an integer, at least 2; got {self.n_splits!r}.")
        ids = groups if bags is None else bags
        if ids is None:
            raise DataError(
                "BagKFold needs the bag id of each row, and got none: pass them as groups, or with metadata routing as "
                "bags. Where every row is a bag of its own they are np.arange(len(X))."
            )
        own = self._bags(X, ids, "groups" if bags is None else "bags")
        index = row_index(X, ids)
        strata = np.zeros(own.n_bags, dtype=np.intp) if y is None else strata_of(per_bag(y, own, index))
        above = None if bags is None or groups is None else self._groups(X, groups, own)
        n_parts, parts = (own.n_bags, "bags") if above is None else (len(np.unique(above)), "groups")
        if n_parts < self.n_splits:
            raise DataError(f"BagKFold has {self.n_splits} folds, but there are {n_parts} {parts}; use fewer folds.")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        folds = deal_folds(strata, self.n_splits, rng, above)
        for fold in range(self.n_splits):
            yield own.rows_of(np.flatnonzero(folds != fold)), own.rows_of(np.flatnonzero(folds == fold))

    @staticmethod
    def _bags(X: Any, ids: Any, name: str) -> Bags:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        bags = bags_of(ids)
        if bags.n_rows != n_rows:
            raise DataError(f"X has {n_rows} rows, but {name} has {bags.n_rows} ids; pass one id for each row.")
        return bags

    def _groups(self, X: Any, groups: Any, bags: Bags) -> NDArray[np.intp] | None:
        """Return the group of each bag; None where the groups are the bags."""
        of_rows = self._bags(X, groups, "groups")
        first = np.unique(bags.index, return_index=True)[1]
        of_bags = of_rows.index[first]
        split = np.flatnonzero(of_bags[bags.index] != of_rows.index)
        if len(split):
            bag = bags.ids.tolist()[bags.index[split[0]]]
            raise DataError(f"Row {split[0]} of bag {bag!r} is in another group than the first row of the bag.")
        return None if of_rows.n_bags == bags.n_bags else of_bags
