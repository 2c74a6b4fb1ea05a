"""Saving and loading a fitted model with skops: no pickle, and no code from the file is run."""

from pathlib import Path
from typing import Any

from bliss_framework.errors import RunError
from bliss_framework.extension.loading.manager import default_plugins
from bliss_framework.extension.names import is_own

# What a fitted model holds beside the types that skops itself trusts. Whole names only: a file may name any function
# that a module merely imports, and skops calls what it was told to trust.
TRUSTED = frozenset(
    (
        "bliss_framework.estimator.bliss_classifier.BlissClassifier",
        "bliss_framework.estimator.final.FinalClassifier",
        "bliss_framework.estimator.ensemble.Member",
        "bliss_framework.estimator.scaling.Scaling",
        "bliss_classifiers.estimators.GramSvc",
        "bliss_classifiers.estimators.KernelLeastSquares",
        "bliss_detection.ridge.BalancedLeastSquares",
        "bliss_multiclass_mil.classifier.estimator.CooperativeSoftmaxClassifier",
        "scipy.sparse._csr.csr_matrix",
        "builtins.frozenset",
    )
)
KINDS = ("classifier", "reward", "strategy", "regime", "baseline")


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Args:
        model: a fitted `BlissClassifier` or baseline.
        path: of the file, usually ending in .skops.

    Raises:
        RunError: if the model holds something that cannot be written without pickle, or the file cannot be written.
    """
    from skops.io import dump

    target = Path(path)
    partial = target.with_name(target.name + ".part")
    try:
        dump(model, partial)
        partial.replace(target)
    except Exception as error:
        partial.unlink(missing_ok=True)
        raise RunError(f"The model cannot be written to {path}: {error}") from error


def load_model(path: str | Path, trusted: tuple[str, ...] = ()) -> Any:
    """Read a fitted estimator from a file.

    Models of the built-in components and of most of scikit-learn load as they are. Trees and neighbour searches do not:
    their compiled parts believe what a file says.

    Args:
        path: written by `save_model`.
        trusted: full names of further types that the file may hold, for instance a plugin's classifier, or
            "sklearn.tree._tree.Tree" for a forest.

    Raises:
        RunError: if the file cannot be read or holds types that are not trusted.
    """
    from skops.io import get_untrusted_types, load

    try:
        unknown = get_untrusted_types(file=path)
    except Exception as error:
        raise RunError(f"{path} cannot be read as a model: {error}") from error
    refused = sorted(set(unknown) - TRUSTED - _own_components() - set(trusted))
    if refused:
        raise RunError(
            f"{path} holds types that are not trusted: {', '.join(refused)}. If you know where the file comes from, "
            f"pass them as trusted=(...)."
        )
    try:
        return load(path, trusted=unknown)
    except Exception as error:
        raise RunError(f"{path} cannot be read as a model: {error}") from error


def _own_components() -> set[str]:
    """Return the names of the built-in component classes; users may pass objects of them as parameters."""
    registry = default_plugins().registry
    offers = [registry.offer(kind, name) for kind in KINDS for name in registry.names(kind)]
    factories = [offer.component.factory for offer in offers if is_own(offer.distribution)]
    return {f"{factory.__module__}.{factory.__qualname__}" for factory in factories if isinstance(factory, type)}
