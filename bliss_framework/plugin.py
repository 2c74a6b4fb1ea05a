"""Everything that a plugin's author needs, in one module.

A plugin is a class, a hook and one line of metadata. A reward, for instance, in `my_package/hooks.py`:

    from attrs import frozen
    from bliss_framework.plugin import Component, Reward, hookimpl

    @frozen
    class Agreement(Reward):
        def __call__(self, outcome):
            return (outcome.assignment == outcome.labels).astype(float)

    @hookimpl
    def bliss_rewards():
        return [Component("agreement", Agreement, "1 where the classifier can learn the label it was given")]

and in `pyproject.toml`:

    [project.entry-points.bliss_framework]
    agreement = "my_package.hooks"

`bliss new reward agreement` writes all of it, with tests that run the kit of `bliss_framework.testing`. Contracts
say what a component must do; records are what it is given; building blocks are what built-in plugins use, too.
"""

from bliss_framework import validators as validators
from bliss_framework.compute.empty_rows import empty_rows as empty_rows
from bliss_framework.errors import (
    BlissError as BlissError,
    BlissWarning as BlissWarning,
    ComputeError as ComputeError,
    DataError as DataError,
    MemoryNeededError as MemoryNeededError,
    MissingExtraError as MissingExtraError,
    ParameterNeededError as ParameterNeededError,
    PluginError as PluginError,
    RewardError as RewardError,
    RunError as RunError,
    SettingsError as SettingsError,
    UnknownNameError as UnknownNameError,
)
from bliss_framework.estimator.any_classifier import (
    class_scores as class_scores,
    fit_labels as fit_labels,
    label_scores as label_scores,
    takes_weights as takes_weights,
)
from bliss_framework.estimator.bliss_classifier import BlissClassifier as BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData as CheckedData
from bliss_framework.estimator.infer_labels import infer_labels as infer_labels
from bliss_framework.estimator.inputs import check_bags as check_bags, check_training as check_training
from bliss_framework.estimator.lost_bags import refuse_lost_bags as refuse_lost_bags
from bliss_framework.estimator.ordering import in_own_order as in_own_order
from bliss_framework.estimator.persistence import load_model as load_model, save_model as save_model
from bliss_framework.estimator.scaling import Scaling as Scaling
from bliss_framework.estimator.splitting import BagKFold as BagKFold
from bliss_framework.extension.components import resolve as resolve
from bliss_framework.extension.contracts import (
    Asking as Asking,
    BagEvidence as BagEvidence,
    BagHead as BagHead,
    BagReading as BagReading,
    Baseline as Baseline,
    BlockReward as BlockReward,
    Case as Case,
    Classifier as Classifier,
    Component as Component,
    Effects as Effects,
    FittedBagHead as FittedBagHead,
    Gathered as Gathered,
    HeadFit as HeadFit,
    Kind as Kind,
    LeaveOutEstimator as LeaveOutEstimator,
    Observer as Observer,
    Pipeline as Pipeline,
    PreparedClassifier as PreparedClassifier,
    Presets as Presets,
    ProblemSize as ProblemSize,
    Profile as Profile,
    Reader as Reader,
    Regime as Regime,
    Reward as Reward,
    RewardFunction as RewardFunction,
    Strategy as Strategy,
    SumsEstimator as SumsEstimator,
    SumsForm as SumsForm,
    Total as Total,
    When as When,
)
from bliss_framework.extension.dataset import TableColumn as TableColumn, WeakDataset as WeakDataset
from bliss_framework.extension.extras import needed as needed
from bliss_framework.extension.file_kinds import file_kind as file_kind
from bliss_framework.extension.file_limits import check_columns as check_columns, check_size as check_size
from bliss_framework.extension.imports import imported_class as imported_class
from bliss_framework.extension.loading.plugins import load_plugins as load_plugins
from bliss_framework.extension.markers import hookimpl as hookimpl
from bliss_framework.extension.naming import did_you_mean as did_you_mean, near_miss as near_miss
from bliss_framework.extension.npy_files import map_npy as map_npy
from bliss_framework.extension.npz_files import NpzFile as NpzFile, open_npz as open_npz
from bliss_framework.extension.pipeline_report import MethodReport as MethodReport, PipelineReport as PipelineReport
from bliss_framework.kernel.arms import ArmStatistics as ArmStatistics, draw_labels as draw_labels
from bliss_framework.kernel.bags import Bags as Bags
from bliss_framework.kernel.events import (
    FoldFinished as FoldFinished,
    FoldStarted as FoldStarted,
    RoundFinished as RoundFinished,
)
from bliss_framework.kernel.labels import (
    LabelSpace as LabelSpace,
    WeakLabels as WeakLabels,
    class_indicators as class_indicators,
)
from bliss_framework.kernel.pull import (
    Fold as Fold,
    Outcome as Outcome,
    Part as Part,
    Predictions as Predictions,
    balance_weights as balance_weights,
)
from bliss_framework.kernel.relabelling import (
    Relabelling as Relabelling,
    relabelled_across_folds as relabelled_across_folds,
    too_few_to_relabel as too_few_to_relabel,
)
from bliss_framework.kernel.result import InferredLabels as InferredLabels
from bliss_framework.kernel.row_view import RowView as RowView, as_rows as as_rows, for_passes as for_passes
from bliss_framework.kernel.rows import Rows as Rows, kernel_blocks as kernel_blocks
from bliss_framework.kernel.words import (
    class_array as class_array,
    plain_value as plain_value,
    positions_of as positions_of,
    senses_of as senses_of,
)
from bliss_framework.networks.gated_attention import (
    AttentionTraining as AttentionTraining,
    GatedAttention as GatedAttention,
)
from bliss_framework.networks.taught_networks import (
    MOST_NETWORK_COLUMNS as MOST_NETWORK_COLUMNS,
    BagNetworks as BagNetworks,
    TaughtNetworks as TaughtNetworks,
    network_memory as network_memory,
    taught_networks as taught_networks,
)
from bliss_framework.primal.landmarks import FEATURES_KEPT as FEATURES_KEPT, Landmarks as Landmarks
from bliss_framework.primal.rbf import rbf_kernel as rbf_kernel
from bliss_framework.primal.sums import RowSums as RowSums, gram as gram, moments as moments, outputs as outputs
from bliss_framework.primal.svc import bounded_svc as bounded_svc
from bliss_framework.primal.systems import (
    MOST_UNKNOWNS as MOST_UNKNOWNS,
    FactorisedSystem as FactorisedSystem,
    System as System,
    factorised as factorised,
    has_sums as has_sums,
    needs_products as needs_products,
    system as system,
)
from bliss_framework.readings.binary import BinaryReading as BinaryReading
from bliss_framework.readings.classes import ClassReading as ClassReading, is_possible as is_possible
from bliss_framework.readings.label_sets import LabelSetReading as LabelSetReading
from bliss_framework.readings.shares import ShareReading as ShareReading
from bliss_framework.readings.stacking import centred_stack as centred_stack, stack_weights as stack_weights
from bliss_framework.readings.thresholds import (
    best_f1_threshold as best_f1_threshold,
    best_threshold as best_threshold,
    fewest_mistakes as fewest_mistakes,
    logistic_threshold as logistic_threshold,
    witness_share as witness_share,
)
from bliss_framework.rewards.block_neighbourhood import block_neighbour_means as block_neighbour_means
from bliss_framework.rewards.counts import count_slopes as count_slopes, keep_counts as keep_counts
from bliss_framework.rewards.influence import (
    BlockMarginalEffect as BlockMarginalEffect,
    MarginalEffect as MarginalEffect,
    effect_rewards as effect_rewards,
    influence as influence,
)
from bliss_framework.rewards.likelihood_presets import likelihood_presets as likelihood_presets
from bliss_framework.rewards.neighbourhood import nearest as nearest, neighbourhood as neighbourhood
from bliss_framework.rewards.recall_precision import (
    BlockRecallPrecision as BlockRecallPrecision,
    alpha_diagnostic as alpha_diagnostic,
    binary_precision as binary_precision,
    binary_recall as binary_recall,
    found_labels as found_labels,
    label_set_precision as label_set_precision,
    label_set_recall as label_set_recall,
    recall_precision_rewards as recall_precision_rewards,
)
from bliss_framework.validators import (
    Validator as Validator,
    at_least as at_least,
    between as between,
    check_settings as check_settings,
    check_value as check_value,
    one_of as one_of,
    optional as optional,
    positive as positive,
)
