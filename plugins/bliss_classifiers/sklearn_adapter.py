"""Any scikit-learn classifier in label inference: cloned and fitted for every pull."""

import warnings
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

from bliss_classifiers.one_label import constant_scores, from_pairs, one_label
from bliss_framework.plugin import (
    BlissWarning,
    Classifier,
    DataError,
    Part,
    Predictions,
    PreparedClassifier,
    SettingsError,
    at_least,
    fit_labels,
    imported_class,
    label_scores,
    positive,
    takes_weights,
)

METHODS = ("fit", "predict", "get_params", "set_params")


@frozen(eq=False, init=False)
class SklearnClassifier(Classifier):
    """A scikit-learn classifier, by import path or as an object.

    One-class assignments never reach the classifier; a missing `decision_function` is replaced by `predict_proba`, and
    instance weights are passed on only where `fit` takes them. The object itself is never fitted or changed.

    Args:
        estimator: an unfitted classifier, or an import path such as "sklearn.ensemble.RandomForestClassifier".
        **parameters: its parameters.
    """

    estimator_: Any = field()

    def __init__(self, estimator: Any, **parameters: Any) -> None:
        self.__attrs_init__(_with(_template(estimator, parameters), parameters))  # type: ignore[attr-defined]

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Fix the random state, and keep the classifier to one worker: label inference has its own."""
        template = _single_worker(clone(self.estimator_))
        _seed(template, int(rng.integers(2**31)))
        return PreparedSklearn(template, train, heldout)

    def estimator(self, random_state: int) -> Any:
        """Return a fresh clone for the fit after inference."""
        fresh = clone(self.estimator_)
        _seed(fresh, random_state)
        return fresh


@frozen
class Logistic(Classifier):
    """Logistic regression.

    Args:
        C: inverse strength of regularisation, above 0.
        max_iter: of the solver.
    """

    C: float = field(default=1.0, validator=positive)
    max_iter: int = field(default=200, validator=at_least(1))

    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Nothing can be made in advance."""
        return PreparedSklearn(self.estimator(0), train, heldout)

    def estimator(self, random_state: int) -> Any:
        """Return scikit-learn's LogisticRegression."""
        return LogisticRegression(C=self.C, max_iter=self.max_iter)


class PreparedSklearn(PreparedClassifier):
    """A scikit-learn classifier and the rows of one fold."""

    def __init__(self, template: Any, train: Part, heldout: Part) -> None:
        self._template, self._train, self._heldout = template, train, heldout
        self._n_labels = train.space.n_labels
        self._weights_used = takes_weights(template)

    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Clone and fit the classifier for each of P assignments."""
        given = [self._train.weights] * len(assignments) if weights is None else list(weights)
        self._say_that_weights_are_not_used(given[0])
        return from_pairs([self._one(pi, w) for pi, w in zip(assignments, given, strict=True)])

    def _one(
        self, assignment: NDArray[np.intp], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        parts = self._train, self._heldout
        label = one_label(assignment)
        if label is not None:
            train, heldout = (constant_scores(label, part.n_rows, self._n_labels) for part in parts)
            return train, heldout
        with warnings.catch_warnings():
            # The labels of a pull are a trial: a solver that stops early on them is no news to anybody.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The least populated class in y has only")
            fitted, present = fit_labels(self._template, self._train.X, assignment, weights)
        if fitted is None:
            # All other labels are too rare for the classifier.
            train, heldout = (constant_scores(int(present[0]), part.n_rows, self._n_labels) for part in parts)
            return train, heldout
        train, heldout = (self._scores(fitted, part.X, present) for part in parts)
        return train, heldout

    def _scores(self, fitted: Any, X: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        present = label_scores(fitted, X, labels)
        if not np.isfinite(present).all():
            raise DataError(f"{type(fitted).__name__} returned NaN or infinite scores.")
        if self._n_labels == 2:
            return present
        present = np.stack([-present, present], axis=1) if present.ndim == 1 else present
        scores = np.full((len(present), self._n_labels), present.min() - 1.0)
        scores[:, labels] = present
        return scores

    def _say_that_weights_are_not_used(self, weights: NDArray[np.float64] | None) -> None:
        if weights is None or self._weights_used:
            return
        self._weights_used = True  # It is said once.
        warnings.warn(
            f"The classifier {type(self._template).__name__} takes no sample_weight, so all instances count alike in "
            f"label inference: neither class_balance nor weights of the regime have an effect. Take another one.",
            BlissWarning,
            stacklevel=2,
        )


def _template(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """Return an unfitted classifier of its own, from an import path or an object."""
    imported = imported_class(estimator) if isinstance(estimator, str) else estimator
    named = estimator if isinstance(estimator, str) else repr(estimator)
    if isinstance(imported, type) and not isinstance(estimator, str):
        raise SettingsError(f"estimator is the class {imported.__name__}; pass an object, {imported.__name__}().")
    # Of an object that trains others the class says it: what it has by itself depends on what it was given.
    of = imported if isinstance(imported, type) else type(imported)
    if not all(hasattr(of, method) or hasattr(imported, method) for method in METHODS):
        raise SettingsError(f"{named} is no scikit-learn classifier: it needs fit, predict, get_params and set_params.")
    template = _made(imported, parameters) if isinstance(imported, type) else clone(imported)
    if _purpose(template) not in ("classifier", None):
        raise SettingsError(f"{named} is a {_purpose(template)}, and labels are classes; take a classifier.")
    return template


def _made(cls: type, parameters: Mapping[str, Any]) -> Any:
    """Make an object with the parameters that it cannot do without."""
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    needed = [n for n, one in signature(cls).parameters.items() if one.default is one.empty and one.kind in named]
    missing = [name for name in needed if name not in parameters]
    if missing:
        raise SettingsError(f"{cls.__name__} needs the parameter {missing[0]!r}; add it to the table.")
    return cls(**{name: parameters[name] for name in needed})


def _purpose(template: Any) -> str | None:
    try:
        return get_tags(template).estimator_type
    except AttributeError:
        return None  # A class that only looks like scikit-learn's has no tags; it is taken at its word.


def _with(template: Any, parameters: Mapping[str, Any]) -> Any:
    try:
        return template.set_params(**parameters)
    except ValueError as error:
        raise SettingsError(f"{type(template).__name__} was given a parameter that it does not have. {error}") from None


def _single_worker(template: Any) -> Any:
    # None means one already, and some classifiers warn of any other value.
    given = {name for name, value in template.get_params().items() if value is not None}
    return template.set_params(**{name: 1 for name in given if name == "n_jobs" or name.endswith("__n_jobs")})


def _seed(template: Any, seed: int) -> None:
    for name, value in template.get_params().items():
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            template.set_params(**{name: seed})
