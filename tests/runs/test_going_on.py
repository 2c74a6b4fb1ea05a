"""What a run keeps when the final fit fails, and which settings it may have when it goes on."""

import csv
import tomllib

import pytest
import tomli_w
from attrs import evolve

from bliss_framework import RunError
from bliss_framework.estimator.final import FinalLearner
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.kernel.events import FoldFinished
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.changes import Finished
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.prepared import prepare
from bliss_framework.runs.settings.records import MethodSettings

FILES = ("labels.csv", "bags.csv")
# Another value of each setting that matters after label inference.
AFTERWARDS = {
    "final_classifier": {"name": "ridge", "ridge": 2.0},
    "confidence_weights": False,
    "inherited_share": 0.5,
    "bag_threshold": 0.25,
    "instance_threshold": 0.125,
    "self_training": 1,
}


def silent(event):
    """Listen to nothing."""


def never(event):
    """Listen to a run that must not start."""
    raise AssertionError(f"the run started: {event}")


@pytest.fixture
def stopped(experiment, tmp_path, monkeypatch):
    """A function that begins a run whose final fit fails, and returns its directory."""

    def begin(error=None, **settings):
        def fail(self, rows):
            raise error or MemoryError("Unable to allocate 14.6 GiB")

        with monkeypatch.context() as patched:
            patched.setattr(FinalLearner, "fit_on", fail)
            with pytest.raises(type(error) if error else MemoryError):
                run(experiment(**{"cv": None, **settings}), silent, RunFolder(tmp_path / "out"))
        return tmp_path / "out"

    return begin


def bytes_of(folder):
    """The tables of a run, and its result but for seconds."""
    return [(folder / name).read_bytes() for name in FILES]


def labels_of(folder):
    """The lines of labels.csv, less what only a final classifier can say."""
    with (folder / "labels.csv").open() as file:
        lines = list(csv.DictReader(file))
    return [{key: cell for key, cell in line.items() if key not in ("score", "probability", "rank")} for line in lines]


class TestFinalFit:
    @pytest.mark.parametrize("error", [MemoryError(), ValueError("no"), KeyboardInterrupt(), OSError(28, "full")])
    def test_labels_are_written_before_it(self, experiment, tmp_path, stopped, error):
        """Whatever stops the final fit, labels.csv has the labels of an undisturbed run, and the folds are kept."""
        run(experiment(cv=None), silent, RunFolder(tmp_path / "straight"))
        folder = stopped(error)
        assert labels_of(folder) == labels_of(tmp_path / "straight")
        assert len(list((folder / "state").glob("inference-*.json"))) == 3
        assert not (folder / "result.json").exists()

    def test_going_on_infers_nothing_anew(self, experiment, tmp_path, stopped, lasting):
        """With --resume the run goes straight to the final fit, and ends as one that was never stopped."""
        straight = run(experiment(), silent, RunFolder(tmp_path / "straight")).document
        folder, heard = stopped(cv=3), []
        again = run(experiment(), heard.append, RunFolder(folder, resume=True)).document
        assert lasting(again) == lasting(straight)
        assert bytes_of(folder) == bytes_of(tmp_path / "straight")
        before_folds = heard[: [type(one).__name__ for one in heard].index("FitFinished")]
        assert not [one for one in before_folds if isinstance(one, FoldFinished)]

    def test_labels_of_a_choice_of_settings(self, experiment, tmp_path, stopped):
        """Where settings are chosen, labels are written before the final classifiers too."""
        choice = {"settings": "select", "grid": {"inherited_share": [0.25]}, "n_members": 1}
        run(experiment(cv=None, **choice), silent, RunFolder(tmp_path / "straight"))
        # Candidates are scored by smoothers, without a final fit.
        folder = stopped(**choice)
        assert labels_of(folder) == labels_of(tmp_path / "straight")

    def test_a_model_is_not_mixed_of_two_fits(self, experiment, monkeypatch):
        """An estimator whose second fit fails predicts nothing: its labels are new and its classifiers would be old."""
        prepared = experiment(cv=None)
        model = prepared.model().fit_configured(prepared.problem.data, prepared.config)
        monkeypatch.setattr(FinalLearner, "fit_on", lambda self, rows: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.fit_configured(prepared.problem.data, prepared.config)
        assert not hasattr(model, "members_")
        assert len(model.labels_) == 48


class TestOtherSettings:
    def test_the_table_says_what_matters_afterwards(self):
        """The tests below change every parameter that the table calls one of the final stage."""
        assert set(AFTERWARDS) == {name for name, row in TABLE.items() if row.when == "final"}

    @pytest.mark.parametrize("name", AFTERWARDS)
    def test_what_comes_after_inference(self, experiment, tmp_path, stopped, lasting, name):
        """Any of them may be another one; the result has the bits of an undisturbed run with the new settings."""
        changed = experiment(**{name: AFTERWARDS[name]})
        straight = run(changed, silent, RunFolder(tmp_path / "straight")).document
        folder, heard = stopped(cv=3), []
        result = run(changed, heard.append, RunFolder(folder, resume=True))
        assert lasting(result.document) == lasting(straight)
        assert bytes_of(folder) == bytes_of(tmp_path / "straight")
        assert tomllib.loads((folder / "run.toml").read_text())["bliss"][name] == straight["settings"]["bliss"][name]
        assert result.notes[0].startswith(f"{folder} goes on with other settings: bliss.{name}")
        assert not any("goes on" in note for note in result.document["notes"])

    def test_what_comes_before_it(self, experiment, stopped):
        """A setting of label inference cannot be another one when a fold is finished."""
        with pytest.raises(RunError, match=r"out cannot go on: bliss\.n_rounds was 6 and is now 7\.$"):
            run(experiment(cv=None, n_rounds=7), never, RunFolder(stopped(), resume=True))

    def test_the_seed(self, experiment, stopped):
        """All that is drawn follows from the seed, though it is a setting of how a fit runs."""
        with pytest.raises(RunError, match=r"bliss\.random_state was 0 and is now 1\.$"):
            run(experiment(cv=None, random_state=1), never, RunFolder(stopped(), resume=True))

    @pytest.mark.parametrize(
        "evaluation",
        [{"cv": 2}, {"cv": None}, {"repeats": 2}, {"compare": ("bag-mean-svm", "mi-svm")}, {"compare": None}],
        ids=str,
    )
    def test_the_evaluation(self, experiment, tmp_path, stopped, lasting, evaluation):
        """Folds, repeats and baselines may be others as long as no fit of the evaluation is finished."""
        changed = experiment(**evaluation)
        straight = run(changed, silent, RunFolder(tmp_path / "straight")).document
        again = run(changed, silent, RunFolder(stopped(cv=3), resume=True)).document
        assert lasting(again) == lasting(straight)


class TestFinishedFits:
    @pytest.fixture
    def begun(self, experiment, tmp_path, listen):
        """A run that is interrupted in its evaluation: fits of BLISS and of a baseline are finished."""
        straight = listen()
        run(experiment(), straight)
        last = [n for n, name in enumerate(straight.names(), start=1) if name == "FitFinished"][-2]
        with pytest.raises(KeyboardInterrupt):
            run(experiment(), listen(last), RunFolder(tmp_path / "out"))
        pieces = {path.name for path in (tmp_path / "out" / "state").iterdir()}
        assert {"bliss-repeat1-fold1.json", "bag-mean-svm-repeat1-fold1.json"} <= pieces
        return tmp_path / "out"

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"inherited_share": 0.5}, "bliss.inherited_share was 0.0 and is now 0.5"),
            ({"cv": 4}, "evaluation.cv was 3 and is now 4"),
            ({"n_rounds": 7}, "bliss.n_rounds was 6 and is now 7"),
        ],
    )
    def test_what_they_depend_on(self, experiment, begun, settings, said):
        """It stays refused, with the sentence that a finished run has."""
        with pytest.raises(RunError) as caught:
            run(experiment(**settings), never, RunFolder(begun, resume=True))
        assert str(caught.value) == f"{begun} cannot go on: {said}."

    @pytest.mark.parametrize(
        "settings", [{"repeats": 2}, {"compare": ("bag-mean-svm", "min-max-svm")}, {"compare": ()}]
    )
    def test_what_they_do_not_depend_on(self, experiment, tmp_path, begun, lasting, settings):
        """More repeats, another baseline or one less leave the finished fits as they are."""
        changed = experiment(**settings)
        straight = run(changed, silent, RunFolder(tmp_path / "straight")).document
        heard = []
        again = run(changed, heard.append, RunFolder(begun, resume=True)).document
        assert lasting(again) == lasting(straight)
        fits = [(one.method, one.repeat, one.fold) for one in heard if type(one).__name__ == "FitStarted"]
        assert ("bliss", 0, 0) not in fits

    def test_a_baseline_with_other_parameters(self, experiment, begun, tmp_path, lasting):
        """It is refused where a fit of it is finished; left out for once it comes back without its old fits."""
        softer = (MethodSettings("bag-mean-svm", {"C": 0.01}),)
        changed = prepare(evolve(experiment().settings, compare=softer), default_plugins(), [])
        with pytest.raises(RunError, match=r"cannot go on: compare was .* and is now .*0\.01"):
            run(changed, never, RunFolder(begun, resume=True))
        # As a run that went on without it, and was interrupted again, leaves run.toml.
        stored = tomllib.loads((begun / "run.toml").read_text())
        assert stored["compare"][0].pop("method") == "bag-mean-svm"
        (begun / "run.toml").write_text(tomli_w.dumps({**stored, "compare": []}))
        straight = run(changed, silent, RunFolder(tmp_path / "straight")).document
        again = run(changed, silent, RunFolder(begun, resume=True)).document
        assert lasting(again) == lasting(straight)


CHOICE = {
    "settings": "select",
    "grid": {"inherited_share": [0.25, 0.75], "train_on": ["one", "rest"]},
    "n_members": 4,
    "cv": None,
}


class TestChoiceOfSettings:
    def test_going_on_chooses_nothing_anew(self, experiment, tmp_path, stopped, lasting, monkeypatch):
        """Scores of candidates and folds of all rows are kept, so the run goes straight to the final fits."""
        straight = run(experiment(**CHOICE), silent, RunFolder(tmp_path / "straight")).document
        folder = stopped(**CHOICE)
        names = {path.name.split("-")[0] for path in (folder / "state").iterdir()}
        assert names == {"selection", "inference1", "inference2"}
        monkeypatch.setattr("bliss_framework.estimator.selection._heldout_scores", lambda *arguments: 1 / 0)
        heard = []
        again = run(experiment(**CHOICE), heard.append, RunFolder(folder, resume=True)).document
        assert lasting(again) == lasting(straight)
        assert bytes_of(folder) == bytes_of(tmp_path / "straight")
        assert not [one for one in heard if isinstance(one, FoldFinished)]

    def test_what_was_scored_stays(self, experiment, stopped):
        """Final classifiers were scored in the choice, so their settings cannot be others."""
        with pytest.raises(RunError, match=r"bliss\.confidence_weights was not set and is now False\.$"):
            run(experiment(**CHOICE, confidence_weights=False), never, RunFolder(stopped(**CHOICE), resume=True))

    def test_a_damaged_piece_is_computed_again(self, experiment, tmp_path, stopped, lasting):
        """Scores that are not as they were written cost their time and nothing else."""
        straight = run(experiment(**CHOICE), silent).document
        folder = stopped(**CHOICE)
        path = folder / "state" / "selection-task2.json"
        path.write_text(path.read_text()[:-40])
        result = run(experiment(**CHOICE), silent, RunFolder(folder, resume=True))
        assert lasting(result.document) == lasting(straight)
        assert any("selection-task2.json was damaged" in note for note in result.notes)

    def test_warnings_are_said_again(self, experiment, tmp_path, stopped):
        """What was warned of while candidates were scored is a note of a run that goes on, too."""
        many = {**CHOICE, "n_folds": 30}
        straight = run(experiment(**many), silent).document
        assert any("n_folds was reduced" in note for note in straight["notes"])
        again = run(experiment(**many), silent, RunFolder(stopped(**many), resume=True)).document
        assert again["notes"] == straight["notes"]


class TestComparison:
    def test_other_methods(self, experiment, tmp_path, listen, lasting):
        """A comparison that was interrupted may have more methods, and keeps its finished fits."""
        straight = compare(experiment(), ["bliss", "bag-mean-svm"], silent).document
        listener = listen()
        compare(experiment(), ["bag-mean-svm"], listener)
        with pytest.raises(KeyboardInterrupt):
            compare(experiment(), ["bag-mean-svm"], listen(len(listener.events) - 1), RunFolder(tmp_path / "out"))
        heard = []
        again = compare(
            experiment(), ["bliss", "bag-mean-svm"], heard.append, RunFolder(tmp_path / "out", resume=True)
        ).document
        assert lasting(again) == lasting(straight)
        assert {one.method for one in heard if type(one).__name__ == "FitStarted"} == {"bliss"}


def test_what_is_finished(tmp_path):
    """It is read off the names of the pieces; names of methods may have hyphens and digits."""
    state = tmp_path / "state"
    state.mkdir()
    for name in ("inference-pass1-fold2", "mi-svm-2-repeat1-fold10"):
        (state / f"{name}.json").write_text("{}")
    finished = Finished.of(tmp_path / "result.json", state)
    assert (finished.result, finished.methods) == (False, {"mi-svm-2"})
    assert not finished.decides("bliss.final_classifier.name", "same", "ridge")
    assert finished.decides("bliss.classifier.name", "ridge", "svm-rbf")
    assert finished.decides("methods", ["bliss"], None)
    for key in ("evaluation.cv", "record.test_sha256", "data.test.label"):
        assert finished.decides(key, 2, 3)
        assert not Finished(False, frozenset({"inference-pass1-fold2"})).decides(key, 2, 3)
    assert finished.decides("data.label", "a", "b")
    (tmp_path / "result.json").write_text("{}")
    assert Finished.of(tmp_path / "result.json", state).decides("evaluation.repeats", 1, 2)


def test_the_tables_are_read_back(experiment, tmp_path, stopped):
    """What is written before the final fit is a table like any other."""
    with (stopped() / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 48
    assert {row["label"] for row in rows} == {"0", "1"}
