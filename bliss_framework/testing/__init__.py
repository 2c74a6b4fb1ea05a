"""The conformance kit: what every plugin author runs on a component of their own, and what the built-ins run too.

In a test file, `check_reward(MyReward())` runs all checks at once, and

    @pytest.mark.parametrize("check", reward_checks(MyReward()), ids=str)
    def test_my_reward(check):
        check()

runs them one by one. Expected failures are declared with a reason, by the class itself in an attribute
`expected_failures = {"name of check": "why"}`, which `bliss plugins --check` finds there too, or in the call:
`check_reward(reward, {"name of check": "why"})`.
"""

from bliss_framework.testing.baselines import baseline_checks as baseline_checks
from bliss_framework.testing.checks import Check as Check, Example as Example, verify as verify
from bliss_framework.testing.classifiers import classifier_checks as classifier_checks
from bliss_framework.testing.examples import mil_example as mil_example
from bliss_framework.testing.pipelines import pipeline_checks as pipeline_checks
from bliss_framework.testing.readers import reader_checks as reader_checks
from bliss_framework.testing.regimes import regime_checks as regime_checks
from bliss_framework.testing.rewards import reward_checks as reward_checks
from bliss_framework.testing.strategies import strategy_checks as strategy_checks
from bliss_framework.testing.verdicts import (
    check_baseline as check_baseline,
    check_classifier as check_classifier,
    check_pipeline as check_pipeline,
    check_reader as check_reader,
    check_regime as check_regime,
    check_reward as check_reward,
    check_strategy as check_strategy,
)
