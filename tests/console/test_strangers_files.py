"""Files of strangers at the command line: one paragraph, exit code 1, and nothing of theirs runs."""

import json
import tomllib

import pytest
import tomli_w

from bliss_framework import save_model
from bliss_framework.plugin import near_miss
from bliss_mil.baselines.simple_svms import InheritedLabelSvm

SHORT = ("--n-rounds", "2", "--n-folds", "2", "--n-inferences", "1", "--quiet")


def is_clear(ended, *words):
    """Whether a command ended with one error that names what is wrong, and blames nobody."""
    blamed = [word for word in ("Traceback", "bug of bliss", "Tell its authors") if word in ended.err]
    return ended.code == 1 and not blamed and all(word in ended.err for word in words)


class TestImports:
    @pytest.fixture
    def shared(self, here, table, monkeypatch):
        """An experiment that names a module beside it."""
        table()
        monkeypatch.syspath_prepend(str(here))
        (here / "theirs.py").write_text("open('RAN', 'w').close()\nfrom sklearn.svm import SVC as C\n")
        settings = 'n_rounds = 2\nn_folds = 2\nn_inferences = 1\nclassifier = "theirs.C"\n'
        (here / "shared.toml").write_text(f'[data]\nsource = "toy.csv"\n[bliss]\n{settings}')
        return here / "RAN"

    @pytest.mark.parametrize("words", [("run",), ("compare", "--cv", "2"), ("tune",)])
    def test_a_module_beside_the_experiment(self, cli, shared, words):
        """It is not run by any command."""
        command, *rest = words
        assert is_clear(cli(command, "shared.toml", *rest), "theirs.C", "--trust theirs")
        assert not shared.exists()

    def test_a_module_that_is_trusted(self, cli, shared):
        """The user allows it for one command."""
        assert cli("run", "shared.toml", "--trust", "theirs", "--quiet").code == 0
        assert shared.exists()
        assert is_clear(cli("run", "shared.toml"), "--trust theirs")


class TestVersions:
    def test_a_run_of_another_numpy(self, cli, here, table):
        """--resume refuses it, and goes on where the user accepts it; a finished run is only shown."""
        table()
        words = ("run", "toy.csv", *SHORT, "--output", "out", "--resume")
        assert cli(*words).code == 0
        path, result = here / "out" / "run.toml", here / "out" / "result.json"
        stored = tomllib.loads(path.read_text())
        stored["record"]["versions"]["numpy"] = "1.0"
        path.write_text(tomli_w.dumps(stored))
        assert cli(*words).code == 0
        result.unlink()
        assert is_clear(cli(*words), "numpy 1.0", "--accept-versions")
        assert is_clear(cli(*words, "--accept-plugin-versions"), "numpy 1.0", "--accept-versions")
        assert not result.exists()
        assert cli(*words, "--accept-versions").code == 0
        assert json.loads(result.read_text())["resumed_from"][0]["versions"]["numpy"] == "1.0"


class TestDamage:
    def test_results(self, cli, here, table):
        """Whatever is wrong with the files of a finished run, it is said."""
        table()
        assert cli("run", "toy.csv", *SHORT, "--output", "out").code == 0
        again = ("run", "toy.csv", *SHORT, "--output", "out", "--resume")
        path = here / "out" / "result.json"
        whole = path.read_text()
        for text in ("[]", "{}", '{"format": 1}', whole.replace('"label_counts"', '"counts"'), "[" * 9000):
            path.write_text(text)
            assert is_clear(cli(*again), "result.json is damaged")
        path.write_text(whole)
        assert cli(*again).code == 0

    def test_experiments(self, cli, here):
        """Experiment files that TOML or Python cannot take end in one sentence."""
        for text in ("x = " + "[" * 900, "x = " + "1" * 5000, '[[experiment]]\nname = "a\\u0000b"', "a" + ".a" * 10**5):
            (here / "a.toml").write_text(text)
            assert is_clear(cli("run", "a.toml"), "a.toml is not valid TOML")
        (here / "a.toml").write_text('[[experiment]]\nname = "a\\u001bb"\n[experiment.data]\nsource = "x"')
        assert is_clear(cli("run", "a.toml"), "allowed is text that can be printed")

    def test_models(self, cli, here, table, toy):
        """A model that was never fitted, or that has nothing to explain, is told so."""
        table()
        save_model(InheritedLabelSvm(), here / "a.skops")
        assert is_clear(cli("predict", "a.skops", "toy.csv"), "never fitted")
        X, bags, weak = toy()
        save_model(InheritedLabelSvm().fit(X, weak, bags), here / "a.skops")
        assert is_clear(cli("explain", "a.skops", "1"), "a InheritedLabelSvm, which has no explain")


class TestLongNumbers:
    """Of text of thousands of digits Python makes no number, and says so with a ValueError."""

    DIGITS = "9" * 5000

    def test_in_a_table_that_is_read_back(self, cli, here, table):
        table()
        assert cli("run", "toy.csv", *SHORT, "--output", "out").code == 0
        path = here / "out" / "labels.csv"
        head, first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([head, first.rpartition(",")[0] + "," + self.DIGITS, *rest]))
        assert is_clear(cli("report", "out"), "labels.csv", "line 2 holds what is no score")

    def test_as_what_is_to_be_explained(self, cli, table):
        table()
        assert cli("run", "toy.csv", *SHORT, "--output", "out").code == 0
        assert is_clear(cli("explain", "out", self.DIGITS), "There is no training row")

    def test_as_an_id(self):
        assert near_miss(self.DIGITS, ["7", self.DIGITS[1:]]) == ""
        assert "7" in near_miss("007", ["7"])


class TestPaths:
    def test_data_in_the_current_folder(self, cli, here, table):
        """run.toml names them from its own directory, and runs from there again, wherever both are moved."""
        table("data/toy.csv")
        assert cli("run", "data/toy.csv", *SHORT, "--output", "runs/out").code == 0
        text = (here / "runs" / "out" / "run.toml").read_text()
        assert 'source = "../../data/toy.csv"' in text
        assert str(here) not in text
        assert str(here) not in (here / "runs" / "out" / "result.json").read_text()
        (here / "elsewhere").mkdir()
        for name in ("data", "runs"):
            (here / name).rename(here / "elsewhere" / name)
        assert cli("run", "elsewhere/runs/out/run.toml", "--quiet").code == 0

    def test_a_name_that_is_not_utf8(self, cli, here, table):
        r"""run.toml has `\udcXX` for a byte of a name that is none of UTF-8, and finds the file again."""
        table()
        name = b"caf\xe9.csv".decode("utf-8", "surrogateescape")
        (here / "toy.csv").rename(here / name)
        assert cli("run", name, *SHORT, "--output", "out").code == 0
        assert tomllib.loads((here / "out" / "run.toml").read_text())["data"]["source"] == r"../caf\udce9.csv"
        assert cli("run", "out/run.toml", "--output", "again").code == 0
        assert (here / "again" / "labels.csv").read_bytes() == (here / "out" / "labels.csv").read_bytes()

    def test_data_of_the_home_folder(self, cli, here, table, tmp_path, monkeypatch):
        """Elsewhere in the home folder a file is named from there, without the name of the user."""
        home = tmp_path / "home"
        table()
        (home / "ann").mkdir(parents=True)
        (here / "toy.csv").rename(home / "ann" / "toy.csv")
        monkeypatch.setenv("HOME", str(home / "ann"))
        assert cli("run", str(home / "ann" / "toy.csv"), *SHORT, "--output", "out").code == 0
        text = (here / "out" / "run.toml").read_text()
        assert 'source = "~/toy.csv"' in text
        assert cli("run", "out/run.toml", "--quiet").code == 0
