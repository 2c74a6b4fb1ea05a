"""Settings of multi-class MIL: what a fit takes where the user says nothing, and what is chosen from."""

from collections.abc import Mapping, Sequence
from typing import Any

from bliss_framework import Bags

MANY = 10_000
N_FEATURES = 500


def own_defaults(n_negative: int, bags: Bags, sparse: bool) -> Mapping[str, Any]:
    """Return what did best on handwritten digits in bags, by parameter.

    Sparse rows have columns enough for a linear classifier. Where there are many instances half of them are enough to
    train on, and every label is inferred once. The largest of several negative outputs is large by chance, so several
    negative labels need more balance, or all becomes negative at the start.

    Args:
        n_negative: negative labels.
        bags: of the training data.
        sparse: whether their rows are sparse.
    """
    many = bags.n_rows > MANY
    return {
        "regime.assignments": "every-label",
        "classifier": _softmax(0 if sparse else N_FEATURES),
        "reward.alpha": 0.7,
        "class_balance": 0.4 if n_negative == 1 else 0.7,
        "n_neighbors": max(1, min(20, bags.n_rows // 10)),
        "n_rounds": 60,
        "n_folds": 2 if many else 5,
        "train_on": "one" if many else "rest",
        "final_classifier": "same",
        "confidence_weights": False,
    }


def own_grid(sparse: bool) -> Mapping[str, Sequence[Any]]:
    """Return the values from which settings are chosen, by parameter; without a bandit is one of them."""
    return {
        "classifier": (_softmax(0),) if sparse else (_softmax(N_FEATURES), _softmax(0)),
        "class_balance": (0.4, 0.0),
        "n_inferences": (1,),
        "inherited_share": (0.0, 0.5, 1.0),
    }


def _softmax(n_features: int) -> dict[str, Any]:
    return {"name": "cooperative-softmax", "n_features": n_features}
