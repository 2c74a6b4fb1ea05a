"""The story of a chemist: a file that a spreadsheet exported, one command to a result, another one to predictions."""

import csv
import json

import numpy as np
import pytest

SHORT = ("--n-rounds", "4", "--n-folds", "3", "--quiet")
MANY = 14


@pytest.fixture
def export(here):
    """A function that writes conformations of molecules, as MUSK1 has them, in the current folder.

    Ids have leading zeros; there are names, a date, a supplier, empty cells, and labels that are words.
    """

    def write(name="export.csv", seed=0, n_bags=MANY, labelled=True, encoding="utf-8-sig", supplier="Merck"):
        rng = np.random.default_rng(seed)
        columns = [
            "Molecule",
            "Name",
            "Conformation",
            "Supplier",
            "Measured",
            "Active",
            *(f"f{i}" for i in range(1, 7)),
        ]
        rows = []
        for bag in range(n_bags):
            for row in range(3):
                numbers = rng.normal(size=6) * 100
                numbers[:2] += 400 * (bag % 2) * (row == 1)
                cells = [f"{x:.2f}".replace(".", ",") if rng.random() > 0.05 else "" for x in numbers]
                words = [f"{seed}{bag:03d}", f"Müsk-{bag}", f"{bag}_{row}+1", ["Sigma", supplier][(bag + row) % 2]]
                rows.append([*words, f"{bag + 1:02d}.03.2024", ["no", "yes"][bag % 2], *cells])
        kept = [place for place, column in enumerate(columns) if labelled or column != "Active"]
        with (here / name).open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerows([[row[place] for place in kept] for row in (columns, *rows)])
        return here / name

    return write


def scores_of(ended):
    assert (ended.code, "Error" in ended.err) == (0, False), ended.err
    return {one["bag"]: one["score"] for one in json.loads(ended.out)["bags"]}


def test_one_command_to_a_result_and_another_one_to_predictions(cli, export, here):
    """The export is read as it is; unlabelled rows are then predicted without any option, whatever their encoding."""
    export()
    ended = cli("run", "export.csv", "--bag", "Molecule", "--label", "Active", "--cv", "3", "--output", "out", *SHORT)
    assert ended.code == 0, ended.err
    result = json.loads((here / "out" / "result.json").read_text())
    assert result["data"]["n_bags"] == MANY
    assert result["evaluation"]["bag_accuracy"]["mean"] > 0.7
    assert result["data"]["classes"] == ["no", "yes"]
    notes = "\n".join(result["notes"])
    for said in (
        "export.csv: columns are split at a semicolon, and numbers have a decimal comma",
        '"Supplier" holds few words, each in several bags, and is a category',
        '"Name", "Conformation" hold names or free text, and are carried beside the rows',
        '"Measured" holds dates or times, and is carried beside the rows',
        'filled with the medians of their columns; "Supplier" (2 values) became 2 columns.',
    ):
        assert said in notes
    export("new.csv", seed=1, labelled=False, encoding="cp1252", supplier="Fluka")
    ended = cli("predict", "out", "new.csv", "--json")
    scores = scores_of(ended)
    assert list(scores) == [f"1{bag:03d}" for bag in range(MANY)]
    assert np.mean([(score > 0) == bag % 2 for bag, score in enumerate(scores.values())]) > 0.7
    assert 'Note: The category "Supplier" has the value "Fluka", which training did not have' in ended.err
    assert ended.err.count("Fluka") == 1


def test_what_a_model_needs_of_new_rows(cli, export, here):
    """Other columns, another order and another dialect change nothing; a column that is missing is named at once."""
    export()
    assert cli("run", "export.csv", "--bag", "Molecule", "--label", "Active", "--output", "out", *SHORT).code == 0
    export("new.csv", seed=1)
    expected = scores_of(cli("predict", "out", "new.csv", "--json"))
    with (here / "new.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    other = [
        [*(cell.replace(",", ".") for cell in row[::-1]), "x" if place else "Extra"] for place, row in enumerate(rows)
    ]
    with (here / "other.csv").open("w", newline="") as file:
        csv.writer(file).writerows(other)
    assert scores_of(cli("predict", "out", "other.csv", "--json")) == expected
    assert scores_of(cli("predict", "out/model.skops", "other.csv", "--bag", "Molecule", "--json")) == expected
    rows[0][-1] = "f_6"
    with (here / "short.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    ended = cli("predict", "out", "short.csv")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(
        'Error: short.csv has no column "f6", on which the model was trained. Did you mean "f_6"?'
    )


def test_a_workbook_of_pandas_is_as_good(cli, export, here):
    """The same table as .xlsx gives the same labels, and predictions, as the text."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    frame = pd.read_csv(export(), sep=";", decimal=",", dtype={"Molecule": str}, encoding="utf-8-sig")
    frame.to_excel(here / "export.xlsx", index=False)
    told = ("--bag", "Molecule", "--label", "Active", *SHORT)
    for kind in ("csv", "xlsx"):
        assert cli("run", f"export.{kind}", "--output", kind, *told).code == 0
    assert (here / "csv" / "labels.csv").read_text() == (here / "xlsx" / "labels.csv").read_text()
    assert scores_of(cli("predict", "csv", "export.xlsx", "--json")) == scores_of(
        cli("predict", "xlsx", "export.csv", "--json")
    )


def test_options_are_those_of_an_experiment_file(cli, export, here):
    """What is typed of columns is what [data] says, and a run that is repeated from run.toml agrees."""
    export()
    typed = (
        "--ignore",
        "Measured",
        "--carry",
        "Name",
        "--carry",
        "Con*",
        "--categorical",
        "Supplier",
        "--ignore",
        "f6",
    )
    told = ("--bag", "Molecule", "--label", "Active", "--delimiter", ";", "--decimal", ",", "--encoding", "utf-8")
    assert cli("run", "export.csv", *told, *typed, "--prepare", "auto", "--output", "out", *SHORT).code == 0
    data = json.loads((here / "out" / "result.json").read_text())["settings"]["data"]
    assert data == {
        "source": "export.csv",
        "bag": "Molecule",
        "label": "Active",
        "categorical": ["Supplier"],
        "carry": ["Name", "Con*"],
        "ignore": ["Measured", "f6"],
        "delimiter": ";",
        "decimal": ",",
        "encoding": "utf-8",
    }
    assert cli("run", "out/run.toml", "--output", "again", "--quiet").code == 0
    assert (here / "again" / "labels.csv").read_text() == (here / "out" / "labels.csv").read_text()
    ended = cli("run", "export.csv", *told, "--prepare", "none", "--output", "none", *SHORT)
    assert (ended.code, "X contains NaN in row" in ended.err) == (1, True)


def test_what_was_understood_is_shown_before_anything_runs(cli, export):
    """`bliss datasets FILE` says roles and reasons, bags, classes, empty cells and the first rows; --json holds it."""
    export()
    told = ("--bag", "Molecule", "--label", "Active")
    document = json.loads(cli("datasets", "export.csv", *told, "--json").out)
    assert {key: document[key] for key in ("format", "name", "n_bags", "n_instances", "n_features", "regime")} == {
        "format": 1,
        "name": "export",
        "n_bags": MANY,
        "n_instances": 3 * MANY,
        "n_features": 7,
        "regime": "mil",
    }
    assert document["labels"] == {"no": MANY // 2, "yes": MANY // 2}
    columns = {one["name"]: one for one in document["columns"]}
    assert [one["role"] for one in columns.values()] == [
        *("bag", "carried", "carried", "category", "carried", "label"),
        *["feature"] * 6,
    ]
    assert columns["Measured"] == {"name": "Measured", "role": "carried", "why": "dates or times", "n_missing": 0}
    assert sum(one["n_missing"] for one in columns.values()) == document["n_missing"] > 0
    assert document["preview"][0]["bag"] == "0000"
    assert document["preview"][1]["Conformation"] == "0_1+1"
    assert document["preview"][0]["Supplier"] == "Sigma"
    shown = cli("datasets", "export.csv", *told)
    assert "export: 14 bags, 42 instances, 7 features, " in shown.out
    assert "labels of bags: 7 x no, 7 x yes" in shown.out
    assert "dates or times" in shown.out
    assert "Note: export.csv: columns are split at a semicolon" in shown.err


def test_a_file_is_shown_before_anybody_knows_its_bags(cli, export):
    """Without --bag the columns are shown all the same, with the option to give; a wrong name gets the nearest one."""
    export()
    ended = cli("datasets", "export.csv")
    assert ended.code == 0
    assert "no column is known to hold the bags, so each row is shown as one; name it with --bag" in ended.err
    assert "Conformation" in ended.out
    ended = cli("datasets", "export.csv", "--bag", "Molekule")
    assert (ended.code, ended.out) == (1, "")
    assert 'Did you mean "Molecule"?' in ended.err


def test_a_native_file_is_shown_too(cli, here):
    """A file that is no table has sizes, labels and first rows."""
    X = np.arange(8.0).reshape(4, 2)
    X[3, 1] = np.nan
    np.savez(here / "toy.npz", X=X, bag=np.array(["a", "a", "b", "b"]), y=np.array([0, 1]))
    document = json.loads(cli("datasets", "toy.npz", "--json").out)
    assert (document["n_missing"], document["labels"], document["columns"]) == (1, {"0": 1, "1": 1}, [])
    assert document["preview"][3] == {"bag": "b", "label": 1, "feature 0": 6.0, "feature 1": None}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--ignore", "Suplier"), 'has no column "Suplier", which the option ignore names'),
        (("--features", "Measured"), '"Measured" holds dates or times'),
        (("--delimiter", ";;"), "delimiter is ';;'; allowed is one character"),
        (("--encoding", "klingon"), "encoding is 'klingon', which is none that is known"),
        (("--decimal", "x"), "decimal is 'x'; allowed is '.' or ','"),
        (("--prepare", "magic"), 'prepare must be "auto", "none"'),
    ],
)
def test_what_cannot_be_is_said_before_any_work(cli, export, here, options, said):
    """One sentence names the file and the column or the option, and no directory is left behind."""
    export()
    ended = cli("run", "export.csv", "--bag", "Molecule", "--label", "Active", "--output", "out", *options)
    assert (ended.code, ended.out) == (1, "")
    assert said in ended.err
    assert not (here / "out").exists()


def test_a_bag_of_rows_with_categories_is_explained(cli, export):
    """An id with leading zeros means the bag, and columns that became several do not disturb its features."""
    export()
    words = ("export.csv", "--bag", "Molecule", "--label", "Active", *SHORT, "--output", "out")
    assert cli("run", *words).code == 0
    ended = cli("explain", "out", "0003", "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert document["bag"] == "0003"
    assert {one["name"] for one in document["features"]["features"]} <= {"Supplier", *(f"f{i}" for i in range(1, 7))}
    linear = cli("run", *words[:-1], "linear", "--final-classifier", "ridge")
    assert linear.code == 0, linear.err
    said = json.loads(cli("explain", "linear", "0003", "--json").out)["features"]
    assert said["kind"] == "weights"
    assert "Supplier=Merck" in {one["name"] for one in said["features"]}
