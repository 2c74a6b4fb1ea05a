"""One call for all checks of a component."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bliss_framework.extension.contracts import Classifier, Pipeline, Reader, Reward, Strategy
from bliss_framework.testing.baselines import baseline_checks
from bliss_framework.testing.checks import Example, verify
from bliss_framework.testing.classifiers import classifier_checks
from bliss_framework.testing.pipelines import pipeline_checks
from bliss_framework.testing.readers import reader_checks
from bliss_framework.testing.regimes import regime_checks
from bliss_framework.testing.rewards import reward_checks
from bliss_framework.testing.strategies import strategy_checks

Expected = Mapping[str, str] | None


def check_reward(reward: Reward, expected_failures: Expected = None, example: Example | None = None) -> None:
    """Run all checks of a reward; see `reward_checks`. Failures are listed in one AssertionError."""
    verify(reward, reward_checks(reward, example), expected_failures)


def check_strategy(strategy: Strategy, expected_failures: Expected = None) -> None:
    """Run all checks of a strategy; see `strategy_checks`."""
    verify(strategy, strategy_checks(strategy), expected_failures)


def check_classifier(classifier: Classifier, expected_failures: Expected = None) -> None:
    """Run all checks of a classifier; see `classifier_checks`."""
    verify(classifier, classifier_checks(classifier), expected_failures)


def check_regime(example: Example, expected_failures: Expected = None) -> None:
    """Run all checks of the regime of an example; see `regime_checks`."""
    verify(example.regime, regime_checks(example), expected_failures)


def check_baseline(baseline: Any, expected_failures: Expected = None, example: Example | None = None) -> None:
    """Run all checks of a baseline; see `baseline_checks`."""
    verify(baseline, baseline_checks(baseline, example), expected_failures)


def check_pipeline(pipeline: Pipeline, expected_failures: Expected = None) -> None:
    """Run all checks of a pipeline, which runs twice; see `pipeline_checks`."""
    verify(pipeline, pipeline_checks(pipeline), expected_failures)


def check_reader(reader: Reader, path: Path | str, expected_failures: Expected = None, **options: Any) -> None:
    """Run all checks of a reader on a file that it reads; see `reader_checks`."""
    verify(reader, reader_checks(reader, path, **options), expected_failures)
