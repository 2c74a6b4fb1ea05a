"""Five stages: what stops a plugin at each of them, and what the user reads."""

import pytest

from bliss_framework import PluginError, __version__
from bliss_framework.extension.loading import plugins
from bliss_framework.extension.loading.discovery import find_entries
from bliss_framework.extension.loading.plugins import Plugins, load_plugins
from bliss_framework.extension.loading.reports import PluginReport

HOOK = "@hookimpl\ndef "
GOOD = HOOK + "bliss_rewards(): return [Component('fine', dict)]\n"


def report_of(loaded: Plugins, name: str) -> PluginReport:
    (report,) = [one for one in loaded.reports if one.name == name]
    return report


def names(report: PluginReport) -> list[tuple[str, str]]:
    return [(kind, component.name) for kind, component in report.components]


# Metadata


def test_malformed_metadata_can_be_blocked_by_the_name_in_the_report(site):
    """Where a file cannot be read the report bears the distribution's name, which can be blocked."""
    site.dist("bliss-bad", "[bliss_framework]\nno equals sign\n")
    report = site.report("bliss-bad")
    assert (report.state, report.stage) == ("broken", "metadata")
    assert report.hint == "pip install --force-reinstall bliss-bad, or pip uninstall bliss-bad"
    assert site.report("bliss-bad", block=["bliss-bad"]).state == "blocked"


def test_nameless_distribution_gets_no_pip_command(site):
    """Nobody is told to uninstall a distribution whose name is not known."""
    site.dist("bliss-torn", "torn = torn_hooks", metadata="")
    assert "pip" not in site.report("torn").hint


def test_two_distributions_with_one_plugin_name(site):
    """Neither of two plugins with one name is loaded, both reports name both, and others still load."""
    for distribution in ("reg-one", "reg-two"):
        site.registering(distribution, "mil2", "bliss_regimes", distribution)
    site.registering("reg-three", "zz", "bliss_regimes", "third")
    plugins = load_plugins()
    both = [one for one in plugins.reports if one.name == "mil2"]
    assert [(one.state, one.stage, one.distribution) for one in both] == [
        ("broken", "metadata", "reg-one"),
        ("broken", "metadata", "reg-two"),
    ]
    for one in both:
        assert "reg-one 1.0" in one.reason
        assert "reg-two 1.0" in one.reason
        assert one.hint == f"--block-plugin {one.distribution}, or pip uninstall {one.distribution}"
    assert plugins.registry.names("regime") == ("third",)


def test_blocking_one_distribution_frees_the_name(site):
    """Of two plugins with one name the other one loads where one distribution is blocked."""
    for distribution in ("reg-one", "reg-two"):
        site.registering(distribution, "mil2", "bliss_regimes", distribution)
    plugins = load_plugins(block=("reg-one",))
    assert plugins.registry.names("regime") == ("reg-two",)
    assert [one.state for one in plugins.reports] == ["blocked", "ok"]


def test_builtin_plugin_is_never_replaced(site):
    """A third-party plugin that takes the name of a built-in plugin is broken; the built-in one stays."""
    site.registering("bliss-framework", "mil", "bliss_regimes", "mil")
    site.registering("a-third", "mil", "bliss_regimes", "other")
    plugins = load_plugins()
    ours, theirs = plugins.reports
    assert (ours.distribution, ours.state) == ("bliss-framework", "ok")
    assert (theirs.distribution, theirs.state, theirs.stage) == ("a-third", "broken", "metadata")
    assert "never replaced" in theirs.reason
    assert plugins.registry.names("regime") == ("mil",)


def test_same_distribution_twice_on_the_path_is_one(site):
    """A second copy of a distribution is no conflict with the first."""
    site.registering("bliss-odd", "odd", "bliss_regimes", "old", version="0.1")
    site.registering("bliss-odd", "odd", "bliss_regimes", "new", version="0.2")
    assert site.report("odd").version == "0.2"


# Import


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("import no_codec.core\n", "pip install --force-reinstall bliss-odd, or pip uninstall bliss-odd"),
        (
            "raise ImportError(\"No module named 'no_codec'\")\n",
            "pip install --force-reinstall bliss-odd, or pip uninstall bliss-odd",
        ),
        ("raise ValueError('x')\n", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("from math import no_codec\n", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("def broken(:\n", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
    ],
)
def test_hint_of_a_failed_import(site, source, hint):
    """What a plugin needs comes with it when it is installed again; otherwise a newer version, or none, is the hint."""
    report = site.judge(source)
    assert (report.state, report.stage, report.hint) == ("broken", "import", hint)


def test_entry_point_whose_own_module_is_gone(site):
    """Where the plugin's own module is missing its distribution is to be installed anew."""
    report = site.judge(GOOD, "odd_gone")
    assert report.hint == "pip install --force-reinstall bliss-odd, or pip uninstall bliss-odd"


def test_broken_builtin_is_not_to_be_uninstalled(site):
    """The hint for a built-in plugin never is to uninstall the framework."""
    site.dist("bliss-framework", "mil = gone_hooks")
    assert site.report("mil").hint == "pip install --force-reinstall bliss-framework"


def test_interrupt_at_import_ends_the_run(site):
    """Ctrl-C while a plugin is imported is the user's and is not swallowed."""
    site.plugin("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_plugins()


@pytest.mark.parametrize(
    "text", ['MemoryError("no")', 'ImportError("libx.so: failed to map segment from shared object")']
)
def test_lack_of_memory_is_no_fault_of_the_plugin(site, text):
    """What the machine lacks while a plugin is imported comes through; reinstalling the plugin would not help."""
    site.plugin(f"raise {text}\n")
    with pytest.raises((MemoryError, ImportError)):
        load_plugins()


def test_missing_object_is_an_import_matter(site):
    """An entry point that names an object that its module lacks is broken at import."""
    report = site.judge(GOOD, "odd_hooks:absent")
    assert report.stage == "import"
    assert "absent" in report.reason


# Register

INSTANCE = """
class Odd:
    @hookimpl
    def bliss_rewards(self):
        return [Component("fine", dict)]

plugin = Odd()
"""


def test_instance_is_a_plugin(site):
    """The value of an entry point may be an instance whose methods are hooks."""
    assert names(site.judge(INSTANCE, "odd_hooks:plugin")) == [("reward", "fine")]


def test_class_is_refused_with_what_to_write(site):
    """A class instead of an instance is refused in words that an author can paste."""
    report = site.judge(INSTANCE, "odd_hooks:Odd")
    assert (report.state, report.stage) == ("broken", "register")
    assert "names the class Odd" in report.reason
    assert 'plugin = Odd() and odd = "odd_hooks:plugin"' in report.hint


def test_old_plugin_that_asks_for_an_argument_that_is_gone(site):
    """A plugin for another specification is left out with hook, argument, host version and what the host passes."""
    site.plugin(HOOK + "bliss_observers(run, groups): return []\n")
    (sentence,) = load_plugins().problems()
    assert 'Plugin "odd" from bliss-odd 0.3 is not loaded: it cannot be registered: ' in sentence
    assert 'bliss_observers asks for the argument "groups"' in sentence
    assert f"bliss-framework {__version__} passes to bliss_observers: run" in sentence


def test_hook_without_arguments_says_so(site):
    """Where a hook has no arguments the message says that nothing is passed."""
    assert "passes to bliss_rewards: nothing" in site.judge(HOOK + "bliss_rewards(bags): return []\n").reason


@pytest.mark.parametrize("arguments", ["*, run", "*, run=7", "run, /"])
def test_arguments_that_are_not_ordinary_are_refused_at_once(site, arguments):
    """A keyword-only or positional-only argument is refused when the plugin is registered, not when it is called."""
    report = site.judge(HOOK + f"bliss_observers({arguments}): return []\n")
    assert (report.state, report.stage) == ("broken", "register")
    assert 'argument "run" of bliss_observers' in report.reason
    assert "-only" in report.reason


@pytest.mark.parametrize("option", ["wrapper=True", "hookwrapper=True"])
def test_wrapper_is_refused(site, option):
    """A hook wrapper has nothing to wrap, because hooks are called one plugin at a time."""
    source = GOOD.replace("@hookimpl", f"@hookimpl({option})")
    report = site.judge(source)
    assert report.stage == "register"
    assert "cannot wrap" in report.reason


def test_one_object_under_two_names(site):
    """One module named by two plugins is loaded once, and the second report names the first."""
    site.dist("bliss-twin", "one = twin_hooks\ntwo = twin_hooks", {"twin_hooks": GOOD})
    plugins = load_plugins()
    assert report_of(plugins, "one").state == "ok"
    assert report_of(plugins, "two").stage == "register"
    assert 'plugin "one" is the same object' in report_of(plugins, "two").reason
    assert plugins.registry.names("reward") == ("fine",)


def test_plugin_whose_attributes_raise_is_refused(site):
    """An object that cannot even be looked at costs only itself."""
    source = "class Odd:\n    def __dir__(self): raise ValueError('no entry')\nplugin = Odd()\n"
    report = site.judge(source, "odd_hooks:plugin")
    assert (report.stage, report.reason) == ("register", "ValueError: no entry")


# Hooks


def test_misspelt_hook_beside_a_good_one(site):
    """A hook that the host does not know costs only itself, and the report offers the closest name."""
    report = site.judge(GOOD + "@hookimpl\ndef bliss_strategy(): return []\n")
    assert (report.state, report.stage) == ("ok", "hooks")
    assert "bliss_strategy (did you mean bliss_strategies?) is no hook" in report.reason
    assert "written for a newer host, or misspelt" in report.reason
    assert names(report) == [("reward", "fine")]


def test_part_of_a_plugin_reads_as_a_sentence(site):
    """A plugin that is partly loaded is a problem to read about, and says which hook failed."""
    site.plugin(GOOD + "@hookimpl\ndef bliss_strategy(): return []\n")
    (sentence,) = load_plugins().problems()
    assert sentence.startswith('Plugin "odd" from bliss-odd 0.3 is partly loaded: bliss_strategy ')


def test_only_unknown_hooks(site):
    """A plugin with no hook that the host knows is broken; a name near none is named alone."""
    report = site.judge(HOOK + "xyz(): return []\n")
    assert (report.state, report.stage) == ("broken", "hooks")
    assert report.reason.startswith("xyz is no hook of")
    assert "pip install --upgrade bliss-framework" in report.hint


def test_optional_hook_of_a_newer_host_is_fine(site):
    """A plugin for two hosts marks the newer hook as optional and hears nothing; alone such a hook is not enough."""
    optional = "@hookimpl(optionalhook=True)\ndef bliss_losses(): return []\n"
    assert site.judge(GOOD + optional).stage is None
    site.dist("bliss-newer", "newer = newer_hooks", {"newer_hooks": optional})
    newer = site.report("newer")
    assert newer.stage == "hooks"
    assert newer.reason.startswith("bliss_losses")


def test_hook_may_have_another_function_name(site):
    """A function may say which hook it implements."""
    source = "@hookimpl(specname='bliss_rewards')\ndef mine(): return [Component('fine', dict)]\n"
    assert names(site.judge(source)) == [("reward", "fine")]


def test_forgotten_marker(site):
    """A function with a hook's name but no marker is found, and the hint names the marker."""
    report = site.judge("def bliss_rewards(): return []\n")
    assert (report.state, report.stage) == ("broken", "hooks")
    assert "write @hookimpl above bliss_rewards (from bliss_framework import hookimpl)" in report.hint


def test_forgotten_marker_beside_a_good_hook(site):
    """One forgotten marker does not cost the hooks that have theirs."""
    report = site.judge(GOOD + "def bliss_regimes(): return []\n")
    assert (report.state, report.stage) == ("ok", "hooks")
    assert "never called: bliss_regimes" in report.reason
    assert names(report) == [("reward", "fine")]


@pytest.mark.parametrize(("source", "value"), [("x = 1\n", "odd_hooks"), ("x = None\n", "odd_hooks:x")])
def test_no_hook_at_all(site, source, value):
    """A plugin without hooks is told which hooks there are, and the marker."""
    report = site.judge(source, value)
    assert (report.state, report.stage) == ("broken", "hooks")
    assert "bliss_strategies" in report.reason
    assert "@hookimpl" in report.hint


def test_imported_specification_is_no_forgotten_marker(site):
    """A plugin that imports a specification has not forgotten anything."""
    source = GOOD + "from bliss_framework.extension.hookspecs import bliss_regimes\n"
    assert site.judge(source).stage is None


# Call


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("None", "returned None; it must return a list"),
        ("Component('fine', dict)", "returned Component"),
        ("['fine']", "returned str 'fine' in its list"),
        ("[Component('fine', dict), dict]", "allowed are Component(name, factory, summary) only"),
        ("[Component('Mean Ridge', dict)]", 'such as "mean-ridge"'),
        ("[Component(3, dict)]", "returned the name 3"),
        ("[Component('fine', 7)]", 'the factory of "fine" in bliss_rewards is int 7'),
        ("[Component('fine', dict), Component('fine', list)]", 'the name "fine" twice'),
        ("(Component('fine', 1 / 0) for _ in 'ab')", "raised ZeroDivisionError"),
        ("exit(2)", "raised SystemExit: 2"),
        ("[Component('fine', dict, saved_types='os.system')]", 'saved_types of "fine" in bliss_rewards is str'),
        ("[Component('fine', dict, saved_types=('os.*',))]", "allowed is a tuple of full names"),
        ("[Component('fine', dict, saved_types=('Bare',))]", "allowed is a tuple of full names"),
        ("[Component('fine', dict, most_rows=0)]", 'most_rows of "fine" in bliss_rewards is int 0'),
        ("[Component('fine', dict, most_rows='many')]", "allowed are None and a positive integer"),
    ],
)
def test_answers_that_are_no_components(site, answer, said):
    """A registration hook that answers with anything but proper components costs its plugin, and only that."""
    site.registering("bliss-good", "good", "bliss_rewards", "good")
    report = site.judge(HOOK + f"bliss_rewards(): return {answer}\n")
    assert (report.state, report.stage, report.components) == ("broken", "call", ())
    assert said in report.reason
    assert load_plugins().registry.names("reward") == ("good",)


def test_one_bad_hook_drops_the_whole_plugin(site):
    """A plugin with one raising hook registers nothing, and its observers are not asked either."""
    source = (
        GOOD + "@hookimpl\ndef bliss_strategies(): raise ValueError\n@hookimpl\ndef bliss_observers(): raise OSError\n"
    )
    site.plugin(source)
    plugins = load_plugins()
    assert report_of(plugins, "odd").reason == "hook bliss_strategies raised ValueError"
    assert plugins.registry.names("reward") == ()
    assert plugins.observers(run=None) == []


def test_hook_may_be_a_generator(site):
    """A hook may yield its components one by one."""
    assert names(site.judge(HOOK + "bliss_rewards(): yield Component('fine', dict)\n")) == [("reward", "fine")]


def test_default_of_an_argument_that_the_host_lacks_stays(site):
    """An implementation may have an argument of another host, if it has a default."""
    source = HOOK + "bliss_rewards(bags='fine'): return [Component(bags, dict)]\n"
    assert names(site.judge(source)) == [("reward", "fine")]


def test_third_party_cannot_take_a_builtin_component_name(site):
    """A built-in component stays where a third party registers its name; the other components work."""
    site.registering("bliss-framework", "mil", "bliss_rewards", "fine")
    site.plugin(HOOK + "bliss_rewards(): return [Component('fine', list), Component('own', list)]\n")
    plugins = load_plugins()
    report = report_of(plugins, "odd")
    assert (report.state, report.stage) == ("ok", "call")
    assert 'its reward "fine" was refused' in report.reason
    assert names(report) == [("reward", "own")]
    assert plugins.registry.get("reward", "fine").factory is dict
    assert report_of(plugins, "mil").stage is None


def test_component_name_of_two_third_parties_is_ambiguous(site):
    """Two third parties with one component name: both reports name the other, and using the name is an error."""
    site.registering("dist-one", "one", "bliss_rewards", "same")
    site.registering("dist-two", "two", "bliss_rewards", "same")
    plugins = load_plugins()
    for name, other in [("one", "two"), ("two", "one")]:
        report = report_of(plugins, name)
        assert (report.state, report.stage) == ("ok", "call")
        assert f'plugin "{other}" from dist-{other}' in report.reason
        assert "--block-plugin" in report.hint
    with pytest.raises(PluginError, match=r"dist-one 1.0 and by .*dist-two 1.0"):
        plugins.registry.get("reward", "same")
    assert load_plugins(block=["two"]).registry.names("reward") == ("same",)


def test_one_name_of_two_kinds_is_no_conflict(site):
    """A regime and a reward may share a name."""
    site.registering("dist-one", "one", "bliss_rewards", "same")
    site.registering("dist-two", "two", "bliss_regimes", "same")
    assert load_plugins().problems() == ()


def test_second_problem_is_added_to_the_first(site):
    """A plugin with an unknown hook and a refused component reports both; the stage is the first one's."""
    site.registering("bliss-framework", "mil", "bliss_rewards", "fine")
    report = site.judge(GOOD + "@hookimpl\ndef bliss_rewrads(): return []\n")
    assert (report.state, report.stage) == ("ok", "hooks")
    assert "bliss_rewrads" in report.reason
    assert 'its reward "fine" was refused' in report.reason


@pytest.mark.parametrize(
    ("needs", "stage", "hint"),
    [
        (">=2.0", "metadata", "pip install --upgrade bliss-framework, or pip uninstall bliss-odd"),
        ("<0.1", "metadata", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("==2.*", "metadata", "pip install --upgrade bliss-framework, or pip uninstall bliss-odd"),
        ("==0.0.*", "metadata", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("===odd", "metadata", "pip install --upgrade bliss-odd, or pip uninstall bliss-odd"),
        ("==0.1.*", None, None),
        (">=0.1,<0.2", None, None),
        ('>=9; extra == "future"', None, None),
        ("no requirement at all", None, None),
    ],
)
def test_versions_of_the_host_that_are_asked_for(site, needs, stage, hint):
    """A plugin for another version of the host is not imported, and told what to upgrade."""
    metadata = f"Metadata-Version: 2.1\nName: bliss-odd\nVersion: 0.3\nRequires-Dist: bliss-framework{needs}\n"
    source = "@hookimpl\ndef bliss_rewards():\n    return []\n"
    site.dist("bliss-odd", "odd = odd_hooks", {"odd_hooks": source}, "0.3", metadata)
    report = site.report("odd")
    assert (report.stage, report.hint) == (stage, hint)
    if stage:
        assert report.reason == f"it needs bliss-framework{needs}, and this is {__version__}"


@pytest.mark.parametrize("group", ["bliss-framework", "bliss_framework.plugins", "Bliss_Framework", "bliss_frameworks"])
def test_a_group_that_is_misspelt(site, group):
    """Entry points in a group that is ours but for its spelling are noticed."""
    site.dist("bliss-odd", f"[{group}]\nodd = odd_hooks\n")
    report = site.report("bliss-odd")
    assert (
        report.reason == f'its entry points stand in the group "{group}", and the group of plugins is "bliss_framework"'
    )
    assert report.hint.startswith("correct the group in its pyproject.toml")


def test_groups_of_others_are_none_of_our_business(site):
    """Other groups may be called what they like."""
    site.dist("bliss-odd", "[console_scripts]\nblissful = odd:main\n[blissful]\nodd = odd_hooks\n[bliss]\nodd = odd\n")
    assert [one.distribution for one in find_entries()] == []


def test_metadata_of_the_host_that_hide_its_plugins(site):
    """What is left of an earlier installation is named, with its folder."""
    folder = site.dist("bliss_framework", "[console_scripts]\n", version="9.9")
    report = site.report("bliss_framework")
    assert (report.version, report.stage) == ("9.9", "metadata")
    assert report.reason == f"{folder} holds metadata of it without plugins, and comes before the installed one"
    assert report.hint == "delete these metadata"


def test_a_hook_without_an_end(site):
    """An answer is listed as far as a plugin can mean it."""
    source = "@hookimpl\ndef bliss_rewards():\n    while True:\n        yield Component('x', dict)\n"
    assert site.judge(source).reason == "hook bliss_rewards returned more than 10,000 things, perhaps without an end"


@pytest.mark.parametrize("source", ["from bliss_framework import Nonesuch\n", "import bliss_framework.nonesuch\n"])
def test_a_name_of_a_newer_host(site, source):
    """What this host lacks is no fault of the plugin: the host is upgraded."""
    assert site.judge(source).hint == "pip install --upgrade bliss-framework, or pip uninstall bliss-odd"


def test_a_slow_import_is_said(site, monkeypatch):
    """Whoever waits for a plugin in every command hears whose it is."""
    site.plugin("@hookimpl\ndef bliss_rewards():\n    return []\n")
    clock = iter([0.0, 6.0])
    monkeypatch.setattr(plugins, "perf_counter", lambda: next(clock))
    assert load_plugins().problems() == (
        'Plugin "odd" from bliss-odd 0.3 took 6.0 s to import, for which every command waits.',
    )
