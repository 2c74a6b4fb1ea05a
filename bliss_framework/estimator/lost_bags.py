"""Bag ids that got lost on the way: scikit-learn hands on what it is asked to, and no more."""

import warnings
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bliss_framework.errors import BlissWarning, DataError
from bliss_framework.estimator.inputs import has_bags

ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def warn_of_no_bags(n_rows: int) -> None:
    """Warn where a fit got no bags: cross-validation without routing hands `groups` to the splitter alone."""
    warnings.warn(
        f"There are no bag ids, so each of the {n_rows} rows is a bag of its own, as in ordinary classification. If "
        f"rows belong to bags, pass bags=ids; in scikit-learn's cross-validation and searches, turn on {ROUTING} and "
        f'pass params={{"bags": ids}}. If they do not, bags=np.arange(len(X)) says so.',
        BlissWarning,
        stacklevel=4,
    )


def refuse_lost_bags(model: Any, X: Any, bags: Any) -> None:
    """Refuse rows without bags where the model was fitted on bags: each row would be taken for one, in silence.

    Args:
        model: a fitted one, whose `has_bags_` says whether it was fitted on bags of several rows.
        X, bags: as a method of the model got them.

    Raises:
        NotFittedError: the model is not fitted.
        DataError: saying what to pass.
    """
    check_is_fitted(model)
    if bags is None and model.has_bags_ and not has_bags(X):
        raise DataError(
            f"The model was fitted on bags of several rows, and there are no bag ids here: pass bags=ids, or "
            f"bags=np.arange(len(X)) if every row is a bag of its own. In scikit-learn's cross-validation and "
            f'searches, {ROUTING} and params={{"bags": ids}} hand them over.'
        )
