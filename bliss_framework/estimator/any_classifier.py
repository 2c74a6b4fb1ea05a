"""Any scikit-learn classifier on integer labels: fitted where it can be, and its scores in the order of the labels.

Classifiers differ in what they do with labels: some need several instances of each, some give `classes_` back in
another order or type, some have a `decision_function`, some probabilities, some predictions alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bliss_framework.errors import DataError
from bliss_framework.kernel.words import listed_words, positions_of


def takes_weights(estimator: Any) -> bool:
    """Say whether `fit` of a classifier takes `sample_weight`."""
    return bool(has_fit_parameter(estimator, "sample_weight"))


def fit_labels(
    template: Any, X: Any, labels: NDArray[np.intp], weights: NDArray[np.float64] | None = None
) -> tuple[Any, NDArray[np.intp]]:
    """Fit a clone of a classifier; labels that too few instances have for it are left out, as if none had them.

    Calibrated classifiers, quadratic discriminants and those that stop early need several instances of each label.

    Args:
        template: unfitted; never changed.
        X: (n, d) rows.
        labels: (n,) integers.
        weights: (n,) of the instances, passed on where `fit` takes them; or None.

    Returns:
        The fitted classifier, None where one label is left, and the labels that are left, in ascending order.

    Raises:
        ValueError: the classifier's own, where it cannot learn from these rows whatever their labels.
    """
    present, counts = np.unique(labels, return_counts=True)
    if len(present) == 1:
        return None, present
    extra = {"sample_weight": weights} if weights is not None and takes_weights(template) else {}
    try:
        return clone(template).fit(X, labels, **extra), present
    except ValueError:
        kept = present[counts > counts.min()]
        if len(kept) == 0 or not _learns_halves(template, X):
            raise
    rows = np.flatnonzero(np.isin(labels, kept))
    return fit_labels(template, X[rows], labels[rows], None if weights is None else weights[rows])


def _learns_halves(template: Any, X: Any) -> bool:
    """Say whether a classifier can learn two labels that have half of the rows each: it is rare labels that fail."""
    try:
        clone(template).fit(X, np.arange(X.shape[0]) % 2)
    except ValueError:
        return False
    return True


def class_scores(fitted: Any, X: Any) -> NDArray[np.float64]:
    """Return scores of any fitted scikit-learn classifier, in the order of its own `classes_`.

    Its `decision_function` is taken where it has one with a column for each class, else `predict_proba`, else the
    prediction itself.

    Args:
        fitted: has `classes_` and `predict`.
        X: (n, d) rows.

    Returns:
        (n,) for two classes, positive for the second, else (n, C).

    Raises:
        DataError: it has no `classes_`, or predicts what is none of them.
    """
    classes = _classes_of(fitted)
    n_classes = len(classes)
    if hasattr(fitted, "decision_function"):
        values = np.asarray(fitted.decision_function(X), dtype=np.float64)
        if values.ndim == 1 or values.shape[1] == n_classes:
            return values
    if hasattr(fitted, "predict_proba"):
        values = np.asarray(fitted.predict_proba(X), dtype=np.float64)
    else:
        # One-vs-one columns, or no scores at all: the prediction itself is all that can be compared.
        values = _as_indicators(np.asarray(fitted.predict(X)).tolist(), classes, fitted)
    return values[:, 1] - values[:, 0] if n_classes == 2 else values


def label_scores(fitted: Any, X: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return scores of a classifier in the order of the labels that it was trained on.

    Args:
        fitted: by `fit_labels`; its `classes_` may stand in any order, and be floats or text of the labels.
        X: (n, d) rows.
        labels: (L,) two or more, ascending.

    Returns:
        (n,) for two labels, positive for the second, else (n, L).

    Raises:
        DataError: its `classes_` are not these labels, or a score is not a number.
    """
    scores = class_scores(fitted, X)
    if np.isnan(scores).any():
        raise DataError(f"{type(fitted).__name__} returned NaN or infinite scores.")
    classes = _classes_of(fitted)
    if classes == labels.tolist():
        return scores
    places = positions_of(labels.tolist(), classes)
    if places is None:
        raise DataError(
            f"{type(fitted).__name__} was trained on the labels {listed_words(labels.tolist())}, but its classes_ are "
            f"{listed_words(classes)}; a classifier gives back the labels that it is given."
        )
    if scores.ndim == 1:
        return scores if places[labels.tolist()[1]] == 1 else -scores
    columns = scores[:, [places[label] for label in labels.tolist()]]
    return columns[:, 1] - columns[:, 0] if len(labels) == 2 else columns


def _classes_of(fitted: Any) -> list[Any]:
    try:
        return np.asarray(fitted.classes_).tolist()  # type: ignore[no-any-return]
    except AttributeError:
        raise DataError(
            f"{type(fitted).__name__} has no classes_ once it is fitted; a classifier says there which labels it knows."
        ) from None


def _as_indicators(predicted: list[Any], classes: list[Any], fitted: Any) -> NDArray[np.float64]:
    found = positions_of(dict.fromkeys(predicted), classes)
    if found is None:
        raise DataError(
            f"{type(fitted).__name__} predicts {listed_words(dict.fromkeys(predicted))}, but its classes_ are "
            f"{listed_words(classes)}."
        )
    return np.eye(len(classes))[[found[one] for one in predicted]]
