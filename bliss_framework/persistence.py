"""Saving and loading a fitted model with skops: no pickle, and no code from the file is run."""

from pathlib import Path
from typing import Any

from bliss_framework.errors import RunError

# Types of these packages are ours or scikit-learn's own; anything else in a file must be allowed by the caller.
TRUSTED_PACKAGES = ("bliss_framework", "bliss_bandits", "bliss_classifiers", "bliss_mil", "sklearn", "numpy", "scipy")


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Args:
        model: a fitted `BlissClassifier` or baseline.
        path: of the file, usually ending in .skops.
    """
    from skops.io import dump

    target = Path(path)
    partial = target.with_name(target.name + ".part")
    dump(model, partial)
    partial.replace(target)


def load_model(path: str | Path, trusted: tuple[str, ...] = ()) -> Any:
    """Read a fitted estimator from a file.

    Args:
        path: written by `save_model`.
        trusted: full names of further types that the file may hold, for instance a plugin's classifier.

    Raises:
        RunError: if the file cannot be read or holds types that are not trusted.
    """
    from skops.io import get_untrusted_types, load

    try:
        unknown = get_untrusted_types(file=path)
    except Exception as error:
        raise RunError(f"{path} cannot be read as a model: {error}") from error
    refused = [name for name in unknown if name not in trusted and name.split(".")[0] not in TRUSTED_PACKAGES]
    if refused:
        raise RunError(
            f"{path} holds types that are not trusted: {', '.join(sorted(refused))}. If you know where the file comes "
            f"from, pass them as trusted=(...)."
        )
    return load(path, trusted=unknown)
