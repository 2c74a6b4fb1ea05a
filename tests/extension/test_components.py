"""From a spec to a component: one function, one registry, and a factory that keeps its word."""

import pytest
from attrs import frozen

from bliss_framework import BlissClassifier, PluginError, SettingsError, UnknownNameError
from bliss_framework.extension.components import component_name, described, resolve
from bliss_framework.extension.contracts import Component, Reward
from bliss_framework.extension.loading.plugins import load_plugins
from bliss_framework.extension.registry import Registration, Registry


@frozen
class Own(Reward):
    """A reward for a test."""

    gain: float = 1.0

    def __call__(self, outcome):
        return outcome.assignment == outcome.labels


def registry_with(factory, name: str = "own") -> Registry:
    return Registry((Registration("reward", Component(name, factory), "mine", "bliss-mine", "0.2"),))


@pytest.mark.parametrize("spec", ["own", {"name": "own", "gain": 1.0}, Own()])
def test_name_table_and_object_mean_the_same(spec):
    """A component is meant by its name, by a table, or by the object itself."""
    assert resolve("reward", spec, registry_with(Own)) == Own()


def test_registry_in_hand_is_the_only_one():
    """Where a registry is passed, installed components that it lacks are not found."""
    with pytest.raises(UnknownNameError, match='No reward "mil" is installed'):
        resolve("reward", "mil", registry_with(Own))


def test_without_a_registry_the_active_plugins_are_asked():
    """Names are looked up in the plugins of the surrounding with block."""
    with (
        load_plugins(block=["bandits"]).active(),
        pytest.raises(UnknownNameError, match=r'Plugin "bandits" from bliss-framework \S+ is blocked'),
    ):
        resolve("strategy", "cucb")
    assert resolve("strategy", "cucb") is not None


@pytest.mark.parametrize(("factory", "found"), [(lambda: None, "None"), (dict, "dict {}"), (lambda: Own, "Own")])
def test_factory_that_makes_something_else(factory, found):
    """A factory that breaks its promise is an error with plugin, distribution, version and what was made."""
    with pytest.raises(PluginError) as caught:
        resolve("reward", "own", registry_with(factory))
    assert 'The reward "own" of plugin "mine" from bliss-mine 0.2 is no Reward' in str(caught.value)
    assert found in str(caught.value)


@pytest.mark.parametrize("spec", [Own, 3, None])
def test_spec_of_another_form_is_refused(spec):
    """A class or a number is a settings error."""
    with pytest.raises(SettingsError):
        resolve("reward", spec, registry_with(Own))


def test_recorded_origin_reaches_the_message():
    """A component of a saved model that is missing now names the distribution that it came from."""
    recorded = {"reward:gone": {"plugin": "gone", "distribution": "bliss-gone", "version": "1.0"}}
    with pytest.raises(UnknownNameError, match=r'pip install "bliss-gone==1\.0"'):
        resolve("reward", "gone", registry_with(Own), recorded)


def test_description_names_the_plugin():
    """A component is described with its plugin, be it a name, a table or an object; others by their class."""
    registry = registry_with(Own)
    for spec in ("own", {"name": "own"}, Own()):
        assert described("reward", spec, registry) == '"own" (plugin "mine" from bliss-mine 0.2)'
    assert described("reward", 3, registry) == '"int"'
    assert component_name(Own()) == "Own"
    assert component_name(Own(), registry) == "own"


def test_blocked_plugins_are_blocked_for_an_estimator(toy):
    """A fit inside `with plugins.active()` does not find the components of a blocked plugin."""
    X, bags, weak = toy()
    with load_plugins(block=["bandits"]).active(), pytest.raises(UnknownNameError, match="bandits"):
        BlissClassifier(n_rounds=2).fit(X, weak, bags=bags)
