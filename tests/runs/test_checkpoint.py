"""State on disk: the same bits come back, and what is damaged is named and computed again."""

import json

import numpy as np
import pytest

from bliss_framework.kernel.crossfit import in_turn
from bliss_framework.kernel.events import silent
from bliss_framework.runs.folder.checkpoint import Checkpoint

# The two broken files of case K50, and other things that are no state.
DAMAGED = {
    "truncated": b'{"version": 1, "t": 57, "T": [[3, 4], [5',
    "empty": b"",
    "zeros": b"\0" * 64,
    "not text": b"\xff\xfe",
    "a list": b"[1, 2]",
    "of another program": b'{"version": 1, "t": 57}',
    "without a piece": b'{"format": 1}',
    "a piece that is no table": b'{"format": 1, "piece": 3}',
}


@pytest.fixture
def checkpoint(tmp_path):
    """A state folder that does not exist yet."""
    return Checkpoint(tmp_path / "state")


def bits(result):
    """Everything of a fold's result that could differ in a bit."""
    arms = result.arms
    arrays = tuple((a.dtype.str, a.shape, a.tobytes()) for a in (result.rows, arms.means, arms.pulls))
    rest = (arms.n_pulls, arms.diagnostics, arms.seconds, result.mean_reward, result.weak_score)
    return arrays, rest, (result.one_class, result.uninformative)


def no_runner(work, tasks, emit):
    """Stand for a runner that has nothing left to run."""
    assert list(tasks) == []
    return iter(())


@pytest.fixture
def fit_with(toy, bliss):
    """A function that fits through a runner of fold tasks and returns the fold results and the model."""

    def fit(run_tasks, **parameters):
        X, bags, weak = toy()
        seen = []

        def recording(work, tasks, emit):
            for result in run_tasks(work, tasks, emit):
                seen.append(result)
                yield result

        return seen, bliss(**parameters).fit_observed(X, weak, bags, silent, recording)

    return fit


class TestPieces:
    def test_floats_come_back_bit_for_bit(self, checkpoint):
        """A hundred thousand random bit patterns, among them infinities, subnormal numbers and zeros of both signs."""
        rng = np.random.default_rng(0)
        values = rng.integers(0, 2**64, 100_000, dtype=np.uint64).view(np.float64)
        values = np.concatenate([values[~np.isnan(values)], [np.inf, -np.inf, 5e-324, -0.0, 0.0, 0.1]])
        checkpoint.save("floats", {"values": values})
        assert np.array(checkpoint.load("floats", dict)["values"]).tobytes() == values.tobytes()

    def test_nan_comes_back(self, checkpoint):
        """NaN is state too: a measure that could not be computed stays so."""
        checkpoint.save("nan", {"value": np.array([np.nan, 1.0])})
        assert np.isnan(checkpoint.load("nan", dict)["value"]).tolist() == [True, False]

    def test_save_returns_what_load_does(self, checkpoint):
        """An uninterrupted run sees each piece as a run that goes on would, also where nothing is kept."""
        piece = {"a": np.arange(3), "b": (1, 2), "c": {1: "x"}, "d": np.float32(0.1), "e": np.array(["b", "ä"])}
        saved = checkpoint.save("key", piece)
        assert saved == checkpoint.load("key", dict) == Checkpoint(None).save("key", piece)
        assert saved["a"] == [0, 1, 2]

    def test_nothing_is_there_at_first(self, checkpoint):
        """A piece that was never saved is None, and asking for it makes no folder."""
        assert checkpoint.load("key", dict) is None
        assert not checkpoint.folder.exists()
        assert Checkpoint(None).load("key", dict) is None

    @pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
    def test_damaged_files_are_not_there(self, checkpoint, content):
        """A file that is truncated, empty or of another kind is as good as none, and a note names it."""
        path = checkpoint.path("key")
        path.parent.mkdir()
        path.write_bytes(content)
        assert checkpoint.load("key", dict) is None
        (note,) = checkpoint.notes
        assert note.startswith(f"{path} was damaged (")
        assert note.endswith("), so this piece was computed again.")

    def test_another_format(self, checkpoint):
        """A file of another version's format is told from a damaged one."""
        path = checkpoint.path("key")
        path.parent.mkdir()
        path.write_text('{"format": 1, "sha256": "", "piece": {}}')
        assert checkpoint.load("key", dict) is None
        assert "it has format 1, and this version reads format 2" in checkpoint.notes[0]

    @pytest.mark.parametrize(("before", "after"), [("0.25", "0.75"), ('"a": [', '"b": ['), ("true", "false")])
    def test_a_changed_number_is_not_believed(self, checkpoint, before, after):
        """A piece that reads well, but is not what was written, is computed again."""
        checkpoint.save("key", {"a": [0.25, 1.0], "c": True})
        path = checkpoint.path("key")
        path.write_text(path.read_text().replace(before, after))
        assert checkpoint.load("key", dict) is None
        assert "its content is not that of its sha256" in checkpoint.notes[0]

    def test_a_piece_that_cannot_be_read(self, checkpoint):
        """Whatever its reader raises, a piece costs no more than its time."""
        checkpoint.save("key", {"bags": [1]})
        assert checkpoint.load("key", lambda piece: piece["scores"]) is None
        assert checkpoint.load("key", lambda piece: piece["bags"][0]) == 1
        assert len(checkpoint.notes) == 1


class TestFolds:
    @pytest.mark.parametrize("parameters", [{}, {"n_passes": 2, "n_inferences": 2}], ids=["one pass", "two passes"])
    def test_a_fold_comes_back_bit_for_bit(self, checkpoint, fit_with, parameters):
        """All that a fold found out is read back to the last bit, so the model is the same without a single pull."""
        found, model = fit_with(checkpoint.folds(in_turn), **parameters)
        read, again = fit_with(checkpoint.folds(no_runner), **parameters)
        assert len(found) == 3 * parameters.get("n_passes", 1)
        assert [bits(one) for one in read] == [bits(one) for one in found]
        assert again.label_means_.tobytes() == model.label_means_.tobytes()
        assert again.confidence_.tobytes() == model.confidence_.tobytes()
        assert again.labels_.tolist() == model.labels_.tolist()

    def test_each_fold_is_kept_as_soon_as_it_is_there(self, checkpoint, fit_with):
        """When the second fold is interrupted, the first one is on disk; going on, it is not pulled again."""
        done = []

        def interrupted(work, tasks, emit):
            for task in tasks:
                if done:
                    raise KeyboardInterrupt
                done.append(task.fold)
                yield work(task, emit)

        with pytest.raises(KeyboardInterrupt):
            fit_with(checkpoint.folds(interrupted))
        assert [path.name for path in checkpoint.folder.iterdir()] == ["inference-pass1-fold1.json"]

        def rest(work, tasks, emit):
            assert [task.fold for task in tasks] == [1, 2]
            return in_turn(work, tasks, emit)

        _, model = fit_with(checkpoint.folds(rest))
        _, straight = fit_with(in_turn)
        assert model.label_means_.tobytes() == straight.label_means_.tobytes()

    def test_the_kept_order_is_that_of_the_folds(self, checkpoint, fit_with):
        """A missing piece in the middle is computed and put where it belongs."""
        found, _ = fit_with(checkpoint.folds(in_turn))
        checkpoint.path("inference-pass1-fold2").unlink()
        read, _ = fit_with(checkpoint.folds(in_turn))
        # Seconds of the fold that was computed again are its own.
        assert [bits(one)[0] for one in read] == [bits(one)[0] for one in found]

    @pytest.mark.parametrize(
        ("key", "value", "why"),
        [
            ("means", None, "it lacks means"),
            ("means", [[0.5, 0.5]], "means has shape (1, 2)"),
            ("means", 7.5, "means holds numbers that are none of an arm"),
            ("pulls", "many", "could not convert"),
            ("weak_score", 3, "weak_score is 3, and a table is needed"),
            ("seconds", {}, "it lacks seconds.classifier"),
        ],
    )
    def test_a_fold_that_cannot_be_used(self, checkpoint, fit_with, key, value, why):
        """A piece that lacks something or is of other data is computed again, even where its digest is right."""
        _, straight = fit_with(checkpoint.folds(in_turn))
        path = checkpoint.path("inference-pass1-fold2")
        piece = json.loads(path.read_text())["piece"]
        change = np.full_like(piece["means"], value).tolist() if value == 7.5 else value
        checkpoint.save(
            "inference-pass1-fold2", {k: v for k, v in {**piece, key: change}.items() if k != key or v is not None}
        )
        _, model = fit_with(checkpoint.folds(in_turn))
        assert checkpoint.notes[0].startswith(f"{path} was damaged (")
        assert why in checkpoint.notes[0]
        assert model.label_means_.tobytes() == straight.label_means_.tobytes()
