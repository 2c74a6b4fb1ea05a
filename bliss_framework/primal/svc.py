"""The support vector machine of scikit-learn, with the limit of libsvm."""

from typing import Any

from sklearn.svm import SVC

MOST_STEPS = 10_000_000  # Of libsvm itself for up to 100,000 rows. Most machines need less than a million.


def bounded_svc(**parameters: Any) -> SVC:
    """Return an `SVC` that ends.

    libsvm (Chang and Lin, 2011) stops after so many steps. scikit-learn took that limit out, and now and then a fit
    on rows that no plane tells apart goes on for hours. A machine that is stopped warns with a `ConvergenceWarning`.

    Args:
        parameters: of `SVC`.

    >>> bounded_svc(C=2.0, kernel="precomputed").max_iter
    10000000
    """
    return SVC(**{"max_iter": MOST_STEPS, **parameters})
