"""What a run says before it begins, and where it does not begin."""

import pytest

from bliss_framework import MemoryNeededError
from bliss_framework.console.drawing.progress import expectation
from bliss_framework.runs import forecast
from bliss_framework.runs.comparison import compare
from bliss_framework.runs.events import RunEstimated
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.run_folder import RunFolder


def told(work, *arguments):
    """The estimates that some work tells of, with the place of the first among all events."""
    heard = []
    work(*arguments, heard.append)
    return [one for one in heard if isinstance(one, RunEstimated)], [type(one).__name__ for one in heard]


class TestTelling:
    def test_a_small_run_says_nothing(self, experiment):
        """Less than a gigabyte and a minute is nobody's concern."""
        assert told(run, experiment())[0] == []

    def test_much_memory(self, experiment, monkeypatch):
        """A run that takes much says so once, after its name and before its first fit."""
        monkeypatch.setattr(forecast, "MUCH", 1)
        estimates, names = told(run, experiment())
        (event,) = estimates
        assert (event.n_instances, event.n_bags, event.seconds) == (48, 12, None)
        assert event.n_bytes > 10**6
        assert names[:3] == ["RunStarted", "RunEstimated", "FitStarted"]

    def test_much_time(self, experiment, monkeypatch):
        """Time is measured where there are many rows in all fits."""
        monkeypatch.setattr(forecast, "MEASURED_FROM", 1)
        monkeypatch.setattr(forecast, "LONG", 1e-9)
        ((event,), _) = told(run, experiment())
        assert event.seconds > 0

    def test_a_comparison(self, experiment, monkeypatch):
        """It says so too where BLISS is among its methods; of baselines nothing is known."""
        monkeypatch.setattr(forecast, "MUCH", 1)
        assert len(told(lambda p, tell: compare(p, ["bliss"], tell), experiment())[0]) == 1
        assert told(lambda p, tell: compare(p, ["bag-mean-svm"], tell), experiment())[0] == []

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [
            (None, "."),
            (10.0, " and less than a minute, without baselines"),
            (80.0, " and a minute or two, without baselines"),
            (720.0, " and roughly 12 minutes, without baselines"),
            (36_000.0, " and roughly 10 hours, without baselines"),
        ],
    )
    def test_words(self, seconds, words):
        """Rows, bags, memory and time stand in one line."""
        line = expectation(RunEstimated(58_157, 40, 3_200_000_000, seconds))
        assert line == f"58,157 rows in 40 bags: about 3.2 GB of memory{words.strip('.')}"


class TestRefusing:
    def test_nothing_is_begun(self, experiment, tmp_path):
        """A run that is allowed too little leaves no directory."""
        with pytest.raises(MemoryNeededError, match=r"nothing is left of the 1\.0 MB of max_memory"):
            run(experiment(max_memory="1MB"), lambda event: None, RunFolder(tmp_path / "out"))
        assert not (tmp_path / "out").exists()

    def test_the_limit_may_change(self, experiment, tmp_path, lasting, listen):
        """It decides no bit, so a run goes on with another one."""
        straight = run(experiment(), lambda event: None).document
        with pytest.raises(KeyboardInterrupt):
            run(experiment(max_memory="50GB"), listen(20), RunFolder(tmp_path / "out"))
        again = run(experiment(), lambda event: None, RunFolder(tmp_path / "out", resume=True)).document
        assert lasting(again) == lasting(straight)


class TestShares:
    @pytest.mark.parametrize(
        ("settings", "fits", "share"),
        [({"cv": 4}, 4, 0.75), ({"cv": None}, 0, 1.0), ({"cv": 2, "repeats": 3}, 6, 0.5)],
    )
    def test_fits_of_bliss(self, experiment, monkeypatch, settings, fits, share):
        """Those of BLISS count, by the share of the bags that they are trained on; baselines and the control do not."""
        seen = []
        monkeypatch.setattr("bliss_framework.runs.experiment.foretell", lambda prepared, work, tell: seen.append(work))
        run(experiment(compare=("no-bandit", "bag-mean-svm"), **settings), lambda event: None)
        assert [(one.fits, one.train_share, one.final) for one in seen] == [(fits, share, True)]
