"""What this plugin registers."""

from bliss_classifiers.ridge import KernelRidge, Ridge
from bliss_classifiers.sklearn_adapter import Logistic, SklearnClassifier
from bliss_classifiers.svm import LinearSvm, RbfSvm
from bliss_framework.plugin import Case, Component, When, hookimpl

FACTORISED = "one factorisation a fold, a matrix product a pull"
ONE_GRAM = "Gram matrix made once a fold"

# What a saved model holds where one of these is its final classifier.
LEAST_SQUARES = ("bliss_classifiers.estimators.KernelLeastSquares", "bliss_classifiers.least_squares.LeastSquares")
SVCS = (
    "bliss_classifiers.estimators.GramSvc",
    "bliss_classifiers.primal_svc.PrimalSvc",
    "sklearn.svm._classes.LinearSVC",
)

# Matrices of rows by rows would be larger than what a laptop has to spare, and take longer than the rest.
MANY_ROWS = 5000
# The more rows there are, the fewer landmarks their features leave room for, and the less is lost by that.
LANDMARKS = tuple(
    Case(When(rows_above=rows), defaults={"n_landmarks": n})
    for rows, n in ((MANY_ROWS, 1000), (50_000, 500), (300_000, 250))
)
LIBLINEAR = (Case(When(rows_above=MANY_ROWS), defaults={"solver": "liblinear"}),)


@hookimpl
def bliss_classifiers() -> list[Component]:
    """Register the built-in classifiers."""
    return [
        Component("kernel-ridge", KernelRidge, f"RBF least squares: {FACTORISED}", {}, LEAST_SQUARES, LANDMARKS),
        Component("ridge", Ridge, f"Linear least squares: {FACTORISED}", {}, LEAST_SQUARES),
        Component("svm-rbf", RbfSvm, f"RBF support vector machine (the paper's); {ONE_GRAM}", {}, SVCS, LANDMARKS),
        Component("svm-linear", LinearSvm, f"Linear support vector machine; {ONE_GRAM}", {}, SVCS, LIBLINEAR),
        Component("logistic", Logistic, "Logistic regression, trained anew in every pull"),
        Component("sklearn", SklearnClassifier, "Any scikit-learn classifier, by import path or as an object"),
    ]
