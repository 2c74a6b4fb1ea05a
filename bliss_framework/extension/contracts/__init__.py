"""The contracts of plugins, a file for each kind.

Every class here is abstract; implement the abstract methods and leave the others unless you need them. Wrap a component
to change it, do not subclass one. `bliss_framework.testing` checks an implementation.
"""

from bliss_framework.extension.contracts.bag_head import (
    BagEvidence as BagEvidence,
    BagHead as BagHead,
    FittedBagHead as FittedBagHead,
    HeadFit as HeadFit,
)
from bliss_framework.extension.contracts.bag_reading import BagReading as BagReading
from bliss_framework.extension.contracts.baseline import Baseline as Baseline
from bliss_framework.extension.contracts.classifier import (
    Classifier as Classifier,
    LeaveOutEstimator as LeaveOutEstimator,
    PreparedClassifier as PreparedClassifier,
    ProblemSize as ProblemSize,
    SumsEstimator as SumsEstimator,
    SumsForm as SumsForm,
)
from bliss_framework.extension.contracts.component import KINDS as KINDS, Component as Component
from bliss_framework.extension.contracts.observer import Observer as Observer
from bliss_framework.extension.contracts.pipeline import Pipeline as Pipeline
from bliss_framework.extension.contracts.presets import (
    Case as Case,
    Kind as Kind,
    Presets as Presets,
    Profile as Profile,
    When as When,
)
from bliss_framework.extension.contracts.reader import Reader as Reader
from bliss_framework.extension.contracts.regime import Regime as Regime
from bliss_framework.extension.contracts.reward import (
    Asking as Asking,
    BlockReward as BlockReward,
    Effects as Effects,
    Gathered as Gathered,
    Reward as Reward,
    RewardFunction as RewardFunction,
    Total as Total,
)
from bliss_framework.extension.contracts.strategy import Strategy as Strategy
