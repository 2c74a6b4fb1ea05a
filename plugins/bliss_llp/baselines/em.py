"""Expectation-maximisation with any classifier that gives probabilities, which meet the shares of bags."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from bliss_framework.plugin import Bags, SettingsError, class_scores, validators
from bliss_llp.baselines.features import Features
from bliss_llp.baselines.kernel_estimator import FeatureEstimator
from bliss_llp.baselines.softmax import fit_soft_labels, log_probabilities, zeros

# Some classifiers refuse rows of weight 0, or forget a class that has none.
SMALLEST_WEIGHT = 1e-9

# From soft labels (n, C) to the logarithms (n, C) of class probabilities after training on them.
Maximise = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class LlpEm(FeatureEstimator):
    """A classifier on soft labels, and soft labels from the classifier, in turn.

    Soft labels start as the shares of the bag. Then they are the classifier's probabilities, with odds shifted in each
    bag so that their mean is its shares. The classifier learns from a copy of the rows for each class, with soft labels
    as weights. Source: expectation-maximisation for classes known in groups, as in Kueck and de Freitas, Learning about
    individuals from group statistics, UAI 2005, here with a discriminative classifier.

    Args:
        classifier: an unfitted scikit-learn classifier with `predict_proba` and sample weights; it sees scaled rows.
            One that memorises rows gives back the shares that it was given, so limit it (`min_samples_leaf` of a
            forest). None is softmax regression on the features below.
        kernel: "rbf" (features are leading eigenvectors of the Gram matrix) or "linear".
        width: of the RBF kernel: its gamma is the width divided by half the mean squared distance between rows.
        n_features: of the RBF kernel.
        ridge: regularisation of softmax regression, beside a mean loss.
        max_iter: turns.
        tol: soft labels that all change by less end the turns.
        scaling: see `Scaling`.
        classes: names of the classes; 0, 1, ... by default.
        random_state: seed of the classifier, and of the rows that features compare with where there are more than
            1,000.

    Attributes:
        n_iter_: turns.
        classifier_: the classifier as fitted last, or None.
    """

    allowed: ClassVar = {
        **FeatureEstimator.allowed,
        "max_iter": validators.at_least(1),
        "tol": validators.positive,
    }

    def __init__(
        self,
        classifier: Any = None,
        kernel: str = "rbf",
        width: float = 0.5,
        n_features: int = 60,
        ridge: float = 0.03,
        max_iter: int = 30,
        tol: float = 1e-3,
        scaling: str = "auto",
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.kernel = kernel
        self.width = width
        self.n_features = n_features
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.classes = classes
        self.random_state = random_state

    def learn(self, rows: Any, bags: Bags, shares: NDArray[np.float64]) -> None:
        """Alternate until soft labels settle."""
        self.classifier_ = None
        if self.classifier is None:
            own = SoftmaxStudent(self.features(rows), shares.shape[1], self.ridge)
            self._alternate(own, bags, shares)
            self.remember_features(own.features, own.found)
        else:
            other = WeightedStudent(self._seeded(), rows)
            self._alternate(other, bags, shares)
            self.classifier_ = other.classifier

    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,) for two classes, positive for class 1, else (n, C)."""
        return super().score_rows(rows) if self.classifier_ is None else class_scores(self.classifier_, rows)

    def _alternate(self, maximise: Maximise, bags: Bags, shares: NDArray[np.float64]) -> None:
        labels = bags.spread(shares)
        for turn in range(self.max_iter):
            before, labels = labels, meet_shares(maximise(labels), shares, bags)
            self.n_iter_ = turn + 1
            if np.abs(labels - before).max() < self.tol:
                break

    def _seeded(self) -> Any:
        if not hasattr(self.classifier, "predict_proba") or not has_fit_parameter(self.classifier, "sample_weight"):
            raise SettingsError(
                f"classifier must be a scikit-learn classifier with predict_proba and sample weights in fit; got "
                f"{self.classifier!r}. Use for instance sklearn.linear_model.LogisticRegression()."
            )
        fresh = clone(self.classifier)
        if fresh.get_params().get("random_state", 0) is None:
            fresh.set_params(random_state=check_random_state(self.random_state).randint(2**31 - 1))
        return fresh


class SoftmaxStudent:
    """Softmax regression on features, each time from where it stood."""

    def __init__(self, features: Features, n_classes: int, ridge: float) -> None:
        self.features = features
        self.ridge = ridge
        self.found = zeros(features.values, n_classes)

    def __call__(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Train on soft labels (n, C) and return the logarithms of probabilities."""
        self.found = fit_soft_labels(self.features.values, labels, self.ridge, self.found)
        return log_probabilities(self.found.outputs(self.features.values))


class WeightedStudent:
    """A scikit-learn classifier on a copy of the rows for each class, weighted by soft labels."""

    def __init__(self, classifier: Any, rows: Any) -> None:
        self.classifier = classifier
        self.rows = rows

    def __call__(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Train on soft labels (n, C) and return the logarithms of probabilities."""
        n, n_classes = labels.shape
        copies = self.rows[np.tile(np.arange(n), n_classes)]
        weights = np.maximum(labels, SMALLEST_WEIGHT).ravel(order="F")
        self.classifier.fit(copies, np.repeat(np.arange(n_classes), n), sample_weight=weights)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.classifier.predict_proba(self.rows)))


# No instance is so certain that its bag could not overrule it.
SMALLEST_LOG = -20.0
TOLERANCE = 1e-4
MOST_STEPS = 200


def meet_shares(logs: NDArray[np.float64], shares: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
    """Multiply the odds of the classes by one factor for each bag and class, so that bags have their shares.

    Found by iterative proportional fitting, to within `TOLERANCE`.

    Args:
        logs: (n, C) logarithms of class probabilities.
        shares: (B, C) shares of the classes.
        bags: B bags of n rows.

    Returns:
        (n, C) probabilities; a class without a share in the bag has none.
    """
    logs = np.maximum(logs, SMALLEST_LOG)
    with np.errstate(divide="ignore"):
        factors = target = np.log(shares)
    for _ in range(MOST_STEPS):
        posteriors = softmax(logs + bags.spread(factors), axis=1)
        means = bags.mean(posteriors)
        if np.abs(means - shares).max() < TOLERANCE:
            break
        # A class without a share stays without one: -inf less a finite number.
        factors = factors + np.where(shares > 0, target - np.log(np.where(shares > 0, means, 1.0)), 0.0)
    return np.asarray(posteriors)
