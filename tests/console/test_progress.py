"""Progress: bars on a terminal, a line now and then elsewhere, with a clock that ticks by hand."""

import re

import pytest

from bliss_framework.console.drawing.progress import SECONDS_BETWEEN_LINES, progress_on
from bliss_framework.estimator.events import SelectionAdvanced, SelectionStarted
from bliss_framework.kernel.events import (
    FoldFinished,
    FoldStarted,
    RelabellingAdvanced,
    RelabellingStarted,
    RoundFinished,
)
from bliss_framework.runs.events import FitFinished, FitStarted, RunFinished, RunStarted

STARTED = RunStarted("run[old]", "run[old].csv", 92, 476, 11)
HEADLINE = "run[old] (run[old].csv): 92 bags, 476 instances, 11 fits"
CURSOR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Clock:
    """Stands still until it is set."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


class TestLines:
    @pytest.fixture
    def console(self, record):
        return record(40, terminal=False)

    def told(self, console):
        return console.file.getvalue().splitlines()

    def test_the_headline_comes_at_once(self, console, clock):
        """What a run works on is told when it starts, in one line however long it is, with its square brackets."""
        with progress_on(console, clock) as tell:
            tell(STARTED)
        assert self.told(console) == [HEADLINE]

    def test_one_fit_is_no_fits(self, console, clock):
        """A single fit is told as such."""
        with progress_on(console, clock) as tell:
            tell(RunStarted("a", "a.csv", 1, 2, 1))
        assert self.told(console) == ["a (a.csv): 1 bags, 2 instances, 1 fit"]

    def test_a_line_now_and_then(self, console, clock):
        """However many rounds there are, a line is written only when the last one is old enough."""
        with progress_on(console, clock) as tell:
            tell(STARTED)
            for round in range(1, 101):
                clock.now += SECONDS_BETWEEN_LINES / 40
                tell(RoundFinished(1, 2, round, 100, 0.5 + round / 1000))
        assert self.told(console)[1:] == [
            "run[old]: fold 3, round 40 of 100, mean reward 0.540",
            "run[old]: fold 3, round 80 of 100, mean reward 0.580",
        ]

    def test_fits_are_counted(self, console, clock):
        """Fits are counted while nothing is written, and rounds that ended in other processes are told by fold."""
        with progress_on(console, clock) as tell:
            tell(STARTED)
            for fold in range(3):
                tell(FitFinished("bliss", 0, fold, {}))
            clock.now += SECONDS_BETWEEN_LINES
            tell(FitFinished("bliss", 0, 3, {}))
            clock.now += SECONDS_BETWEEN_LINES
            tell(FoldFinished(1, 4, 0.8))
        assert self.told(console)[1:] == ["run[old]: 4 of 11 fits", "run[old]: fold 5 is done, mean reward 0.800"]

    def test_inferences_to_choose_settings(self, console, clock):
        """While settings are chosen, the inferences that are done are told, at most one line every few seconds."""
        with progress_on(console, clock) as tell:
            tell(STARTED)
            tell(SelectionStarted(36, 20, 5))
            for done in range(1, 21):
                clock.now += SECONDS_BETWEEN_LINES / 8
                tell(SelectionAdvanced(done, 20))
        assert self.told(console)[1:] == [
            "run[old]: 8 of 20 inferences to choose settings",
            "run[old]: 16 of 20 inferences to choose settings",
        ]

    def test_relabelling(self, console, clock):
        """Rounds after inference are told with how many labels they changed."""
        with progress_on(console, clock) as tell:
            tell(STARTED)
            tell(RelabellingStarted(30))
            clock.now += SECONDS_BETWEEN_LINES
            tell(RelabellingAdvanced(4, 30, 1200))
        assert self.told(console)[1:] == ["run[old]: relabelling, round 4 of 30, 1,200 labels changed"]

    def test_no_codes(self, console, clock):
        """Nothing but text is written where there is no terminal."""
        with progress_on(console, clock) as tell:
            tell(STARTED)
            clock.now += SECONDS_BETWEEN_LINES
            tell(RoundFinished(1, 0, 1, 2, 0.5))
            tell(RunFinished("run[old]", 3.0))
        assert "\x1b" not in console.file.getvalue()


class TestBars:
    def drawn(self, console, clock, *events):
        """Tell events and return the lines that stand on the screen last, before the bars are wiped away."""
        with progress_on(console, clock) as tell:
            for event in events:
                tell(event)
        text = CURSOR.sub("\n", console.file.getvalue())
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def last(self, lines, word):
        return [line for line in lines if word in line][-1]

    def test_rounds_and_mean_reward(self, record, clock):
        """A bar shows the fold, its rounds and the mean reward; another one the fits and which of them is in work."""
        events = [
            STARTED,
            FitStarted("bliss", None, None),
            FoldStarted(1, 1, 5, 100),
            RoundFinished(1, 1, 40, 100, 0.875),
        ]
        lines = self.drawn(record(100), clock, *events)
        assert lines[0] == HEADLINE
        rounds, fits = self.last(lines, "round"), self.last(lines, "inference")
        assert rounds.startswith("fold 2/5 ")
        assert " round 40/100 reward 0.875 " in " ".join(rounds.split())
        assert " fit 0/11 " in " ".join(fits.split())

    def test_relabelling(self, record, clock):
        """After the folds the bar shows the rounds of relabelling, which have no reward."""
        events = [FoldStarted(1, 1, 5, 100), RoundFinished(1, 1, 40, 100, 0.875)]
        events += [RelabellingStarted(30), RelabellingAdvanced(7, 30, 12)]
        lines = self.drawn(record(100), clock, STARTED, *events)
        assert " round 7/30 0:00:00 " in " ".join(self.last(lines, "relabelling").split())

    def test_time_is_that_of_the_clock(self, record, clock):
        """With forty rounds in forty seconds, sixty are left."""
        console = record(100)
        with progress_on(console, clock) as tell:
            tell(STARTED)
            tell(FoldStarted(1, 0, 5, 100))
            for round in range(1, 41):
                clock.now += 1.0
                tell(RoundFinished(1, 0, round, 100, 0.5))
        lines = CURSOR.sub("\n", console.file.getvalue()).splitlines()
        assert " ".join(self.last(lines, "round").split()).endswith("round 40/100 reward 0.500 0:00:40 0:01:00")

    def test_fits_of_the_evaluation(self, record, clock):
        """The method, the repeat and the fold in work are told, and how many fits are done."""
        events = [STARTED, *[FitFinished("bliss", 0, fold, {}) for fold in range(4)], FitStarted("bag-mean-svm", 1, 2)]
        fits = self.last(self.drawn(record(100), clock, *events), "bag-mean-svm")
        assert fits.startswith("bag-mean-svm, repeat 2, fold 3 ")
        assert " fit 4/11 " in " ".join(fits.split())

    def test_rounds_in_other_processes(self, record, clock):
        """Where single rounds are not seen, the last fold that ended shows its mean reward."""
        lines = self.drawn(record(100), clock, STARTED, FitStarted("bliss", None, None), FoldFinished(1, 3, 0.75))
        assert " fit 0/11 reward 0.750 " in " ".join(self.last(lines, "inference").split())

    def test_inferences_to_choose_settings(self, record, clock):
        """The bar of rounds counts inferences while settings are chosen; rounds follow, and keep their own words."""
        choosing = [STARTED, FitStarted("bliss", None, None), SelectionStarted(36, 20, 5), SelectionAdvanced(7, 20)]
        lines = self.drawn(record(100), clock, *choosing)
        assert " inference 7/20 " in " ".join(self.last(lines, "settings").split())
        lines = self.drawn(record(100), clock, *choosing, FoldStarted(1, 0, 3, 60), RoundFinished(1, 0, 6, 60, 0.5))
        assert " round 6/60 reward 0.500 " in " ".join(self.last(lines, "fold 1/3").split())
        assert self.last(lines, "0/11").split()[0] == "inference"

    def test_the_next_fit_hides_what_the_last_one_chose(self, record, clock):
        """A method without inferences shows none."""
        events = [STARTED, SelectionStarted(36, 20, 5), SelectionAdvanced(20, 20), FitStarted("bag-mean-svm", 0, 0)]
        lines = self.drawn(record(100), clock, *events)
        assert "inference" not in lines[-1]

    def test_the_screen_is_left_clean(self, record, clock):
        """In the end the bars are gone and the cursor is back; the headline stays."""
        console = record(100)
        self.drawn(console, clock, STARTED, FoldStarted(1, 0, 5, 9), RunFinished("run[old]", 1.0))
        text = console.file.getvalue()
        assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
        assert text.endswith("\x1b[2K")

    @pytest.mark.parametrize("width", [40, 60, 80])
    def test_narrow_terminals(self, record, clock, width):
        """Where there is little room times and bars are left out; the round stays, and no line is too wide."""
        events = [STARTED, FitStarted("bliss", 0, 1), FoldStarted(1, 0, 5, 100), RoundFinished(1, 0, 9, 100, 0.5)]
        lines = self.drawn(record(width), clock, *events)
        assert max(map(len, lines[1:])) <= width
        assert "round 9/100 reward 0.500" in " ".join(self.last(lines, "fold 1/5").split())
        assert ("0:00:00" in self.last(lines, "fold 1/5")) == (width >= 80)

    def test_ascii(self, record, clock):
        """Where only ASCII can be shown, the bars are of ASCII."""
        console = record(100, encoding="ascii")
        self.drawn(console, clock, STARTED, FoldStarted(1, 0, 5, 9), RoundFinished(1, 0, 3, 9, 0.5))
        assert console.file.getvalue().isascii()
