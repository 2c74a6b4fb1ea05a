"""What this plugin offers."""

from bliss_classifiers.ridge import KernelRidge, Ridge
from bliss_classifiers.sklearn_adapter import Logistic, SklearnClassifier
from bliss_classifiers.svm import LinearSvm, RbfSvm
from bliss_framework.plugin import Component, hookimpl


@hookimpl
def bliss_classifiers() -> list[Component]:
    """Offer the built-in classifiers."""
    return [
        Component("kernel-ridge", KernelRidge, "RBF least squares: one factorisation a fold, a matrix product a pull"),
        Component("ridge", Ridge, "Linear least squares: one factorisation a fold, a matrix product a pull"),
        Component("svm-rbf", RbfSvm, "RBF support vector machine (the paper's); Gram matrix made once a fold"),
        Component("svm-linear", LinearSvm, "Linear support vector machine; Gram matrix made once a fold"),
        Component("logistic", Logistic, "Logistic regression, trained anew in every pull"),
        Component("sklearn", SklearnClassifier, "Any scikit-learn classifier, by import path or as an object"),
    ]
