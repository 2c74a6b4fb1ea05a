"""The registry: names, near misses, parameters, and names that nobody can be given."""

import pytest
from attrs import field, frozen

from bliss_framework import BlissError, Component, DataError, PluginError, SettingsError, UnknownNameError
from bliss_framework.extension.contracts import KINDS
from bliss_framework.extension.loading.reports import PluginReport
from bliss_framework.extension.naming import did_you_mean, is_component_name, plural
from bliss_framework.extension.registry import Registration, Registry


@frozen
class Ridge:
    """A component with parameters."""

    ridge: float = field(default=0.1)
    width: str = field(default="scale")


class Silent:
    """A component like some that are written in C: it does not tell its parameters."""

    __signature__ = "hidden"


def needs_path(path: str, *, encoding: str = "utf-8") -> str:
    return f"{path} {encoding}"


def takes_anything(first: int = 0, **others: int) -> dict[str, int]:
    return {"first": first, **others}


def raises(error: BaseException):
    def factory(size: int = 1) -> None:
        raise error

    return factory


def registered(
    kind: str, name: str, factory=dict, plugin: str = "own", distribution: str = "bliss-framework"
) -> Registration:
    return Registration(kind, Component(name, factory), plugin, distribution)


@pytest.fixture
def registry() -> Registry:
    return Registry(
        (
            registered("regime", "mil"),
            registered("classifier", "softmax"),
            registered("classifier", "kernel-ridge", Ridge),
            registered("dataset", "file", needs_path),
            registered("reader", "any", takes_anything),
            registered("reward", "same", plugin="one", distribution="dist-one"),
            registered("reward", "same", plugin="two", distribution="dist-two"),
            registered("reward", "mil"),
        )
    )


def message(error: type[Exception], function, *arguments) -> str:
    with pytest.raises(error) as caught:
        function(*arguments)
    return str(caught.value)


def test_names_and_components_are_sorted_and_of_one_kind(registry):
    """A kind's names come in alphabetical order; the same name under another kind is another component."""
    assert registry.names("classifier") == ("kernel-ridge", "softmax")
    assert [one.name for one in registry.components("classifier")] == ["kernel-ridge", "softmax"]
    assert registry.get("regime", "mil") is not registry.get("reward", "mil")


def test_unknown_name_offers_the_nearest_and_the_list(registry):
    """A misspelt name is answered with the nearest name and with all that is installed."""
    text = message(UnknownNameError, registry.get, "regime", "mill")
    assert text == 'No regime "mill" is installed. Did you mean "mil"? Installed regimes: mil.'


def test_unknown_name_without_a_near_one_asks_nothing(registry):
    """A name that resembles nothing gets the list without a question."""
    text = message(UnknownNameError, registry.get, "classifier", "zzz")
    assert text == 'No classifier "zzz" is installed. Installed classifiers: kernel-ridge, softmax.'


def test_unknown_name_of_an_empty_kind_says_that_nothing_is_there(registry):
    """Where nothing of a kind is installed the message says so, in words a user knows."""
    text = message(UnknownNameError, registry.get, "strategy", "cucb")
    assert 'No strategy "cucb" is installed. There are no strategies at all' in text
    assert "data sets" in message(UnknownNameError, Registry().get, "dataset", "musk1")


BLOCKED = PluginReport("bandits", "bliss-framework", "0.1.0", "blocked")
RECORDED = {"strategy:cucb": {"plugin": "bandits", "distribution": "bliss-bandits", "version": "0.3"}}


def test_unknown_name_says_which_plugin_is_blocked():
    """A component that is missing because its plugin is blocked says so, and what to do."""
    text = message(UnknownNameError, Registry(absent=(BLOCKED,)).get, "strategy", "cucb")
    assert text == (
        'No strategy "cucb" is installed. Plugin "bandits" from bliss-framework 0.1.0 is blocked; take it out of '
        "--block-plugin and BLISS_BLOCK_PLUGINS to use it. There are no strategies at all. `bliss plugins` says what "
        "is installed and what broke."
    )


@pytest.mark.parametrize(
    ("registry", "said"),
    [
        (Registry(), ' It came from plugin "bandits" of bliss-bandits 0.3, which is not installed; pip install'),
        (
            Registry((registered("reward", "other", distribution="bliss-bandits"),)),
            ' of bliss-bandits 0.3, which has no such component now; pip install "bliss-bandits==0.3".',
        ),
        (
            Registry(absent=(PluginReport("bandits", "bliss-bandits", "0.3", "blocked"),)),
            ' of bliss-bandits 0.3. Plugin "bandits" from bliss-bandits 0.3 is blocked;',
        ),
    ],
)
def test_missing_component_that_was_recorded(registry, said):
    """Where it was recorded where a component came from, the message names the distribution to install."""
    assert said in message(UnknownNameError, registry.create, "strategy", {"name": "cucb"}, RECORDED)


def test_record_says_where_components_come_from(registry):
    """A record holds plugin, distribution and version of each installed component that is asked for."""
    registry = Registry((Registration("strategy", Component("cucb", dict), "bandits", "bliss-bandits", "0.3"),))
    assert registry.record([("strategy", "cucb"), ("reward", "gone")]) == RECORDED
    assert registry.registration("strategy", "cucb").origin() == 'plugin "bandits" from bliss-bandits 0.3'


def test_unknown_kind_is_said(registry):
    """A kind that does not exist is an error with the kinds that do, not an empty list."""
    assert 'Did you mean "regime"?' in message(UnknownNameError, registry.names, "regimes")


def test_ambiguous_name_is_refused_with_both_owners(registry):
    """A name of two third parties is given to nobody; using it names both and says how to choose."""
    assert registry.names("reward") == ("mil",)
    text = message(PluginError, registry.create, "reward", "same")
    assert 'plugin "one" from dist-one and by plugin "two" from dist-two' in text
    assert "--block-plugin one or --block-plugin two" in text
    assert "pip uninstall" in text


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        ("kernel-ridge", Ridge()),
        ({"name": "kernel-ridge"}, Ridge()),
        ({"name": "kernel-ridge", "ridge": 0.3}, Ridge(ridge=0.3)),
    ],
)
def test_create_takes_a_name_or_a_table(registry, spec, made):
    """A component is made from its name alone, or from a table with its parameters."""
    assert registry.create("classifier", spec) == made


def test_create_leaves_the_table_alone(registry):
    """The caller's table is not changed."""
    spec = {"name": "kernel-ridge", "ridge": 0.3}
    registry.create("classifier", spec)
    assert spec == {"name": "kernel-ridge", "ridge": 0.3}


def test_unknown_parameter_is_answered_with_the_allowed_ones(registry):
    """A misspelt parameter names the component, the nearest parameter and all of them."""
    text = message(SettingsError, registry.create, "classifier", {"name": "kernel-ridge", "rigde": 1})
    assert text == (
        'The classifier "kernel-ridge" has no parameter "rigde". Did you mean "ridge"? Its parameters: ridge, width.'
    )


def test_missing_parameter_is_the_users_to_mend(registry):
    """A parameter without a default that was not given is a settings error that names it."""
    text = message(SettingsError, registry.create, "dataset", "file")
    assert text == 'The data set "file" needs the parameter "path". Its parameters: path, encoding.'


def test_factory_with_open_parameters_takes_them_all(registry):
    """A factory that takes any keyword gets any keyword."""
    assert registry.create("reader", {"name": "any", "b": 2}) == {"first": 0, "b": 2}


def test_factory_without_parameters_says_so():
    """A component without parameters refuses one in plain words."""
    registry = Registry((registered("regime", "mil", lambda: None),))
    assert "It takes none." in message(SettingsError, registry.create, "regime", {"name": "mil", "x": 1})


def test_factory_that_hides_its_signature_raises_itself():
    """A factory whose signature cannot be read is called unchecked, and its error names the component."""
    registry = Registry((registered("regime", "mil", Silent),))
    assert "could not be made" in message(PluginError, registry.create, "regime", {"name": "mil", "x": 1})


@pytest.mark.parametrize("spec", [3, None, ["mil"], {"ridge": 1}, {"name": 3}])
def test_spec_of_another_form_is_refused(registry, spec):
    """Anything but a name or a table with a name is a settings error that shows what was given."""
    assert "is given as" in message(SettingsError, registry.create, "regime", spec)


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit()])
def test_factory_that_ends_the_program_does_not(error):
    """A factory that calls sys.exit is an error with the component's name, and does not end the program."""
    registry = Registry((registered("reward", "bad", raises(error)),))
    assert "could not be made" in message(PluginError, registry.create, "reward", "bad")


def test_factory_that_raises_names_the_component():
    """A factory's exception becomes an error that names component, owner and parameters."""
    error = ZeroDivisionError("by zero")
    registry = Registry((registered("reward", "bad", raises(error), "odd", "bliss-odd"),))
    with pytest.raises(PluginError, match=r'reward "bad" of plugin "odd" from bliss-odd .* size=3: ZeroDiv') as caught:
        registry.create("reward", {"name": "bad", "size": 3})
    assert caught.value.__cause__ is error


def test_error_that_the_user_can_mend_passes_unchanged():
    """A factory that raises an error of ours has chosen its words; they are not wrapped."""
    error = DataError("The file is empty.")
    registry = Registry((registered("reward", "bad", raises(error)),))
    with pytest.raises(BlissError) as caught:
        registry.create("reward", "bad")
    assert caught.value is error


def test_did_you_mean_ignores_case_and_answers_in_the_known_spelling():
    """Case is no reason to miss a name."""
    assert did_you_mean("MI-SVM", ["mi-svm", "mi-svm-bag"]) == ' Did you mean "mi-svm"?'
    assert did_you_mean("n_round", ["N_Rounds"]) == ' Did you mean "N_Rounds"?'
    assert did_you_mean("zzz", ["mil"]) == did_you_mean("mil", []) == ""


@pytest.mark.parametrize("name", ["mil", "mi-svm-bag", "2-em", "a1"])
def test_proper_component_names(name):
    """Lower case letters and digits, with single hyphens between them, make a name."""
    assert is_component_name(name)


@pytest.mark.parametrize("name", ["", "MIL", "a_b", "-a", "a-", "a--b", "a b", "mil\n", "ü", None, 3])
def test_improper_component_names(name):
    """Anything else is no name."""
    assert not is_component_name(name)


def test_every_kind_has_a_plural():
    """Messages speak of several components of each kind in English."""
    assert [plural(kind) for kind in KINDS] == [
        "classifiers",
        "rewards",
        "strategies",
        "regimes",
        "readers",
        "data sets",
        "baselines",
        "pipelines",
    ]
