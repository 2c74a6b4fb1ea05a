"""What this plugin registers."""

from bliss_classifiers.ridge import KernelRidge, Ridge
from bliss_classifiers.sklearn_adapter import Logistic, SklearnClassifier
from bliss_classifiers.svm import LinearSvm, RbfSvm
from bliss_framework.plugin import Component, hookimpl

FACTORISED = "one factorisation a fold, a matrix product a pull"
ONE_GRAM = "Gram matrix made once a fold"

# What a saved model holds where one of these is its final classifier.
LEAST_SQUARES = ("bliss_classifiers.estimators.KernelLeastSquares",)
GRAM_SVC = ("bliss_classifiers.estimators.GramSvc",)


@hookimpl
def bliss_classifiers() -> list[Component]:
    """Register the built-in classifiers."""
    return [
        Component("kernel-ridge", KernelRidge, f"RBF least squares: {FACTORISED}", saved_types=LEAST_SQUARES),
        Component("ridge", Ridge, f"Linear least squares: {FACTORISED}", saved_types=LEAST_SQUARES),
        Component("svm-rbf", RbfSvm, f"RBF support vector machine (the paper's); {ONE_GRAM}", saved_types=GRAM_SVC),
        Component("svm-linear", LinearSvm, f"Linear support vector machine; {ONE_GRAM}", saved_types=GRAM_SVC),
        Component("logistic", Logistic, "Logistic regression, trained anew in every pull"),
        Component("sklearn", SklearnClassifier, "Any scikit-learn classifier, by import path or as an object"),
    ]
