"""The plugin manager: five stages, and a broken plugin costs only itself."""

import pickle
import subprocess
import sys
import threading
import warnings

import pytest
from attrs import evolve

from bliss_framework import Component, PluginError, UnknownNameError
from bliss_framework.extension.loading.admission import host_hooks, registration_hooks
from bliss_framework.extension.loading.plugins import Plugins, active_plugins, default_plugins, load_plugins
from bliss_framework.extension.loading.reports import PluginReport

GOOD = "@hookimpl\ndef bliss_rewards(): return [Component('fine', dict)]\n"
HOOK = "@hookimpl\ndef "

BROKEN = {
    "import": ("import", "import no_such_codec\n", "No module named 'no_such_codec'"),
    "exit": ("import", "import sys; sys.exit(3)\n", "SystemExit: 3"),
    "signature": ("register", HOOK + "bliss_rewards(bags): return []\n", '"bags"'),
    "raising": ("call", HOOK + "bliss_rewards(): raise ZeroDivisionError('by zero')\n", "ZeroDivisionError: by zero"),
    "noniterable": ("call", HOOK + "bliss_rewards(): return 5\n", "hook bliss_rewards returned int 5"),
    "misspelt": ("hooks", HOOK + "bliss_rewrads(): return []\n", "did you mean bliss_rewards?"),
    "unmarked": ("hooks", "def bliss_rewards(): return []\n", "never called: bliss_rewards"),
}


def report_of(plugins: Plugins, name: str) -> PluginReport:
    (report,) = [one for one in plugins.reports if one.name == name]
    return report


def names(report: PluginReport) -> list[tuple[str, str]]:
    return [(kind, component.name) for kind, component in report.components]


def install_eight_broken(site) -> None:
    for name, (_, source, _) in BROKEN.items():
        site.dist(f"bliss-{name}", f"{name} = broken_{name}", {f"broken_{name}": source}, version="0.3")
    site.dist("bliss-malformed", "[bliss_framework]\nno equals sign\n", version="0.3")


def test_eight_broken_plugins_cost_only_themselves(site):
    """Two healthy plugins among eight that are broken in eight ways are registered, and the eight are reported."""
    site.registering("bliss-first", "first", "bliss_regimes", "one")
    install_eight_broken(site)
    site.registering("bliss-last", "last", "bliss_regimes", "two")
    plugins = load_plugins()
    assert plugins.registry.names("regime") == ("one", "two")
    assert plugins.registry.names("reward") == ()
    broken = {one.distribution: one.stage for one in plugins.reports if one.state == "broken"}
    assert broken == {f"bliss-{name}": stage for name, (stage, _, _) in BROKEN.items()} | {
        "bliss-malformed": "metadata"
    }
    for name, (_, _, said) in BROKEN.items():
        assert said in report_of(plugins, name).reason


def test_every_broken_plugin_is_a_sentence(site):
    """A problem reads as a sentence with plugin, distribution, version, stage, reason and hint."""
    site.plugin("import no_such_codec\n")
    assert load_plugins().problems() == (
        'Plugin "odd" from bliss-odd 0.3 is not loaded: its import failed: '
        "ModuleNotFoundError: No module named 'no_such_codec'. "
        "Hint: pip install --force-reinstall bliss-odd, or pip uninstall bliss-odd.",
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
    assert site.report("odd").as_dict() == {
        "name": "odd",
        "distribution": "bliss-odd",
        "version": "0.3",
        "state": "ok",
        "door": None,
        "reason": None,
        "remedy": None,
        "components": [{"kind": "reward", "name": "fine", "summary": "A line"}],
    }
    broken = evolve(site.report("odd"), state="broken", stage="call", reason="why", hint="what")
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
    """A component registered under any hook is found under the hook's kind."""
    site.registering("bliss-odd", "odd", hook, "thing")
    assert load_plugins().registry.names(registration_hooks()[hook]) == ("thing",)


# Blocked


@pytest.mark.parametrize("block", ["odd", "bliss-odd", "Bliss_Odd", "ODD"])
def test_blocked_plugin_is_not_imported(site, block):
    """A plugin is blocked by its name or its distribution's, however spelt; its code is not run."""
    site.plugin(GOOD)
    plugins = load_plugins(block=[block])
    assert report_of(plugins, "odd").state == "blocked"
    assert plugins.registry.names("reward") == ()
    assert plugins.problems() == ()
    assert "odd_hooks" not in sys.modules


def test_environment_blocks_as_well(site, monkeypatch):
    """BLISS_BLOCK_PLUGINS adds to what the caller blocks."""
    for name in ("one", "two", "three"):
        site.registering(f"dist-{name}", name, "bliss_rewards", name)
    monkeypatch.setenv("BLISS_BLOCK_PLUGINS", " one , dist-two,,")
    assert load_plugins().registry.names("reward") == ("three",)
    assert load_plugins(block=["three"]).registry.names("reward") == ()


def test_block_may_be_one_word(site):
    """A bare string blocks the plugin of that name, and not those named like its letters."""
    site.plugin(GOOD)
    assert site.report("odd", block="odd").state == "blocked"


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
    with pytest.raises(PluginError, match=r'Plugin "odd" from bliss-odd 0\.3 is not loaded') as caught:
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

OBSERVER = "class Ear:\n    def __init__(self, run=None): self.run = run\n    def notify(self, event): pass\n"


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
    [("1 / 0", "ZeroDivisionError"), ("None", "returned None"), ("[3]", "returned int 3, which has no method notify")],
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
    site.registering("bliss-late", "late", "bliss_regimes", "late")
    assert default_plugins().registry.names("regime") == ("late",)
    monkeypatch.setenv("BLISS_BLOCK_PLUGINS", "odd")
    assert default_plugins().registry.names("reward") == ()


def test_builtin_plugins_come_first(site):
    """Reports list the built-in plugins, then third-party ones by name."""
    site.registering("a-dist", "a", "bliss_rewards", "a")
    site.registering("bliss-framework", "z", "bliss_rewards", "z")
    site.registering("b-dist", "b", "bliss_rewards", "b")
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


# Active plugins, and plugins that travel


def test_active_plugins_are_those_of_the_surrounding_with(site):
    """Inside `with plugins.active()` names are looked up in these plugins, outside in what is installed."""
    site.registering("bliss-odd", "odd", "bliss_rewards", "fine")
    without = load_plugins(block=["odd"])
    inner = load_plugins()
    assert active_plugins() is default_plugins()
    with without.active() as found:
        assert active_plugins() is found is without
        with inner.active():
            assert active_plugins() is inner
        assert active_plugins() is without
    assert active_plugins() is default_plugins()


def test_active_plugins_end_with_an_error(site):
    """An error inside the with block ends it like anything else."""
    with pytest.raises(ZeroDivisionError), load_plugins().active():
        raise ZeroDivisionError
    assert active_plugins() is default_plugins()


def test_another_thread_has_its_own_active_plugins(site):
    """What one thread makes active does not change where another one looks."""
    found = []
    with load_plugins().active():
        other = threading.Thread(target=lambda: found.append(active_plugins()))
        other.start()
        other.join()
    assert found == [default_plugins()]


def test_plugins_and_registry_travel(site):
    """Plugins and registry can be pickled, with absent plugins and without the functions that make observers."""
    source = "class Fine: pass\n@hookimpl\ndef bliss_rewards(): return [Component('fine', Fine)]\n"
    site.plugin(source + "@hookimpl\ndef bliss_observers(): return [open]\n")
    site.registering("bliss-away", "away", "bliss_rewards", "away")
    plugins = load_plugins(block=["away"])
    again = pickle.loads(pickle.dumps(plugins))
    assert again.reports == plugins.reports
    assert again.registry == plugins.registry
    assert [one.name for one in again.registry.absent] == ["away"]
    assert again.observers(run=None) == []


def test_installed_plugins_travel_to_another_process():
    """The registry of the built-in plugins can be unpickled in a fresh process."""
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).names('regime'))"
    registry = default_plugins().registry
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(registry), capture_output=True, timeout=120)
    assert done.stdout.decode().strip() == str(registry.names("regime")), done.stderr


# Plugins that are not loaded


def test_registry_knows_the_plugins_that_are_not_loaded(site):
    """The registry holds a report of each plugin that is blocked, broken or partly loaded, and of no other."""
    site.registering("bliss-good", "good", "bliss_rewards", "good")
    site.registering("bliss-away", "away", "bliss_rewards", "away")
    site.dist("bliss-part", "part = part_hooks", {"part_hooks": GOOD + "@hookimpl\ndef bliss_rewrads(): return []\n"})
    site.plugin("import no_such_codec\n")
    absent = {one.name: one.state for one in load_plugins(block=["away"]).registry.absent}
    assert absent == {"away": "blocked", "part": "ok", "odd": "broken"}


def test_missing_name_says_which_plugin_is_broken(site):
    """A component that is missing because its plugin broke says so, with the reason and the hint."""
    site.plugin("import no_such_codec\n")
    with pytest.raises(UnknownNameError) as caught:
        load_plugins().registry.get("strategy", "mine")
    assert (
        'Plugin "odd" from bliss-odd 0.3 is not loaded: its import failed: ModuleNotFoundError: '
        "No module named 'no_such_codec'. Hint: pip install --force-reinstall bliss-odd, or pip uninstall bliss-odd."
    ) in str(caught.value)


# What a plugin cannot do to its neighbours


@pytest.mark.parametrize("error", ["GeneratorExit", "__import__('asyncio').CancelledError", "SystemExit(0)"])
def test_hook_that_raises_no_ordinary_exception(site, error):
    """Whatever a hook raises but Ctrl-C costs its plugin alone."""
    site.plugin(HOOK + f"bliss_rewards(): raise {error}\n")
    assert site.report("odd").stage == "call"


def test_exception_whose_text_cannot_be_read(site):
    """An exception that raises where its text is asked for is described by its type."""
    site.plugin("class Odd(Exception):\n    def __str__(self): raise RuntimeError\nraise Odd\n")
    assert site.report("odd").reason == "Odd, whose text cannot be read"


def test_plugin_that_prints_leaves_standard_output_alone(site, capsys):
    """What a plugin prints while it is loaded goes to standard error, so that JSON on standard output stays JSON."""
    site.plugin("print('imported')\n" + HOOK + "bliss_rewards(): print('called'); return []\n")
    load_plugins()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "imported\ncalled\n")
