"""What a run says of witnesses and of its own quality."""

import csv

import numpy as np
import pytest
from attrs import evolve

from bliss_framework import BlissClassifier
from bliss_framework.estimator.findings import findings_of, kind_of_bags
from bliss_framework.estimator.inputs import check_training
from bliss_framework.kernel.events import silent
from bliss_framework.plugin import Bags, Kind, Profile, When
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.csv_tables import write_tables
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_llp.regime.llp_regime import LlpRegime
from bliss_mil.regime.mil_regime import MilRegime
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime

QUICK = {"n_rounds": 5, "n_folds": 3, "n_inferences": 1, "random_state": 0}


def test_witnesses_are_those_of_the_tables(experiment, tmp_path):
    """Positive bags with an instance inferred to be positive are counted; the strongest have the highest scores."""
    document = run(experiment(cv=None, data={"gap": 1.5}), silent, RunFolder(tmp_path / "out")).document
    with (tmp_path / "out" / "labels.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["label"] == "1" and int(row["bag"][1:]) < 6]
    found = document["findings"]["witnesses"]
    assert (found["of"], found["n"], found["n_with_witness"]) == ("positive bags", 6, len({row["bag"] for row in rows}))
    ranked = sorted(rows, key=lambda row: -float(row["score"]))[:3]
    assert [one["row"] for one in found["strongest"]] == [int(row["row"]) for row in ranked]
    assert [one["probability"] for one in found["strongest"]] == [float(row["probability"]) for row in ranked]


def test_the_estimate_is_that_of_the_tables(experiment, tmp_path):
    """Its accuracy is that of `out_of_fold_predicted` in bags.csv, beside the share of the commonest label."""
    prepared = experiment(cv=None, data={"gap": 0.5, "n_pos": 4, "n_neg": 8})
    document = run(prepared, silent, RunFolder(tmp_path / "out")).document
    with (tmp_path / "out" / "bags.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = document["findings"]["out_of_fold"]
    assert found["value"] == np.mean([row["out_of_fold_predicted"] == row["weak_label"] for row in rows])
    assert (found["measure"], found["n_bags"]) == ("bag_accuracy", 12)
    assert found["reference"] == {"name": "majority", "value": 8 / 12}
    assert found["interval"]["low"] < found["value"] < found["interval"]["high"]


def test_names_of_instances_are_said(toy):
    """What is carried beside the rows stands with the strongest instances."""
    X, bags, weak = toy()
    data = evolve(check_training(X, weak, bags), carried={"shape": np.array([f"s{row}" for row in range(48)])})
    model = BlissClassifier(**QUICK).fit(data)
    found = findings_of(model, data.bags, data.read_by(model.regime_).labels, data.carried)
    assert [one["carried"] for one in found["witnesses"]["strongest"]] == [
        {"shape": f"s{one['row']}"} for one in found["witnesses"]["strongest"]
    ]


def test_shares_are_held_against_the_mean_shares():
    """The reference is the error of saying the same shares of every bag; bags of shares have no witnesses."""
    rng = np.random.default_rng(0)
    bags, ones = np.repeat(np.arange(12), 6), np.arange(12) % 7
    X = rng.normal(size=(72, 2)) + 4.0 * (np.tile(np.arange(6), 12) < ones.repeat(6))[:, None]
    weak = np.stack([1 - ones / 6, ones / 6], axis=1)
    model = BlissClassifier(regime="llp", **QUICK)
    data = check_training(X, weak, bags)
    model.fit(data)
    found = findings_of(model, data.bags, data.read_by(model.regime_).labels, data.carried)
    assert set(found) == {"out_of_fold"}
    expected = np.abs(weak[:, 1] - weak[:, 1].mean()).mean()
    assert found["out_of_fold"]["measure"] == "proportion_error"
    assert found["out_of_fold"]["reference"] == {"name": "constant", "value": pytest.approx(expected)}
    assert found["out_of_fold"]["value"] < expected


def test_label_sets_count_labels_of_bags():
    """Each label of a bag wants an instance of it; the measure is that of the reading."""
    X, bags, sets = [], [], {}
    for bag in range(12):
        names = [name for name, step in (("cat", 2), ("dog", 3)) if bag % step == 0]
        sets[bag] = set(names)
        for row in ([5, 0, 0],) * ("cat" in names) + ([0, 5, 0],) * ("dog" in names) + ([0, 0, 5],) * 2:
            X.append(row)
            bags.append(bag)
    data = check_training(np.array(X, dtype=float), sets, np.array(bags))
    model = BlissClassifier(regime="multiclass-mil", **QUICK).fit(data)
    found = findings_of(model, data.bags, data.read_by(model.regime_).labels, data.carried)
    assert (found["witnesses"]["of"], found["witnesses"]["n"]) == ("labels of bags", 6 + 4)
    assert found["witnesses"]["n_with_witness"] <= 10
    assert {one["label"] for one in found["witnesses"]["strongest"]} <= {"cat", "dog"}
    assert (found["out_of_fold"]["measure"], "reference" in found["out_of_fold"]) == ("label_set_f1", False)


def test_too_few_bags_are_told_of(experiment, tmp_path):
    """With four bags nothing is out of fold: the cells are empty and a note says why."""
    prepared = experiment(cv=None, n_folds=2, data={"n_pos": 2, "n_neg": 2})
    result = run(prepared, silent, RunFolder(tmp_path / "out"))
    assert any(note.startswith("Fewer than five bags leave none") for note in result.notes)
    assert "out_of_fold" not in result.document["findings"]
    with (tmp_path / "out" / "labels.csv").open() as file:
        assert {(row["score"], row["probability"], row["rank"]) for row in csv.DictReader(file)} == {("", "", "")}


def test_carried_columns_stand_in_the_table(toy, tmp_path):
    """They follow our own columns by their names; one that is called like one of ours says that it is carried."""
    X, bags, weak = toy()
    carried = {"shape": np.array([f"s{row}" for row in range(48)]), "rank": np.arange(48), "xy": np.zeros((48, 2))}
    data = evolve(check_training(X, weak, bags), carried=carried)
    write_tables(tmp_path, BlissClassifier(**QUICK).fit(data), data)
    with (tmp_path / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-6:] == ["score", "probability", "rank", "shape", "carried_rank", "xy"]
    assert [row["shape"] for row in rows] == carried["shape"].tolist()
    assert [row["carried_rank"] for row in rows] == [str(row) for row in range(48)]
    assert rows[0]["xy"] == "[0.0, 0.0]"


class Kinds:
    """Kinds of bags that MIL speaks of here: few witnesses first, then sparse rows, then all others."""

    PRESETS = evolve(
        MilRegime.presets,
        kinds=(
            Kind("needles", "Look closely.", witnesses_at_most=0.4),
            Kind("texts", "Read them.", When(sparse=True)),
            Kind("crowds", "Count them."),
        ),
    )

    @pytest.fixture(autouse=True)
    def kinds(self, monkeypatch):
        monkeypatch.setattr(MilRegime, "presets", self.PRESETS)


class TestKindOfBags(Kinds):
    def test_a_run_says_it(self, experiment, tmp_path):
        """The witness share is that of scores above 0 in labels.csv, among the instances of positive bags."""
        document = run(experiment(cv=None, data={"gap": 1.5}), silent, RunFolder(tmp_path / "out")).document
        with (tmp_path / "out" / "labels.csv").open() as file:
            scores = [float(row["score"]) for row in csv.DictReader(file) if int(row["bag"][1:]) < 6]
        share = np.mean(np.array(scores) > 0)
        like = "needles" if share <= 0.4 else "crowds"
        assert document["findings"]["kind"]["like"] == like
        assert document["findings"]["kind"]["witness_share"] == pytest.approx(share)

    @pytest.mark.parametrize(
        ("scores", "sparse", "like"),
        [
            ([1.0, -1.0, -1.0, -1.0, 9.0, 9.0], False, "needles"),
            ([1.0, 1.0, 0.0, -1.0, -1.0, -1.0], True, "texts"),
            ([1.0, 1.0, 0.0, -1.0, -1.0, -1.0], False, "crowds"),
            (None, False, "crowds"),
            (None, True, "texts"),
        ],
    )
    def test_the_first_that_holds_is_said(self, scores, sparse, like):
        """Only instances of the positive bag count, a score of 0 is none, and nothing is guessed without scores."""
        bags, regime = Bags.from_ids([0, 0, 0, 0, 1, 1]), MilRegime()
        weak = regime.check(np.array([1, 0]), bags)
        found = kind_of_bags(regime, bags, weak, None if scores is None else np.array(scores), sparse)
        assert found["like"] == like
        assert ("witness_share" in found) == (scores is not None)

    def test_shares_and_several_classes_have_no_witness_share(self):
        """What has no positive bags, or a score for each class, is told apart by its bags alone."""
        bags, regime = Bags.from_ids(np.arange(6).repeat(2)), LlpRegime()
        weak = regime.check(np.array([0.5, 0.0, 0.5, 1.0, 0.0, 1.0]), bags)
        assert "witness_share" not in kind_of_bags(regime, bags, weak, np.ones(12), False)
        bags = Bags.from_ids([0, 0, 1, 1])
        weak = MilRegime().check(np.array([1, 0]), bags)
        assert "witness_share" not in kind_of_bags(MilRegime(), bags, weak, np.ones((4, 2)), False)


@pytest.mark.parametrize(
    ("share", "sparse", "like"),
    [
        (0.02, True, "those with few witnesses"),
        (0.2, False, "those with few witnesses"),
        (0.5, True, "texts of several passages"),
        (0.5, False, "MUSK1 and Elephant, where many instances say a little each"),
        (None, False, None),
        (None, True, None),
    ],
)
def test_kinds_of_bags_with_witnesses(share, sparse, like):
    """MIL tells bags apart by their share of witnesses, and texts from measurements; else it says nothing."""
    found = MilRegime.presets.kind_of(Profile(900, 100, sparse), share)
    assert (found and found.like) == like


@pytest.mark.parametrize(
    ("regime", "n_bags", "size", "like"),
    [
        (LlpRegime(), 10, 4, "small ones with shares"),
        (LlpRegime(), 10, 8, "those whose shares come by chance"),
        (MultiClassMilRegime(), 160, 8, "small collections of label sets"),
        (MultiClassMilRegime(), 900, 8, None),
        (MultiClassMilRegime(), 2000, 8, "large collections of label sets"),
    ],
)
def test_kinds_by_bags_alone(regime, n_bags, size, like):
    """Proportions are told apart by the size of bags, label sets by how many there are; some have no advice."""
    found = regime.presets.kind_of(Profile(n_bags * size, n_bags), None)
    assert (found and found.like) == like
