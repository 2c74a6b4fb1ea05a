"""What a run leaves behind, where it refuses to, and how it goes on."""

import csv
import json
import os
import re
import shutil
import socket
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tomli_w

from bliss_framework import BlissClassifier, FileError, RunError, SettingsError, load_model
from bliss_framework.estimator.persistence import UNSAVABLE
from bliss_framework.plugin import check_training
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.csv_tables import write_tables
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_readers.tables.csv_reader import CsvReader

MADE_AGAIN = ("bags.csv", "events.jsonl", "labels.csv", "model.skops")
LEFT = [*MADE_AGAIN, "result.json", "run.toml", "tests.csv"]


def silent(event):
    """Listen to nothing."""


def never(event):
    """Listen to a run that must not start."""
    raise AssertionError(f"the run started: {event}")


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def finished(experiment, tmp_path):
    """A finished run, its directory and its data."""
    prepared = experiment(cv=2, data={"gap": 1.5})
    folder = tmp_path / "out"
    result = run(prepared, silent, RunFolder(folder))
    return SimpleNamespace(folder=folder, document=result.document, prepared=prepared)


class TestLeftBehind:
    def test_files(self, finished):
        """A finished run leaves six files, no state, and nothing that is half-written."""
        assert sorted(path.name for path in finished.folder.iterdir()) == LEFT

    def test_result(self, finished):
        """result.json holds the document that the run returned."""
        assert json.loads((finished.folder / "result.json").read_text()) == finished.document

    def test_labels(self, finished, bliss):
        """labels.csv has a line for each row of the data, in order, with what the estimator inferred, to the bit."""
        dataset = finished.prepared.problem.dataset
        parameters = finished.prepared.bliss
        model = BlissClassifier(**parameters).fit(dataset.X, dataset.weak, bags=dataset.bags)
        rows = rows_of(finished.folder / "labels.csv")
        header = ["row", "bag", "label", "confidence", "undecided", "mean_reward_0", "mean_reward_1"]
        assert list(rows[0]) == [*header, "score", "probability", "rank"]
        assert [int(row["row"]) for row in rows] == list(range(48))
        assert [row["bag"] for row in rows] == dataset.bags.tolist()
        assert [int(row["label"]) for row in rows] == model.labels_.tolist()
        assert [float(row["confidence"]) for row in rows] == model.confidence_.tolist()
        assert [row["undecided"] == "1" for row in rows] == model.undecided_.tolist()
        means = [[float(row[f"mean_reward_{label}"] or "nan") for label in (0, 1)] for row in rows]
        assert np.array_equal(means, model.label_means_, equal_nan=True)

    def test_labels_of_known_instances(self, finished):
        """Instances of negative bags are negative for certain, and have no mean rewards, for they have no arms."""
        rows = [row for row in rows_of(finished.folder / "labels.csv") if int(row["bag"][1:]) >= 6]
        assert len(rows) == 24
        for row in rows:
            assert (row["label"], row["confidence"], row["undecided"]) == ("0", "1.0", "0")
            assert row["mean_reward_0"] == row["mean_reward_1"] == ""

    def test_bags(self, finished):
        """bags.csv has a line for each bag, and the model that lies beside it predicts what stands there."""
        dataset = finished.prepared.problem.dataset
        rows = rows_of(finished.folder / "bags.csv")
        further = ["out_of_fold_predicted", "out_of_fold_score", "probability"]
        assert list(rows[0]) == ["bag", "n_instances", "weak_label", "predicted", "score", *further]
        assert [row["bag"] for row in rows] == [f"b{j}" for j in range(12)]
        assert {row["n_instances"] for row in rows} == {"4"}
        assert [row["weak_label"] for row in rows] == ["1"] * 6 + ["0"] * 6
        model = load_model(finished.folder / "model.skops")
        ids, scores = model.score_bags(dataset.X, dataset.bags)
        assert dict(zip(ids.tolist(), scores.tolist(), strict=True)) == {r["bag"]: float(r["score"]) for r in rows}
        assert [int(row["predicted"]) for row in rows] == [int(float(row["score"]) > 0) for row in rows]

    def test_events(self, finished):
        """events.jsonl tells in a line each what happened; single rounds are left out."""
        lines = [json.loads(line) for line in (finished.folder / "events.jsonl").read_text().splitlines()]
        assert {line["event"] for line in lines} == {
            "RunStarted",
            "FitStarted",
            "FoldStarted",
            "FoldFinished",
            "FitFinished",
            "RunFinished",
        }
        assert lines[0] == {
            "event": "RunStarted",
            "name": "toy",
            "origin": str(finished.prepared.loaded.path),
            "n_bags": 12,
            "n_instances": 48,
            "n_fits": 5,
        }

    def test_run_toml(self, finished):
        """run.toml holds the settings of the document, less what is not set, and what the run noted down."""
        written = tomllib.loads((finished.folder / "run.toml").read_text())
        settings = finished.document["settings"]
        assert written["record"]["data_sha256"] == finished.document["data"]["sha256"]
        assert written["bliss"] == {key: value for key, value in settings["bliss"].items() if value is not None}
        assert written["compare"] == settings["compare"]

    def test_a_model_that_cannot_be_saved_is_a_note(self, experiment, tmp_path, monkeypatch):
        """Labels are worth having without the model: where it cannot be written, a run still ends."""

        def fail(model, path):
            raise RunError("The model cannot be written to x: no.")

        monkeypatch.setattr("bliss_framework.runs.folder.run_folder.save_model", fail)
        result = run(experiment(cv=None), silent, RunFolder(tmp_path / "out"))
        assert "The model cannot be written to x: no." in result.notes
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
            n for n in LEFT if n not in ("model.skops", "tests.csv")
        ]


class TestLost:
    """What a full disk, a hand that deletes and a second process cannot take away."""

    @pytest.mark.parametrize("name", ["labels.csv", "bags.csv", "model.skops", "result.json", "run.toml"])
    def test_no_space_for_a_file(self, experiment, tmp_path, monkeypatch, lasting, name):
        """Without space for one of its files a run ends with an error that names it, and goes on from what it kept."""
        expected = run(experiment(cv=2), silent, RunFolder(tmp_path / "straight")).document
        whole = Path.replace

        def full(self, target):
            if Path(target).name == name:
                raise OSError(28, "No space left on device")
            return whole(self, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", full)
            with pytest.raises(FileError) as caught:
                run(experiment(cv=2), silent, RunFolder(tmp_path / "out"))
        assert str(caught.value) == (
            f"{tmp_path / 'out' / name} cannot be written: No space left on device. Free some space, or choose a place "
            f"that has it."
        )
        if name == "run.toml":
            assert not (tmp_path / "out").exists()
        else:
            # Labels are written as soon as they are inferred, before the fits of the evaluation.
            assert len(list((tmp_path / "out" / "state").iterdir())) == (3 if name == "labels.csv" else 3 + 4)
            assert list((tmp_path / "out").rglob(".*")) == []
        heard = []
        again = run(experiment(cv=2), heard.append, RunFolder(tmp_path / "out", resume=True)).document
        assert lasting(again) == lasting(expected)
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == LEFT
        computed = sum(type(event).__name__ == "FoldFinished" for event in heard)
        assert computed == {"run.toml": 3 + 2 * 3, "labels.csv": 2 * 3}.get(name, 0)

    @pytest.mark.parametrize(
        "names", [("model.skops",), ("tests.csv",), ("bags.csv", "run.toml"), [*MADE_AGAIN, "tests.csv"]]
    )
    def test_files_of_a_finished_run_are_made_again(self, finished, tmp_path, names):
        """With --resume they are as they were, byte for byte; the result stays, and the user reads what was lacking."""
        before = {path.name: path.read_bytes() for path in finished.folder.iterdir()}
        labels = load_model(finished.folder / "model.skops").label_means_
        for name in names:
            (finished.folder / name).unlink()
        result = run(finished.prepared, silent, RunFolder(finished.folder, resume=True))
        assert result.document == finished.document
        assert re.search(r" lacked .*, which was made again; the result is as it was\.$", result.notes[-1])
        for name in ("labels.csv", "bags.csv", "run.toml", "result.json", "tests.csv"):
            assert (finished.folder / name).read_bytes() == before[name]
        assert np.array_equal(load_model(finished.folder / "model.skops").label_means_, labels, equal_nan=True)
        assert not (finished.folder / "state").exists()

    def test_files_that_would_be_others_now(self, finished):
        """Where the inference is no longer that of the result nothing is mixed."""
        path = finished.folder / "result.json"
        path.write_text(path.read_text().replace('"n_pulls": ', '"n_pulls": 1'))
        (finished.folder / "labels.csv").unlink()
        with pytest.raises(
            RunError, match=r"lacks labels\.csv, which cannot be made again: the inference of today dif"
        ):
            run(finished.prepared, silent, RunFolder(finished.folder, resume=True))
        assert not (finished.folder / "labels.csv").exists()

    def test_tests_that_would_be_others_now(self, finished):
        """Where methods no longer do as the result says, no tests are put beside it."""
        path = finished.folder / "result.json"
        document = json.loads(path.read_text())
        document["evaluation"]["bag_accuracy"]["runs"] = [0.123]
        path.write_text(json.dumps(document))
        (finished.folder / "tests.csv").unlink()
        with pytest.raises(RunError, match=r"lacks tests\.csv, which cannot be made again: what bliss says of the tes"):
            run(finished.prepared, silent, RunFolder(finished.folder, resume=True))
        assert not (finished.folder / "tests.csv").exists()

    def test_tests_of_a_comparison_are_made_again(self, experiment, tmp_path):
        """They are as they were, byte for byte."""
        names, path = ["bliss", "bag-mean-svm"], tmp_path / "out" / "tests.csv"
        before = compare(experiment(cv=2), names, silent, RunFolder(tmp_path / "out")).document
        tests = path.read_bytes()
        path.unlink()
        assert compare(experiment(cv=2), names, silent, RunFolder(tmp_path / "out", resume=True)).document == before
        assert path.read_bytes() == tests

    def test_without_run_toml_settings_are_still_compared(self, finished, experiment):
        """result.json says what they were, and what the data were."""
        (finished.folder / "run.toml").unlink()
        with pytest.raises(RunError, match=r"cannot go on: bliss\.n_rounds was 6 and is now 7\.$"):
            run(experiment(cv=2, data={"gap": 1.5}, n_rounds=7), never, RunFolder(finished.folder, resume=True))
        with pytest.raises(RunError, match=r"cannot go on: the data changed since the run started\.$"):
            run(experiment(cv=2, data={"gap": 1.6}), never, RunFolder(finished.folder, resume=True))

    def test_a_comparison_without_run_toml(self, experiment, tmp_path):
        """It is found again by its protocol and its methods, too."""
        names = ["bliss", "bag-mean-svm"]
        before = compare(experiment(cv=2), names, silent, RunFolder(tmp_path / "out")).document
        text = (tmp_path / "out" / "run.toml").read_text()
        (tmp_path / "out" / "run.toml").unlink()
        with pytest.raises(RunError, match=r"evaluation\.cv was 2 and is now 3"):
            compare(experiment(cv=3), names, never, RunFolder(tmp_path / "out", resume=True))
        assert compare(experiment(cv=2), names, never, RunFolder(tmp_path / "out", resume=True)).document == before
        assert (tmp_path / "out" / "run.toml").read_text() == text

    def test_a_model_that_no_file_can_hold_is_not_missing(self, experiment, tmp_path, monkeypatch):
        """What could not be saved the first time is not looked for the second time."""

        def fail(model, path):
            raise RunError(f"{UNSAVABLE} x: no.")

        with monkeypatch.context() as patched:
            patched.setattr("bliss_framework.runs.folder.run_folder.save_model", fail)
            run(experiment(cv=None), silent, RunFolder(tmp_path / "out"))
        again = run(experiment(cv=None), never, RunFolder(tmp_path / "out", resume=True))
        assert again.notes == (f"{tmp_path / 'out'} holds the finished run; nothing was computed.",)

    def test_a_run_that_is_refused_leaves_nothing(self, experiment, tmp_path, monkeypatch):
        """An error before anything is finished leaves no directory that looks like a run."""

        def refuse(*arguments):
            raise SettingsError("No.")

        monkeypatch.setattr("bliss_framework.runs.experiment._infer", refuse)
        with pytest.raises(SettingsError):
            run(experiment(cv=None), silent, RunFolder(tmp_path / "deep" / "out"))
        assert not (tmp_path / "deep").exists()

    def test_what_dead_processes_left_is_swept(self, finished, tmp_path):
        """Parts of files go when the run goes on, finished or not; files of the user stay."""
        for name in (".labels.csv.1.part", "..lock.22.part", ".mine.part", "notes.part"):
            (finished.folder / name).write_text("half")
        (finished.folder / "state").mkdir()
        run(finished.prepared, never, RunFolder(finished.folder, resume=True))
        assert sorted(path.name for path in finished.folder.iterdir()) == [
            ".mine.part",
            *LEFT[:4],
            "notes.part",
            *LEFT[4:],
        ]

    def test_a_second_process_is_told_who_is_at_work(self, experiment, tmp_path):
        """While a run is at work in a directory another is refused there, with --resume too."""
        refused = []

        def try_too(event):
            if not refused:
                with pytest.raises(RunError) as caught:
                    run(experiment(cv=None), never, RunFolder(tmp_path / "out", resume=True))
                refused.append(str(caught.value))

        run(experiment(cv=None), try_too, RunFolder(tmp_path / "out"))
        assert refused[0].startswith(f"{tmp_path / 'out'} is being worked on by process {os.getpid()} of ")

    def test_a_run_that_was_left_by_a_dead_process(self, experiment, tmp_path):
        """Its lock is taken over, with a note that is in no file."""
        (tmp_path / "out").mkdir()
        gone = {"host": socket.gethostname(), "pid": os.getpid(), "user": "ann", "started": "then", "born": 1}
        (tmp_path / "out" / ".lock").write_text(json.dumps(gone))
        result = run(experiment(cv=None), silent, RunFolder(tmp_path / "out"))
        assert f"was left by process {os.getpid()} of ann" in result.notes[0]
        assert result.notes[0] not in result.document["notes"]

    def test_a_finished_run_where_nothing_can_be_written(self, finished, monkeypatch):
        """It is read as it is."""

        def refuse(*arguments, **options):
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(Path, "write_text", refuse)
        monkeypatch.setattr(Path, "replace", refuse)
        result = run(finished.prepared, never, RunFolder(finished.folder, resume=True))
        assert result.document == finished.document

    def test_a_torn_line_of_events(self, experiment, tmp_path, listen):
        """The line in which a process died is cut off, so that each line is one event."""
        with pytest.raises(KeyboardInterrupt):
            run(experiment(cv=None), listen(3), RunFolder(tmp_path / "out"))
        with (tmp_path / "out" / "events.jsonl").open("a") as stream:
            stream.write('{"event": "Fold')
        run(experiment(cv=None), silent, RunFolder(tmp_path / "out", resume=True))
        lines = (tmp_path / "out" / "events.jsonl").read_text().splitlines()
        assert all(json.loads(line)["event"] for line in lines)

    def test_paths_of_data(self, experiment, tmp_path, monkeypatch):
        """With data and run below the current folder, run.toml has the way from itself, result.json that from there."""
        monkeypatch.chdir(tmp_path)
        document = run(experiment(cv=None), silent, RunFolder(tmp_path / "runs" / "out")).document
        written = tomllib.loads((tmp_path / "runs" / "out" / "run.toml").read_text())
        assert written["data"]["source"] == "../../toy.npz"
        assert document["settings"]["data"]["source"] == "toy.npz"
        monkeypatch.chdir(tmp_path.parent)
        run(experiment(cv=None), never, RunFolder(tmp_path / "runs" / "out", resume=True))


class TestRefusals:
    @pytest.mark.parametrize("target", ["nowhere", "out"], ids=["dangling", "circle"])
    def test_a_link_that_leads_nowhere(self, experiment, tmp_path, target):
        """It is refused as what it is, and stays."""
        (tmp_path / "out").symlink_to(tmp_path / target)
        with pytest.raises(RunError, match=r"out is a symbolic link that leads nowhere or in a circle; choose another"):
            run(experiment(), never, RunFolder(tmp_path / "out"))
        assert (tmp_path / "out").is_symlink()

    def test_a_name_that_is_too_long(self, experiment, tmp_path):
        """The system says so, and the user reads what to do."""
        with pytest.raises(RunError, match=r"x cannot be used as a directory: File name too long\. Choose a shorter"):
            run(experiment(), never, RunFolder(tmp_path / ("x" * 300)))

    def test_a_foreign_folder(self, experiment, tmp_path):
        """A directory that holds something else is left alone."""
        folder = tmp_path / "thesis"
        folder.mkdir()
        (folder / "chapter.tex").write_text("years of work")
        with pytest.raises(RunError) as caught:
            run(experiment(), never, RunFolder(folder, resume=True))
        assert str(caught.value) == f"{folder} is not empty and holds no run; choose another directory with --output."
        assert [path.name for path in folder.iterdir()] == ["chapter.tex"]

    def test_an_empty_folder(self, experiment, tmp_path):
        """An empty directory, or one with the torn-off part of a file, is as good as none."""
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / ".run.toml.1.part").write_text("[bli")
        assert run(experiment(cv=None), silent, RunFolder(tmp_path / "out")).folder == tmp_path / "out"

    def test_a_file(self, experiment, tmp_path):
        """A file is no directory, and stays."""
        (tmp_path / "out").write_text("x")
        with pytest.raises(RunError, match=r"out cannot be used as a directory: Not a directory\. A part of"):
            run(experiment(), never, RunFolder(tmp_path / "out"))
        assert (tmp_path / "out").read_text() == "x"

    def test_a_run_that_is_there(self, finished):
        """A directory with a run is not overwritten; the user reads both ways out."""
        before = (finished.folder / "result.json").read_bytes()
        with pytest.raises(RunError, match=r"already holds a run\. Go on with it by --resume, or choose another --out"):
            run(finished.prepared, never, RunFolder(finished.folder))
        assert (finished.folder / "result.json").read_bytes() == before

    def test_a_changed_setting(self, finished, experiment):
        """Another gamma is refused with its old and its new value, though neither was ever typed in full."""
        changed = experiment(cv=2, data={"gap": 1.5}, reward={"name": "mil", "gamma": 0.5}, n_rounds=7)
        with pytest.raises(RunError) as caught:
            run(changed, never, RunFolder(finished.folder, resume=True))
        assert str(caught.value) == (
            f"{finished.folder} cannot go on: bliss.n_rounds was 6 and is now 7; "
            f"bliss.reward.gamma was {1 / 7!r} and is now 0.5."
        )

    def test_a_setting_that_was_not_set(self, finished, experiment):
        """A setting that has no value before is told so."""
        with pytest.raises(RunError, match=r"bliss\.n_first_draws was not set and is now 4\.$"):
            run(experiment(cv=2, data={"gap": 1.5}, n_first_draws=4), never, RunFolder(finished.folder, resume=True))

    def test_other_baselines(self, finished, experiment):
        """Baselines decide the result too."""
        with pytest.raises(RunError, match=r"compare was .*bag-mean-svm.* and is now "):
            run(experiment(cv=2, data={"gap": 1.5}, compare=()), never, RunFolder(finished.folder, resume=True))

    def test_changed_data(self, finished, experiment):
        """One other value of X is enough to refuse; the user reads that it is the data."""
        changed = experiment(cv=2, data={"gap": 1.5000001})
        with pytest.raises(RunError, match=r"cannot go on: the data changed since the run started\.$"):
            run(changed, never, RunFolder(finished.folder, resume=True))

    def test_what_may_change(self, finished, experiment, toy_file):
        """A run goes on with another number of processes, another library, and data that were moved."""
        path = finished.folder / "run.toml"
        path.write_text(path.read_text().replace('numpy = "', 'numpy = "0.'))
        moved = experiment(cv=2, data={"gap": 1.5, "name": "moved"}, n_jobs=1)
        # The name of the data set comes from its file, and is no setting.
        assert run(moved, never, RunFolder(finished.folder, resume=True)).document == finished.document

    def test_run_toml_that_is_damaged(self, finished):
        """A record that cannot be read is named and kept."""
        path = finished.folder / "run.toml"
        path.write_text("[bliss")
        with pytest.raises(RunError) as caught:
            run(finished.prepared, never, RunFolder(finished.folder, resume=True))
        assert str(caught.value).startswith(f"{path} is damaged (")
        assert path.read_text() == "[bliss"

    def test_result_that_is_damaged(self, finished):
        """So is a result."""
        path = finished.folder / "result.json"
        path.write_text('{"format": 1, ')
        with pytest.raises(RunError) as caught:
            run(finished.prepared, never, RunFolder(finished.folder, resume=True))
        assert str(caught.value).startswith(f"{path} is damaged (")

    def test_check_writes_nothing(self, experiment, tmp_path):
        """Whether a directory can be used is found out without touching it."""
        prepared = experiment()
        RunFolder(tmp_path / "out").check(prepared.document(), prepared.record())
        assert not (tmp_path / "out").exists()


class TestVersions:
    """A run that was interrupted goes on with the versions that it was begun with, or says so."""

    @pytest.fixture
    def begun(self, experiment, tmp_path, listen):
        """The folder of a run that was interrupted, and a function that notes another version down in it."""
        straight = listen()
        run(experiment(cv=2), straight)
        last = [n for n, name in enumerate(straight.names(), start=1) if name == "FitFinished"][-1]
        with pytest.raises(KeyboardInterrupt):
            run(experiment(cv=2), listen(last), RunFolder(tmp_path / "out"))
        path = tmp_path / "out" / "run.toml"

        def change(table, name, value):
            stored = tomllib.loads(path.read_text())
            holder = stored["record"]["versions"] if table == "versions" else stored["record"]["components"][table]
            was, holder[name] = holder[name], value
            path.write_text(tomli_w.dumps(stored))
            return was

        return SimpleNamespace(folder=tmp_path / "out", change=change)

    @pytest.mark.parametrize("package", ["bliss_framework", "numpy", "scipy", "scikit-learn"])
    def test_another_version_is_refused(self, experiment, begun, package):
        """Both versions are shown, and what to do."""
        now = begun.change("versions", package, "0.0.7")
        with pytest.raises(RunError) as caught:
            run(experiment(cv=2), never, RunFolder(begun.folder, resume=True, accept_plugin_versions=True))
        assert str(caught.value) == (
            f"{begun.folder} cannot go on: it was begun with {package} 0.0.7 (now {package} {now}), and the same bits "
            f"are promised for the same versions only. Install {package}==0.0.7, start anew with another --output, or "
            f"go on with --accept-versions, which is noted down in run.toml and result.json."
        )

    def test_another_version_is_accepted(self, experiment, begun, lasting):
        """Where the user accepts it, run.toml holds the versions of now, and both files those before."""
        expected = run(experiment(cv=2), silent).document
        begun.change("versions", "numpy", "0.0.7")
        result = run(experiment(cv=2), silent, RunFolder(begun.folder, resume=True, accept_versions=True))
        written = tomllib.loads((begun.folder / "run.toml").read_text())["record"]
        assert written["versions"]["numpy"] == np.__version__
        assert [one["versions"]["numpy"] for one in written["resumed_from"]] == ["0.0.7"]
        assert result.document["resumed_from"] == written["resumed_from"]
        assert {**lasting(result.document), "resumed_from": 0} == {**lasting(expected), "resumed_from": 0}

    def test_it_stays_noted_down(self, experiment, begun, listen):
        """A run that goes on twice keeps what it was begun with."""
        begun.change("versions", "numpy", "0.0.7")
        with pytest.raises(KeyboardInterrupt):
            run(experiment(cv=2), listen(1), RunFolder(begun.folder, resume=True, accept_versions=True))
        result = run(experiment(cv=2), silent, RunFolder(begun.folder, resume=True))
        assert [one["versions"]["numpy"] for one in result.document["resumed_from"]] == ["0.0.7"]

    def test_another_version_of_a_plugin(self, experiment, begun):
        """A component of somebody else's distribution has an option of its own."""
        begun.change("regime:mil", "distribution", "bliss-lexicon")
        begun.change("regime:mil", "version", "2.0")
        with pytest.raises(RunError, match=r"bliss-lexicon 2\.0 \(now no bliss-lexicon\).* --accept-plugin-versions"):
            run(experiment(cv=2), never, RunFolder(begun.folder, resume=True, accept_versions=True))
        result = run(experiment(cv=2), silent, RunFolder(begun.folder, resume=True, accept_plugin_versions=True))
        assert result.document["resumed_from"][0]["components"]["regime:mil"]["version"] == "2.0"

    def test_a_plugin_that_the_run_does_not_use(self, experiment, begun):
        """Whatever else is installed may change."""
        begun.change("versions", "python", "2.7")
        assert "resumed_from" not in run(experiment(cv=2), silent, RunFolder(begun.folder, resume=True)).document

    @pytest.mark.parametrize(("text", "why"), [("", "it lacks record"), ("record = 3", "record is 3, and a table")])
    def test_run_toml_without_a_record(self, experiment, begun, text, why):
        """A file that says nothing of versions is damaged."""
        (begun.folder / "run.toml").write_text(text)
        with pytest.raises(RunError) as caught:
            run(experiment(cv=2), never, RunFolder(begun.folder, resume=True))
        assert f"run.toml is damaged ({why}" in str(caught.value)


class TestGoingOn:
    def test_a_finished_run_is_read(self, finished):
        """Where the run is finished nothing is computed, and the user reads so."""
        result = run(finished.prepared, never, RunFolder(finished.folder, resume=True))
        assert result.document == finished.document
        assert result.notes == (f"{finished.folder} holds the finished run; nothing was computed.",)

    def test_nothing_to_go_on_with(self, experiment, tmp_path):
        """With --resume and no run there, a run starts, so that one command serves for both."""
        run(experiment(cv=None), silent, RunFolder(tmp_path / "out", resume=True))
        assert (tmp_path / "out" / "result.json").exists()

    def test_a_run_that_was_interrupted_anywhere(self, experiment, tmp_path, listen, lasting):
        """Ctrl-C after any event, and going on, ends with the same labels, confidences and evaluation, bit for bit."""
        parameters = {"cv": 2, "n_passes": 2, "n_rounds": 4, "data": {"gap": 1.5}}
        straight = listen()
        expected = lasting(run(experiment(**parameters), straight, RunFolder(tmp_path / "straight")).document)
        names = straight.names()
        folds = [number for number, name in enumerate(names, start=1) if name == "FoldFinished"]
        fits = [number for number, name in enumerate(names, start=1) if name == "FitFinished"]
        for last in (1, folds[0], folds[0] + 2, folds[3], fits[0], fits[1], fits[2] + 3, fits[-1], len(names)):
            folder = tmp_path / f"stopped-{last}"
            with pytest.raises(KeyboardInterrupt):
                run(experiment(**parameters), listen(last), RunFolder(folder))
            there = {path.name for path in folder.iterdir()}
            assert ("result.json" in there) == (last == len(names))
            again = run(experiment(**parameters), silent, RunFolder(folder, resume=True))
            assert lasting(again.document) == expected
            for name in ("labels.csv", "bags.csv"):
                assert (folder / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
            assert not (folder / "state").exists()
            shutil.rmtree(folder)

    def test_what_is_finished_is_not_computed_again(self, experiment, tmp_path, listen):
        """Going on after the third fit, only the other two are fitted."""
        straight = listen()
        run(experiment(cv=2), straight)
        third = [n for n, name in enumerate(straight.names(), start=1) if name == "FitFinished"][2]
        with pytest.raises(KeyboardInterrupt):
            run(experiment(cv=2), listen(third), RunFolder(tmp_path / "out"))
        rest = listen()
        run(experiment(cv=2), rest, RunFolder(tmp_path / "out", resume=True))
        fitted = [(e.method, e.fold) for e in rest.events if type(e).__name__ == "FitFinished" and e.fold is not None]
        assert fitted == [("bliss", 1), ("bag-mean-svm", 1)]
        assert rest.names().count("RoundFinished") == 3 * 6

    def test_going_on_with_another_number_of_processes(self, experiment, tmp_path, listen, lasting):
        """A run that was interrupted with one process may go on with two; the bits are those of one."""
        expected = run(experiment(cv=2), silent).document
        with pytest.raises(KeyboardInterrupt):
            run(experiment(cv=2), listen(12), RunFolder(tmp_path / "out"))
        again = run(experiment(cv=2, n_jobs=2), silent, RunFolder(tmp_path / "out", resume=True)).document
        for document in (expected, again):
            document["settings"]["bliss"].pop("n_jobs")
        assert lasting(again) == lasting(expected)

    @pytest.mark.parametrize("content", [b'{"version": 1, "t": 57, "T": [[3, 4], [5', b""], ids=["truncated", "empty"])
    @pytest.mark.parametrize("piece", ["inference-pass1-fold1", "bliss-repeat1-fold1"])
    def test_damaged_state(self, experiment, tmp_path, listen, lasting, piece, content):
        """A truncated or empty piece of state is computed again, and the user reads so; the result is as without it."""
        straight = listen()
        expected = run(experiment(cv=2), straight).document
        last = [n for n, name in enumerate(straight.names(), start=1) if name == "FitFinished"][-1]
        with pytest.raises(KeyboardInterrupt):
            run(experiment(cv=2), listen(last), RunFolder(tmp_path / "out"))
        path = tmp_path / "out" / "state" / f"{piece}.json"
        assert path.exists()
        path.write_bytes(content)
        result = run(experiment(cv=2), silent, RunFolder(tmp_path / "out", resume=True))
        assert result.notes[0].startswith(f"{path} was damaged (")
        assert lasting(result.document) == lasting(expected)

    def test_a_kill_while_results_are_written(self, experiment, tmp_path, monkeypatch, lasting):
        """A run that dies between its files goes on from its state, and ends with all of them."""
        expected = run(experiment(cv=2), silent, RunFolder(tmp_path / "straight")).document

        def killed(model, path):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("bliss_framework.runs.folder.run_folder.save_model", killed)
            with pytest.raises(KeyboardInterrupt):
                run(experiment(cv=2), silent, RunFolder(tmp_path / "out"))
        assert "result.json" not in {path.name for path in (tmp_path / "out").iterdir()}
        assert len(list((tmp_path / "out" / "state").iterdir())) == 3 + 4
        again = run(experiment(cv=2), silent, RunFolder(tmp_path / "out", resume=True)).document
        assert lasting(again) == lasting(expected)
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == LEFT


class TestReadBack:
    """Tables of a run are second tables of the same rows."""

    IDS = ("ward\nA", 'say "x"', "a,b", "007", "7", "日本", "-1", "x" * 300)

    def rows(self, path, ids, X):
        """Write rows without labels."""
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["bag", "f1", "f2"], *([bag, *row] for bag, row in zip(ids, X, strict=True))])
        return path

    @pytest.mark.parametrize("sets", [False, True])
    def test_tables_of_a_run_are_read(self, tmp_path, sets):
        """bags.csv gives the weak labels of the run, whatever the ids, and labels.csv its labels as true classes."""
        X = np.random.default_rng(0).normal(size=(24, 2)) + np.repeat([3, 0], 12)[:, None]
        ids = np.repeat(self.IDS, 3)
        values = [{"cat", "dog"}, {"cat"}, set(), {"dog"}] if sets else [1, 1, 0, 0]
        weak = dict(zip(self.IDS, np.repeat(np.array(values, dtype=object), 2), strict=True))
        regime = "multiclass-mil" if sets else "mil"
        data = check_training(X, weak, ids)
        model = BlissClassifier(regime=regime, n_rounds=3, n_folds=2, n_inferences=1, random_state=0).fit(data)
        write_tables(tmp_path, model, data)
        path = self.rows(tmp_path / "rows.csv", ids, X)
        read = CsvReader().read(path, labels="bags.csv")
        assert read.weak.tolist() == list(weak.values())
        assert read.regime == regime
        read = CsvReader().read(path, labels="labels.csv")
        assert (read.weak, read.instance_labels.tolist()) == (None, model.labels_.tolist())
