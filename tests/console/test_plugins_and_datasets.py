"""`bliss plugins` and `bliss datasets`: what is installed, what broke and why, and which data there are."""

import json

import pytest

PLUGIN_KEYS = {"name", "distribution", "version", "state", "door", "reason", "remedy", "components"}
HEAD = "from bliss_framework import Component, hookimpl\n@hookimpl\n"
GOOD = HEAD + "def bliss_rewards(): return [Component('fine', dict, 'A [/x] summary')]\n"
MISSING = "import librosa_that_nobody_has\n"
OLD = HEAD + "def bliss_observers(run, groups): return []\n"
TYPO = HEAD + "def bliss_reward(): return []\n" + "@hookimpl\ndef bliss_strategies(): return []\n"


def listed(ended):
    assert (ended.code, ended.err) == (0, "")
    document = json.loads(ended.out)
    assert set(document) == {"format", "plugins"}
    assert document["format"] == 1
    return {one["name"]: one for one in document["plugins"]}


class TestPlugins:
    def test_json(self, cli):
        """--json has exactly the documented keys, for every plugin and every component."""
        plugins = listed(cli("plugins", "--json"))
        assert {"bandits", "classifiers", "mil", "readers"} <= set(plugins)
        for one in plugins.values():
            assert set(one) == PLUGIN_KEYS
            assert (one["state"], one["door"], one["reason"], one["remedy"]) == ("ok", None, None, None)
            for component in one["components"]:
                assert set(component) == {"kind", "name", "summary", "parameters"}
                assert component["summary"]
        components = {
            (one["kind"], one["name"]): one["parameters"] for p in plugins.values() for one in p["components"]
        }
        assert {"name": "gain", "type": "float", "default": "0.7", "choices": []}.items() <= next(
            one for one in components["reward", "mil-marginal"] if one["name"] == "gain"
        ).items()
        heads = next(one for one in components["regime", "mil"] if one["name"] == "bag_head")
        assert heads["choices"] == ['"none"', '"stack"', '"whole"', '"informed"', '"network"']
        assert components["reader", "csv"][0] == {
            "name": "bag",
            "type": "str",
            "default": '"bag"',
            "choices": [],
            "text": "the column of bag ids.",
        }

    def test_table(self, cli):
        """The table names each plugin, who ships it, its state and its components."""
        out = cli("plugins").out
        for word in ("mil", "bliss-framework", "ok", "reward mil", "strategy kl-ucb", "data set musk1", "reader csv"):
            assert word in out

    def test_one_plugin(self, cli):
        """`bliss plugins NAME` lists components with summaries, and parameters with what the docstring says of them."""
        out = cli("plugins", "bandits").out
        assert "strategy cucb: Combinatorial upper confidence bound" in out
        assert "exploration = 1: a factor on the bonus" in out
        assert "reward mil" not in out
        assert set(listed(cli("plugins", "mil", "--json"))) == {"mil"}

    def test_a_component_by_its_name(self, cli):
        """NAME may be a component: it is listed alone, with its parameters, and what a fit takes for them."""
        ended = cli("plugins", "mil-marginal")
        assert ended.code == 0
        assert "reward mil-marginal" in ended.out
        assert "gain = 0.7" in ended.out
        assert "mi-svm" not in ended.out.partition("mil\n")[2].partition("reward mil-marginal")[2]
        listed = " ".join(cli("plugins", "mil").out.split())
        assert 'bag_score = "max" (in a fit max-mean)' in listed

    def test_an_unknown_plugin(self, cli):
        """A plugin that is not installed is refused with the nearest one and the list."""
        ended = cli("plugins", "bandit")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(
            'Error: No plugin "bandit" is installed. Did you mean "bandits"? Installed: bandits, '
        )

    def test_a_blocked_plugin(self, cli):
        """A plugin that is left out, by its name or its distribution's, is listed as blocked and registers nothing."""
        plugins = listed(cli("plugins", "--json", "--block-plugin", "mil"))
        assert (plugins["mil"]["state"], plugins["mil"]["components"]) == ("blocked", [])
        assert plugins["bandits"]["state"] == "ok"
        assert "blocked" in cli("plugins", "--block-plugin", "mil").out
        everything = listed(cli("plugins", "--json", "--block-plugin", "bliss-framework"))
        assert {one["state"] for one in everything.values()} == {"blocked"}


class TestBrokenPlugins:
    @pytest.fixture
    def broken(self, install):
        """One good third-party plugin and three that are stopped, each at another stage."""
        install("bliss-good", "good = good_hooks", {"good_hooks": GOOD})
        install("bliss-audio", "audio = audio_hooks", {"audio_hooks": MISSING}, version="0.3")
        install("bliss-old", "old = old_hooks", {"old_hooks": OLD})
        install("bliss-typo", "typo = typo_hooks", {"typo_hooks": TYPO})

    def test_json(self, cli, broken):
        """Each broken plugin shows its stage, the reason and the hint; the good ones work beside it."""
        plugins = listed(cli("plugins", "--json"))
        audio, old, typo = plugins["audio"], plugins["old"], plugins["typo"]
        assert (audio["state"], audio["door"], audio["distribution"], audio["version"]) == (
            "broken",
            "import",
            "bliss-audio",
            "0.3",
        )
        assert audio["reason"] == "ModuleNotFoundError: No module named 'librosa_that_nobody_has'"
        assert audio["remedy"] == "pip install --force-reinstall bliss-audio, or pip uninstall bliss-audio"
        assert (old["state"], old["components"]) == ("broken", [])
        assert "groups" in old["reason"]
        assert "bliss_reward" in typo["reason"]
        assert "bliss_rewards" in typo["reason"] + typo["remedy"]
        assert plugins["good"]["state"] == plugins["mil"]["state"] == "ok"

    def test_table(self, cli, broken, monkeypatch):
        """The table shows the same, and standard error is not told twice."""
        monkeypatch.setenv("COLUMNS", "240")
        ended = cli("plugins")
        assert ended.err == ""
        (line,) = [line for line in ended.out.splitlines() if "│ audio" in line]
        assert [part.strip() for part in line.split("│")[1:-1]] == [
            "audio",
            "bliss-audio 0.3",
            "broken",
            "import: ModuleNotFoundError: No module named 'librosa_that_nobody_has'. Hint: pip install "
            "--force-reinstall bliss-audio, or pip uninstall bliss-audio.",
        ]

    def test_a_run_goes_on(self, cli, broken, table):
        """A broken plugin costs only itself: a run warns of it with a hint, and ends well."""
        table()
        ended = cli("run", "toy.csv", "--n-rounds", "2", "--n-folds", "3")
        assert ended.code == 0
        (warning,) = [line for line in ended.err.splitlines() if '"audio"' in line]
        assert warning == (
            'Warning: Plugin "audio" from bliss-audio 0.3 is not loaded: its import failed: ModuleNotFoundError: '
            "No module named 'librosa_that_nobody_has'. Hint: pip install --force-reinstall bliss-audio, "
            "or pip uninstall bliss-audio."
        )

    def test_strict(self, cli, broken):
        """--strict-plugins stops at the first broken plugin, with exit code 1 and the plugin's own traceback."""
        ended = cli("plugins", "--strict-plugins", "--block-plugin", "old", "--block-plugin", "typo")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(
            'Error: Plugin "audio" from bliss-audio 0.3 is not loaded: its import failed: Module'
        )
        assert "Traceback (most recent call last):" in ended.err
        assert "audio_hooks.py" in ended.err
        assert ended.err.rstrip().endswith("ModuleNotFoundError: No module named 'librosa_that_nobody_has'")

    def test_strict_where_all_is_well(self, cli):
        """--strict-plugins does nothing where no plugin is broken."""
        assert cli("plugins", "--strict-plugins").code == 0

    def test_one_name_taken_twice(self, cli, install):
        """Two distributions with one plugin name are both named; neither is loaded, and a third one is."""
        for name in ("one", "two"):
            install(f"reg-{name}", f"mil2 = reg_{name}", {f"reg_{name}": GOOD})
        install("reg-three", "zz = reg_three", {"reg_three": GOOD})
        ended = cli("plugins", "--json")
        both = [one for one in json.loads(ended.out)["plugins"] if one["name"] == "mil2"]
        assert [(one["distribution"], one["state"]) for one in both] == [("reg-one", "broken"), ("reg-two", "broken")]
        assert all("reg-one 1.0" in one["reason"] and "reg-two 1.0" in one["reason"] for one in both)
        assert listed(cli("plugins", "zz", "--json"))["zz"]["components"][0]["name"] == "fine"

    def test_a_third_party_named_like_a_built_in(self, cli, install):
        """A third-party plugin "mil" never takes the place of ours."""
        install("mil-two", "mil = mil_two", {"mil_two": GOOD})
        plugins = [one for one in json.loads(cli("plugins", "--json").out)["plugins"] if one["name"] == "mil"]
        assert [(one["distribution"], one["state"]) for one in plugins] == [
            ("bliss-framework", "ok"),
            ("mil-two", "broken"),
        ]

    def test_text_of_a_plugin_keeps_its_brackets(self, cli, install):
        """A summary is text, whatever square brackets it holds."""
        install("bliss-good", "good = good_hooks", {"good_hooks": GOOD})
        assert "A [/x] summary" in cli("plugins", "good").out


class TestDatasets:
    def test_the_packaged_one(self, cli, monkeypatch):
        """MUSK1 is there with its size, its source and its licence."""
        monkeypatch.setenv("COLUMNS", "160")
        document = json.loads(cli("datasets", "--json").out)
        assert set(document) == {"format", "datasets"}
        (musk1,) = [one for one in document["datasets"] if one["name"] == "musk1"]
        assert musk1["licence"] == "CC BY 4.0"
        assert musk1["size"] == "92 bags (47 positive), 476 instances, 166 features"
        assert musk1["origin"] == 'plugin "mil" from bliss-framework 0.1.0'
        assert "UCI" in musk1["source"]
        out = cli("datasets", "musk1").out
        assert "CC BY 4.0" in out
        assert "doi:10.24432/C5ZK5B" in out

    def test_files_of_a_folder(self, cli, table, here):
        """--data-dir lists the files that a reader recognises, with their sizes, square brackets and all."""
        table("data/sub/run[old].csv")
        (here / "data" / "notes.txt").write_text("not data")
        document = json.loads(cli("datasets", "--data-dir", "data", "--json").out)
        (found,) = [one for one in document["datasets"] if not one["origin"].startswith("plugin")]
        assert (found["name"], found["origin"]) == ("run[old]", "data/sub/run[old].csv")
        assert found["size"].endswith(" kB")
        assert {"generated-mil", "musk1"} <= {one["name"] for one in document["datasets"]}
        assert "run[old].csv" in cli("datasets", "--data-dir", "data").out

    def test_folders_of_the_environment(self, cli, table, monkeypatch, here):
        """BLISS_DATA names further folders."""
        table("data/own.csv")
        monkeypatch.setenv("BLISS_DATA", str(here / "data"))
        assert "own" in cli("datasets").out

    def test_an_unknown_one(self, cli):
        """A data set that is not there is refused with the nearest one."""
        ended = cli("datasets", "musk2")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith('Error: No data set "musk2" was found. Did you mean "musk1"? Known: ')
        assert "generated-mil, " in ended.err

    def test_none_at_all(self, cli):
        """Where there is nothing, the user reads how to name folders, and no empty table."""
        ended = cli("datasets", "--block-plugin", "bliss-framework")
        assert (ended.code, ended.out) == (0, "")
        assert "--data-dir and BLISS_DATA name folders" in ended.err
        ended = cli("datasets", "--block-plugin", "bliss-framework", "--json")
        assert json.loads(ended.out) == {"format": 1, "datasets": []}
