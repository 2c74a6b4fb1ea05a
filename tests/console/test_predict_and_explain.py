"""`bliss predict` and `bliss explain`: a saved model in use."""

import csv
import json

import pytest


@pytest.fixture
def trained(cli, table):
    """A finished run in the folder `out`, of a table in the current folder."""
    table()
    assert cli("run", "toy.csv", "--n-rounds", "4", "--n-folds", "3", "--output", "out", "--quiet").code == 0
    return "out"


def test_predicting_new_bags(cli, trained, here):
    """Bags without weak labels are predicted; what is printed, what --json holds and what is written agree."""
    rows = [line.split(",") for line in (here / "toy.csv").read_text().splitlines()]
    (here / "new.csv").write_text("\n".join(",".join([row[0], *row[2:]]) for row in rows) + "\n")
    ended = cli("predict", trained, "new.csv", "--json", "--output", "predicted")
    document = json.loads(ended.out)
    assert (ended.code, set(document)) == (0, {"format", "bags", "instances"})
    assert [one["bag"] for one in document["bags"]] == [f"b{j}" for j in range(12)]
    assert all(set(one) == {"bag", "predicted", "score"} for one in document["bags"])
    assert all(one["predicted"] == int(one["score"] > 0) for one in document["bags"])
    assert len(document["instances"]) == 48
    with (here / "predicted" / "bags.csv").open() as file:
        written = {row["bag"]: float(row["score"]) for row in csv.DictReader(file)}
    with (here / trained / "bags.csv").open() as file:
        of_the_run = {row["bag"]: float(row["score"]) for row in csv.DictReader(file)}
    assert written == {one["bag"]: one["score"] for one in document["bags"]} == of_the_run
    with (here / "predicted" / "labels.csv").open() as file:
        assert [int(row["label"]) for row in csv.DictReader(file)] == document["instances"]
    printed = cli("predict", f"{trained}/model.skops", "new.csv").out.splitlines()
    assert len(printed) == 12 + 5
    assert printed[0] == "scores are relative to the bag threshold"


def test_columns_are_matched_by_name(cli, trained, here):
    """Columns in another order give the same scores, one too many is told of, and a renamed one is refused."""
    rows = [line.split(",") for line in (here / "toy.csv").read_text().splitlines()]
    plain, swapped = ([[row[0], *order(row[2:])] for row in rows] for order in (list, lambda own: own[::-1]))
    extra = [[*row, "z" if number == 0 else "1"] for number, row in enumerate(plain)]
    renamed = [["bag", "a", "c"], *plain[1:]]
    scores = {}
    for name, table in {"plain": plain, "swapped": swapped, "extra": extra}.items():
        (here / f"{name}.csv").write_text("\n".join(map(",".join, table)) + "\n")
        ended = cli("predict", trained, f"{name}.csv", "--json")
        assert ended.code == 0
        assert ('"z" is no column of the model, and is carried beside the rows' in ended.err) == (name == "extra")
        scores[name] = [one["score"] for one in json.loads(ended.out)["bags"]]
    assert scores["plain"] == scores["swapped"] == scores["extra"]
    (here / "renamed.csv").write_text("\n".join(map(",".join, renamed)) + "\n")
    ended = cli("predict", trained, "renamed.csv")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith('Error: renamed.csv has no column "b", on which the model was trained.')


def test_predicting_label_sets(cli, here):
    """Label sets that were given by names are predicted by names: in the run, on the screen, in JSON and in files."""
    lines = ["bag,label,f1,f2,f3"]
    for bag in range(24):
        sets = [name for name, step in (("cat", 2), ("dog", 3)) if bag % step == 0]
        rows = [[5.0, 0.0, 0.0]] * ("cat" in sets) + [[0.0, 5.0, 0.0]] * ("dog" in sets) + [[0.0, 0.0, 5.0]] * 2
        lines += [f"b{bag},{'|'.join(sets)},{','.join(map(str, row))}" for row in rows]
    (here / "sets.csv").write_text("\n".join(lines) + "\n")
    words = ("--n-rounds", "5", "--n-inferences", "1", "--quiet")
    assert cli("run", "sets.csv", *words, "--output", "out").code == 0
    with (here / "out" / "bags.csv").open() as file:
        of_the_run = {row["bag"]: (row["weak_label"], row["predicted"]) for row in csv.DictReader(file)}
    assert of_the_run["b0"] == ('["cat", "dog"]', '["cat", "dog"]')
    assert of_the_run["b1"] == ("[]", "[]")
    assert of_the_run["b3"] == ('["dog"]', '["dog"]')
    document = json.loads(cli("predict", "out", "sets.csv", "--json", "--output", "again").out)
    assert document["bags"][3]["predicted"] == ["dog"]
    with (here / "again" / "bags.csv").open() as file:
        assert {row["bag"]: row["predicted"] for row in csv.DictReader(file)} == {
            bag: predicted for bag, (_, predicted) in of_the_run.items()
        }
    assert "cat, dog" in cli("predict", "out", "sets.csv").out


def test_explaining_an_instance(cli, trained, here):
    """The arms that are shown are those of labels.csv, and the label is that of the best one."""
    document = json.loads(cli("explain", trained, "0", "--json").out)
    with (here / trained / "labels.csv").open() as file:
        row = next(csv.DictReader(file))
    assert (document["row"], document["bag"], document["class"]) == (0, "b0", int(row["label"]))
    means = {arm["label"]: arm["mean_reward"] for arm in document["arms"]}
    assert means == {label: float(row[f"mean_reward_{label}"]) for label in (0, 1)}
    assert max(means, key=means.get) == document["class"]
    out = cli("explain", trained, "0").out
    assert out.startswith(document["sentence"])
    assert "arms\n" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["predict", "nowhere", "toy.csv"], "There is no model at nowhere; give a .skops file or the directory of a"),
        (["predict", "toy.csv", "toy.csv"], "toy.csv cannot be read as a model: "),
        (["predict", "out", "narrow.csv"], 'narrow.csv has no column "b", on which the model was trained.'),
        (["predict", "out", "tyo.csv"], 'No file and no data set is called "tyo.csv".'),
        (["explain", "out", "48"], "There is no training row 48; rows are 0 to 47."),
        (["explain", "nowhere", "0"], "There is no model at nowhere"),
    ],
)
def test_refusals(cli, trained, here, words, said):
    """What cannot be predicted or explained is told in one paragraph."""
    (here / "narrow.csv").write_text("bag,a\nx,1.5\ny,0.5\n")
    ended = cli(*words)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"Error: {said}")
    assert len(ended.err.splitlines()) == 1
