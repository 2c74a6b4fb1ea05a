"""`bliss run`: options to settings to results."""

import json
import re
import tomllib

import pytest

from bliss_framework import ParameterNeededError
from bliss_framework.console.context import how_to_go_on
from bliss_framework.console.exits import _with_notes, exit_codes

QUICK = ("--n-rounds", "4", "--n-folds", "3", "--n-inferences", "1")

FILE = """
[data]
source = "toy.csv"
[bliss]
n_rounds = 4
n_folds = 3
[evaluation]
cv = 2
[[experiment]]
name = "short"
[[experiment]]
name = "long[er]"
[experiment.bliss]
n_rounds = 6
"""


@pytest.fixture
def ran(cli, table):
    """A function that runs a toy table with --json and returns the document."""
    table()

    def run(*options):
        ended = cli("run", "toy.csv", *QUICK, "--json", "--quiet", *options)
        assert (ended.code, ended.err) == (0, "")
        return json.loads(ended.out)

    return run


class TestResults:
    def test_what_is_printed(self, cli, table, here, monkeypatch):
        """Results go to standard output: the data, the labels, the table of methods, and where all of it lies."""
        monkeypatch.setenv("COLUMNS", "120")
        table(truth=True)
        ended = cli("run", "toy.csv", *QUICK, "--cv", "2", "--output", "out")
        lines = ended.out.splitlines()
        assert ended.code == 0
        assert lines[0] == "toy: 12 bags, 48 instances, 2 features"
        assert lines[1].startswith("inferred labels: ")
        assert lines[2].startswith("witnesses: ")
        start = lines.index("2 folds of whole bags, 1 repeat")
        heads = [part.strip() for part in lines[start + 2].split("│")[1:-1]]
        assert heads == ["method", "bag accuracy", "95% interval", "bag AUC", "instance accuracy", "instance AUC"]
        methods = [line.split("│")[1].strip() for line in lines[start + 4 : start + 8]]
        assert methods == ["BLISS", "no-bandit", "inherited-label-svm", "bag-mean-svm"]
        assert lines[-1] == "results: out"
        assert "toy (toy.csv): 12 bags, 48 instances, 9 fits" in ended.err
        assert "next: bliss report out, bliss explain out BAG, bliss predict out NEW.csv" in ended.err

    def test_json_is_the_result_on_disk(self, cli, table, here):
        """--json prints what result.json holds; where it lies is told on standard error."""
        table()
        ended = cli("run", "toy.csv", *QUICK, "--json", "--output", "out")
        assert json.loads(ended.out) == json.loads((here / "out" / "result.json").read_text())
        assert ended.err.endswith("results: out\n")

    def test_quiet(self, cli, table):
        """--quiet leaves out progress and notes, and not the results."""
        table()
        ended = cli("run", "toy.csv", *QUICK, "--quiet")
        assert ended.err == ""
        assert ended.out.startswith("toy: 12 bags")

    def test_a_new_folder_for_each_run(self, cli, table, here):
        """Without --output each run gets a folder of its own, whatever its data are called and however fast one is."""
        table("run[old] .csv")
        for _ in range(2):
            assert cli("run", "run[old] .csv", *QUICK, "--quiet").code == 0
        names = sorted(path.name for path in (here / "bliss-runs").iterdir())
        assert len(names) == 2
        assert all(name.startswith("run-old-") for name in names)

    def test_notes(self, cli, table, monkeypatch):
        """A baseline that wins is told on standard error."""

        def measured(problem, method, pieces, evaluation):
            mean = 0.9 if method == "bag-mean-svm" else 0.5
            return {"cv": 2, "repeats": 1, "bag_accuracy": {"mean": mean, "sd": 0.0, "runs": [mean]}}

        monkeypatch.setattr("bliss_framework.runs.experiment.evaluation_of", measured)
        sure = (0.01, "mcnemar-exact")
        monkeypatch.setattr("bliss_framework.runs.evaluation.measures.paired_p_value", lambda *pair: sure)
        table()
        ended = cli("run", "toy.csv", *QUICK, "--cv", "2")
        assert 'Note: The baseline "bag-mean-svm" beats BLISS here: bag_accuracy 0.900 against 0.500' in ended.err
        assert "beats" not in ended.out


class TestOptions:
    def test_options_are_settings(self, ran):
        """Each option ends up under its own name in the settings of the result."""
        words = "--random-state 7 --train-on rest --n-inferences 2 --n-passes 2 --pass-share 0.5 --n-parallel 2"
        words += " --n-neighbors 3 --n-first-draws 4 --class-balance 0.5 --scaling unit --no-confidence-weights"
        words += " --bag-threshold 0.25 --instance-threshold -0.5 --self-training 1 --strategy kl-ucb"
        words += (
            " --classifier ridge --regime mil --final-classifier logistic --reward mil --n-jobs 1 --cv 2 --repeats 2"
        )
        settings = ran(*words.split())["settings"]
        names = {
            "random_state": 7,
            "train_on": "rest",
            "n_inferences": 2,
            "n_passes": 2,
            "pass_share": 0.5,
            "n_parallel": 2,
            "n_neighbors": 3,
            "n_first_draws": 4,
            "class_balance": 0.5,
            "scaling": "unit",
            "confidence_weights": False,
            "bag_threshold": 0.25,
            "instance_threshold": -0.5,
            "self_training": 1,
            "n_jobs": 1,
            "n_rounds": 4,
            "n_folds": 3,
        }
        assert {name: settings["bliss"][name] for name in names} == names
        components = {name: settings["bliss"][name]["name"] for name in ("strategy", "classifier", "final_classifier")}
        assert components == {"strategy": "kl-ucb", "classifier": "ridge", "final_classifier": "logistic"}
        assert settings["evaluation"] == {"cv": 2, "repeats": 2}

    def test_a_parameter_of_a_component(self, ran):
        """--set classifier.ridge=0.3 sets the parameter of the classifier that is used, and --set may be repeated."""
        bliss = ran("--set", "classifier.ridge=0.3", "--set", "reward.gain=0.25")["settings"]["bliss"]
        assert bliss["classifier"] == {"name": "kernel-ridge", "ridge": 0.3, "width": 1.0, "n_landmarks": 0}
        assert bliss["reward"] == {"name": "mil-marginal", "steepness": 3.4, "gain": 0.25}
        bliss = ran("--set", "classifier.C=0.5", "--classifier", "svm-linear")["settings"]["bliss"]
        assert bliss["classifier"] == {"name": "svm-linear", "C": 0.5, "solver": "libsvm"}

    def test_settings_of_a_file(self, ran, here):
        """--settings FILE.toml takes the [bliss] table of a file; an option goes over it."""
        (here / "mine.toml").write_text('[bliss]\nn_rounds = 9\nstrategy = "kl-ucb"\nn_neighbors = 4\n')
        bliss = ran("--settings", "mine.toml")["settings"]["bliss"]
        assert (bliss["n_rounds"], bliss["n_neighbors"], bliss["strategy"]["name"]) == (4, 4, "kl-ucb")
        assert ran("--settings", "default")["settings"]["bliss"]["n_neighbors"] == 10

    @pytest.mark.parametrize("named", ["selected", "mine", "mine.json"])
    def test_settings_that_are_not_offered(self, cli, table, named):
        """Only "default", "select", "paper" and a .toml file are allowed, and the user reads so."""
        table()
        ended = cli("run", "toy.csv", "--settings", named)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err == (
            'Error: settings must be "default", "select", "paper", or the path of a .toml file with a [bliss] '
            f'table; got "{named}".\n'
        )

    def test_columns(self, cli, here):
        """The columns of a table, and a second table with the weak labels, are named by options."""
        rows = "".join(f"s{j},{int(j < 3 and i == 0)},{j + i / 10}\n" for j in range(6) for i in range(3))
        (here / "spots.csv").write_text("slide,is_bad,size\n" + rows)
        (here / "slides.csv").write_text("slide,diagnosis\n" + "".join(f"s{j},{int(j < 3)}\n" for j in range(6)))
        words = "--bag slide --labels slides.csv --label diagnosis --instance-label is_bad --json --quiet"
        ended = cli("run", "spots.csv", *words.split(), "--n-rounds", "2", "--n-folds", "2", "--n-neighbors", "3")
        document = json.loads(ended.out)
        assert (document["data"]["n_features"], document["data"]["n_bags"]) == (1, 6)
        assert "inferred" in document["evaluation"]["instance_accuracy"]

    def test_a_data_folder(self, cli, table, here):
        """A name is looked up in --data-dir, with its subfolders."""
        table("data/deep/named.csv")
        ended = cli("run", "named", "--data-dir", "data", *QUICK, "--json", "--quiet")
        assert json.loads(ended.out)["data"]["name"] == "named"

    @pytest.mark.parametrize("folders", [("data", "more"), ("more", "data")])
    def test_several_data_folders(self, cli, table, here, folders):
        """--data-dir may be repeated, and no folder is forgotten."""
        table("data/named.csv")
        (here / "more").mkdir()
        ended = cli("run", "named", *(f"--data-dir={one}" for one in folders), *QUICK, "--json", "--quiet")
        assert json.loads(ended.out)["data"]["name"] == "named"

    def test_a_blocked_plugin(self, cli, table):
        """--block-plugin leaves a plugin out wherever names are looked up, also in the estimator."""
        table()
        ended = cli("run", "toy.csv", "--block-plugin", "bandits")
        assert ended.code == 1
        assert ended.err.startswith('Error: No strategy "cucb" is installed. ')


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["musk"], 'No file and no data set is called "musk". Did you mean "musk1"? Data sets: '),
            (["nix[/x].csv"], 'No file and no data set is called "nix[/x].csv".'),
            (["toy.csv", "--regime", "mill"], 'No regime "mill" is installed. Did you mean "mil"? Installed regimes: '),
            (["toy.csv", "--reward", "mli"], 'No reward "mli" is installed. Did you mean "mil"? Installed rewards: '),
            (["toy.csv", "--strategy", "ucb"], 'No strategy "ucb" is installed. Did you mean "cucb"? Installed '),
            (["toy.csv", "--classifier", "svm"], 'No classifier "svm" is installed.'),
            (
                ["toy.csv", "--set", "classifier.rigde=1"],
                'The classifier "kernel-ridge" has no parameter "rigde". Did ',
            ),
            (["toy.csv", "--n-rounds", "0"], "n_rounds must be an integer, at least 1; got 0."),
            (["toy.csv", "--cv", "1"], "cv must be an integer, at least 2; got 1."),
            (["toy.csv", "--bag-threshold", "high"], "bag_threshold must be"),
            (["toy.csv", "--instance-threshold", "low"], 'instance_threshold must be "auto" or "out-of-fold" or a '),
            (["toy.csv", "--bag", "slide"], "toy.csv"),
            (["toy.csv", "--only", "x"], "--only chooses an [[experiment]] of an experiment file; toy.csv has none."),
            (["toy.csv", "--resume"], "--resume needs --output DIR, the directory of the run to go on with."),
            (["none.toml"], "none.toml cannot be read: No such file or directory."),
            (["toy.csv", "--data-dir", "nowhere"], "data_dir is 'nowhere', which is no folder; name one that exists."),
        ],
    )
    def test_what_the_user_can_mend(self, cli, table, here, words, said):
        """Exit code 1, one paragraph that begins with what is wrong, no traceback, and no folder left behind."""
        table()
        ended = cli("run", *words)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(f"Error: {said}")
        assert len(ended.err.splitlines()) == 1
        assert [path.name for path in here.iterdir()] == ["toy.csv"]

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["rum"], "No such command 'rum'. Did you mean 'run'?"),
            (["run"], "Missing argument 'SOURCE'."),
            (
                ["run", "toy.csv", "--n-round", "3"],
                "No such option '--n-round'. (Did you mean one of: '--n-folds', '--n-rounds', ",
            ),
            (
                ["run", "toy.csv", "--n-rounds", "many"],
                "Invalid value for '--n-rounds': 'many' is not a valid integer.",
            ),
            (["run", "toy.csv", "--train-on", "all"], "Invalid value for '--train-on': 'all' is not one of"),
            (["run", "toy.csv", "more[/x]"], "Got unexpected extra argument (more[/x])"),
            (["run", "toy.csv", "--[/x]"], "No such option '--[/x]'."),
        ],
    )
    def test_usage(self, cli, words, said):
        """Exit code 2 for words that no command knows, with the nearest one, whatever brackets the user types."""
        ended = cli(*words)
        assert (ended.code, ended.out) == (2, "")
        # Versions of click differ in quotation marks.
        assert re.sub("[':]", "", said) in re.sub("[':]", "", ended.err)

    def test_no_words(self, cli):
        """`bliss` alone shows what there is."""
        ended = cli()
        assert ended.code == 2
        assert "compare" in ended.out + ended.err

    def test_a_folder_that_is_taken(self, cli, table, here):
        """A directory with something else in it is refused before anything is computed, and left as it is."""
        table()
        (here / "thesis").mkdir()
        (here / "thesis" / "chapter.tex").write_text("x")
        ended = cli("run", "toy.csv", *QUICK, "--output", "thesis")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err == "Error: thesis is not empty and holds no run; choose another directory with --output.\n"
        assert [path.name for path in (here / "thesis").iterdir()] == ["chapter.tex"]

    def test_going_on_with_other_settings(self, cli, table):
        """--resume with another setting is refused with the old and the new value; the same words go on."""
        table()
        words = ["run", "toy.csv", *QUICK, "--quiet", "--output", "out"]
        first = cli(*words)
        assert cli(*words).err.startswith("Error: out already holds a run. Go on with it by --resume, or choose")
        ended = cli(*words, "--resume", "--set", "classifier.ridge=0.5")
        assert (ended.code, ended.err) == (
            1,
            "Error: out cannot go on: bliss.classifier.ridge was 1.0 and is now 0.5.\n",
        )
        assert cli(*words, "--resume").out == first.out

    def test_going_on_with_other_data(self, cli, table, here):
        """--resume with one changed value in the data is refused; the user reads that it is the data."""
        path = table()
        words = ["run", "toy.csv", *QUICK, "--quiet", "--output", "out"]
        cli(*words)
        path.write_text(path.read_text()[:-1] + "1\n")  # One more digit of the last value.
        ended = cli(*words, "--resume")
        assert (ended.code, ended.err) == (1, "Error: out cannot go on: the data changed since the run started.\n")


class TestExperimentFiles:
    @pytest.fixture
    def rows(self, table, here):
        """A file of two experiments beside its data, in a folder of its own."""
        table("tables/toy.csv")
        (here / "tables" / "both.toml").write_text(FILE)
        return "tables/both.toml"

    def test_json_of_several(self, cli, rows, here):
        """Two tables give {"format": 1, "experiments": [...]}, each with its name, and a folder for each."""
        ended = cli("run", rows, "--json", "--output", "out")
        document = json.loads(ended.out)
        assert set(document) == {"format", "experiments"}
        assert [one["name"] for one in document["experiments"]] == ["short", "long[er]"]
        assert [one["settings"]["bliss"]["n_rounds"] for one in document["experiments"]] == [4, 6]
        assert sorted(path.name for path in (here / "out").iterdir()) == ["long[er]", "short"]
        assert "results: out/long[er]" in ended.err.splitlines()

    def test_options_go_over_every_row(self, cli, rows):
        """An option counts for all experiments of a file."""
        document = json.loads(cli("run", rows, "--json", "--quiet", "--n-rounds", "3").out)
        assert [one["settings"]["bliss"]["n_rounds"] for one in document["experiments"]] == [3, 3]

    def test_one_row(self, cli, rows, here):
        """--only runs one experiment; the document keeps its form."""
        document = json.loads(cli("run", rows, "--json", "--quiet", "--only", "short", "--output", "out").out)
        assert [one["name"] for one in document["experiments"]] == ["short"]
        assert [path.name for path in (here / "out").iterdir()] == ["short"]

    def test_an_unknown_row(self, cli, rows):
        """A row that the file does not have is refused with the nearest one."""
        ended = cli("run", rows, "--only", "shot")
        assert ended.code == 1
        assert ended.err == (
            'Error: tables/both.toml has no experiment "shot". Did you mean "short"? It has: short, long[er].\n'
        )

    def test_row_by_row(self, cli, rows, here):
        """A file goes on row by row: what is finished is read, what is not is run."""
        first = cli("run", rows, "--quiet", "--only", "short", "--output", "out")
        kept = (here / "out" / "short" / "result.json").read_bytes()
        ended = cli("run", rows, "--output", "out", "--resume")
        assert ended.code == 0
        assert ended.out.startswith(first.out)
        assert "Note: out/short holds the finished run; nothing was computed." in ended.err
        assert (here / "out" / "short" / "result.json").read_bytes() == kept
        assert (here / "out" / "long[er]" / "result.json").exists()

    def test_a_row_that_cannot_start(self, cli, rows, here):
        """Where the folder of the second row is taken, the first one does not start either."""
        (here / "out" / "long[er]").mkdir(parents=True)
        (here / "out" / "long[er]" / "x.txt").write_text("")
        assert cli("run", rows, "--output", "out").code == 1
        assert [path.name for path in (here / "out").iterdir()] == ["long[er]"]

    def test_a_mistake_in_a_file(self, cli, rows, here):
        """A mistake is told with the file, the experiment, the key and the nearest one."""
        path = here / "tables" / "both.toml"
        path.write_text(path.read_text().replace("n_rounds = 6", "n_round = 6"))
        ended = cli("run", rows)
        assert ended.code == 1
        assert ended.err.startswith(
            'Error: tables/both.toml: experiment "long[er]": unknown key "bliss.n_round". Did you mean "n_rounds"?'
        )

    def test_a_single_experiment(self, cli, table, here):
        """A file without [[experiment]] gives one result, as a data file does; run.toml of a run is such a file."""
        table()
        (here / "one.toml").write_text(FILE.partition("[[experiment]]")[0])
        first = json.loads(cli("run", "one.toml", "--json", "--quiet", "--output", "out").out)
        assert (first["format"], first["name"]) == (1, "toy")
        record = tomllib.loads((here / "out" / "run.toml").read_text())
        assert record["data"]["source"] == "../toy.csv"
        again = json.loads(cli("run", "out/run.toml", "--json", "--quiet").out)
        assert {**again, "seconds": 0} == {**first, "seconds": 0}


class TestHowToGoOn:
    @pytest.mark.parametrize(
        ("words", "command"),
        [
            ("run musk1", "bliss run musk1 --output out --resume"),
            ("run musk1 --output out", "bliss run musk1 --output out --resume"),
            ("run musk1 --output=out --resume", "bliss run musk1 --output=out --resume"),
            ("run --cv 3 -- -odd-name", "bliss run --cv 3 --output out --resume -- -odd-name"),
        ],
    )
    def test_words(self, tmp_path, monkeypatch, words, command):
        """The command that goes on is the one that was typed, with --output and --resume where they lack."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "out").mkdir()
        said = how_to_go_on(tmp_path.joinpath("out").relative_to(tmp_path), words.split(" "))
        assert said == f"Interrupted. What was finished is kept in out. To go on: {command}"

    def test_words_with_spaces(self, tmp_path):
        """What a shell would take apart is quoted."""
        assert how_to_go_on(tmp_path, ["run", "my data[/x].csv"]).endswith(
            f"bliss run 'my data[/x].csv' --output {tmp_path} --resume"
        )

    def test_nothing_kept(self, tmp_path):
        """Before there is a folder there is nothing to go on with."""
        said = how_to_go_on(tmp_path / "none", ["run", "musk1"])
        assert said == "Interrupted before anything was kept. To start again: bliss run musk1"


def test_an_observer_that_breaks(cli, table, install):
    """An observer of a plugin that raises is dropped with a warning, and the run goes on."""
    source = """
from bliss_framework import hookimpl

class Observer:
    def notify(self, event):
        raise ValueError("[/x] cannot hear")

@hookimpl
def bliss_observers(run):
    return [Observer()]
"""
    install("bliss-ear", "ear = ear_hooks", {"ear_hooks": source})
    table()
    ended = cli("run", "toy.csv", *QUICK)
    assert ended.code == 0
    said = (
        'Warning: an observer of plugin "ear" from bliss-ear 1.0 was dropped, it raised ValueError: [/x] cannot hear.'
    )
    assert " ".join(ended.err.split()).count(said) == 1


def test_a_reward_that_breaks(cli, table, install):
    """A third-party reward that raises ends the run with its name, the round and the fold, and no traceback."""
    source = """
from bliss_framework import Component, Reward, hookimpl

class Wild(Reward):
    def __call__(self, outcome):
        raise ValueError("no[/x]")

@hookimpl
def bliss_rewards():
    return [Component("wild", Wild)]
"""
    install("bliss-wild", "wild = wild_hooks", {"wild_hooks": source})
    table()
    ended = cli("run", "toy.csv", "--reward", "wild", *QUICK, "--quiet")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith('Error: Label inference stopped by reward "wild" (plugin "wild" from bliss-wild')
    assert "raised ValueError in round 0: no[/x]" in ended.err
    assert "(fold 1 of 3, pass 1)" in ended.err
    assert "Traceback" not in ended.err


def test_data_in_two_places(cli, table):
    """A name that a plugin and a file share is told, with the one that was taken."""
    table("data/musk1.csv")
    ended = cli("run", "musk1", "--data-dir", "data", "--n-rounds", "1", "--json")
    assert json.loads(ended.out)["data"]["n_bags"] == 92
    assert 'Note: the name "musk1" is also at data/musk1.csv; the one of plugin' in ended.err


@pytest.mark.parametrize("command", ["run", "compare", "tune"])
def test_engines_are_checked_first(cli, here, command):
    """An engine that is not there, or cannot have an address, is refused before the data are looked for."""
    ended = cli(command, "nowhere.csv", "--engine", "dusk")
    assert (ended.code, ended.err) == (
        1,
        'Error: No engine "dusk". Did you mean "dask"? There are: local, dask, ray.\n',
    )
    assert 'has no address; got "tcp://here:1"' in cli(command, "nowhere.csv", "--address", "tcp://here:1").err


def test_a_cluster(cli, table, here):
    """On a dask cluster of this machine the files are those of one process."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    table()
    words = ("run", "toy.csv", "--n-rounds", "4", "--n-folds", "3", "--n-inferences", "1", "--quiet")
    assert cli(*words, "--output", "one").code == 0
    assert cli(*words, "--output", "two", "--engine", "dask", "--n-jobs", "2").code == 0
    assert (here / "one" / "labels.csv").read_bytes() == (here / "two" / "labels.csv").read_bytes()


class TestPositiveLabel:
    """Which of two words means positive: known, asked for, or said."""

    @pytest.fixture
    def words(self, here, table):
        """A function that writes the toy table with two words for labels, the negative one first."""

        def write(negative, positive, name="words.csv"):
            lines = table(truth=False).read_text().splitlines()
            cells = [line.split(",") for line in lines[1:]]
            body = [",".join([bag, (negative, positive)[int(label)], *rest]) for bag, label, *rest in cells]
            (here / name).write_text("\n".join([lines[0], *body]))
            return name

        return write

    @pytest.mark.parametrize("command", ["run", "compare", "tune"])
    def test_words_of_which_nobody_knows(self, cli, words, command):
        """Every command asks in the words of the command line, before any work, and says nothing of Python."""
        ended = cli(command, words("dog", "cat"), *QUICK, "--quiet")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err == (
            "Error: The weak labels are 'cat' and 'dog': which one is positive? Say so with --positive-label dog "
            "(which is short for --set regime.positive_label=dog).\n"
        )

    @pytest.mark.parametrize(
        ("pair", "option"),
        [
            (("dog", "cat"), ("--positive-label", "cat")),
            (("dog", "cat"), ("--set", "regime.positive_label=cat")),
            (("1", "2"), ("--positive-label", "2")),
            (("2", "1"), ("--positive-label", "1")),
            (("true", "2024-01-01"), ("--positive-label", "2024-01-01")),
            (("no", "yes"), ()),
            (("Normal", "Tumor"), ()),
        ],
    )
    def test_what_is_said_or_known(self, cli, table, words, pair, option):
        """The figures are those of 0 and 1, for BLISS and every baseline, and a note says which word was taken."""
        figures = []
        for source, options in ((table().name, ()), (words(*pair), option)):
            ended = cli("compare", source, *QUICK, "--cv", "2", "--json", *options)
            assert ended.code == 0, ended.err
            rows = json.loads(ended.out)["methods"]
            figures.append([[row["evaluation"][key] for key in ("bag_accuracy", "bag_auc")] for row in rows])
        assert figures[0] == figures[1]
        assert (f"Note: Of the weak labels {pair[1]!r} is taken for positive" in ended.err) == (option == ())

    def test_a_run_keeps_it(self, cli, words, here):
        """A run writes it down as a parameter of the regime, and its notes hold what was taken where none is given."""
        assert cli("run", words("dog", "cat"), *QUICK, "--positive-label", "cat", "--output", "out").code == 0
        with (here / "out" / "run.toml").open("rb") as file:
            assert tomllib.load(file)["bliss"]["regime"]["positive_label"] == "cat"
        assert cli("run", "out/run.toml", "--output", "again").code == 0
        assert cli("run", words("no", "yes", "known.csv"), *QUICK, "--output", "known").code == 0
        notes = json.loads((here / "known" / "result.json").read_text())["notes"]
        assert any(note.startswith("Of the weak labels 'yes' is taken for positive") for note in notes)

    def test_values_that_are_no_label(self, cli, words, table):
        """A value that is none of the labels is refused with both, and a regime without the parameter says so."""
        ended = cli("run", words("dog", "cat"), "--positive-label", "cow")
        assert ended.err.splitlines()[-1] == "Error: positive_label is 'cow', but the weak labels are 'cat' and 'dog'."
        ended = cli("run", "breast-cancer-llp", "--positive-label", "1")
        assert ended.err.startswith('Error: The regime "llp" has no parameter "positive_label".')

    def test_regimes_of_plugins_ask_alike(self):
        """An error of any component that needs a parameter is said with the option that sets it."""
        error = ParameterNeededError("Which way is up?", "reward", "mine", "up", "very high")
        with exit_codes() as ending:
            raise error
        assert ending.code == 1
        assert _with_notes(error) == "Which way is up? Say so with --set 'reward.up=very high'."
        assert str(error).endswith("""for instance reward={"name": "mine", "up": 'very high'}.""")


class TestBeforeWork:
    def test_too_few_positive_bags_for_the_folds(self, cli, table):
        """One positive bag and five folds are refused before the first fit, with the numbers of bags."""
        table(n_pos=1, n_neg=11)
        ended = cli("run", "toy.csv", *QUICK, "--cv", "5", "--output", "out")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("Error: With cv = 5, fold ")
        assert "All data have 1 positive bag, 11 negative bags." in ended.err
        assert "fits" not in ended.err
