"""What a report says of a run: who is best beyond noise, what explains each bag, and what is left out."""

import json

import numpy as np
import pytest

from bliss_framework.report.contents import section_of
from bliss_framework.report.parts import Chart, Remark, Table
from bliss_framework.report.reading import read_runs

pytest.importorskip("jinja2", reason="needs the extra report")
pytest.importorskip("matplotlib", reason="needs the extra report")


def section(folder):
    """The section of the only run."""
    (run,) = read_runs(folder)
    return section_of(run)


def part(section, start):
    """The part whose title begins with some words."""
    return next(one for one in section.parts if one.title.startswith(start))


def texts(table):
    """The cells of a table as text."""
    return [[cell.text for cell in row] for row in table.rows]


@pytest.fixture(scope="module")
def told(binary_run):
    """The section of a run with tests and carried columns."""
    return section(binary_run())


class TestVerdict:
    def test_two_bags_more_are_no_win(self, told):
        """A method that has two bags more right is no winner, and both are marked; the third is beaten beyond noise."""
        assert told.verdict == (
            "There is no winner: bliss has the best bag accuracy, 95.0% (83.5 to 98.6), but on 40 bags it cannot be "
            "told from other (90.0%); beyond noise, it is better than third (50.0%)."
        )
        methods = part(told, "Methods on the same bags")
        assert [row[1].best for row in methods.rows] == [True, True, False]
        leads = texts(part(told, "By how much bliss leads"))
        assert [row[-1] for row in leads] == ["within noise", "beyond noise"]
        assert [row[1] for row in leads] == ["+5.0", "+45.0"]
        assert leads[0][3] == "1"  # Both bags on one side: twice a quarter, and two comparisons.

    def test_a_winner(self, binary_run):
        """A method that beats all others beyond noise is named with the figures of the others."""
        folder = binary_run(wrong=0)
        text = (folder / "tests.csv").read_text()
        (folder / "tests.csv").write_text(
            "".join(line for line in text.splitlines(True) if not line.startswith("other"))
        )
        document = json.loads((folder / "result.json").read_text())
        document["evaluation"]["baselines"] = document["evaluation"]["baselines"][1:]
        (folder / "result.json").write_text(json.dumps(document))
        assert section(folder).verdict == (
            "bliss is the best, beyond noise: its bag accuracy is 100.0% (91.2 to 100.0), against third (50.0%) (p < "
            "0.001 by McNemar's exact test)."
        )

    def test_nothing_was_tested(self, binary_run):
        """A run without tests says so, shows no ranks, and marks nobody."""
        one = section(binary_run(tested=False))
        assert "nothing was tested on bags that were not trained on" in one.verdict
        assert isinstance(part(one, "Ranks, mistakes and scores"), Remark)
        assert not [p for p in one.parts if p.title.startswith(("Methods", "ROC"))]


class TestTests:
    def test_charts_have_their_values(self, told):
        """The scale of the methods is the whole range, and those who do not see a chart are told its figures."""
        chart = part(told, "Bag accuracy by method")
        assert chart.values == "bliss 95.0% (83.5 to 98.6), other 90.0% (76.9 to 96.0), third 50.0% (35.2 to 64.8)"
        assert all(one.values for one in told.parts if isinstance(one, Chart))
        assert ">0<" in chart.svg.replace(" ", "").replace("\n", "")
        assert ">100<" in chart.svg.replace(" ", "").replace("\n", "")

    def test_colours_are_those_of_the_page(self, told):
        """No ink is written down in a chart: on a dark screen it is another one."""
        for one in told.parts:
            if isinstance(one, Chart):
                assert "var(--ink)" in one.svg
                assert "#1c1f25" not in one.svg

    def test_ranks(self, told):
        """The area under the curve is that of all pairs of a positive and a negative bag."""
        truth = np.arange(40) % 2 == 1
        scores = np.where(truth == (np.arange(40) >= 2), 1, -1) * (1 + np.arange(40) / 100)
        pairs = scores[truth][:, None] - scores[~truth]
        assert f"bliss: area {np.mean((pairs > 0) + (pairs == 0) / 2):.3f}" in part(told, "ROC").values

    def test_mistakes(self, told):
        """The table of right and wrong counts the bags of each class."""
        table = texts(part(told, "Right and wrong of bliss, bags that were not trained on"))
        assert table == [["weak label no", "19 (95.0%)", "1 (5.0%)"], ["weak label yes", "1 (5.0%)", "19 (95.0%)"]]


class TestInstances:
    def test_witnesses(self, told):
        """The strongest witness comes first, by its own names; a positive bag without one comes last."""
        table = part(told, "Witnesses of each positive bag")
        assert table.columns[:5] == ("bag", "label", "place", "row", "tile")
        assert texts(table)[0][:5] == ["b03", "yes", "1", "9", "tile 9"]
        assert texts(table)[-1][:4] == ["b01", "yes", "none", "-"]
        assert len(table.rows) == 20

    def test_without_scores(self, binary_run):
        """A run that keeps no scores out of fold ranks witnesses by the lead of their mean reward."""
        table = part(section(binary_run(carried=False)), "Witnesses")
        assert table.columns == ("bag", "label", "place", "row", "lead in mean reward", "confidence")
        assert texts(table)[0][0] == "b39"

    def test_violations(self, told):
        """The one positive bag without a positive instance is named with what it lacks."""
        table = part(told, "Bags whose weak label the inferred labels do not meet")
        assert texts(table) == [["b01", "labelled yes, and no instance is", "3", "0"]]

    def test_maps(self, told):
        """Where coordinates were carried the strongest positive bags are drawn."""
        assert part(told, "Maps of 6 positive bags").values.startswith("b01: 3 instances, largest 0.990, b03: 3 ")

    def test_confidence_and_curves(self, told):
        """Right labels are counted by confidence, and each fold has its curve of rewards."""
        assert "0.9 to 1.0 (16): 100.0% (80.6% to 100.0%)" in part(told, "Confidence against correctness").values
        assert part(told, "Reward while labels were inferred").values == (
            "fold 1 from 0.250 to 0.625, fold 2 from 0.125 to 0.875"
        )

    def test_arms(self, told):
        """The instance with the least confident label comes first, with a bar for each of its arms."""
        arms = part(told, "Arms of instances")
        assert arms.columns[-2:] == ("reward of no", "reward of yes")
        assert [cell.level for cell in arms.rows[0][-2:]] == [0.25, 0.25 + 1 / 80]


@pytest.fixture
def other_run(binary_run):
    """A function that turns the run into one with other weak labels."""

    def write(classes, measures, bags, tests, labels):
        folder = binary_run()
        document = json.loads((folder / "result.json").read_text())
        document["data"] |= {"classes": classes, "n_bags": len(bags)}
        document["evaluation"] = {"cv": 2, "repeats": 1, **measures, "baselines": []} if measures else {}
        document["inference"]["weak_score"] = dict.fromkeys(measures or ["proportion_accuracy"], 0.5)
        (folder / "result.json").write_text(json.dumps(document))
        ids = "abc"
        lines = [f'{ids[n]},2,"{weak}","{said}",0.5\n' for n, (weak, said) in enumerate(bags)]
        (folder / "bags.csv").write_text("bag,n_instances,weak_label,predicted,score\n" + "".join(lines))
        lines = [f"{n},{ids[n // 2]},{label},0.5,0,0.1,0.6\n" for n, label in enumerate(labels)]
        (folder / "labels.csv").write_text(
            "row,bag,label,confidence,undecided,mean_reward_0,mean_reward_1\n" + "".join(lines)
        )
        lines = [f'bliss,1,1,{ids[n]},"{weak}","{said}","{said}"\n' for n, (weak, said) in enumerate(tests)]
        (folder / "tests.csv").write_text("method,repeat,fold,bag,weak_label,predicted,score\n" + "".join(lines))
        return section(folder)

    return write


class TestOtherKinds:
    def test_label_sets(self, other_run):
        """Each label is counted over bags that were not trained on; labels that nothing explains are violations."""
        sets = [("[1, 0]", "[1, 0]"), ("[1, 1]", "[0, 1]"), ("[0, 0]", "[0, 1]")]
        measures = {"label_set_f1": measured(2 / 3)}
        labels = ["cat", "none", "dog", "none", "dog", "none"]
        one = other_run(["none", "cat", "dog"], measures, sets, sets, labels)
        assert one.verdict.startswith("On bags that it was not trained on, bliss reaches a label set F1 of 0.667 (")
        values = part(one, "Labels of bliss, bags that were not trained on").values
        assert values == "cat: 1 found, 1 missed, 0 wrong, dog: 1 found, 0 missed, 1 wrong"
        found = texts(part(one, "Bags whose weak label"))
        assert [row[:2] for row in found] == [["b", "no instance is cat"], ["c", "not labelled, but inferred: dog"]]
        witnesses = texts(part(one, "Witnesses of each label"))
        assert [row[:3] for row in witnesses] == [["a", "cat", "1"], ["b", "dog", "1"], ["b", "cat", "none"]]

    def test_label_sets_by_name(self, other_run):
        """One label is a set of one, numbers may be names, and a bag shows the labels that it is about."""
        sets = [("1", "[]"), ("2", "[1, 2]"), ("none", "[]")]
        one = other_run(["none", "1", "2"], {"label_set_f1": measured(0.5)}, sets, [], list("102200"))
        shown = texts(part(one, "Bags that the model was trained on"))
        assert [row[:4] for row in shown] == [["a", "2", "1", "-"], ["b", "2", "2", "1, 2"], ["c", "2", "-", "-"]]
        witnesses = texts(part(one, "Witnesses of each label"))
        assert [row[:3] for row in witnesses] == [["a", "1", "1"], ["b", "2", "1"], ["b", "2", "2"]]

    def test_shares(self, other_run):
        """Shares that were predicted of other bags stand against those that are given."""
        shares = [("[0.5, 0.5]", "[0.5, 0.5]"), ("[1.0, 0.0]", "[0.5, 0.5]"), ("[0.0, 1.0]", "[0.0, 1.0]")]
        measures = {"proportion_accuracy": measured(1 - 0.5 / 3)}
        one = other_run(["0", "1"], measures, shares, shares, list("010001"))
        assert part(one, "Shares, bags that were not trained on").values == "mean distance of 3 bags: 1 0.167"
        found = texts(part(one, "Bags whose weak label"))
        assert [row[:2] for row in found] == [["c", "50.0% of its instances would need another label"]]

    def test_shares_of_training_bags_say_so(self, other_run):
        """Without tests the picture is of bags that the model was trained on, and its heading says that."""
        one = other_run(["0", "1"], None, [("0.5", "0.5"), ("1.0", "0.5"), ("0.0", "0.0")], [], list("010001"))
        assert isinstance(part(one, "Shares, the bags that the model was TRAINED on"), Chart)

    def test_other_weak_labels(self, other_run):
        """Weak labels of no known kind have their tables, and no picture that would not fit."""
        one = other_run(
            ["0", "1", "2"], {"own_measure": measured(0.5)}, [("0", "1"), ("2", "2"), ("1", "1")], [], "010001"
        )
        assert {type(p) for p in one.parts if "bag" in p.title} <= {Table}


def measured(mean):
    """A measure of one repeat."""
    return {"mean": mean, "sd": 0.0, "runs": [mean]}
