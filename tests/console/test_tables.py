"""Tables, as text."""

from io import StringIO

import pytest
from rich.console import Console

from bliss_framework.console.drawing.tables import (
    candidate_table,
    candidate_words,
    component_tree,
    dataset_table,
    evaluation_table,
    plain_table,
    plugin_table,
    prediction_table,
    result_view,
)


def summary(*runs):
    """Write a measure as result.json has it."""
    mean = sum(runs) / len(runs)
    return {"mean": mean, "sd": (sum((run - mean) ** 2 for run in runs) / len(runs)) ** 0.5, "runs": list(runs)}


def drawn(console, *things):
    """Draw on a console and return the lines."""
    for thing in things:
        console.print(thing)
    return console.file.getvalue().splitlines()


@pytest.fixture
def rows():
    """Three methods: one with an instance accuracy, one without an AUC, one without repeats that agree."""
    own = {"cv": 10, "repeats": 2, "bag_accuracy": summary(0.9, 0.8), "bag_auc": summary(0.95, 0.95)}
    own["instance_accuracy"] = {"inferred": {"overall": 0.1}, "test": {"overall": summary(0.75, 0.75), "per_class": {}}}
    return [
        ("BLISS", own),
        ("bag-mean-svm", {"cv": 10, "repeats": 2, "bag_accuracy": summary(0.875, 0.875)}),
        ("odd[/x]", {"cv": 10, "repeats": 2, "bag_accuracy": {"mean": None, "sd": None, "runs": [None, None]}}),
    ]


class TestEvaluation:
    def test_text(self, record, rows):
        """Accuracies are percentages, areas are not; what was not measured is a dash; square brackets stay."""
        console = record(80)
        assert drawn(console, evaluation_table(console, rows)) == [
            "10 folds of whole bags, 2 repeats",
            "╭──────────────┬──────────────┬────────────────┬───────────────────╮",
            "│ method       │ bag accuracy │ bag AUC        │ instance accuracy │",
            "├──────────────┼──────────────┼────────────────┼───────────────────┤",
            "│ BLISS        │ 85.0% +- 5.0 │ 0.950 +- 0.000 │ 75.0% +- 0.0      │",
            "│ bag-mean-svm │ 87.5% +- 0.0 │ -              │ -                 │",
            "│ odd[/x]      │ -            │ -              │ -                 │",
            "╰──────────────┴──────────────┴────────────────┴───────────────────╯",
        ]

    def test_ascii(self, record, rows):
        """Where only ASCII can be shown, the boxes are of ASCII."""
        console = record(80, encoding="ascii")
        text = "\n".join(drawn(console, evaluation_table(console, rows)))
        assert text.isascii()
        assert "| BLISS        | 85.0% +- 5.0" in text

    def test_narrow(self, record, rows):
        """Where the words are too long for columns a table becomes a list, and no word is broken."""
        console = record(40)
        lines = drawn(console, evaluation_table(console, rows))
        assert lines[:6] == [
            "10 folds of whole bags, 2 repeats",
            "method: BLISS",
            "bag accuracy: 85.0% +- 5.0",
            "bag AUC: 0.950 +- 0.000",
            "instance accuracy: 75.0% +- 0.0",
            "",
        ]
        assert max(map(len, lines)) <= 40

    def test_the_best_is_bold(self, record, rows):
        """The best mean of a column is bold, and every other is not."""
        table = evaluation_table(record(), rows)
        assert [str(cell.style) for cell in table.columns[1].cells] == ["", "bold", ""]
        assert [str(cell.style) for cell in table.columns[2].cells] == ["bold", "", ""]

    def test_one_repeat_has_no_spread(self, record):
        """A single run has no deviation to show."""
        console = record()
        lines = drawn(console, evaluation_table(console, [("x", {"cv": 3, "repeats": 1, "bag_auc": summary(0.5)})]))
        assert lines[0] == "3 folds of whole bags, 1 repeat"
        assert "│ x      │ 0.500   │" in lines

    def test_details_are_left_out(self, record):
        """A measure with a slash in its name is one of many, and stays in result.json."""
        measures = {"mean_average_precision": summary(0.5), "average_precision/cat": summary(0.25)}
        table = evaluation_table(record(), [("x", {"cv": 3, "repeats": 1, **measures})])
        assert [str(column.header) for column in table.columns] == ["method", "mean average precision"]

    def test_a_test_set_has_no_folds(self, record):
        """What was judged on a test set says so."""
        lines = drawn(record(), evaluation_table(record(), [("x", {"repeats": 1, "bag_auc": summary(0.5)})]))
        assert lines[0] == "a test set, 1 repeat"


def test_no_line_ends_in_spaces(record, rows):
    """Titles are not filled up with spaces, so that output can be pasted and compared."""
    console = record(80)
    lines = drawn(console, evaluation_table(console, rows), plain_table(console, "a", title="b"))
    assert [line for line in lines if line != line.rstrip()] == []


class TestResult:
    @pytest.fixture
    def document(self):
        return {
            "name": "run[old]",
            "data": {"n_bags": 92, "n_instances": 476, "n_features": 166},
            "inference": {
                "label_counts": {"0": 276, "1": 200},
                "n_undecided": 3,
                "mean_reward": 0.87612,
                "n_pulls": 110,
            },
        }

    def test_without_evaluation(self, record, document):
        """Lines say what was there and what was inferred, and with verbose the pulls; names keep their brackets."""
        console = record(80)
        assert drawn(console, result_view(console, document, verbose=True)) == [
            "run[old]: 92 bags, 476 instances, 166 features",
            "inferred labels: 276 x 0, 200 x 1; 3 undecided",
            "mean reward 0.876 after 110 pulls",
        ]

    def test_nothing_to_infer(self, record, document):
        """Where every bag leaves no choice there is no reward to speak of."""
        document["inference"] |= {"mean_reward": None, "n_undecided": 0, "n_pulls": 0}
        console = record(80)
        assert drawn(console, result_view(console, document))[1:] == [
            "inferred labels: 276 x 0, 200 x 1",
            "nothing to infer",
        ]

    def test_with_evaluation(self, record, document, rows):
        """BLISS stands above its baselines; instances that need no folds have a line of their own."""
        own = rows[0][1]
        own["instance_accuracy"]["train"] = {"overall": 0.5}
        document["evaluation"] = {**own, "baselines": [{"name": "bag-mean-svm", **rows[1][1]}]}
        console = record(80)
        lines = drawn(console, result_view(console, document))
        assert lines[2] == "10 folds of whole bags, 2 repeats"
        assert [line.split()[1] for line in lines[6:8]] == ["BLISS", "bag-mean-svm"]
        assert lines[-1] == "instance accuracy: inferred labels 10.0%, final classifier in training 50.0%"

    def test_findings(self, record, document):
        """Witnesses are named by what is carried beside them; the estimate says how it was made, and beside what."""
        strongest = {"row": 4, "bag": "MUSK-1", "label": 1, "confidence": 0.5, "probability": 0.987}
        document["findings"] = {
            "witnesses": {
                "of": "positive bags",
                "n": 47,
                "n_with_witness": 40,
                "strongest": [{**strongest, "carried": {"shape": "188_1+1"}}, {**strongest, "row": 5, "carried": {}}],
            },
            "out_of_fold": {
                "measure": "bag_accuracy",
                "value": 0.837,
                "n_bags": 92,
                "interval": {"low": 0.748, "high": 0.899, "level": 0.95, "by": "wilson"},
                "reference": {"name": "majority", "value": 47 / 92},
            },
        }
        console = record(80)
        lines = drawn(console, result_view(console, document))
        assert lines[2:5] == [
            "witnesses: 40 of 47 positive bags have one; the strongest:",
            "  188_1+1 (row 4) of bag MUSK-1, label 1, probability 0.99",
            "  row 5 of bag MUSK-1, label 1, probability 0.99",
        ]
        said = " ".join(lines[5:])
        assert said.startswith("out of fold: bag accuracy 83.7% (95% interval 74.8 to 89.9, 92 bags); the")
        assert "commonest label alone: 51.1%" in said
        assert max(map(len, lines)) <= 80

    def test_what_bags_look_like(self, record, document):
        """The last line says what was measured on such bags, and by what they were taken for such."""
        document["findings"] = {"kind": {"like": "haystacks", "advice": "Look closely.", "witness_share": 0.066}}
        console = record(200)
        assert drawn(console, result_view(console, document))[-1] == (
            "Your bags look like haystacks (7 % of the instances of positive bags score as positive). Look closely."
        )
        del document["findings"]["kind"]["witness_share"]
        assert drawn(console, result_view(console, document))[-1] == "Your bags look like haystacks. Look closely."

    @pytest.mark.parametrize(
        ("winner", "said"),
        [
            (None, "No difference beyond noise between bag-mean-svm and BLISS: p = 0.25 by McNemar's exact test."),
            ("bag-mean-svm", "bag-mean-svm is better than BLISS in bag accuracy, beyond noise: p = 0.25 by"),
        ],
    )
    def test_a_winner_is_named_only_beyond_noise(self, record, document, rows, winner, said):
        """Below the table stands which of two methods is better, if that is more than chance."""
        found = {"measure": "bag_accuracy", "better": "bag-mean-svm", "other": "bliss", "difference": 0.02}
        found |= {"p_value": 0.25, "by": "mcnemar-exact", "winner": winner}
        interval = {"low": 0.7, "high": 0.9, "level": 0.95, "by": "bootstrap"}
        rows[0][1]["bag_accuracy"]["interval"] = interval
        document["evaluation"] = {**rows[0][1], "baselines": [], "comparison": found}
        console = record(140)
        lines = drawn(console, result_view(console, document))
        assert any(line.startswith(said) for line in lines)
        row = next(line for line in lines if "BLISS" in line and "│" in line)
        assert [cell.strip() for cell in row.split("│")[2:4]] == ["85.0% +- 5.0", "70.0 to 90.0"]


class TestTune:
    CANDIDATES = (
        {"settings": {"inherited_share": 1.0, "a_long_parameter_name": 1, "another_long_parameter": 2}, "score": 1.5},
        {"settings": {"inherited_share": 0.5, "a_long_parameter_name": 3, "another_long_parameter": 4}, "score": 1.0},
    )

    @pytest.mark.parametrize(("width", "heads"), [(140, 4), (50, 2)])
    def test_candidates_are_one_table(self, record, width, heads):
        """Where the columns do not fit, the settings of a candidate share one cell."""
        console = record(width)
        lines = drawn(console, candidate_table(console, self.CANDIDATES))
        assert len(lines[2].split("│")) - 2 == heads
        assert max(map(len, lines)) <= width

    def test_no_bandit_is_said(self):
        """Where the best settings infer nothing, that is said."""
        assert "no bandit" in candidate_words(self.CANDIDATES)
        assert "no bandit" not in candidate_words(self.CANDIDATES[::-1])


class TestLists:
    def test_plugins(self, record):
        """A plugin shows who ships it and what it registers; a broken one its stage, the reason and the hint."""
        console = record(100)
        good = {"name": "mil", "distribution": "bliss-framework", "version": "1.0", "state": "ok", "reason": None}
        good["components"] = [{"kind": "dataset", "name": "musk1"}, {"kind": "regime", "name": "mil"}]
        bad = {"name": "audio[x]", "distribution": "bliss-audio", "version": "0.3", "state": "broken", "components": []}
        bad |= {"door": "import", "reason": "ImportError: No module named 'librosa'", "remedy": "pip install librosa"}
        lines = drawn(console, plugin_table(console, [good, bad]))
        assert [part.strip() for part in lines[3].split("│")[1:-1]] == [
            "mil",
            "bliss-framework 1.0",
            "ok",
            "data set musk1",
        ]
        text = " ".join(" ".join(line.split("│")[4].split()) for line in lines[5:-1])
        assert text == ("import: ImportError: No module named 'librosa'. Hint: pip install librosa.")
        assert "audio[x]" in lines[5]

    def test_wide_screens_show_what_components_are(self, record):
        """Where there is room, a component stands with its summary."""
        one = {"kind": "regime", "name": "mil", "summary": "a positive bag"}
        plugin = {
            "name": "mil",
            "distribution": "d",
            "version": "1",
            "state": "ok",
            "reason": None,
            "components": [one],
        }
        wide, narrow = record(140), record(80)
        assert "regime mil: a positive bag" in "\n".join(drawn(wide, plugin_table(wide, [plugin])))
        assert "a positive bag" not in "\n".join(drawn(narrow, plugin_table(narrow, [plugin])))

    def test_components(self, record):
        """Each component is a branch with its summary, and each parameter a leaf of its own."""
        one = {"kind": "reward", "name": "mil", "summary": "The paper's", "parameters": ["gamma = 0.14: b[x]", "alpha"]}
        assert drawn(record(80), component_tree("mil", [one])) == [
            "mil",
            "└── reward mil: The paper's",
            "    ├── gamma = 0.14: b[x]",
            "    └── alpha",
        ]

    def test_datasets(self, record):
        """What is not known is a dash; a path too long for a column is kept in one piece."""
        path = "/" + "/".join(["folder[x]"] * 8) + "/set.csv"
        console = record(100)
        lines = drawn(console, dataset_table(console, [{"name": "set", "origin": path, "size": "1 kB"}]))
        assert lines == ["name: set", "size: 1 kB", "licence: -", "source: -", f"found in: {path}"]


def test_predicted_shares_say_whose_they_are():
    """Of two classes the share of the second is shown, of more those of all, and the title names them."""
    console = Console(width=80, file=StringIO())
    table = prediction_table(console, [{"bag": "d1", "predicted": 0.25}], [], ["no", "yes"])
    assert table.heading == "predicted shares of yes"
    table = prediction_table(console, [{"bag": "d1", "predicted": [0.25, 0.5, 0.25]}], [], ["a", "b", "c"])
    assert table.heading == "predicted shares of a, b, c"
