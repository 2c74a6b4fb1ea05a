"""Bandit label inference for weakly supervised learning: any classifier, any regime, as plugins.

The public names live in small modules and are looked up on first use, so that `import bliss_framework` does no work.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bliss_framework.version import __version__

if TYPE_CHECKING:
    from bliss_framework import validators as validators
    from bliss_framework.compute.engines import engine as engine
    from bliss_framework.errors import (
        BlissError as BlissError,
        BlissWarning as BlissWarning,
        DataError as DataError,
        MissingExtraError as MissingExtraError,
        PluginError as PluginError,
        RewardError as RewardError,
        RunError as RunError,
        SettingsError as SettingsError,
        UnknownNameError as UnknownNameError,
    )
    from bliss_framework.estimator.bliss_classifier import (
        BlissClassifier as BlissClassifier,
        infer_labels as infer_labels,
    )
    from bliss_framework.estimator.final import class_scores as class_scores
    from bliss_framework.estimator.inputs import (
        TrainingInput as TrainingInput,
        check_bags as check_bags,
        check_training as check_training,
    )
    from bliss_framework.estimator.persistence import load_model as load_model, save_model as save_model
    from bliss_framework.estimator.scaling import Scaling as Scaling
    from bliss_framework.estimator.splitting import BagKFold as BagKFold
    from bliss_framework.extension.components import resolve as resolve
    from bliss_framework.extension.contracts import (
        Baseline as Baseline,
        Classifier as Classifier,
        Component as Component,
        Observer as Observer,
        Pipeline as Pipeline,
        PreparedClassifier as PreparedClassifier,
        Reader as Reader,
        Regime as Regime,
        Reward as Reward,
        RewardFunction as RewardFunction,
        Strategy as Strategy,
    )
    from bliss_framework.extension.dataset import WeakDataset as WeakDataset
    from bliss_framework.extension.markers import hookimpl as hookimpl
    from bliss_framework.extension.pipelines import MethodReport as MethodReport, PipelineReport as PipelineReport
    from bliss_framework.kernel.arms import ArmStatistics as ArmStatistics
    from bliss_framework.kernel.bags import Bags as Bags
    from bliss_framework.kernel.labels import LabelSpace as LabelSpace, WeakLabels as WeakLabels
    from bliss_framework.kernel.pull import Fold as Fold, Outcome as Outcome, Part as Part, Predictions as Predictions
    from bliss_framework.kernel.result import InferredLabels as InferredLabels
    from bliss_framework.rewards.influence import effect_rewards as effect_rewards, influence as influence
    from bliss_framework.rewards.neighbourhood import nearest as nearest, neighbourhood as neighbourhood

_HOME = {
    "bliss_framework.errors": (
        "BlissError",
        "BlissWarning",
        "DataError",
        "MissingExtraError",
        "PluginError",
        "RewardError",
        "RunError",
        "SettingsError",
        "UnknownNameError",
    ),
    "bliss_framework.compute.engines": ("engine",),
    "bliss_framework.estimator.bliss_classifier": ("BlissClassifier", "infer_labels"),
    "bliss_framework.extension.contracts": (
        "Baseline",
        "Classifier",
        "Component",
        "Observer",
        "Pipeline",
        "PreparedClassifier",
        "Reader",
        "Regime",
        "Reward",
        "RewardFunction",
        "Strategy",
    ),
    "bliss_framework.extension.dataset": ("WeakDataset",),
    "bliss_framework.extension.markers": ("hookimpl",),
    "bliss_framework.extension.pipelines": ("MethodReport", "PipelineReport"),
    "bliss_framework.estimator.final": ("class_scores",),
    "bliss_framework.estimator.inputs": ("TrainingInput", "check_bags", "check_training"),
    "bliss_framework.kernel.arms": ("ArmStatistics",),
    "bliss_framework.kernel.bags": ("Bags",),
    "bliss_framework.rewards.influence": ("effect_rewards", "influence"),
    "bliss_framework.kernel.labels": ("LabelSpace", "WeakLabels"),
    "bliss_framework.rewards.neighbourhood": ("nearest", "neighbourhood"),
    "bliss_framework.kernel.pull": ("Fold", "Outcome", "Part", "Predictions"),
    "bliss_framework.kernel.result": ("InferredLabels",),
    "bliss_framework.estimator.persistence": ("load_model", "save_model"),
    "bliss_framework.extension.components": ("resolve",),
    "bliss_framework.estimator.scaling": ("Scaling",),
    "bliss_framework.estimator.splitting": ("BagKFold",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", "validators", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    if name == "validators":
        return import_module("bliss_framework.validators")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
