"""`bliss regimes`: what a user has, what it is called, and which regime learns from it."""

import ast
import json

import pytest

from bliss_framework.console.commands.regimes import source_sentence
from bliss_framework.extension.loading.plugins import default_plugins

KEYS = {
    "name",
    "plugin",
    "summary",
    "called",
    "weak_label",
    "example",
    "rows_are_bags",
    "binary",
    "parameters",
    "reward",
    "n_rounds",
    "baselines",
    "datasets",
    "source",
    "results",
    "kinds",
}
BARE = """
from bliss_framework import Component, hookimpl

def bare(threshold: int = 2):
    raise RuntimeError("not without a threshold")

@hookimpl
def bliss_regimes():
    return [Component("bare", bare, "Bags with [/x] something about them")]
"""
OWN = """
from bliss_framework.plugin import BinaryReading, Component, Presets, Regime, hookimpl

class Rumours(Regime):
    presets = Presets({"reward": "loudness", "n_rounds": 7})
    rows_are_bags = True
    reading = BinaryReading()
    def check(self, weak, bags): ...
    def label_space(self, weak, bags): ...

@hookimpl
def bliss_regimes():
    details = {"called": "learning by rumour", "weak label": "what is said", "example": '"hm"', "results": "It is 7.",
               "data sets": "gossip, hearsay"}
    return [Component("rumours", Rumours, "Somebody said something", details)]
"""


def documents(ended):
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert set(document) == {"format", "regimes"}
    assert document["format"] == 1
    return {one["name"]: one for one in document["regimes"]}


def flat(text):
    return " ".join(text.replace("│", " ").split())


class TestTable:
    def test_every_regime_is_there(self, cli):
        """The table names each regime and its plugin, what one has, what it is called, and an example."""
        ended = cli("regimes")
        assert ended.code == 0
        for name in default_plugins().registry.names("regime"):
            assert name in ended.out
        for words in ("plugin weak_labels", "Each row has a set of", "PU learning", '{"cat", "dog"}'):
            assert words in ended.out
        assert "`bliss regimes NAME`" in ended.err

    @pytest.mark.parametrize("columns", [60, 80, 100, 110, 160])
    def test_no_line_is_too_long(self, cli, monkeypatch, columns):
        """It fits into the columns that there are."""
        monkeypatch.setenv("COLUMNS", str(columns))
        for words in ((), ("mil",), ("partial-labels",)):
            lines = cli("regimes", *words).out.splitlines()
            assert max(map(len, lines)) <= columns

    def test_rows_and_bags_stand_apart(self, cli):
        """Regimes of rows come first, then those of bags."""
        rows, bags = cli("regimes").out.split("Bags of rows have a weak label:")
        assert "Each row has a weak label of its own:" in rows
        assert "noisy-labels" in rows
        assert "llp" in bags
        assert "noisy-labels" not in bags

    def test_none_at_all(self, cli):
        """Where no regime is installed, the user reads where to look, and no empty table."""
        ended = cli("regimes", "--block-plugin", "bliss-framework")
        assert (ended.code, ended.out) == (0, "")
        assert "No regime is installed" in ended.err


class TestJson:
    def test_keys(self, cli):
        """--json has exactly the documented keys, for every regime, and every built-in one says what it is called."""
        found = documents(cli("regimes", "--json"))
        assert set(found) == set(default_plugins().registry.names("regime"))
        for one in found.values():
            assert set(one) == KEYS
            assert one["called"]
            assert one["weak_label"]
            ast.literal_eval(one["example"])
        assert found["partial-labels"]["rows_are_bags"] is True
        assert found["mil"]["rows_are_bags"] is False
        assert found["mil"]["binary"] is True
        assert found["positive-unlabelled"]["baselines"] == ["non-negative-pu", "weak-label-em"]
        assert found["positive-unlabelled"]["parameters"][0]["name"] == "prior"

    def test_kinds_of_bags(self, cli):
        """A regime says what was measured on bags of which kinds; one that speaks of none has an empty list."""
        found = documents(cli("regimes", "--json"))
        small, _ = found["llp"]["kinds"]
        assert (small["like"], small["when"]) == ("small ones with shares", "for bags of up to 4.5")
        assert "proportion-matching and llp-em" in small["advice"]
        assert found["partial-labels"]["kinds"] == []
        shown = flat(cli("regimes", "llp").out)
        assert "measured small ones with shares (for bags of up to 4.5): With bags of 2 and 4" in shown

    def test_data_sets_are_made_for_it(self, cli):
        """A regime names data sets that are installed; one that is loaded says the same regime."""
        registry = default_plugins().registry
        found = documents(cli("regimes", "--json"))
        named = [(name, one["name"]) for one in found.values() for name in one["datasets"]]
        assert {name for name, _ in named} <= set(registry.names("dataset"))
        for name, regime in named:
            if name.startswith("wine") or name == "musk1":
                assert registry.create("dataset", name).regime == regime


class TestName:
    def test_everything_of_it(self, cli):
        """NAME shows parameters with defaults and what they mean, presets, data sets, and where it comes from."""
        out = flat(cli("regimes", "noisy-labels").out)
        for words in (
            "you have Each row has a class, which is wrong at some rate",
            "each row is a bag of its own, two classes or more",
            "reward weak-likelihood",
            "rounds 60",
            "baselines weak-label-em",
            "data sets digits-noisy, wine-noisy",
            'parameter noise = "estimated": the share of wrong labels',
        ):
            assert words in out
        assert "source Each row comes with a set of classes" in flat(cli("regimes", "partial-labels").out)
        assert 'bag_score = "max" (in a fit max-mean)' in flat(cli("regimes", "mil").out)

    def test_what_the_field_calls_it(self, cli):
        """NAME may be words of what it is called; several regimes that are called so are listed."""
        assert set(documents(cli("regimes", "CROWDS", "--json"))) == {"several-annotators"}
        assert set(documents(cli("regimes", "pairs", "--json"))) == {"ordered-pairs", "similar-pairs"}
        assert set(documents(cli("regimes", "mil", "--json"))) == {"mil"}

    def test_an_unknown_one(self, cli):
        """A name that nothing is called by is refused with the nearest regime and the list."""
        ended = cli("regimes", "nosy-labels")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(
            'Error: No regime "nosy-labels" is installed. Did you mean "noisy-labels"? Installed regimes: '
        )

    def test_a_source_is_a_sentence_with_a_year(self):
        """Years that are no part of the text before the parameters are not looked at."""

        def late(width):
            """Do something.

            Args:
                width: as in a paper of 2012.
            """

        assert source_sentence(late) is None
        assert source_sentence(None) is None


class TestThirdParty:
    def test_without_details(self, cli, install, monkeypatch):
        """A regime that says nothing of itself, and that cannot be made by name alone, is listed all the same."""
        install("bliss-bare", "bare = bare_hooks", {"bare_hooks": BARE})
        monkeypatch.setenv("COLUMNS", "240")
        assert "Bags with [/x] something about them" in flat(cli("regimes").out)
        (bare,) = documents(cli("regimes", "bare", "--json")).values()
        assert set(bare) == KEYS
        assert (bare["plugin"], bare["called"], bare["example"], bare["reward"]) == ("bare", None, None, None)
        assert bare["datasets"] == bare["baselines"] == []
        assert "parameter threshold = 2 (int)" in flat(cli("regimes", "bare").out)

    def test_with_details(self, cli, install):
        """What a third-party regime says in its details is shown as that of a built-in one."""
        install("bliss-own", "own = own_hooks", {"own_hooks": OWN})
        out = flat(cli("regimes", "rumour").out)
        for words in (
            "called learning by rumour",
            'for example "hm"',
            "results It is 7.",
            "data sets gossip, hearsay",
            "reward loudness",
            "rounds 7",
            "each row is a bag of its own",
        ):
            assert words in out
