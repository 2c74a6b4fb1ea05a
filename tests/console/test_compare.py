"""`bliss compare`: methods on the same folds."""

import json

import pytest

OF_INSTANCES = ("instance_accuracy", "instance_auc")
QUICK = ("--n-rounds", "4", "--n-folds", "3", "--n-inferences", "1", "--cv", "2")


def test_json(cli, table):
    """--methods bliss,bag-mean-svm --json prints the promised keys, the methods in their order."""
    table(truth=True)
    ended = cli("compare", "toy.csv", *QUICK, "--repeats", "2", "--methods", "bliss,bag-mean-svm", "--json", "--quiet")
    document = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert set(document) == {"format", "data", "protocol", "methods", "comparison"}
    assert document["format"] == 1
    assert document["protocol"] == {"cv": 2, "repeats": 2, "random_state": 0}
    assert [row["name"] for row in document["methods"]] == ["bliss", "bag-mean-svm"]
    for row in document["methods"]:
        assert set(row) == {"name", "evaluation", "seconds", "settings"}
        assert set(row["evaluation"]) == {"cv", "repeats", "bag_accuracy", "bag_auc", *OF_INSTANCES}
        assert set(row["evaluation"]["bag_accuracy"]) == {"mean", "sd", "runs", "interval"}
        assert len(row["evaluation"]["bag_accuracy"]["runs"]) == 2
    assert document["methods"][0]["settings"]["n_rounds"] == 4


def test_table(cli, table):
    """Without --methods BLISS stands beside the control and the baselines of the regime, each with a line."""
    table()
    ended = cli("compare", "toy.csv", *QUICK)
    lines = ended.out.splitlines()
    assert lines[0] == "2 folds of whole bags, 1 repeat"
    names = [line.split("│")[1].strip() for line in lines[4:8]]
    assert lines[9].startswith("No difference beyond noise between ")
    assert names == ["bliss", "no-bandit", "inherited-label-svm", "bag-mean-svm"]
    assert "toy (toy.csv): 12 bags, 48 instances, 8 fits" in ended.err


def test_baselines_alone(cli, table):
    """BLISS need not be among the methods; a name may be written twice and with spaces."""
    table()
    ended = cli("compare", "toy.csv", *QUICK, "--methods", " bag-mean-svm , bag-mean-svm", "--json", "--quiet")
    assert [row["name"] for row in json.loads(ended.out)["methods"]] == ["bag-mean-svm"]


def test_ten_folds_are_the_default(cli, table):
    """Without --cv there are ten folds."""
    table()
    ended = cli("compare", "toy.csv", "--methods", "bag-mean-svm", "--json", "--quiet")
    assert json.loads(ended.out)["protocol"]["cv"] == 10


def test_an_experiment_file(cli, table, here):
    """Folds, and parameters of a method, are those of the experiment file; --only chooses the experiment."""
    table()
    text = '[data]\nsource = "toy.csv"\n[evaluation]\ncv = 3\n[[compare]]\nmethod = "bag-mean-svm"\nC = 2.5\n'
    (here / "one.toml").write_text(text)
    words = ["--methods", "bag-mean-svm", "--json", "--quiet"]
    document = json.loads(cli("compare", "one.toml", *words).out)
    assert document["protocol"]["cv"] == 3
    assert document["methods"][0]["settings"] == {"C": 2.5, "scaling": "auto"}
    (here / "two.toml").write_text(text + '[[experiment]]\nname = "a"\n[[experiment]]\nname = "b"\n')
    assert cli("compare", "two.toml", *words, "--only", "b").code == 0
    ended = cli("compare", "two.toml", *words)
    assert ended.err == "Error: two.toml holds 2 experiments; choose one with --only NAME: a, b.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--methods blis", 'No baseline "blis" is installed.'),
        (
            "--methods bliss,bag-mean-svn",
            'No baseline "bag-mean-svn" is installed. Did you mean "bag-mean-svm"? Installed baselines: ',
        ),
        ("--methods ,", 'methods must be bliss and names of baselines with commas between them; got ",".'),
        ("--cv 1", "cv must be an integer, at least 2; got 1."),
    ],
)
def test_refusals(cli, table, words, said):
    """What cannot be compared is refused with the nearest name, before anything is fitted."""
    table()
    ended = cli("compare", "toy.csv", *words.split(" "))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"Error: {said}")


def test_nothing_is_left_behind(cli, table, here):
    """A comparison writes no files."""
    table()
    assert cli("compare", "toy.csv", *QUICK, "--methods", "bag-mean-svm").code == 0
    assert [path.name for path in here.iterdir()] == ["toy.csv"]


def test_output(cli, table, here):
    """With --output the result is kept; the same command with --resume computes nothing."""
    table()
    words = ("compare", "toy.csv", *QUICK, "--methods", "bag-mean-svm", "--output", "kept")
    first = cli(*words)
    assert first.out.splitlines()[-2:] == ["results: kept", "next: bliss report kept"]
    assert json.loads((here / "kept" / "result.json").read_text())["methods"][0]["name"] == "bag-mean-svm"
    again = cli(*words, "--resume")
    assert (again.code, again.out) == (0, first.out)
    assert "kept holds the finished run; nothing was computed." in again.err
    assert cli(*words).err.startswith("Error: kept already holds a run. Go on with it by --resume")


def test_resume_needs_output(cli, table):
    """--resume alone does not say with what to go on."""
    table()
    ended = cli("compare", "toy.csv", "--resume")
    assert ended.err == "Error: --resume needs --output DIR, the directory of the run to go on with.\n"


@pytest.mark.parametrize("kept", [False, True])
def test_ctrl_c(cli, table, here, monkeypatch, kept):
    """After Ctrl-C it says what to type: to start again, or, with --output, to go on."""

    def interrupted(prepared, names, tell, folder):
        if folder is not None:
            folder.open(prepared.document(), prepared.record())
        raise KeyboardInterrupt

    table()
    monkeypatch.setattr("bliss_framework.runs.comparison.compare", interrupted)
    monkeypatch.setattr("bliss_framework.console.exits._stop_soon", lambda code: None)
    ended = cli("compare", "toy.csv", *(["--output", "kept"] if kept else []))
    assert ended.code == 130
    if kept:
        assert ended.err.endswith("To go on: bliss compare toy.csv --output kept --resume\n")
    else:
        assert ended.err.endswith("there was no --output DIR. To start again: bliss compare toy.csv\n")
