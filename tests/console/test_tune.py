"""`bliss tune`: settings from weak labels alone, printed and saved."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from attrs import evolve

from bliss_framework.plugin import Kind
from bliss_mil.regime.mil_regime import MilRegime

QUICK = ("--n-rounds", "4", "--n-inferences", "1", "--n-neighbors", "3")
FILE = """
[data]
source = "toy.csv"
[bliss]
n_rounds = 4
n_folds = 3
n_inferences = 1
[bliss.grid]
final_classifier = ["same"]
inherited_share = [0.0, 0.5, 1.0]
classifier.width = [0.5, 2.0]
"""
STOPPING = """
from bliss_framework import Component, Reward, hookimpl

class Stopping(Reward):
    def __call__(self, outcome):
        raise KeyboardInterrupt

@hookimpl
def bliss_rewards():
    return [Component("stopping", Stopping, "types Ctrl-C")]
"""


@pytest.fixture
def toml(table, here):
    """An experiment file with a grid, beside its data."""
    table(gap=1.5)
    (here / "grid.toml").write_text(FILE)
    return "grid.toml"


def test_what_is_printed_and_saved(cli, toml, here):
    """A table of the best settings, by what sets them apart, and where the best of all are."""
    ended = cli("tune", toml)
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[0] == "the best 6 of 6 settings, scored on held-out bags"
    assert [part.strip() for part in lines[2].split("│")[1:-1]] == ["inherited_share", "classifier.width", "score"]
    scores = [float(line.split("│")[3]) for line in lines[3:] if line.startswith("│")]
    assert len(scores) == 6
    assert scores == sorted(scores, reverse=True)
    assert lines[-1] == "best settings: toy-tuned.toml"
    assert ended.err.startswith("toy (toy.csv): 12 bags, 48 instances, ")
    assert tomllib.loads((here / "toy-tuned.toml").read_text())["data"] == {"source": "toy.csv"}


def test_the_file_runs_with_the_best_settings(cli, toml, here):
    """`bliss run` takes the file as it is, and has the settings that came first."""
    best = json.loads(cli("tune", toml, "--json", "--quiet", "--output", "best.toml").out)["candidates"][0]["settings"]
    ended = cli("run", "best.toml", "--json", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    bliss = json.loads(ended.out)["settings"]["bliss"]
    assert bliss["settings"] == "default"
    assert bliss["inherited_share"] == best["inherited_share"]
    assert (bliss["classifier"]["width"], bliss["final_classifier"]) == (best["classifier.width"], "same")
    assert (bliss["n_rounds"], bliss["n_folds"]) == (4, 3)
    again = cli("run", "toy.csv", "--settings", "best.toml", "--json", "--quiet")
    assert json.loads(again.out)["settings"]["bliss"] == bliss


def test_json(cli, toml):
    """--json prints one document with all candidates, and the file that was written; --quiet leaves all else out."""
    ended = cli("tune", toml, "--json", "--quiet")
    document = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert set(document) == {"format", "data", "candidates", "kind", "seconds", "file"}
    assert (len(document["candidates"]), document["file"]) == (6, "toy-tuned.toml")


def test_options_stay(cli, table, here):
    """What an option sets is not chosen: its axis is left out, and it stands in the file."""
    table()
    words = (*QUICK, "--inherited-share", "0.25", "--set", "classifier.width=1.5", "--scaling", "unit")
    document = json.loads(cli("tune", "toy.csv", *words, "--json", "--quiet").out)
    # Of the regime's own grid only three bag scores and two final classifiers are left to choose.
    assert len(document["candidates"]) == 6
    bliss = tomllib.loads((here / "toy-tuned.toml").read_text())["bliss"]
    assert (bliss["inherited_share"], bliss["classifier"]["width"], bliss["scaling"]) == (0.25, 1.5, "unit")


def test_a_file_that_is_there_is_kept(cli, toml, here):
    """Nothing is overwritten, and nothing is computed first."""
    (here / "toy-tuned.toml").write_text("# mine")
    ended = cli("tune", toml)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "Error: toy-tuned.toml is already there. Choose another file with --output.\n"
    assert (here / "toy-tuned.toml").read_text() == "# mine"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("n_fold = [2]", 'The grid has "n_fold", which is no parameter. Allowed: '),
        ("scaling = []", 'The grid must give "scaling" a list of values; got [].'),
        ('scaling = "auto"', "The grid must give \"scaling\" a list of values; got 'auto'."),
        ("strategy.exploration = [-1.0]", "exploration must be "),
    ],
)
def test_a_mistake_in_the_grid(cli, toml, here, change, said):
    """It is told before anything is computed, and no file is left behind."""
    (here / toml).write_text(FILE + change + "\n")
    ended = cli("tune", toml)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"Error: {said}")
    assert not (here / "toy-tuned.toml").exists()


def test_several_experiments(cli, toml, here):
    """One of them is chosen with --only; its name is that of the file."""
    (here / toml).write_text(FILE + '[[experiment]]\nname = "a"\n[[experiment]]\nname = "b"\n')
    ended = cli("tune", toml)
    assert (ended.code, ended.err) == (1, "Error: grid.toml holds 2 experiments; choose one with --only NAME: a, b.\n")
    assert cli("tune", toml, "--only", "b", "--quiet").code == 0
    assert (here / "b-tuned.toml").exists()


def test_interrupted(spawn, toml, here, install):
    """Ctrl-C ends with 130, says that nothing was kept and what to type, and leaves no file."""
    install("bliss-stop", "stop = stop_hooks", {"stop_hooks": STOPPING})
    ended = spawn("tune", toml, "--reward", "stopping", "--quiet")
    assert (ended.code, ended.out) == (130, "")
    command = "bliss tune grid.toml --reward stopping --quiet"
    assert ended.err == f"Interrupted before anything was kept. To start again: {command}\n"
    assert not (here / "toy-tuned.toml").exists()


@pytest.fixture
def selecting(table, here):
    """An experiment file that chooses in the fit."""
    table(gap=1.5)
    (here / "select.toml").write_text(FILE.replace("[bliss]", '[bliss]\nsettings = "select"\nn_members = 2'))
    return "select.toml"


def test_run_toml_chooses_again(cli, selecting):
    """The settings that a run leaves behind run again to the same result, also where settings were chosen."""
    first = json.loads(cli("run", selecting, "--json", "--quiet", "--output", "out").out)
    again = json.loads(cli("run", "out/run.toml", "--json", "--quiet").out)
    assert again["inference"] == first["inference"]


def test_settings_chosen_in_a_run(cli, selecting):
    """`bliss run --settings select` says in its result what was chosen, with the scores."""
    first = json.loads(cli("run", selecting, "--json", "--quiet").out)
    assert len(first["inference"]["chosen"]) == 2
    assert set(first["inference"]["chosen"][0]) == {"final_classifier", "inherited_share", "classifier.width", "score"}
    words = ("--settings", "select", "--n-members", "1", *QUICK, "--inherited-share", "1")
    control = json.loads(cli("run", "toy.csv", *words, "--json", "--quiet").out)
    assert (control["inference"]["n_pulls"], control["inference"]["mean_reward"]) == (0, None)
    assert len(control["inference"]["chosen"]) == 1


def test_nothing_to_infer_is_said(cli, table):
    """Without inference there is no mean reward to print."""
    table()
    ended = cli("run", "toy.csv", "--inherited-share", "1", "--quiet")
    assert ended.code == 0
    assert ended.out.splitlines()[2] == "nothing to infer"


def test_the_page_is_true(cli, here, monkeypatch):
    """The experiment file of the how-to page can be read and tuned."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "choose-settings.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (here / "page.toml").write_text(text)
    document = json.loads(cli("tune", "page.toml", "--n-rounds", "2", "--json", "--quiet").out)
    assert len(document["candidates"]) == 12


def test_what_bags_look_like_is_said(cli, toml, monkeypatch):
    """The kind of the bags stands below the scores and in the document, by out-of-fold scores of the best settings."""
    kinds = (Kind("twins", "Compare them.", witnesses_above=0.0),)
    monkeypatch.setattr(MilRegime, "presets", evolve(MilRegime.presets, kinds=kinds))
    kind = json.loads(cli("tune", toml, "--json", "--quiet", "--output", "one.toml").out)["kind"]
    assert (kind["like"], kind["advice"]) == ("twins", "Compare them.")
    share = round(100 * kind["witness_share"])
    said = cli("tune", toml, "--output", "two.toml").out.splitlines()[-2]
    share_of = f"{share} % of the instances of positive bags score as positive"
    assert said == f"Your bags look like twins ({share_of}). Compare them."
