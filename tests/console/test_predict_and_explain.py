"""`bliss predict` and `bliss explain`: a saved model in use."""

import csv
import json

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from bliss_framework import BlissClassifier
from bliss_framework.estimator.persistence import save_model


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
    assert (ended.code, set(document)) == (0, {"format", "bags", "instances", "rows"})
    assert [one["bag"] for one in document["bags"]] == [f"b{j}" for j in range(12)]
    assert all(set(one) == {"bag", "predicted", "score", "probability"} for one in document["bags"])
    assert all(one["predicted"] == int(one["score"] > 0) for one in document["bags"])
    assert all((one["probability"] > 0.5) == (one["score"] > 0) for one in document["bags"])
    assert len(document["instances"]) == 48
    with (here / "predicted" / "bags.csv").open() as file:
        written = {row["bag"]: float(row["score"]) for row in csv.DictReader(file)}
    with (here / trained / "bags.csv").open() as file:
        of_the_run = {row["bag"]: float(row["score"]) for row in csv.DictReader(file)}
    assert written == {one["bag"]: one["score"] for one in document["bags"]} == of_the_run
    with (here / "predicted" / "labels.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [int(row["label"]) for row in lines] == document["instances"]
    assert [float(row["score"]) for row in lines] == [row["score"] for row in document["rows"]]
    for bag in {row["bag"] for row in lines}:
        ranked = sorted((row for row in lines if row["bag"] == bag), key=lambda row: -float(row["score"]))
        assert [int(row["rank"]) for row in ranked] == [1, 2, 3, 4]
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


def test_a_transformer_of_the_users_own(cli, table, here):
    """A model that was given a transformer in Python is refused in a sentence that says where it can predict."""
    table()
    rng = np.random.default_rng(0)
    model = BlissClassifier(n_rounds=2, n_folds=2, prepare=StandardScaler(), random_state=0)
    save_model(model.fit(rng.normal(size=(24, 4)), np.arange(8) % 2, bags=np.repeat(np.arange(8), 3)), here / "m.skops")
    ended = cli("predict", "m.skops", "toy.csv")
    assert (ended.code, ended.out) == (1, "")
    assert "by a transformer of its own, StandardScaler, which takes a table as it was in Python: predict" in ended.err


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


@pytest.fixture
def carrying(trained, here):
    """The run of `trained`, beside whose rows names of instances are carried."""
    path = here / trained / "labels.csv"
    head, *lines = path.read_text().splitlines()
    names = [f"{line},shape{row},{'left' if row % 2 else '7'}" for row, line in enumerate(lines)]
    path.write_text("\n".join([f"{head},shape,side", *names]) + "\n")
    return trained


class TestExplainingBags:
    def test_witnesses_and_what_decides(self, cli, carrying, here):
        """The ranks and scores are those of labels.csv, and without the row that decides the bag reads otherwise."""
        document = json.loads(cli("explain", carrying, "b1", "--json").out)
        with (here / carrying / "labels.csv").open() as file:
            rows = [row for row in csv.DictReader(file) if row["bag"] == "b1"]
        ranked = sorted(rows, key=lambda row: int(row["rank"]))
        assert [one["row"] for one in document["witnesses"]] == [int(row["row"]) for row in ranked]
        assert [one["score"] for one in document["witnesses"]] == [float(row["score"]) for row in ranked]
        assert document["witnesses"][0]["carried"]["shape"] == ranked[0]["shape"]
        assert document["strongest"]["row"] == document["decides"]["row"] == 4
        assert (document["predicted"], document["decides"]["predicted_without"]) == (1, 0)
        with (here / carrying / "bags.csv").open() as file:
            bag = next(row for row in csv.DictReader(file) if row["bag"] == "b1")
        assert document["score"] == float(bag["out_of_fold_score"])
        assert "Row 4 decides: without it the bag would be 0." in document["sentence"]
        second = next(row for row in ranked if row["rank"] == "2")
        lost = float(ranked[0]["score"]) - float(second["score"])
        # Binary MIL reads a bag by the mean of its largest and its average score.
        mean = sum(float(row["score"]) for row in rows) / 4
        without = sum(float(row["score"]) for row in ranked[1:]) / 3
        assert document["decides"]["score_without"] == pytest.approx(document["score"] - (lost + mean - without) / 2)

    def test_features(self, cli, trained, here):
        """Both columns are shifted in witnesses, so the score falls without either; without the data that is said."""
        features = json.loads(cli("explain", trained, "b1", "--json").out)["features"]
        assert features["kind"] == "permutation"
        assert {one["name"] for one in features["features"]} == {"a", "b"}
        assert all(one["value"] > 0 for one in features["features"])
        (here / "toy.csv").unlink()
        features = json.loads(cli("explain", trained, "b1", "--json").out)["features"]
        assert (features["kind"], features["features"]) == ("none", [])
        assert "The training data cannot be read, so no feature is tried: " in features["said"]

    def test_linear_weights(self, cli, table, here):
        """A linear final classifier has weights, which need no data."""
        table()
        words = ("--n-rounds", "4", "--n-folds", "3", "--final-classifier", "svm-linear", "--quiet")
        assert cli("run", "toy.csv", *words, "--output", "linear").code == 0
        (here / "toy.csv").unlink()
        features = json.loads(cli("explain", "linear", "b1", "--json").out)["features"]
        assert features["kind"] == "weights"
        assert {one["name"] for one in features["features"]} == {"a", "b"}

    def test_an_instance_by_what_is_carried(self, cli, carrying):
        """The value of a carried column that one row has is that row; a word with several meanings is told of."""
        document = json.loads(cli("explain", carrying, "shape5", "--json").out)
        assert (document["row"], document["carried"]) == (5, {"shape": "shape5", "side": "left"})
        ended = cli("explain", carrying, "left")
        assert ended.code == 1
        assert "'left' stands beside 24 instances, of the rows 1, 3, 5, 7, 9 and 19 more; give one." in ended.err
        ended = cli("explain", carrying, "shape5", "--as", "bag")
        assert "'shape5' is no bag of the training data, but a instance" in ended.err
        ended = cli("explain", carrying, "shpae5")
        assert 'Did you mean "shape5"?' in ended.err

    def test_what_is_drawn(self, cli, carrying):
        """The screen shows the sentence, the ranked instances with their names, arms and features."""
        out = cli("explain", carrying, "b1").out
        for said in ("Bag 'b1' (weak label 1) is read as 1", "shape4", "arms of row 4", "features that matter"):
            assert said in out
