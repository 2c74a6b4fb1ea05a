"""`bliss run` on a pipeline: generated scenes from image-level labels to average precision."""

import json

import pytest

SMALL = (
    "--set",
    "pipeline.n_train=18",
    "--set",
    "pipeline.n_test=6",
    "--set",
    "pipeline.n_rounds=3",
    "--set",
    "pipeline.n_inferences=1",
    "--set",
    "pipeline.n_passes=2",
)


def test_shapes_from_end_to_end(cli, here):
    """One command leaves measures of all methods, the picked boxes and curves; JSON says the same."""
    ended = cli("run", "shapes-detection", *SMALL, "--output", "out", "--json", "--quiet")
    assert ended.code == 0
    document = json.loads(ended.out)
    evaluation = document["evaluation"]
    names = [evaluation["name"], *(row["name"] for row in evaluation["baselines"])]
    assert names == [
        "bliss",
        "paper",
        "no-bandit",
        "vote",
        "whole-image",
        "mi-svm",
        "mi-ridge",
        "max-cover-slsvm",
        "supervised",
    ]
    for row in [evaluation, *evaluation["baselines"]]:
        for measure in ("map", "map_all_points", "mean_corloc"):
            assert 0 <= row[measure]["mean"] <= 1
        assert set(row["ap"]) == set(row["corloc"]) == {"disc", "cross", "triangle"}
        assert row["map"]["mean"] == pytest.approx(sum(one["mean"] for one in row["ap"].values()) / 3)
    # The true boxes are better than none at all.
    assert evaluation["baselines"][-1]["map"]["mean"] > evaluation["baselines"][3]["map"]["mean"]
    lines = (here / "out" / "boxes.csv").read_text().splitlines()
    assert lines[0] == "class,image,x0,y0,x1,y1,correct"
    shown = sum(document["data"]["n_positive_images"].values())
    assert len(lines) == 1 + shown
    right = sum(int(line.split(",")[-1]) for line in lines[1:])
    by_class = document["data"]["n_positive_images"]
    assert right == round(sum(evaluation["corloc"][name]["mean"] * n for name, n in by_class.items()))
    assert (here / "out" / "curves.csv").read_text().startswith("method,class,recall,precision\n")
    methods = ("--set", 'pipeline.methods=["bliss"]')
    again = cli("run", "shapes-detection", *SMALL, *methods, "--output", "again", "--json", "--quiet")
    second = json.loads(again.out)["evaluation"]
    assert [second[name] for name in ("map", "ap", "corloc")] == [evaluation[name] for name in ("map", "ap", "corloc")]


def test_what_is_printed(cli, here, monkeypatch):
    """A table of overall measures with seconds, then one for each measure by class."""
    monkeypatch.setenv("COLUMNS", "120")
    methods = ("--set", 'pipeline.methods=["vote", "whole-image"]')
    ended = cli("run", "shapes-detection", *SMALL, *methods, "--repeats", "2", "--output", "out")
    assert ended.code == 0
    assert ended.out.startswith("shapes-detection: images 24, training images 18\npercent, 2 repeats\n")
    heads = [line for line in ended.out.splitlines() if "│ method" in line]
    assert [part.strip() for part in heads[0].split("│")[1:-1]] == [
        "method",
        "mAP",
        "mAP all points",
        "mean CorLoc",
        "seconds",
    ]
    assert [part.strip() for part in heads[1].split("│")[1:-1]] == ["method", "disc", "cross", "triangle"]
    assert " +- " in ended.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "shapes-detection", "--n-rounds", "3"), "takes no n_rounds"),
        (("run", "shapes-detection", "--set", 'pipeline.methods=["magic"]'), "magic"),
        (("run", "shape-detection"), 'There is a pipeline "shapes-detection"'),
        (("run", "detection"), 'needs the parameter "data"'),
        (("run", "shapes-detection", "--set", "pipeline.rounds=3"), 'Did you mean "n_rounds"'),
    ],
)
def test_refusals_are_one_sentence(cli, words, said):
    """What cannot be run is said before anything starts, without a traceback."""
    ended = cli(*words)
    assert ended.code == 1
    assert said in ended.err
    assert "Traceback" not in ended.err
