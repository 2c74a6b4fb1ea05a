"""tests.csv: what was said of bags that were not trained on; and what else a run keeps to be looked at."""

import csv
import json

import numpy as np
import pytest

from bliss_framework import RunError
from bliss_framework.kernel.events import RoundFinished
from bliss_framework.runs.evaluation.measures import by_confidence
from bliss_framework.runs.evaluation.tests_table import read_tests
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.run_folder import RunFolder


def test_a_run_keeps_its_tests(experiment, listen, tmp_path):
    """Each method has each bag once in each repeat, and what is right of them is the accuracy in result.json.

    The mean reward of each round is followed in every fold.
    """
    told = listen()
    document = run(experiment(cv=3, repeats=2), told, RunFolder(tmp_path / "out")).document
    with (tmp_path / "out" / "tests.csv").open() as file:
        lines = list(csv.DictReader(file))
    evaluation = document["evaluation"]
    for name, measured in (("bliss", evaluation), ("bag-mean-svm", evaluation["baselines"][0])):
        for repeat, accuracy in zip("12", measured["bag_accuracy"]["runs"], strict=True):
            own = [line for line in lines if (line["method"], line["repeat"]) == (name, repeat)]
            assert len({line["bag"] for line in own}) == len(own) == document["data"]["n_bags"]
            assert {line["fold"] for line in own} == {"1", "2", "3"}
            right = sum(json.loads(line["weak_label"]) == json.loads(line["predicted"]) for line in own)
            assert right / len(own) == pytest.approx(accuracy)
    read = read_tests(tmp_path / "out" / "tests.csv")
    assert [one.name for one in read] == ["bliss", "bag-mean-svm"]
    assert read[0].of_repeat(2).bags.tolist() == [
        line["bag"] for line in lines if (line["method"], line["repeat"]) == ("bliss", "2")
    ]
    rounds = [event for event in told.events if isinstance(event, RoundFinished)]
    n_folds, n_rounds = document["inference"]["n_folds"], rounds[0].n_rounds
    followed = [event.mean_reward for event in rounds[: n_folds * n_rounds]]
    assert np.ravel(document["inference"]["reward_curves"]).tolist() == followed


@pytest.mark.parametrize(
    "line",
    ["bliss,1,1,a,0,1", "bliss,1,1,a,0,1,x", "bliss,one,1,a,0,1,0.5", "bliss,1,1,a,[0],1,0.5\nbliss,1,1,a,0,1,0.5"],
)
def test_damage_is_named(tmp_path, line):
    """A table that was cut off, or whose cells are something else, is refused with its name."""
    path = tmp_path / "tests.csv"
    path.write_text(f"method,repeat,fold,bag,weak_label,predicted,score\n{line}\n")
    with pytest.raises(RunError, match=r"tests\.csv is damaged"):
        read_tests(path)


def test_no_table(tmp_path):
    """A run that tested nothing has no table, and that is no fault."""
    assert read_tests(tmp_path / "tests.csv") == []


def test_right_by_confidence():
    """Labels are counted in ten steps, with the largest confidence in the last of them."""
    confidence = np.array([0.0, 0.31, 0.39, 0.999, 1.0])
    counted = by_confidence(confidence, np.array([True, False, True, True, True]))
    assert counted == {"n": [1, 0, 0, 2, 0, 0, 0, 0, 0, 2], "right": [1, 0, 0, 1, 0, 0, 0, 0, 0, 2]}
