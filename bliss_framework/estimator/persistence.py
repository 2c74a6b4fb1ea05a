"""Saving and loading a fitted model with skops: no pickle, and no code from the file is run."""

import os
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from bliss_framework.errors import FileError, RunError
from bliss_framework.estimator.configure import Config
from bliss_framework.estimator.model_check import check_model
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.extension.npz_files import check_archive
from bliss_framework.extension.registry import Registry
from bliss_framework.faults import in_words

# What a fitted model holds of the framework itself, beside the types that skops trusts; components declare their own.
# Whole names only: a file may name any function that a module merely imports, and skops calls what it is told to trust.
OWN_TYPES = frozenset(
    (
        "bliss_framework.estimator.bag_head.ModelHead",
        "bliss_framework.networks.taught_networks.BagNetworks",
        "bliss_framework.estimator.bliss_classifier.BlissClassifier",
        "bliss_framework.estimator.configure.Config",
        "bliss_framework.estimator.final.FinalClassifier",
        "bliss_framework.estimator.ensemble.Member",
        "bliss_framework.estimator.scaling.Scaling",
        "bliss_framework.estimator.preparation.Preparation",
        "numpy.dtype",  # Which scikit-learn's imputer remembers; a file makes nothing of it but a type of numbers.
        "bliss_framework.kernel.bags.Bags",
        "scipy.sparse._csr.csr_matrix",
        "builtins.frozenset",
    )
)
UNSAVABLE = "The model cannot be written to"  # So begins what is said of a model that no file can hold.
KINDS = ("classifier", "reward", "strategy", "regime", "baseline")


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Args:
        model: a fitted `BlissClassifier` or baseline.
        path: of the file, usually ending in .skops.

    Raises:
        FileError: if the file cannot be written, for instance because the disk is full.
        RunError: if the model holds something that cannot be written without pickle.
    """
    from skops.io import dump

    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        dump(_without_requests(model), partial)
        partial.replace(target)
    except OSError as error:
        raise FileError(in_words(error, target, "cannot be written")) from error
    except MemoryError:
        raise
    except Exception as error:
        raise RunError(f"{UNSAVABLE} {path}: {error}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _without_requests(value: Any) -> Any:
    """Copy estimators without their metadata requests, which skops cannot write; they matter before a fit only."""
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_without_requests(one) for one in value)
    if type(value) is dict:
        return {key: _without_requests(one) for key, one in value.items()}
    if isinstance(value, Config):
        return Config(_without_requests(dict(value.values)))
    if not isinstance(value, BaseEstimator):
        return value
    twin = copy(value)
    kept = {name: _without_requests(one) for name, one in vars(value).items() if name != "_metadata_request"}
    vars(twin).clear()
    vars(twin).update(kept)
    return twin


def load_model(path: str | Path, trusted: tuple[str, ...] = (), registry: Registry | None = None) -> Any:
    """Read a fitted estimator from a file.

    Nothing is predicted with a file before it is known to be a model: arrays that compiled code reads have the lengths
    and values that it takes for granted, and the model has predicted one row.

    Models of installed components and of most of scikit-learn load as they are: a component declares the types that a
    model may hold because of it (`Component.saved_types`). Trees and neighbour searches do not: their compiled parts
    believe what a file says.

    Args:
        path: written by `save_model`.
        trusted: full names of further types that the file may hold, for instance "sklearn.tree._tree.Tree" for a
            forest.
        registry: of the plugins whose types are trusted; by default that of the active ones.

    Raises:
        RunError: if the file cannot be read, holds types that are not trusted, or is no model that can predict.
    """
    from skops.io import get_untrusted_types, load

    registry = active_plugins().registry if registry is None else registry
    try:
        check_archive(Path(path))
        unknown = get_untrusted_types(file=path)
    except Exception as error:
        raise RunError(f"{path} cannot be read as a model: {_reason(error)}") from error
    refused = sorted(set(unknown) - OWN_TYPES - declared_types(registry) - set(trusted))
    if refused:
        raise RunError(_refused(path, refused, registry))
    try:
        model = load(path, trusted=unknown)
    except ModuleNotFoundError as error:
        raise RunError(
            f"{path} needs the module {error.name}, which is not found here; install it, or name its folder in "
            f"PYTHONPATH."
        ) from error
    except Exception as error:
        raise RunError(f"{path} cannot be read as a model: {_reason(error)}") from error
    try:
        check_model(model)
    except ValueError as error:
        raise RunError(
            f"{path} is damaged, or no model of ours ({error}). Copy it again, or fit the model anew."
        ) from error
    return model


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def declared_types(registry: Registry) -> frozenset[str]:
    """Return the full names of all types that a model may hold because of the components of a registry.

    They are the classes of the components themselves, since users may pass objects as parameters, and what components
    declare.
    """
    components = [one for kind in KINDS for one in registry.components(kind)]
    factories = [one.factory for one in components if isinstance(one.factory, type)]
    classes = [f"{factory.__module__}.{factory.__qualname__}" for factory in factories]
    return frozenset([*classes, *(name for one in components for name in one.saved_types)])


def _refused(path: str | Path, refused: list[str], registry: Registry) -> str:
    parts = [
        f"{path} holds types that are not trusted: {', '.join(refused)}.",
        registry.about_absent(),
        f"If you know where the file comes from, pass them as trusted=(...), or on the command line as "
        f"{' '.join(f'--trust {one}' for one in refused)}.",
    ]
    return " ".join(part for part in parts if part)
