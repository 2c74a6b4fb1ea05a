"""Real sets of scikit-learn whose classes are hidden behind weak labels of each kind."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import field, frozen
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bliss_framework.plugin import Component, WeakDataset, at_least, check_value
from bliss_weak_labels.datasets.makers import MAKERS

Rows = tuple[Any, Any]


def _digits() -> Rows:
    stored = load_digits()
    return stored.data, stored.target.astype(np.intp)


def _wine() -> Rows:
    stored = load_wine()
    return stored.data, stored.target.astype(np.intp)


def _breast_cancer() -> Rows:
    stored = load_breast_cancer()
    return stored.data, (stored.target == 0).astype(np.intp)


def _odd_digits() -> Rows:
    stored = load_digits()
    return stored.data, (stored.target % 2).astype(np.intp)


# By whether there are two classes.
SETS: Mapping[bool, Mapping[str, Callable[[], Rows]]] = MappingProxyType(
    {False: {"digits": _digits, "wine": _wine}, True: {"breast-cancer": _breast_cancer, "odd-digits": _odd_digits}}
)
SOURCES = MappingProxyType(
    {
        "digits": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits (test part), UCI, 1998",
        "odd-digits": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits (test part), UCI, 1998",
        "wine": "Aeberhard and Forina, Wine, UCI, 1992",
        "breast-cancer": "Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), UCI, 1995",
    }
)
SIZES = MappingProxyType(
    {
        "digits": "1,797 rows, 64 features, 10 classes",
        "odd-digits": "1,797 rows, 64 features, 2 classes",
        "wine": "178 rows, 13 features, 3 classes",
        "breast-cancer": "569 rows, 30 features, 2 classes",
    }
)
BINARY = frozenset(
    {
        "positive-unlabelled",
        "unlabelled-unlabelled",
        "confidences",
        "similar",
        "ordered",
        "triplets",
        "intervals",
    }
)


def weak_data_sets() -> list[Component]:
    """Return a data set for each kind of weak label and each real set that fits it."""
    return [_component(kind, name) for kind in MAKERS for name in SETS[kind in BINARY]]


@frozen
class RealSet:
    """A real set whose classes are hidden behind weak labels of a kind; called with `weak_seed`, it makes them.

    Attributes:
        kind: one of `MAKERS`.
        name: one of `SETS`.
    """

    kind: str = field()
    name: str = field()

    def __call__(self, weak_seed: int = 0) -> WeakDataset:
        """Hide classes behind weak labels.

        Args:
            weak_seed: the same seed makes the same weak labels.
        """
        return make(self.kind, self.name, weak_seed)


def _component(kind: str, name: str) -> Component:
    summary = f"{name} with {MAKERS[kind].__name__.replace('_', ' ')}"
    details = {"source": SOURCES[name], "size": f"{SIZES[name]}; option weak_seed", "licence": "CC BY 4.0"}
    return Component(f"{name}-{kind}", RealSet(kind, name), summary, details)


def make(kind: str, name: str, weak_seed: int = 0) -> WeakDataset:
    """Hide the classes of a real set behind weak labels of a kind; the truth stays in `instance_labels`.

    Args:
        kind: one of `MAKERS`.
        name: one of `SETS`.
        weak_seed: the same seed makes the same weak labels.

    >>> data = make("noisy", "wine")
    >>> data.X.shape, data.regime, float((data.weak == data.instance_labels).mean().round(1))
    ((178, 13), 'noisy-labels', 0.6)
    """
    check_value("weak_seed", weak_seed, at_least(0))
    X, y = SETS[kind in BINARY][name]()
    more = {"chances": confidence_of(X, y), "unlabelled": True} if kind == "confidences" else {}
    weakened = MAKERS[kind](y, np.random.default_rng(weak_seed), **more)
    regime = dict(weakened.regime)
    return WeakDataset(
        name=f"{name}-{kind}",
        X=X[weakened.rows],
        bags=weakened.bags,
        weak=weakened.weak,
        regime=regime.pop("name"),
        regime_parameters=regime,
        instance_labels=y[weakened.rows],
    )


def confidence_of(X: Any, y: Any) -> Any:
    """Return the chance (n,) that a row is positive, by a model that has not seen it."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    return cross_val_predict(model, X, y, method="predict_proba", cv=5)[:, 1]
