"""Settings are checked when the record is made."""

import numpy as np
import pytest
from attrs import asdict

from bliss_framework import SettingsError
from bliss_framework.kernel.inference import InferenceSettings


def test_defaults_are_the_papers():
    """By default there is the initial sweep, no balance, one pull at a time, one pass, training on one fold."""
    defaults = asdict(InferenceSettings())
    assert defaults["n_first_draws"] is None
    assert defaults["class_balance"] == 0
    assert (defaults["n_parallel"], defaults["n_passes"], defaults["n_inferences"]) == (1, 1, 1)
    assert defaults["train_on"] == "one"


COUNTS = ["n_rounds", "n_inferences", "n_passes", "n_parallel", "n_neighbors", "n_first_draws"]


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3", np.nan])
def test_counts_are_integers_from_one_on(name, value):
    """Zero, fractions, booleans and text are no counts; the message names the setting, the bound and the value."""
    with pytest.raises(SettingsError) as raised:
        InferenceSettings(**{name: value})
    assert str(raised.value) == f"{name} must be an integer, at least 1; got {value!r}."


@pytest.mark.parametrize("value", [1, 0, 2.5, None])
def test_two_folds_at_least(value):
    """One fold leaves nothing to hold out."""
    with pytest.raises(SettingsError, match="n_folds must be an integer, at least 2"):
        InferenceSettings(n_folds=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pass_share", -0.1),
        ("pass_share", 1.1),
        ("pass_share", np.nan),
        ("pass_share", "0.2"),
        ("class_balance", -1),
        ("class_balance", np.inf),
        ("class_balance", True),
        ("class_balance", None),
    ],
)
def test_shares_and_exponents_are_bounded(name, value):
    """A number outside its range, NaN, infinity and what is no number are refused by name."""
    with pytest.raises(SettingsError, match=f"{name} must be a number from 0 to"):
        InferenceSettings(**{name: value})


@pytest.mark.parametrize("value", ["ONE", "both", None, 1])
def test_two_ways_to_train(value):
    """Only "one" and "rest" are ways to train."""
    with pytest.raises(SettingsError, match=r"train_on must be one of 'one', 'rest'; got"):
        InferenceSettings(train_on=value)


def test_numbers_of_numpy_are_numbers():
    """Integers and floats that come out of numpy are as good as Python's."""
    made = InferenceSettings(n_rounds=np.int64(7), pass_share=np.float64(0.5), n_first_draws=np.int32(2))
    assert (made.n_rounds, made.pass_share, made.n_first_draws) == (7, 0.5, 2)


def test_a_settings_error_is_a_value_error():
    """scikit-learn's tools expect ValueError for wrong parameters."""
    assert issubclass(SettingsError, ValueError)
