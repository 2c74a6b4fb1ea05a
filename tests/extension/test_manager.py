"""The plugin manager: five doors, and a broken plugin costs only itself."""

import sys
import warnings

import pytest
from attrs import evolve

from bliss_framework import Component, PluginError, __version__
from bliss_framework.extension.implementations import host_hooks
from bliss_framework.extension.manager import Plugins, default_plugins, load_plugins
from bliss_framework.extension.offers import registration_hooks
from bliss_framework.extension.reports import PluginReport

HEAD = "from bliss_framework import Component, hookimpl\n"
GOOD = HEAD + "@hookimpl\ndef bliss_rewards(): return [Component('fine', dict)]\n"
HOOK = HEAD + "@hookimpl\ndef "

BROKEN = {
    "import": ("import", "import librosa_of_nowhere\n", "No module named 'librosa_of_nowhere'"),
    "exit": ("import", "import sys; sys.exit(3)\n", "SystemExit: 3"),
    "signature": ("register", HOOK + "bliss_rewards(bags): return []\n", '"bags"'),
    "raising": ("call", HOOK + "bliss_rewards(): raise ZeroDivisionError('by zero')\n", "ZeroDivisionError: by zero"),
    "noniterable": ("call", HOOK + "bliss_rewards(): return 5\n", "bliss_rewards returned int 5"),
    "misspelt": ("hooks", HOOK + "bliss_rewrads(): return []\n", "did you mean bliss_rewards?"),
    "unmarked": ("hooks", HEAD + "def bliss_rewards(): return []\n", "never called: bliss_rewards"),
}


def report_of(plugins: Plugins, name: str) -> PluginReport:
    (report,) = [one for one in plugins.reports if one.name == name]
    return report


def odd_report(site, source: str, value: str = "odd_hooks") -> PluginReport:
    """Load the plugin "odd" with this source, and return its report."""
    site.plugin(source, value)
    return report_of(load_plugins(), "odd")


def names(report: PluginReport) -> list[tuple[str, str]]:
    return [(kind, component.name) for kind, component in report.components]


def install_eight_broken(site) -> None:
    for name, (_, source, _) in BROKEN.items():
        site.dist(f"bliss-{name}", f"{name} = broken_{name}", {f"broken_{name}": source}, version="0.3")
    site.dist("bliss-malformed", "[bliss_framework]\nno equals sign\n", version="0.3")


def test_eight_broken_plugins_cost_only_themselves(site):
    """Two healthy plugins among eight that are broken in eight ways are offered, and the eight are reported."""
    site.offering("bliss-first", "first", "bliss_regimes", "one")
    install_eight_broken(site)
    site.offering("bliss-last", "last", "bliss_regimes", "two")
    plugins = load_plugins()
    assert plugins.registry.names("regime") == ("one", "two")
    assert plugins.registry.names("reward") == ()
    broken = {one.distribution: one.door for one in plugins.reports if one.state == "broken"}
    assert broken == {f"bliss-{name}": door for name, (door, _, _) in BROKEN.items()} | {"bliss-malformed": "metadata"}
    for name, (_, _, said) in BROKEN.items():
        assert said in report_of(plugins, name).reason


def test_every_broken_plugin_is_a_sentence(site):
    """A problem reads as a sentence with plugin, distribution, version, door, reason and remedy."""
    site.plugin("import librosa\n")
    assert load_plugins().problems() == (
        'plugin "odd" from bliss-odd 0.3 was skipped at door "import": ModuleNotFoundError: No module named \'librosa\'. '
        "Remedy: pip install librosa, or pip uninstall bliss-odd.",
    )


def test_healthy_installation_has_no_problems(site):
    """Where nothing is broken there is nothing to read."""
    site.plugin(GOOD)
    plugins = load_plugins()
    assert plugins.problems() == ()
    assert names(report_of(plugins, "odd")) == [("reward", "fine")]


def test_report_is_the_promised_json(site):
    """The JSON of a plugin has the promised keys, for a healthy and for a broken one."""
    site.plugin(HOOK + "bliss_rewards(): return [Component('fine', dict, 'A line')]\n")
    assert report_of(load_plugins(), "odd").as_dict() == {
        "name": "odd",
        "distribution": "bliss-odd",
        "version": "0.3",
        "state": "ok",
        "door": None,
        "reason": None,
        "remedy": None,
        "components": [{"kind": "reward", "name": "fine", "summary": "A line"}],
    }
    broken = evolve(report_of(load_plugins(), "odd"), state="broken", door="call", reason="why", remedy="what")
    assert broken.as_dict() | {"components": 0} == {
        "name": "odd",
        "distribution": "bliss-odd",
        "version": "0.3",
        "state": "broken",
        "door": "call",
        "reason": "why",
        "remedy": "what",
        "components": 0,
    }


def test_every_hook_but_the_observers_registers_a_kind():
    """Each kind has its hook, and each registration hook its kind."""
    assert set(registration_hooks()) == set(host_hooks()) - {"bliss_observers"}


@pytest.mark.parametrize("hook", sorted(registration_hooks()))
def test_every_registration_hook_is_called(site, hook):
    """A component offered under any hook is found under the hook's kind."""
    site.offering("bliss-odd", "odd", hook, "thing")
    assert load_plugins().registry.names(registration_hooks()[hook]) == ("thing",)


# Metadata


def test_malformed_metadata_can_be_blocked_by_the_name_in_the_report(site):
    """Where a file cannot be read the report bears the distribution's name, which can be blocked."""
    site.dist("bliss-bad", "[bliss_framework]\nno equals sign\n")
    report = report_of(load_plugins(), "bliss-bad")
    assert (report.state, report.door) == ("broken", "metadata")
    assert report.remedy == "pip install --force-reinstall bliss-bad, or pip uninstall bliss-bad"
    assert report_of(load_plugins(block=["bliss-bad"]), "bliss-bad").state == "blocked"


def test_nameless_distribution_gets_no_pip_command(site):
    """Nobody is told to uninstall a distribution whose name is not known."""
    site.dist("bliss-torn", "torn = torn_hooks", metadata="")
    assert "pip" not in report_of(load_plugins(), "torn").remedy


def test_two_distributions_with_one_plugin_name(site):
    """Neither of two plugins with one name is loaded, both reports name both, and others still load."""
    for distribution in ("reg-one", "reg-two"):
        site.offering(distribution, "mil2", "bliss_regimes", distribution)
    site.offering("reg-three", "zz", "bliss_regimes", "third")
    plugins = load_plugins()
    rivals = [one for one in plugins.reports if one.name == "mil2"]
    assert [(one.state, one.door, one.distribution) for one in rivals] == [
        ("broken", "metadata", "reg-one"),
        ("broken", "metadata", "reg-two"),
    ]
    for one in rivals:
        assert "reg-one 1.0" in one.reason
        assert "reg-two 1.0" in one.reason
        assert one.remedy == f"--block-plugin {one.distribution}, or pip uninstall {one.distribution}"
    assert plugins.registry.names("regime") == ("third",)


def test_blocking_one_distribution_frees_the_name(site):
    """Of two plugins with one name the other one loads where one distribution is blocked."""
    for distribution in ("reg-one", "reg-two"):
        site.offering(distribution, "mil2", "bliss_regimes", distribution)
    plugins = load_plugins(block=("reg-one",))
    assert plugins.registry.names("regime") == ("reg-two",)
    assert [one.state for one in plugins.reports] == ["blocked", "ok"]


def test_builtin_plugin_is_never_replaced(site):
    """A stranger that takes the name of a built-in plugin is broken; the built-in one stays."""
    site.offering("bliss-framework", "mil", "bliss_regimes", "mil")
    site.offering("a-stranger", "mil", "bliss_regimes", "other")
    plugins = load_plugins()
    ours, theirs = plugins.reports
    assert (ours.distribution, ours.state) == ("bliss-framework", "ok")
    assert (theirs.distribution, theirs.state, theirs.door) == ("a-stranger", "broken", "metadata")
    assert "never replaced" in theirs.reason
    assert plugins.registry.names("regime") == ("mil",)


def test_same_distribution_twice_on_the_path_is_one(site):
    """A second copy of a distribution is no rival of the first."""
    site.offering("bliss-odd", "odd", "bliss_regimes", "old", version="0.1")
    site.offering("bliss-odd", "odd", "bliss_regimes", "new", version="0.2")
    assert report_of(load_plugins(), "odd").version == "0.2"


# Import


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("import librosa.core\n", "pip install librosa, or pip uninstall bliss-odd"),
        ("raise ImportError(\"No module named 'librosa'\")\n", "pip install librosa, or pip uninstall bliss-odd"),
        ("raise ValueError('x')\n", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("from math import librosa\n", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("def broken(:\n", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
    ],
)
def test_remedy_of_a_failed_import(site, source, remedy):
    """A missing module is to be installed; for anything else a newer version of the plugin, or none, is the remedy."""
    report = odd_report(site, source)
    assert (report.state, report.door, report.remedy) == ("broken", "import", remedy)


def test_entry_point_whose_own_module_is_gone(site):
    """Where the plugin's own module is missing its distribution is to be installed anew."""
    report = odd_report(site, GOOD, "odd_gone")
    assert report.remedy == "pip install --force-reinstall bliss-odd, or pip uninstall bliss-odd"


def test_broken_builtin_is_not_to_be_uninstalled(site):
    """The remedy for a built-in plugin never is to uninstall the framework."""
    site.dist("bliss-framework", "mil = gone_hooks")
    assert report_of(load_plugins(), "mil").remedy == "pip install --force-reinstall bliss-framework"


def test_interrupt_at_import_ends_the_run(site):
    """Ctrl-C while a plugin is imported is the user's and is not swallowed."""
    site.plugin("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_plugins()


def test_missing_object_is_an_import_matter(site):
    """An entry point that names an object that its module lacks is broken at import."""
    report = odd_report(site, GOOD, "odd_hooks:absent")
    assert report.door == "import"
    assert "absent" in report.reason


# Register

INSTANCE = (
    HEAD
    + """
class Odd:
    @hookimpl
    def bliss_rewards(self):
        return [Component("fine", dict)]

plugin = Odd()
"""
)


def test_instance_is_a_plugin(site):
    """The value of an entry point may be an instance whose methods are hooks."""
    assert names(odd_report(site, INSTANCE, "odd_hooks:plugin")) == [("reward", "fine")]


def test_class_is_refused_with_what_to_write(site):
    """A class instead of an instance is refused in words that an author can paste."""
    report = odd_report(site, INSTANCE, "odd_hooks:Odd")
    assert (report.state, report.door) == ("broken", "register")
    assert "names the class Odd" in report.reason
    assert 'plugin = Odd() and odd = "odd_hooks:plugin"' in report.remedy


def test_old_plugin_that_asks_for_an_argument_that_is_gone(site):
    """A plugin for another specification is skipped with hook, argument, host version and what the host passes."""
    site.plugin(HOOK + "bliss_observers(run, groups): return []\n")
    (sentence,) = load_plugins().problems()
    assert 'plugin "odd" from bliss-odd 0.3 was skipped at door "register"' in sentence
    assert 'bliss_observers asks for the argument "groups"' in sentence
    assert f"bliss-framework {__version__} passes to bliss_observers: run" in sentence


def test_hook_without_arguments_says_so(site):
    """Where a hook has no arguments the message says that nothing is passed."""
    assert "passes to bliss_rewards: nothing" in odd_report(site, HOOK + "bliss_rewards(bags): return []\n").reason


@pytest.mark.parametrize("arguments", ["*, run", "*, run=7", "run, /"])
def test_arguments_that_are_not_ordinary_are_refused_at_once(site, arguments):
    """A keyword-only or positional-only argument is refused when the plugin is registered, not when it is called."""
    report = odd_report(site, HOOK + f"bliss_observers({arguments}): return []\n")
    assert (report.state, report.door) == ("broken", "register")
    assert 'argument "run" of bliss_observers' in report.reason
    assert "-only" in report.reason


@pytest.mark.parametrize("option", ["wrapper=True", "hookwrapper=True"])
def test_wrapper_is_refused(site, option):
    """A hook wrapper has nothing to wrap, because hooks are called one plugin at a time."""
    source = GOOD.replace("@hookimpl", f"@hookimpl({option})")
    report = odd_report(site, source)
    assert report.door == "register"
    assert "cannot wrap" in report.reason


def test_one_object_under_two_names(site):
    """One module named by two plugins is loaded once, and the second report names the first."""
    site.dist("bliss-twin", "one = twin_hooks\ntwo = twin_hooks", {"twin_hooks": GOOD})
    plugins = load_plugins()
    assert report_of(plugins, "one").state == "ok"
    assert report_of(plugins, "two").door == "register"
    assert 'plugin "one" is the same object' in report_of(plugins, "two").reason
    assert plugins.registry.names("reward") == ("fine",)


def test_plugin_whose_attributes_raise_is_refused(site):
    """An object that cannot even be looked at costs only itself."""
    source = "class Odd:\n    def __dir__(self): raise ValueError('no entry')\nplugin = Odd()\n"
    report = odd_report(site, source, "odd_hooks:plugin")
    assert (report.door, report.reason) == ("register", "ValueError: no entry")


# Hooks


def test_misspelt_hook_beside_a_good_one(site):
    """A hook that the host does not know costs only itself, and the report offers the closest name."""
    report = odd_report(site, GOOD + "@hookimpl\ndef bliss_strategy(): return []\n")
    assert (report.state, report.door) == ("ok", "hooks")
    assert "bliss_strategy (did you mean bliss_strategies?) is no hook" in report.reason
    assert "written for a newer host, or misspelt" in report.reason
    assert names(report) == [("reward", "fine")]


def test_part_of_a_plugin_reads_as_a_sentence(site):
    """A plugin that works in part is a problem to read about, and is not called skipped."""
    site.plugin(GOOD + "@hookimpl\ndef bliss_strategy(): return []\n")
    (sentence,) = load_plugins().problems()
    assert sentence.startswith('plugin "odd" from bliss-odd 0.3 works only in part')


def test_only_unknown_hooks(site):
    """A plugin with no hook that the host knows is broken; a name near none is named alone."""
    report = odd_report(site, HOOK + "xyz(): return []\n")
    assert (report.state, report.door) == ("broken", "hooks")
    assert report.reason.startswith("xyz is no hook of")
    assert "pip install --upgrade bliss-framework" in report.remedy


def test_optional_hook_of_a_newer_host_is_fine(site):
    """A plugin for two hosts marks the newer hook as optional and hears nothing; alone such a hook is not enough."""
    optional = "@hookimpl(optionalhook=True)\ndef bliss_losses(): return []\n"
    assert odd_report(site, GOOD + optional).door is None
    site.dist("bliss-newer", "newer = newer_hooks", {"newer_hooks": HEAD + optional})
    assert report_of(load_plugins(), "newer").door == "hooks"


def test_hook_may_have_another_function_name(site):
    """A function may say which hook it implements."""
    source = HEAD + "@hookimpl(specname='bliss_rewards')\ndef mine(): return [Component('fine', dict)]\n"
    assert names(odd_report(site, source)) == [("reward", "fine")]


def test_forgotten_marker(site):
    """A function with a hook's name but no marker is found, and the remedy names the marker."""
    report = odd_report(site, HEAD + "def bliss_rewards(): return []\n")
    assert (report.state, report.door) == ("broken", "hooks")
    assert "write @hookimpl above bliss_rewards (from bliss_framework import hookimpl)" in report.remedy


def test_forgotten_marker_beside_a_good_hook(site):
    """One forgotten marker does not cost the hooks that have theirs."""
    report = odd_report(site, GOOD + "def bliss_regimes(): return []\n")
    assert (report.state, report.door) == ("ok", "hooks")
    assert "never called: bliss_regimes" in report.reason
    assert names(report) == [("reward", "fine")]


@pytest.mark.parametrize(("source", "value"), [("x = 1\n", "odd_hooks"), ("x = None\n", "odd_hooks:x")])
def test_no_hook_at_all(site, source, value):
    """A plugin without hooks is told which hooks there are, and the marker."""
    report = odd_report(site, source, value)
    assert (report.state, report.door) == ("broken", "hooks")
    assert "bliss_strategies" in report.reason
    assert "@hookimpl" in report.remedy


def test_imported_specification_is_no_forgotten_marker(site):
    """A plugin that imports a specification has not forgotten anything."""
    source = GOOD + "from bliss_framework.extension.hookspecs import bliss_regimes\n"
    assert odd_report(site, source).door is None


# Call


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("None", "returned None; it must return a list"),
        ("Component('fine', dict)", "returned Component"),
        ("['fine']", "offers str 'fine'"),
        ("[Component('fine', dict), dict]", "must offer Component(name, factory, summary) only"),
        ("[Component('Mean Ridge', dict)]", 'such as "mean-ridge"'),
        ("[Component(3, dict)]", "offers the name 3"),
        ("[Component('fine', 7)]", 'the factory of "fine" in bliss_rewards is int 7'),
        ("[Component('fine', dict), Component('fine', list)]", 'the name "fine" twice'),
        ("(Component('fine', 1 / 0) for _ in 'ab')", "raised ZeroDivisionError"),
        ("exit(2)", "raised SystemExit: 2"),
    ],
)
def test_answers_that_are_no_components(site, answer, said):
    """A registration hook that answers with anything but proper components costs its plugin, and only that."""
    site.offering("bliss-good", "good", "bliss_rewards", "good")
    report = odd_report(site, HOOK + f"bliss_rewards(): return {answer}\n")
    assert (report.state, report.door, report.components) == ("broken", "call", ())
    assert said in report.reason
    assert load_plugins().registry.names("reward") == ("good",)


def test_one_bad_hook_drops_the_whole_plugin(site):
    """A plugin with one raising hook offers nothing, and its observers are not asked either."""
    source = (
        GOOD + "@hookimpl\ndef bliss_strategies(): raise ValueError\n@hookimpl\ndef bliss_observers(): raise OSError\n"
    )
    site.plugin(source)
    plugins = load_plugins()
    assert report_of(plugins, "odd").reason == "bliss_strategies raised ValueError"
    assert plugins.registry.names("reward") == ()
    assert plugins.observers(run=None) == []


def test_hook_may_be_a_generator(site):
    """A hook may yield its components one by one."""
    assert names(odd_report(site, HOOK + "bliss_rewards(): yield Component('fine', dict)\n")) == [("reward", "fine")]


def test_default_of_an_argument_that_the_host_lacks_stays(site):
    """An implementation may have an argument of another host, if it has a default."""
    source = HOOK + "bliss_rewards(bags='fine'): return [Component(bags, dict)]\n"
    assert names(odd_report(site, source)) == [("reward", "fine")]


def test_stranger_cannot_take_a_builtin_component_name(site):
    """A built-in component stays where a stranger offers its name; the stranger's other components work."""
    site.offering("bliss-framework", "mil", "bliss_rewards", "fine")
    site.plugin(HOOK + "bliss_rewards(): return [Component('fine', list), Component('own', list)]\n")
    plugins = load_plugins()
    report = report_of(plugins, "odd")
    assert (report.state, report.door) == ("ok", "call")
    assert 'its reward "fine" was refused' in report.reason
    assert names(report) == [("reward", "own")]
    assert plugins.registry.get("reward", "fine").factory is dict
    assert report_of(plugins, "mil").door is None


def test_component_name_of_two_strangers_is_ambiguous(site):
    """Two strangers with one component name: both reports name the other, and using the name is an error."""
    site.offering("dist-one", "one", "bliss_rewards", "same")
    site.offering("dist-two", "two", "bliss_rewards", "same")
    plugins = load_plugins()
    for name, other in [("one", "two"), ("two", "one")]:
        report = report_of(plugins, name)
        assert (report.state, report.door) == ("ok", "call")
        assert f'plugin "{other}" from dist-{other}' in report.reason
        assert "--block-plugin" in report.remedy
    with pytest.raises(PluginError, match=r"dist-one and by .*dist-two"):
        plugins.registry.get("reward", "same")
    assert load_plugins(block=["two"]).registry.names("reward") == ("same",)


def test_one_name_of_two_kinds_is_no_conflict(site):
    """A regime and a reward may share a name."""
    site.offering("dist-one", "one", "bliss_rewards", "same")
    site.offering("dist-two", "two", "bliss_regimes", "same")
    assert load_plugins().problems() == ()


def test_second_complaint_is_added_to_the_first(site):
    """A plugin with an unknown hook and a refused component reports both; the door is the first one's."""
    site.offering("bliss-framework", "mil", "bliss_rewards", "fine")
    report = odd_report(site, GOOD + "@hookimpl\ndef bliss_rewrads(): return []\n")
    assert (report.state, report.door) == ("ok", "hooks")
    assert "bliss_rewrads" in report.reason
    assert 'its reward "fine" was refused' in report.reason


# Blocked


@pytest.mark.parametrize("block", ["odd", "bliss-odd", "Bliss_Odd", "ODD"])
def test_blocked_plugin_is_not_imported(site, block):
    """A plugin is blocked by its name or its distribution's, however spelt; its code is not run, and that is no problem."""
    site.plugin(GOOD)
    plugins = load_plugins(block=[block])
    assert report_of(plugins, "odd").state == "blocked"
    assert plugins.registry.names("reward") == ()
    assert plugins.problems() == ()
    assert "odd_hooks" not in sys.modules


def test_environment_blocks_as_well(site, monkeypatch):
    """BLISS_BLOCK_PLUGINS adds to what the caller blocks."""
    for name in ("one", "two", "three"):
        site.offering(f"dist-{name}", name, "bliss_rewards", name)
    monkeypatch.setenv("BLISS_BLOCK_PLUGINS", " one , dist-two,,")
    assert load_plugins().registry.names("reward") == ("three",)
    assert load_plugins(block=["three"]).registry.names("reward") == ()


def test_block_may_be_one_word(site):
    """A bare string blocks the plugin of that name, and not those named like its letters."""
    site.plugin(GOOD)
    assert report_of(load_plugins(block="odd"), "odd").state == "blocked"


# Strict


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("raise ZeroDivisionError\n", ZeroDivisionError),
        ("import sys; sys.exit(3)\n", SystemExit),
        (HOOK + "bliss_rewards(): return 1 / 0\n", ZeroDivisionError),
        (HOOK + "bliss_rewards(x): return []\n", type(None)),
    ],
)
def test_strict_mode_stops_with_the_cause(site, source, cause):
    """In strict mode the first broken plugin is an error, with the plugin's own exception behind it."""
    site.plugin(source)
    with pytest.raises(PluginError, match=r'plugin "odd" from bliss-odd 0\.3 was skipped at door') as caught:
        load_plugins(strict=True)
    assert isinstance(caught.value.__cause__, cause)


def test_strict_mode_stops_at_malformed_metadata(site):
    """Strict mode shows the parser's exception behind a malformed file."""
    site.dist("bliss-bad", "[bliss_framework]\nno equals sign\n")
    with pytest.raises(PluginError) as caught:
        load_plugins(strict=True)
    assert "no equals sign" in str(caught.value.__cause__)


def test_strict_mode_lets_a_plugin_pass_that_works_in_part(site):
    """An unknown hook of a newer host is no reason to stop, and neither is a blocked plugin."""
    site.plugin(GOOD + "@hookimpl\ndef bliss_rewrads(): return []\n")
    site.dist("bliss-bad", "bad = gone_hooks")
    assert load_plugins(strict=True, block=["bad"]).registry.names("reward") == ("fine",)


# Observers

OBSERVER = HEAD + "class Ear:\n    def __init__(self, run=None): self.run = run\n    def notify(self, event): pass\n"


@pytest.mark.parametrize(
    ("arguments", "heard"), [("run", "run"), ("run=7", "run"), ("**given", "given['run']"), ("", "None")]
)
def test_observers_get_the_run_they_ask_for(site, arguments, heard):
    """An implementation gets the passed run, also in place of a default; one that does not ask for it works as well."""
    site.plugin(OBSERVER + f"@hookimpl\ndef bliss_observers({arguments}): return [Ear({heard})]\n")
    (ear,) = load_plugins().observers(run="this run")
    assert ear.run == ("this run" if arguments else None)


@pytest.mark.parametrize(
    ("answer", "said"),
    [("1 / 0", "ZeroDivisionError"), ("None", "returned None"), ("[3]", "offers 3, which has no method notify")],
)
def test_plugin_that_cannot_observe_is_left_out_with_a_warning(site, answer, said):
    """One plugin that fails to give its observers does not silence another, and a warning names it."""
    good = OBSERVER + "@hookimpl\ndef bliss_observers(): return [Ear()]\n"
    site.dist("bliss-good", "good = good_ears", {"good_ears": good})
    site.plugin(OBSERVER + f"@hookimpl\ndef bliss_observers(run): return {answer}\n")
    site.dist("bliss-fine", "fine = fine_ears", {"fine_ears": good})
    plugins = load_plugins()
    with pytest.warns(RuntimeWarning, match=r'plugin "odd" from bliss-odd 0\.3 are left out') as caught:
        observers = plugins.observers(run=None)
    assert len(observers) == 2
    assert said in str(caught[0].message)


def test_observers_wants_its_argument_by_its_name(site):
    """The host cannot call its own hook with an unknown argument, or without the run."""
    plugins = load_plugins()
    with pytest.raises(TypeError, match="zzz"):
        plugins.observers(run=None, zzz=3)
    with pytest.raises(TypeError, match="run"):
        plugins.observers()


# Default plugins


def test_default_plugins_are_loaded_once(site):
    """The same path and the same blocked names give the same plugins, without loading them again."""
    site.plugin(GOOD)
    assert default_plugins() is default_plugins()
    assert default_plugins().registry.names("reward") == ("fine",)


def test_default_plugins_follow_path_and_environment(site, monkeypatch):
    """A new folder on the path, or a newly blocked plugin, is seen at once and needs no reset."""
    site.plugin(GOOD)
    assert default_plugins().registry.names("regime") == ()
    site.offering("bliss-late", "late", "bliss_regimes", "late")
    assert default_plugins().registry.names("regime") == ("late",)
    monkeypatch.setenv("BLISS_BLOCK_PLUGINS", "odd")
    assert default_plugins().registry.names("reward") == ()


def test_builtin_plugins_come_first(site):
    """Reports list the built-in plugins, then the strangers by name."""
    site.offering("a-dist", "a", "bliss_rewards", "a")
    site.offering("bliss-framework", "z", "bliss_rewards", "z")
    site.offering("b-dist", "b", "bliss_rewards", "b")
    assert [one.name for one in load_plugins().reports] == ["z", "a", "b"]


def test_loading_twice_gives_independent_plugins(site):
    """There is no global manager: each load is a fresh one with the same result."""
    site.plugin(GOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = load_plugins(), load_plugins()
    assert first is not second
    assert first.reports == second.reports
    assert isinstance(second.reports[0].components[0][1], Component)
