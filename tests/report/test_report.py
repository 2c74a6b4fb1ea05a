"""The report of a run: one HTML file that needs nothing else, and says what the files of the run say."""

import base64
import csv
import json
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from bliss_framework import MissingExtraError, RunError
from bliss_framework.console import main
from bliss_framework.report.page import write_report

pytest.importorskip("jinja2", reason="needs the extra report")
pytest.importorskip("matplotlib", reason="needs the extra report")

RUN_TOML = 'answer = "<b>42</b>"\n'
TEXT = "<script>alert(1)</script>"


class Page(HTMLParser):
    """The tables, headings and outward links of a page."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.best, self.headings, self.links, self.tags = [], [], [], [], []
        self.words, self.inside = "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag
        attributes = dict(attrs)
        self.links += [attributes[key] for key in ("src", "href", "xlink:href") if key in attributes]
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
            if attributes.get("class") == "best":
                self.best.append((len(self.tables) - 1, len(self.tables[-1]) - 1, len(self.tables[-1][-1]) - 1))
        if tag in ("h1", "h2"):
            self.headings.append("")

    def handle_data(self, data):
        self.words += data
        if self.inside in ("td", "th"):
            self.tables[-1][-1][-1] += data
        if self.inside in ("h1", "h2"):
            self.headings[-1] += data

    def handle_endtag(self, tag):
        self.inside = None

    def table(self, first_column):
        """The first table whose header starts with a name."""
        return next(table for table in self.tables if table[0][0] == first_column)


def measured(mean, sd=0.0, runs=1):
    return {"mean": mean, "sd": sd, "runs": [mean] * runs}


def result(**parts):
    return {
        "format": 1,
        "name": "toy",
        "settings": {},
        "data": {"name": "toy", "n_bags": 3, "n_instances": 5, "n_features": 2, "classes": [0, 1], "sha256": "abc"},
        "inference": {"label_counts": {"0": 3, "1": 2}, "n_undecided": 1, "mean_reward": 0.25, "n_pulls": 7},
        "notes": ["The baseline beats BLISS here."],
        "seconds": {"total": 1.5},
        **parts,
    }


EVALUATION = {
    "cv": 10,
    "repeats": 2,
    "bag_accuracy": measured(0.8125, 0.01, 2),
    "proportion_error": measured(0.2, 0.0, 2),
    "baselines": [
        {
            "name": "other",
            "repeats": 2,
            "bag_accuracy": measured(0.9, 0.02, 2),
            "proportion_error": measured(0.1, 0.0, 2),
        }
    ],
}
BAGS = [
    {"bag": TEXT, "n_instances": 2, "weak_label": 0, "predicted": 0, "score": -0.123456},
    {"bag": "wrong", "n_instances": 2, "weak_label": 1, "predicted": 0, "score": -0.5},
    {"bag": "right", "n_instances": 1, "weak_label": 1, "predicted": 1, "score": 2.0},
]
LABELS = [
    {
        "row": 0,
        "bag": "right",
        "label": 1,
        "confidence": 0.75,
        "undecided": 0,
        "mean_reward_0": 0.1,
        "mean_reward_1": 0.85,
    },
    {
        "row": 1,
        "bag": "wrong",
        "label": 0,
        "confidence": 0.25,
        "undecided": 0,
        "mean_reward_0": 0.5,
        "mean_reward_1": 0.25,
    },
    {"row": 2, "bag": TEXT, "label": 0, "confidence": 0.0, "undecided": 1, "mean_reward_0": 0.5, "mean_reward_1": ""},
]


@pytest.fixture
def folder(tmp_path):
    """A function that writes the files of a finished run."""

    def write(document, bags=(), labels=(), name="run"):
        path = tmp_path / name
        path.mkdir(parents=True)
        (path / "run.toml").write_text(RUN_TOML)
        (path / "result.json").write_text(json.dumps(document))
        for file, rows in (("bags.csv", bags), ("labels.csv", labels)):
            if rows:
                with (path / file).open("w", newline="") as stream:
                    writer = csv.DictWriter(stream, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
        return path

    return write


def _interval(evaluation):
    """Wilson's interval of the accuracy of the 92 bags of MUSK 1, in percent, from the roots of his equation."""
    share, n, z = evaluation["bag_accuracy"]["mean"], 92, 1.959963984540054
    ends = sorted(np.roots([1 + z**2 / n, -(2 * share + z**2 / n), share**2]).real)
    return f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def read(path):
    return Page(path.read_text(encoding="utf-8"))


class TestRun:
    def test_methods(self, folder):
        """Each method has a line with what it measured; none is the best where nothing says what is beyond noise."""
        page = read(write_report(folder(result(evaluation=EVALUATION))))
        table = page.table("method")
        assert table == [
            ["method", "bag accuracy", "proportion error"],
            ["bliss", "81.2% +- 1.0", "0.200 +- 0.000"],
            ["other", "90.0% +- 2.0", "0.100 +- 0.000"],
        ]
        assert page.best == []
        assert "the run keeps no tests bag by bag (tests.csv)" in page.words
        assert "Methods on the same bags: 10 folds of whole bags, 2 repeats" in page.headings

    def test_facts_and_notes(self, folder):
        """Sizes, what was inferred, and what a reader should know are said."""
        words = read(write_report(folder(result()))).words
        for said in ("3 x 0, 2 x 1", "0.250", "abc", "The baseline beats BLISS here.", 'answer = "<b>42</b>"'):
            assert said in words

    def test_bags(self, folder):
        """Bags that the model sees otherwise than their weak label come first; scores are rounded."""
        page = read(write_report(folder(result(), BAGS, LABELS)))
        table = next(table for table in page.tables if table[0][:2] == ["bag", "instances"])
        assert table[1:] == [
            ["wrong", "2", "1", "0", "-0.5"],
            [TEXT, "2", "0", "0", "-0.1235"],
            ["right", "1", "1", "1", "2.0"],
        ]

    def test_instances(self, folder):
        """Instances of which a label was inferred are listed, the least confident first; fixed ones are not."""
        page = read(write_report(folder(result(), BAGS, LABELS)))
        assert [row[0] for row in page.table("row")[1:]] == ["1", "0"]
        assert "Confidence of inferred labels" in page.headings

    def test_long_lists_are_cut(self, folder):
        """A report shows five hundred bags and instances, and says how many more the files have."""
        bags = [{**BAGS[1], "bag": str(number)} for number in range(530)]
        labels = [{**LABELS[0], "row": number} for number in range(545)]
        page = read(write_report(folder(result(), bags, labels)))
        table = next(table for table in page.tables if table[0][:2] == ["bag", "instances"])
        assert (len(table), len(page.table("row"))) == (501, 501)
        assert "30 more are in bags.csv." in page.words
        assert "45 more are in labels.csv." in page.words

    def test_instance_accuracy(self, folder):
        """Where truth is known, the accuracy of each class is given for labels, training and tests."""
        accuracy = {
            "inferred": {"overall": 0.9, "per_class": {"0": 1.0, "1": 0.5}},
            "test": {"overall": measured(0.8), "per_class": {"0": measured(0.85), "1": measured(0.4)}},
        }
        table = read(write_report(folder(result(evaluation={"instance_accuracy": accuracy})))).table("")
        assert table == [
            ["", "overall", "0", "1"],
            ["inferred", "90.0%", "100.0%", "50.0%"],
            ["test", "80.0%", "85.0%", "40.0%"],
        ]


class TestFile:
    def test_it_needs_nothing_else(self, folder):
        """One script, its own, no link outwards, and text of the data is text."""
        text = write_report(folder(result(evaluation=EVALUATION), BAGS, LABELS)).read_text(encoding="utf-8")
        page = Page(text)
        assert page.tags.count("script") == 1
        assert TEXT not in text
        assert [link for link in page.links if not link.startswith("#")] == []
        assert "@import" not in text
        assert "url(http" not in text

    def test_the_same_run_gives_the_same_file(self, folder, tmp_path):
        """Nothing in a report depends on when it is written."""
        path = folder(result(evaluation=EVALUATION), BAGS, LABELS)
        one, two = (write_report(path, tmp_path / name).read_bytes() for name in ("one.html", "two.html"))
        assert one == two

    def test_a_report_of_a_real_run(self, tmp_path, monkeypatch, capsys):
        """bliss run, then bliss report: the figures on the page are those that the run printed."""
        monkeypatch.chdir(tmp_path)
        words = ["--n-rounds", "3", "--cv", "2", "--output", "out", "--quiet", "--json"]
        printed = []
        for command in (["run", "musk1", *words], ["report", "out", "--json"], ["report", "out", "--output", "x.html"]):
            monkeypatch.setattr(sys, "argv", ["bliss", *command])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == 0
            printed.append(capsys.readouterr().out)
        assert json.loads(printed[1]) == {"format": 1, "file": "out/report.html"}
        assert printed[2] == "report: x.html\n"
        evaluation = json.loads(printed[0])["evaluation"]
        table = read(tmp_path / "out" / "report.html").table("method")
        assert table[1][:2] == ["bliss", f"{100 * evaluation['bag_accuracy']['mean']:.1f}% ({_interval(evaluation)})"]
        assert [row[0] for row in table[2:]] == [row["name"] for row in evaluation["baselines"]]


class TestOtherRuns:
    def test_a_comparison(self, folder):
        """The methods of a comparison stand in their order."""
        document = {
            "format": 1,
            "data": result()["data"],
            "protocol": {"cv": 3, "repeats": 1, "random_state": 0},
            "methods": [
                {
                    "name": name,
                    "evaluation": {"cv": 3, "repeats": 1, "bag_auc": measured(auc)},
                    "seconds": 1.0,
                    "settings": {},
                }
                for name, auc in (("other", 0.5), ("bliss", 0.75))
            ],
        }
        page = read(write_report(folder(document)))
        assert page.table("method")[1:] == [["other", "0.500"], ["bliss", "0.750"]]
        assert page.headings[0] == "toy"

    def test_a_pipeline(self, folder):
        """A ceiling stands last and is not the best; measures by class have their own tables; pictures are inside."""
        rows = [
            {
                "name": name,
                "ceiling": name == "told",
                "seconds": measured(3.0),
                "map": measured(m),
                "ap": {"cat": measured(m), "dog": measured(0.5)},
            }
            for name, m in (("bliss", 0.4), ("told", 0.9), ("other", 0.3))
        ]
        evaluation = {"repeats": 1, **rows[0], "baselines": rows[1:], "baseline": rows[2]}
        path = folder(result(settings={"pipeline": "made"}, evaluation=evaluation, inference={}))
        (path / "pictures").mkdir()
        (path / "pictures" / "cat.png").write_bytes(b"picture")
        (path / "boxes.csv").write_text("class,image,x0\ncat,one.jpg,1.5\n")
        page = read(write_report(path))
        assert page.tables[0] == [["method", "mAP"], ["bliss", "40.0"], ["other", "30.0"], ["told", "90.0"]]
        assert page.tables[1] == [
            ["method", "cat", "dog"],
            ["bliss", "40.0", "50.0"],
            ["other", "30.0", "50.0"],
            ["told", "90.0", "50.0"],
        ]
        assert page.best[0] == (0, 1, 1)
        assert page.table("class") == [["class", "image", "x0"], ["cat", "one.jpg", "1.5"]]
        assert "bliss has the best mAP, 40.0%, against other (30.0%)" in page.words
        assert "told: was told more than weak labels say." in page.words
        content = base64.b64encode(b"picture").decode()
        assert [one for one in page.links if one.startswith("data:")] == [f"data:image/png;base64,{content}"]

    def test_several_runs(self, folder, tmp_path):
        """The directory of a file with several experiments gives one report with all of them."""
        folder(result(name="first"), name="all/a")
        folder(result(name="second"), name="all/b")
        page = read(write_report(tmp_path / "all"))
        assert page.headings[0] == "2 runs"
        assert [link for link in page.links if link in ("#run-1", "#run-2")] == ["#run-1", "#run-1", "#run-2"]


class TestRefusals:
    def test_no_run(self, tmp_path):
        """A directory without a run, and one that is not there, are named."""
        for path in (tmp_path, tmp_path / "nowhere"):
            with pytest.raises(RunError, match=f"^There is no run in {path}; give the directory"):
                write_report(path)

    def test_a_run_that_is_not_finished(self, folder):
        """A run without a result is to be finished first; no report is written."""
        path = folder(result())
        (path / "result.json").unlink()
        with pytest.raises(RunError, match=f"is not finished; go on with it by --output {path} --resume"):
            write_report(path)
        assert not (path / "report.html").exists()

    def test_a_damaged_file(self, folder):
        """A file that cannot be read is named."""
        path = folder(result())
        (path / "result.json").write_text('{"format": 1')
        with pytest.raises(RunError, match=rf"^{path}/result\.json is damaged \("):
            write_report(path)

    @pytest.mark.parametrize("module", ["jinja2", "matplotlib.figure"])
    def test_a_missing_extra(self, folder, monkeypatch, module):
        """One sentence holds the pip command, and no report is written."""
        path = folder(result(evaluation=EVALUATION))
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError) as caught:
            write_report(path)
        package = module.split(".")[0]
        said = f'A report needs {package}, which is not installed: pip install "jinja2>=3.1" "matplotlib>=3.9".'
        assert str(caught.value) == said
        assert not (path / "report.html").exists()
