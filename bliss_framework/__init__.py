"""Bandit label inference for weakly supervised learning: any classifier, any regime, as plugins.

Users find everything here; authors of plugins find theirs in `bliss_framework.plugin`. Names are looked up on first
use, so that `import bliss_framework` does no work.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bliss_framework.version import __version__

if TYPE_CHECKING:
    from bliss_framework.plugin import *  # noqa: F403 - so that type checkers know what is looked up

_HOMES = {
    "BagKFold": "estimator.splitting",
    "BlissClassifier": "estimator.bliss_classifier",
    "engine": "compute.engines",
    "infer_labels": "estimator.infer_labels",
    "load_model": "estimator.persistence",
    "load_plugins": "extension.loading.plugins",
    "save_model": "estimator.persistence",
    **dict.fromkeys(
        (
            "BlissError",
            "BlissWarning",
            "ComputeError",
            "DataError",
            "FileError",
            "MemoryNeededError",
            "MissingExtraError",
            "ParameterNeededError",
            "PluginError",
            "RewardError",
            "RunError",
            "SettingsError",
            "UnknownNameError",
        ),
        "errors",
    ),
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    try:
        # What authors of plugins need may be imported from here, too.
        return getattr(import_module(f"{__name__}.plugin"), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
