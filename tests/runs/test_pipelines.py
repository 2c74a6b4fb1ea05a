"""Pipelines: repeats and their seeds, results, files, what is refused, and going on after an interruption."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, field, frozen

from bliss_framework import (
    Component,
    DataError,
    MethodReport,
    Pipeline,
    PipelineReport,
    PluginError,
    RunError,
    SettingsError,
)
from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.extension.registry import Registration, Registry
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.pipeline_run import PreparedPipeline, prepare_any, run_pipeline
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.experiment_file import read_experiments
from bliss_framework.runs.settings.records import (
    DataSettings,
    EvaluationSettings,
    RunSettings,
    with_component_parameters,
)
from bliss_framework.testing import check_pipeline


@frozen
class Dice(Pipeline):
    """Measures that follow from the seed."""

    source: Path = field(default=Path("dice.txt"), converter=Path)
    sides: int = field(default=10)
    broken: str = field(default="")

    def located(self, folder: Path) -> "Dice":
        return evolve(self, source=folder / self.source)

    def check(self) -> dict[str, Any]:
        if self.broken == "check":
            raise DataError("dice.txt holds no dice.")
        return {"name": str(self.source), "n_dice": 2} | ({} if self.broken == "digest" else {"sha256": "ab"})

    def run(self, seed: int, say: Any) -> Any:
        say("rolling")
        if self.broken == "run":
            raise ZeroDivisionError("no sides")
        if self.broken == "nothing":
            return None
        if self.broken == "bounds":
            return PipelineReport((MethodReport("own", {"map": 1.5}),))
        if self.broken == "measures":
            return PipelineReport((MethodReport("own", {"map": 0.5}), MethodReport("other", {"ap": 0.5})))
        own = MethodReport("own", {"map": seed / self.sides, "ap": {"cat": 0.25, "dog": seed / self.sides}}, 2.0)
        best = MethodReport("better", {"map": 0.9, "ap": {"cat": 1.0, "dog": 0.8}})
        told = MethodReport("told", {"map": 1.0, "ap": {"cat": 1.0, "dog": 1.0}}, ceiling=True)
        files: dict[str, Any] = {"curves/own.csv": f"seed {seed}\n", "picture.jpg": b"\xff\xd8"}
        if self.broken == "files":
            files = {"../outside.txt": "x"}
        return PipelineReport((own, best, told), files, {"n_arms": 7}, (f"seed {seed}",))


PLUGINS = Plugins((), Registry((Registration("pipeline", Component("dice", Dice), "games", "bliss-games"),)), ())


def prepared(repeats: int = 1, seed: int | None = None, **parameters: Any) -> PreparedPipeline:
    """The dice, ready to run."""
    settings = RunSettings(
        DataSettings(""),
        {} if seed is None else {"random_state": seed},
        EvaluationSettings(repeats=repeats),
        pipeline={"name": "dice", **parameters},
    )
    found = prepare_any(settings, PLUGINS, [])
    assert isinstance(found, PreparedPipeline)
    return found


class TestResults:
    def test_repeats_have_seeds_of_their_own(self):
        """Repeat r runs with the random state plus r; measures are summed up over repeats, each part by itself."""
        document = run_pipeline(prepared(3, seed=4), lambda event: None).document
        evaluation = document["evaluation"]
        assert evaluation["map"]["runs"] == [0.4, 0.5, 0.6]
        assert evaluation["map"]["mean"] == pytest.approx(0.5)
        assert evaluation["map"]["sd"] == pytest.approx((0.02 / 3) ** 0.5)
        assert evaluation["ap"]["cat"]["runs"] == [0.25] * 3
        assert evaluation["ap"]["dog"]["runs"] == [0.4, 0.5, 0.6]
        assert (evaluation["repeats"], evaluation["name"], evaluation["seconds"]["mean"]) == (3, "own", 2.0)
        assert [row["name"] for row in evaluation["baselines"]] == ["better", "told"]
        assert document["data"] == {"name": "dice.txt", "n_dice": 2, "sha256": "ab"}
        assert document["inference"] == {"n_arms": 7}

    def test_the_best_baseline_is_named_and_the_ceiling_is_none(self):
        """A method that was told the truth is no baseline; a baseline that wins is said in the notes."""
        document = run_pipeline(prepared(), lambda event: None).document
        assert document["evaluation"]["baseline"]["name"] == "better"
        assert any('"better" is ahead of "own"' in note for note in document["notes"])

    def test_what_is_told(self):
        """Observers hear of the pipeline, its stages and its end."""
        events = []
        run_pipeline(prepared(2), events.append)
        told = [type(event).__name__ for event in events]
        assert told == ["PipelineStarted", "StageReached", "StageReached", "RunFinished"]
        assert (events[2].repeat, events[2].stage) == (1, "rolling")

    def test_what_is_left_in_the_directory(self, tmp_path):
        """result.json, run.toml, events.jsonl and the files of the first repeat; the state is gone."""
        result = run_pipeline(prepared(2), lambda event: None, RunFolder(tmp_path / "run"))
        files = {str(p.relative_to(tmp_path / "run")) for p in (tmp_path / "run").rglob("*") if p.is_file()}
        assert files == {"result.json", "run.toml", "events.jsonl", "curves/own.csv", "picture.jpg"}
        assert (tmp_path / "run/curves/own.csv").read_text() == "seed 0\n"
        assert (tmp_path / "run/picture.jpg").read_bytes() == b"\xff\xd8"
        assert json.loads((tmp_path / "run/result.json").read_text()) == result.document
        written = tomllib.loads((tmp_path / "run/run.toml").read_text())
        assert written["pipeline"] == {"name": "dice", "sides": 10, "broken": ""}

    def test_run_toml_runs_it_again(self, tmp_path):
        """The run's own settings file gives the same result."""
        first = run_pipeline(prepared(2, seed=1, sides=20), lambda event: None, RunFolder(tmp_path / "run"))
        (settings,) = read_experiments(tmp_path / "run" / "run.toml").rows
        again = prepare_any(settings, PLUGINS, [])
        assert isinstance(again, PreparedPipeline)
        second = run_pipeline(again, lambda event: None)
        assert second.document["evaluation"] == first.document["evaluation"]


class TestKit:
    def test_a_sound_pipeline_passes(self):
        """The dice keep the contract."""
        check_pipeline(Dice())

    @pytest.mark.parametrize(
        ("broken", "check"),
        [
            ("digest", "says-what-its-data-are"),
            ("bounds", "measures-in-0-1-of-every-method"),
            ("measures", "measures-in-0-1-of-every-method"),
            ("files", "files-with-relative-paths"),
        ],
    )
    def test_one_that_breaks_it_is_told_where(self, broken, check):
        """Each breach fails the check that is named after it."""
        with pytest.raises(AssertionError, match=check):
            check_pipeline(Dice(broken=broken))


class TestGoingOn:
    def test_finished_repeats_are_not_run_again(self, tmp_path):
        """A run that was interrupted in its second repeat goes on with it, and ends with the same result."""
        whole = run_pipeline(prepared(3), lambda event: None).document
        seen: list[Any] = []

        def interrupt(event: Any) -> None:
            seen.append(event)
            if getattr(event, "repeat", 0) == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_pipeline(prepared(3), interrupt, RunFolder(tmp_path / "run"))
        events: list[Any] = []
        result = run_pipeline(prepared(3), events.append, RunFolder(tmp_path / "run", resume=True))
        assert [event.repeat for event in events if hasattr(event, "stage")] == [1, 2]
        assert result.document["evaluation"] == whole["evaluation"]
        finished = run_pipeline(prepared(3), events.append, RunFolder(tmp_path / "run", resume=True))
        assert "nothing was computed" in finished.notes[0]

    def test_other_settings_cannot_go_on(self, tmp_path):
        """A directory of a run with another parameter is refused, with both values."""
        run_pipeline(prepared(), lambda event: None, RunFolder(tmp_path / "run"))
        with pytest.raises(RunError, match=r"pipeline\.sides was 10 and is now 12"):
            run_pipeline(prepared(sides=12), lambda event: None, RunFolder(tmp_path / "run", resume=True))


class TestRefusals:
    @pytest.mark.parametrize(
        ("broken", "words"),
        [
            ("run", ["dice", "bliss-games", "ZeroDivisionError", "no sides"]),
            ("nothing", ["dice", "PipelineReport"]),
            ("bounds", ["dice", "map", "own", "1.5"]),
            ("measures", ["dice", "different measures"]),
        ],
    )
    def test_a_pipeline_that_breaks_its_contract(self, broken, words):
        """The error names the pipeline and what it did."""
        with pytest.raises(PluginError) as caught:
            run_pipeline(prepared(broken=broken), lambda event: None)
        assert all(word in str(caught.value) for word in words)

    def test_what_the_check_says(self):
        """An error of the check comes before anything runs; one without a digest is the plugin's fault."""
        with pytest.raises(DataError, match="no dice"):
            prepared(broken="check")
        with pytest.raises(PluginError, match="sha256"):
            prepared(broken="digest")

    def test_files_stay_in_the_directory(self, tmp_path):
        """A path that leads out of the run directory is refused."""
        with pytest.raises(RunError, match="outside"):
            run_pipeline(prepared(broken="files"), lambda event: None, RunFolder(tmp_path / "run"))
        assert not (tmp_path / "outside.txt").exists()

    def test_settings_of_bliss_are_not_for_pipelines(self):
        """Options that a pipeline does not take are refused, with what to write instead."""
        settings = RunSettings(DataSettings("dice"), {"n_rounds": 3}, EvaluationSettings(cv=5))
        with pytest.raises(SettingsError, match=r"takes no n_rounds, cv.*--set pipeline\.PARAMETER"):
            prepare_any(settings, PLUGINS, [])
        with pytest.raises(SettingsError, match="use `bliss run`"):
            prepare(RunSettings(DataSettings(""), pipeline="dice"), PLUGINS, [])

    def test_parameters_for_data_are_refused(self, tmp_path):
        """Data sets have no parameters of pipelines."""
        settings = with_component_parameters(RunSettings(DataSettings("musk1")), ["pipeline.sides=3"])
        with pytest.raises(SettingsError, match='"musk1" is no pipeline'):
            prepare_any(settings, PLUGINS, [])


class TestNames:
    def test_a_pipeline_is_run_by_name(self):
        """`bliss run dice --set pipeline.sides=3` needs no file."""
        settings = with_component_parameters(RunSettings(DataSettings("dice")), ["pipeline.sides=3"])
        found = prepare_any(settings, PLUGINS, [])
        assert isinstance(found, PreparedPipeline)
        assert found.pipeline == Dice(sides=3)
        assert found.name == "dice"

    def test_paths_start_at_the_experiment_file(self, tmp_path):
        """Relative paths of a pipeline in a file start in its folder."""
        (tmp_path / "game.toml").write_text('[pipeline]\nname = "dice"\nsource = "a.txt"\n[evaluation]\nrepeats = 2\n')
        (settings,) = read_experiments(tmp_path / "game.toml").rows
        found = prepare_any(settings, PLUGINS, [])
        assert isinstance(found, PreparedPipeline)
        assert found.pipeline == Dice(source=tmp_path / "a.txt")
        assert settings.evaluation.repeats == 2

    @pytest.mark.parametrize("table", ["data", "bliss", "compare"])
    def test_other_tables_are_refused(self, tmp_path, table):
        """A file with a pipeline has no data and no settings of BLISS beside it."""
        (tmp_path / "game.toml").write_text(f'pipeline = "dice"\n[{table}]\nx = 1\n')
        with pytest.raises(SettingsError, match=table):
            read_experiments(tmp_path / "game.toml")
