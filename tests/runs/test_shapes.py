"""Files that are read back are checked for their shape, and a wrong one is named with what is wrong."""

import json

import pytest

from bliss_framework import RunError
from bliss_framework.runs.folder.csv_tables import read_bags, read_labels
from bliss_framework.runs.folder.result_file import read_result
from bliss_framework.runs.settings.toml_text import parse_toml
from bliss_framework.runs.shapes import ShapeError, check_plain, read_json

MEASURE = {"mean": 0.5, "sd": 0.0, "runs": [0.5]}
EVALUATION = {"cv": 2, "repeats": 1, "bag_accuracy": MEASURE}
DATA = {"name": "toy", "n_bags": 3, "n_instances": 5, "n_features": 2}
RUN = {
    "format": 1,
    "name": "toy",
    "settings": {},
    "data": DATA,
    "inference": {"label_counts": {"0": 3}, "n_undecided": 0, "mean_reward": None, "n_pulls": 7},
    "evaluation": {**EVALUATION, "baselines": [{"name": "other", **EVALUATION}]},
    "notes": [],
    "seconds": {"total": 1.0},
}
METHOD = {"name": "bliss", "evaluation": EVALUATION, "seconds": 1.0, "settings": {}}
COMPARISON = {"format": 1, "data": DATA, "protocol": {}, "methods": [METHOD]}
ROW = {"name": "bliss", "ceiling": False, "seconds": MEASURE, "map": MEASURE, "ap": {"cat": MEASURE}}
PIPELINE = {
    **RUN,
    "settings": {"pipeline": "p"},
    "inference": {},
    "evaluation": {**ROW, "repeats": 1, "baselines": [{**ROW, "name": "other"}]},
}
WHOLE = {"run": RUN, "comparison": COMPARISON, "pipeline": PIPELINE}


def changed(document, place, value):
    """The document with another value in a place; `...` takes the key away."""
    copy = json.loads(json.dumps(document))
    *way, last = place
    holder = copy
    for key in way:
        holder = holder[key]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return copy


@pytest.fixture
def read(tmp_path):
    """A function that writes a document and reads it back."""

    def write_and_read(document, settings=None):
        path = tmp_path / "result.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return read_result(path, settings)

    return write_and_read


class TestResults:
    @pytest.mark.parametrize("kind", WHOLE)
    def test_whole_results_are_read(self, read, kind):
        """What a run, a comparison and a pipeline write is read back as it is."""
        assert read(WHOLE[kind]) == WHOLE[kind]
        assert read(WHOLE[kind], WHOLE[kind]) == WHOLE[kind]

    @pytest.mark.parametrize(
        ("kind", "place", "value", "why"),
        [
            ("run", ["format"], 2, "it has format 2, and this version reads format 1"),
            ("run", ["format"], ..., "it lacks format"),
            ("run", ["name"], 3, "name is 3, and text is needed"),
            ("run", ["data", "n_bags"], "3", "data.n_bags is '3', and a whole number from 0 on is needed"),
            ("run", ["data", "n_bags"], True, "data.n_bags is True"),
            ("run", ["inference"], None, "inference is None, and a table is needed"),
            ("run", ["inference", "label_counts", "0"], -1, "inference.label_counts.0 is -1"),
            ("run", ["notes"], ["a", 1], "notes[1] is 1, and text is needed"),
            ("run", ["evaluation", "bag_accuracy", "mean"], 1e300, "a finite number is needed"),
            ("run", ["evaluation", "bag_accuracy", "sd"], None, "evaluation.bag_accuracy.sd is missing"),
            ("run", ["evaluation", "bag_accuracy"], ..., "evaluation is {}, and a table of 1 entries"),
            ("run", ["evaluation", "baselines", 0, "repeats"], ..., "it lacks evaluation.baselines[0].repeats"),
            ("comparison", ["methods"], [], "methods is [], and a list of 1 entries or more is needed"),
            ("comparison", ["methods", 0, "evaluation"], "x", "methods[0].evaluation is 'x'"),
            ("pipeline", ["evaluation", "baselines", 0, "map"], ..., "it lacks evaluation.baselines[0].map"),
            ("pipeline", ["evaluation", "baselines", 0, "ap"], {}, "it lacks evaluation.baselines[0].ap.cat"),
            ("pipeline", ["evaluation", "map", "mean"], None, "evaluation.map.mean is None"),
            ("pipeline", ["files"], 1.5, "files is 1.5, and a list is needed"),
            ("run", ["data", "classes"], True, "data.classes is True, and a list is needed"),
            ("run", ["inference", "weak_score"], 3, "inference.weak_score is 3, and a table is needed"),
            ("pipeline", ["evaluation", "ceiling"], 1, "evaluation.ceiling is 1, and true or false is needed"),
        ],
    )
    def test_what_does_not_fit(self, read, kind, place, value, why):
        """Each part is named by its way from the root, with what was found and what is needed."""
        with pytest.raises(RunError) as caught:
            read(changed(WHOLE[kind], place, value))
        assert "result.json is damaged (" in str(caught.value)
        assert why in str(caught.value)

    def test_a_result_of_a_pipeline_says_which(self, read):
        """Also where it is known from the settings of the run that it must be one."""
        with pytest.raises(RunError, match=r"it lacks settings\.pipeline"):
            read(changed(PIPELINE, ["settings", "pipeline"], ...), PIPELINE)

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "Expecting value"),
            ('{"format": 1', "Expecting"),
            ("[1]", "it is [1], and a table is needed"),
            ("null", "it is None"),
            ("[" * 5000 + "]" * 5000, "more than 64 tables and lists in one another"),
            ("[" * 200 + "]" * 200, "more than 64 tables and lists in one another"),
            ('{"a": NaN}', "it holds NaN, which is no JSON"),
            ('{"a": 1e999}', "it holds the number inf"),
            ('{"a": ' + "9" * 5000 + "}", "a whole number of 5000 digits"),
            ('{"a": "\\ud800"}', "text that is no Unicode"),
            ('{"\\ud800": 1}', "text that is no Unicode"),
        ],
    )
    def test_what_is_no_document(self, read, text, why):
        """Whatever JSON can be made to hold is an error with a name."""
        with pytest.raises(RunError) as caught:
            read(text)
        assert why in str(caught.value)

    def test_the_result_of_something_else(self, read):
        """A run that finds the result of a comparison in its directory does not show it."""
        with pytest.raises(RunError, match=r"is damaged \(it lacks protocol\)"):
            read(RUN, COMPARISON)
        with pytest.raises(RunError, match=r"is damaged \(it lacks"):
            read(COMPARISON, {"data": {}})

    def test_a_folder_in_place_of_a_file(self, tmp_path):
        """A file that cannot be read is named."""
        with pytest.raises(RunError, match="cannot be read: Is a directory"):
            read_result(tmp_path)

    def test_bytes_that_are_no_text(self, tmp_path):
        """So is one that is no UTF-8."""
        (tmp_path / "a").write_bytes(b'{"a": "\xff"}')
        with pytest.raises(ShapeError, match="can't decode"):
            read_json(tmp_path / "a")


LABELS = "row,bag,label,confidence,undecided,mean_reward_0\n0,b,1,0.5,0,0.25\n1,b,0,1.0,0,\n"


class TestTables:
    def test_lines_are_read(self, tmp_path):
        """Each line is a table by column; where there is no file there are no lines."""
        (tmp_path / "labels.csv").write_text(LABELS)
        lines = read_labels(tmp_path / "labels.csv")
        assert [line["confidence"] for line in lines] == ["0.5", "1.0"]
        assert read_bags(tmp_path / "bags.csv") == []

    @pytest.mark.parametrize(
        ("before", "after", "why"),
        [
            ("confidence", "trust", "confidence, undecided are needed"),
            ("0.5", "much", "line 2 holds what is no confidence"),
            ("0.5", "1.5", "line 2 holds what is no confidence"),
            ("0.25", "inf", "line 2 holds what is no confidence or no mean reward"),
            ("1,b,0,1.0,0,", "1,b,0", "line 3 has 3 cells, and 6 are needed"),
            ("0.25", '"0.25', "unexpected end of data"),
            (LABELS, "", "not enough values"),
        ],
    )
    def test_damage_is_named(self, tmp_path, before, after, why):
        """The file, the line and what is wrong are said."""
        (tmp_path / "labels.csv").write_text(LABELS.replace(before, after))
        with pytest.raises(RunError) as caught:
            read_labels(tmp_path / "labels.csv")
        assert "labels.csv is damaged (" in str(caught.value)
        assert why in str(caught.value)


class TestToml:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("x = " + "[" * 900 + "]" * 900, "tables and lists in one another"),
            ("x = " + "[" * 100 + "]" * 100, "more than 64 tables and lists in one another"),
            ("x = " + "{a = " * 5000 + "1" + "}" * 5000, "tables and lists in one another"),
            ("x = " + "9" * 5000, "5000 digits"),
            ("x = 0x" + "f" * 20, "a whole number of more than 64 bits"),
            ('x = "a\\u0000b"', "'a\\x00b' holds a NUL character"),
            ('"a\\u0000b" = 1', "holds a NUL character"),
            ("\n\na" + ".a" * 100_000 + " = 1", "line 3 has a key of 100001 parts, and 64 are allowed"),
            ('x = {"a"' + '."a"' * 1000 + " = 1}", "line 1 has a key of 1001 parts"),
            ("[a" + ".b" * 100 + "]", "line 1 has a key of 101 parts"),
            ("x = ", "Invalid value"),
        ],
    )
    def test_what_no_setting_can_be(self, text, why):
        """Each is one kind of error, whose text can be shown."""
        with pytest.raises(ValueError) as caught:
            parse_toml(text)
        assert why in str(caught.value)

    def test_what_is_allowed(self):
        """Infinity, long lists of numbers, lines of dots in a comment, and the largest number of 64 bits."""
        numbers = ", ".join(["0.5"] * 100)
        text = f"# {'.' * 200}\na = [{numbers}]\nb = inf\nc = 9223372036854775807\n[x.y.z]\nd = 'e'"
        assert parse_toml(text)["c"] == 2**63 - 1

    def test_depth(self):
        """64 levels are allowed, and what is within is looked at."""
        value = 1.0
        for _ in range(64):
            value = [value]
        check_plain(value)
        with pytest.raises(ShapeError):
            check_plain([value])
