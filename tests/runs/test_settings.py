"""Experiment files and options: what is read, and what is refused with file, key, value and what is allowed."""

from pathlib import Path

import pytest

from bliss_framework import SettingsError
from bliss_framework.runs.settings.experiment_file import read_bliss, read_experiments
from bliss_framework.runs.settings.records import (
    DataSettings,
    EvaluationSettings,
    MethodSettings,
    RunSettings,
    with_component_parameters,
    with_options,
)

WHOLE = """
[data]
source = "musk1"
bag = "molecule"
[bliss]
regime = "mil"
classifier = { name = "kernel-ridge", ridge = 0.3, width = "scale" }
n_rounds = 50
[evaluation]
cv = 10
repeats = 2
[[compare]]
method = "bag-mean-svm"
C = 3.0
"""


@pytest.fixture
def written(tmp_path: Path):
    """A function that writes an experiment file."""

    def write(text: str) -> Path:
        path = tmp_path / "experiment.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def plain_run() -> RunSettings:
    """Settings that name data and nothing else."""
    return RunSettings(DataSettings("musk1"))


def refusal(path: Path, read=read_experiments) -> str:
    """Return what the user reads of a file that cannot be used, less the path that it must begin with."""
    with pytest.raises(SettingsError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    return said.removeprefix(str(path)).lstrip(": ")


class TestReading:
    def test_a_whole_file(self, written):
        """Every table of an experiment file ends up in its record; relative paths start at the file."""
        path = written(WHOLE)
        (settings,) = read_experiments(path).rows
        assert settings == RunSettings(
            data=DataSettings("musk1", {"bag": "molecule"}),
            bliss={
                "regime": "mil",
                "classifier": {"name": "kernel-ridge", "ridge": 0.3, "width": "scale"},
                "n_rounds": 50,
            },
            evaluation=EvaluationSettings(10, 2),
            compare=(MethodSettings("bag-mean-svm", {"C": 3.0}),),
            folder=path.parent,
        )

    def test_what_is_not_said_has_a_default(self, written):
        """Data are all that a file must name; without [[compare]] the regime's baselines are meant, not none."""
        read = read_experiments(written('[data]\nsource = "musk1"\n'))
        assert not read.several
        (settings,) = read.rows
        assert (settings.bliss, settings.compare, settings.name) == ({}, None, None)
        assert settings.evaluation == EvaluationSettings(None, 1)

    def test_no_baselines(self, written):
        """An empty list of methods means none."""
        assert read_experiments(written('compare = []\n[data]\nsource = "musk1"\n')).rows[0].compare == ()

    def test_record_is_ignored(self, written):
        """What a run noted down about itself decides nothing, whatever it holds."""
        with_record = read_experiments(written(WHOLE + '[record]\ndata_sha256 = "x"\n[record.versions]\nnumpy = "1"\n'))
        assert with_record == read_experiments(written(WHOLE))

    def test_settings_of_another_run(self, written):
        """--settings takes the [bliss] table of a file and nothing else of it."""
        assert set(read_bliss(written(WHOLE))) == {"regime", "classifier", "n_rounds"}
        assert read_bliss(written("[bliss]\nn_rounds = 3\n[whatever]\nx = 1\n")) == {"n_rounds": 3}

    def test_settings_without_a_table(self, written):
        """A file without [bliss] would change nothing, which cannot be what was meant."""
        assert refusal(written('[data]\nsource = "musk1"\n'), read_bliss) == (
            "has no table [bliss], from which settings are taken."
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (
                "[blis]\n",
                'unknown key "blis". Did you mean "bliss"? Allowed: bliss, compare, data, evaluation, methods, name, ',
            ),
            (
                "[bliss]\nn_round = 3\n",
                'unknown key "bliss.n_round". Did you mean "n_rounds"? Allowed: bag_threshold, ',
            ),
            ("[evaluation]\nfolds = 3\n", 'unknown key "evaluation.folds". Allowed: cv, repeats, test_share.'),
        ],
    )
    def test_unknown_keys(self, written, text, said):
        """A key that does not exist is named with its table, the nearest one and all that are allowed."""
        assert refusal(written('[data]\nsource = "musk1"\n' + text)).startswith(said)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[evaluation]\ncv = 1\n", "evaluation.cv must be an integer, at least 2; got 1."),
            ('[evaluation]\nrepeats = "two"\n', "evaluation.repeats must be an integer, at least 1; got 'two'."),
            ("[bliss]\nn_rounds = 0\n", "bliss.n_rounds must be an integer, at least 1; got 0."),
            ("[bliss]\nn_folds = 2.5\n", "bliss.n_folds must be an integer, at least 2; got 2.5."),
            ('[bliss]\ntrain_on = "all"\n', "bliss.train_on must be one of 'one', 'rest'; got 'all'."),
            ("[bliss]\npass_share = 1.5\n", "bliss.pass_share must be a number from 0 to 1; got 1.5."),
            ("bliss = 3\n", "bliss must be a table [bliss]; got 3."),
            ("evaluation = [1]\n", "evaluation must be a table [evaluation]; got [1]."),
            ("name = 3\n", "name must be text; got 3."),
            ('compare = "em-dd"\n', "compare must be an array of tables: write [[compare]]."),
            ("[[compare]]\nC = 1\n", """[[compare]] needs method = "name of a baseline"; got {'C': 1}."""),
            (
                '[[compare]]\nmethod = "em-dd"\n[[compare]]\nmethod = "em-dd"\nk = 2\n',
                '[[compare]] names the method "em-dd" twice, and results are told apart by name; give one of '
                "them a label.",
            ),
            (
                '[[compare]]\nmethod = "em-dd"\nlabel = "EM DD"\n',
                "[[compare]] label must be lower-case letters, digits and hyphens, and not bliss; got 'EM DD'.",
            ),
            (
                "[evaluation]\ncv = 5\ntest_share = 0.3\n",
                "evaluation.cv is 5 and test_share is 0.3, but an evaluation has either folds or one test part; leave "
                "one of them out.",
            ),
            (
                "[evaluation]\ntest_share = 30\n",
                "evaluation.test_share must be a number from 0.01 to 0.99; got 30.",
            ),
            ("[experiment]\nx = 1\n", "experiment must be an array of tables: write [[experiment]]."),
            ("experiment = []\n", "experiment must be an array of tables: write [[experiment]]."),
            ("experiment = [1]\n", "experiment must be an array of tables: write [[experiment]]."),
        ],
    )
    def test_bad_values(self, written, text, said):
        """A value that cannot be is named with its key and what is allowed, before any data are read."""
        # Keys of the file itself must stand before its first table.
        assert refusal(written(text + '[data]\nsource = "musk1"\n')) == said

    @pytest.mark.parametrize("source", ["", "source = 3\n"])
    def test_no_source(self, written, source):
        """Data without a name or path are refused."""
        assert refusal(written(f"[data]\n{source}")).startswith("data.source must be a name or a path; got ")

    def test_not_toml(self, written):
        """The place of a mistake in the TOML itself is told."""
        assert refusal(written("[data\n")).startswith("is not valid TOML: ")
        assert "line 1" in refusal(written("[data\n"))

    def test_not_text(self, written, tmp_path):
        """A file that is not UTF-8 is no experiment file."""
        (tmp_path / "experiment.toml").write_bytes(b"\xff\xfe")
        assert refusal(tmp_path / "experiment.toml").startswith("is not valid TOML: ")

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    def test_other_unicode_is_named(self, written, encoding):
        """TOML is UTF-8, so a file in UTF-16, with a byte order mark or without, is refused with what to do."""
        path = written("")
        path.write_bytes('[data]\nsource = "musk1"\n'.encode(encoding))
        assert refusal(path) == "is not valid TOML: it is text in UTF-16; save it as UTF-8."

    def test_a_byte_order_mark_is_no_text(self, written):
        """A file with the mark that editors of Windows write, and with their line ends, is read as without."""
        path = written("")
        path.write_bytes(b"\xef\xbb\xbf" + b'[data]\r\nsource = "musk1"\r\n')
        assert read_experiments(path).rows[0].data.source == "musk1"
        path.write_bytes('[data]\nsource = "größe"\n'.encode("latin-1"))
        assert "it is no UTF-8 text" in refusal(path)

    def test_no_file(self, tmp_path):
        """A file that is not there is told so."""
        assert refusal(tmp_path / "none.toml") == "cannot be read: No such file or directory."


ROWS = """
[data]
source = "musk1"
[bliss]
n_rounds = 50
classifier = { name = "kernel-ridge", ridge = 0.3 }
[evaluation]
cv = 10
[[experiment]]
name = "as it is"
[[experiment]]
name = "longer"
[experiment.bliss]
n_rounds = 100
classifier = "ridge"
[[experiment]]
name = "other data"
[experiment.data]
source = "musk2"
[experiment.evaluation]
repeats = 3
"""


class TestRows:
    def test_each_row_lies_over_what_is_shared(self, written):
        """A row replaces the keys that it has, whole values and not parts of them, and shares all others."""
        read = read_experiments(written(ROWS))
        assert read.several
        first, longer, other = read.rows
        assert [one.name for one in read.rows] == ["as it is", "longer", "other data"]
        assert first.bliss == {"n_rounds": 50, "classifier": {"name": "kernel-ridge", "ridge": 0.3}}
        assert longer.bliss == {"n_rounds": 100, "classifier": "ridge"}
        assert (other.data.source, other.evaluation) == ("musk2", EvaluationSettings(10, 3))
        assert (other.bliss, longer.evaluation) == (first.bliss, EvaluationSettings(10, 1))

    def test_one_row_is_still_one_of_several(self, written):
        """A file with a single [[experiment]] has the shape of one with many."""
        assert read_experiments(written('[data]\nsource = "x"\n[[experiment]]\nname = "a"\n')).several

    def test_names_are_unique(self, written):
        """Two rows of one name would share a folder."""
        text = '[data]\nsource = "x"\n' + '[[experiment]]\nname = "a"\n' * 2
        assert refusal(written(text)) == 'two [[experiment]] tables have the name "a"; each needs one of its own.'

    @pytest.mark.parametrize("name", ["", "name = 3", 'name = ""', 'name = "../up"', 'name = "a/b"', 'name = ".x"'])
    def test_names_can_be_folders(self, written, name):
        """A row must have a name, and one that stays within the output folder."""
        said = refusal(written(f'[data]\nsource = "x"\n[[experiment]]\nname = "fine"\n[[experiment]]\n{name}\n'))
        assert said.startswith("[[experiment]] number 2 has the name ")
        assert "no slash" in said

    def test_an_error_names_the_row(self, written):
        """The user reads in which row a mistake stands."""
        text = ROWS + '[[experiment]]\nname = "bad"\n[experiment.bliss]\nn_round = 1\n'
        assert refusal(written(text)).startswith('experiment "bad": unknown key "bliss.n_round".')


class TestOptions:
    def test_options_lie_over_settings(self, plain_run):
        """An option replaces a setting, and one that was not given leaves it alone, also where it could be false."""
        settings = with_options(plain_run, {"n_rounds": 5, "cv": 4, "confidence_weights": False})
        settings = with_options(settings, {"n_rounds": None, "repeats": 2, "cv": None, "n_folds": 3})
        assert settings.bliss == {"n_rounds": 5, "confidence_weights": False, "n_folds": 3}
        assert settings.evaluation == EvaluationSettings(4, 2)

    def test_an_option_with_a_bad_value(self, plain_run):
        """An option that cannot be is refused by its own name."""
        with pytest.raises(SettingsError, match=r"^cv must be an integer, at least 2; got 1\.$"):
            with_options(plain_run, {"cv": 1})

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("0.3", 0.3),
            ("3", 3),
            ("true", True),
            ('"3"', "3"),
            ("[1, 2]", [1, 2]),
            ("scale", "scale"),
            ("a=b", "a=b"),
            (" 2 ", 2),
            ("", ""),
        ],
    )
    def test_values_are_read_as_toml_or_as_text(self, plain_run, text, value):
        """A value is what it would be in an experiment file; whatever TOML does not know is text."""
        settings = with_component_parameters(plain_run, [f"classifier.width={text}"])
        read = settings.bliss["classifier"]["width"]
        assert (read, type(read)) == (value, type(value))

    def test_parameters_join_the_component_that_is_named(self, plain_run):
        """A parameter goes to the component of the settings, beside those that it has; several may be set."""
        settings = with_options(plain_run, {"classifier": "svm-rbf", "reward": {"name": "mil", "alpha": 0.5}})
        settings = with_component_parameters(settings, ["classifier.C=2", "reward.gamma=0.3", "classifier.width=4.0"])
        assert settings.bliss["classifier"] == {"name": "svm-rbf", "C": 2, "width": 4.0}
        assert settings.bliss["reward"] == {"name": "mil", "alpha": 0.5, "gamma": 0.3}

    def test_the_last_one_counts(self, plain_run):
        """A parameter that is set twice has its last value."""
        settings = with_component_parameters(plain_run, ["strategy.exploration=1", "strategy.exploration=2"])
        assert settings.bliss["strategy"]["exploration"] == 2

    @pytest.mark.parametrize("assignment", ["classifier.ridge", "ridge=0.3", "=", "classifier.=3", ".ridge=3"])
    def test_what_is_no_assignment(self, plain_run, assignment):
        """Anything but COMPONENT.PARAMETER=VALUE is refused as it was typed."""
        with pytest.raises(SettingsError, match=r"--set takes COMPONENT\.PARAMETER=VALUE") as caught:
            with_component_parameters(plain_run, [assignment])
        assert f'got "{assignment}"' in str(caught.value)

    def test_an_unknown_component(self, plain_run):
        """A component that does not exist is told with the nearest one and the list."""
        with pytest.raises(SettingsError) as caught:
            with_component_parameters(plain_run, ["clasifier.ridge=1"])
        assert str(caught.value).endswith(
            'Did you mean "classifier"? Components: regime, classifier, reward, strategy, final_classifier, pipeline.'
        )
