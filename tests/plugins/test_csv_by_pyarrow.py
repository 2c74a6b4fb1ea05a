"""A CSV table read by pyarrow is the table that the csv module reads, and is refused in the same words."""

import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from bliss_framework import DataError
from bliss_readers.tables import arrow_text, csv_file
from bliss_readers.tables.arrow_text import ArrowText
from bliss_readers.tables.csv_file import TextForm, read_csv_table
from bliss_readers.tables.csv_reader import CsvReader

pytest.importorskip("pyarrow.csv", reason="needs the extra files")


def without_pyarrow():
    return mock.patch.dict(sys.modules, {"pyarrow": None, "pyarrow.csv": None})


def outcome(path, **options):
    """Return all that a data set says, or the words of the refusal."""
    try:
        data = CsvReader().read(path, **options)
    except DataError as error:
        return str(error)
    labels = [None if one is None else one.tolist() for one in (data.weak, data.instance_labels, data.groups)]
    return (data.sha256(), data.X.shape, data.X.tobytes(), *labels, data.feature_names, data.regime, data.notes)


def assert_same(path, **options):
    with without_pyarrow():
        expected = outcome(path, **options)
    assert outcome(path, **options) == expected
    return expected


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(["", "?", "NA", "nAn", " 1", "2 ", "+3", ".5", "1e400", "1e-400", "-0", "0.1", "007"]),
)
odd = st.sampled_from(
    ["nan(1)", "-nan", "++1", "0x1", "1_0", "1,5", "inf", "true", "FALSE", "x", "a b", " NA", "\xa01", "é", "#N/A", "١"]
)
ids = st.sampled_from(["a", "7", "007", " b", "b", "é", "NA", "1e5", "", "a|b", "None"])
quoted = st.sampled_from(["plain", "plain", "plain", "quoted", "broken"])


def written(cell: str, delimiter: str, form: str) -> str:
    if form == "broken":
        return f'x"{cell}'
    return '"' + cell.replace('"', '""') + '"' if form == "quoted" or delimiter in cell else cell


@st.composite
def tables(draw):
    """Draw the bytes of a table, which may be damaged in some place."""
    delimiter, end = draw(st.sampled_from([",", ";", "\t"])), draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    cells = draw(st.sampled_from([numbers, numbers, st.one_of(numbers, odd)]))
    rows = draw(st.lists(st.tuples(ids, st.sampled_from(["0", "1", "1.0"]), cells, cells), min_size=1, max_size=5))
    form = draw(quoted)
    lines = [delimiter.join(written(cell, delimiter, form) for cell in row) for row in rows]
    if draw(st.integers(0, 5)) == 0:
        lines[draw(st.integers(0, len(lines) - 1))] += draw(
            st.sampled_from([delimiter, '"', " ", "\r", "\x0b", "\u2028"])
        )
    text = draw(st.sampled_from(["", "", "", f"sep={delimiter}{end}", "\ufeff", "\n"]))
    text += delimiter.join(["bag", "label", "f1", draw(st.sampled_from(["f2", "F1", " f2", "", "f1"]))]) + end
    return delimiter, (text + end.join(lines) + draw(st.sampled_from(["", end, end + " "]))).encode()


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(tables())
@example((",", b"bag,label,f1,f2\n\xef\xbb\xbfa,1,2,3\n"))
@example((",", b'bag,label,f1,f2\na,1,2,"3\n4"\n'))
@example((",", b'bag,label,f1,f2\na,1,"2"5,3\n'))
@example((",", b"bag,label,f1,f2\na,1,2,3\rb,0,2,3\r"))
def test_both_ways_say_the_same(tmp_path, table):
    """Whatever stands in a table, both ways give the same bits, or refuse it in the same words."""
    delimiter, content = table
    (tmp_path / "toy.csv").write_bytes(content)
    assert_same(tmp_path / "toy.csv", delimiter=delimiter)


@pytest.mark.parametrize(
    "content",
    [
        "bag,label,f1,f2\na,1,0.5,\nb,0,NA,2\n",
        'bag;label;f1;f2\r\n"a";"1";"0.5";1\r\n"007";0;nan;2\r\n',
        "sep=\t\nbag\tlabel\tf1\tf2\n007\tyes\t1e3\ttrue\n7\tno\t-0\tFALSE\n",
        "\ufeffbag|label|f1|f2\na|1| 2|+3\n",
    ],
)
def test_plain_tables_are_read_by_pyarrow(tmp_path, monkeypatch, content):
    """What data frames and spreadsheets write does not need the csv module, and is the same data set."""
    path = tmp_path / "toy.csv"
    path.write_text(content, newline="")
    delimiter = next(one for one in ",;\t|" if one in content)
    assert not isinstance(assert_same(path, delimiter=delimiter), str)
    monkeypatch.setattr(csv_file, "_read_by_csv", mock.Mock(side_effect=AssertionError("not needed")))
    assert isinstance(read_csv_table(path, TextForm(delimiter)), ArrowText)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a,1,2,3"] * 40 + ["a,1,2"], "line 42: 3 cells, but line 1 names 4 columns"),
        (["a,1,2,3"] * 40 + ["a,1,2,x", "a,1,y,2"], "line 42, column \"f2\": 'x' is no number"),
        (["a,1,2,3"] * 40 + ["a,1,y,x"], "line 42, column \"f1\": 'y' is no number"),
        (["a,1,2,3"] * 40 + ["a,1,2,1_0"], "line 42, column \"f2\": '1_0' is no number"),
        (["a,1,2,3"] * 40 + [",1,2,3"], 'line 42, column "bag": no bag id'),
        (["a,1,2,3"] * 40 + ["a,0,2,3"], "line 42, column \"label\": bag 'a' has the weak label '0'"),
        (["a,1,2,3"] * 40 + ['a,1,2,"3'], "line 42: unexpected end of data"),
        (["a,1,2,3"] * 40 + ["a,1,2," + "0" * 131_073], "line 42: field larger than field limit"),
        ([], "has no rows below the column names"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, lines, said):
    """A fault far down a table is said in the same words, with its line."""
    path = tmp_path / "toy.csv"
    path.write_text("\n".join(["bag,label,f1,f2", *lines]))
    assert said in assert_same(path)


def test_ids_and_labels_of_digits_stay_text(tmp_path):
    """The bags "007" and "7" are two, also where the column has a name that only an option tells."""
    path = tmp_path / "toy.csv"
    path.write_text("mol,act,f1,site\n007,1,0.5,01\n7,0,1.5,1\n")
    data = CsvReader().read(path, bag="mol", label="act", group="site")
    assert (data.bags.tolist(), data.groups.tolist()) == (["007", "7"], ["01", "1"])
    assert assert_same(path, bag="mol", label="act", group="site")[2] == np.array([0.5, 1.5]).tobytes()
    assert read_csv_table(path, TextForm()).column("mol") == ["007", "7"]


def test_a_column_of_a_few_odd_cells_is_read_all_the_same(tmp_path):
    """Where one cell far down is none that pyarrow reads, its column is read cell by cell, the others at once."""
    path = tmp_path / "toy.csv"
    path.write_text("\n".join(["bag,label,f1,f2", *["a,1,2,3"] * 40, "a,1,true, NA"]))
    table = read_csv_table(path, TextForm())
    assert isinstance(table, ArrowText)
    assert table.numbers(["f1", "f2"])[-1].tolist()[0] == 1.0
    assert np.isnan(table.numbers(["f2"])[-1, 0])
    assert_same(path)


def test_a_table_of_many_blocks_is_one(tmp_path, monkeypatch):
    """What is parsed in pieces has the words of all of them, each in its row."""
    monkeypatch.setattr(arrow_text, "_BLOCK", 4096)
    rows = [(f"b{row % 97}é", repr(row / 7), f"w{row}") for row in range(3000)]
    (tmp_path / "toy.csv").write_text("\n".join(["bag,f,t", *map(",".join, rows)]))
    table = read_csv_table(tmp_path / "toy.csv", TextForm())
    assert table.columns[0].num_chunks > 5
    assert [table.column(name) for name in ("bag", "f", "t")] == [list(cells) for cells in zip(*rows, strict=True)]
    assert table.numbers(["f"])[:, 0].tolist() == [row / 7 for row in range(3000)]


def test_without_pyarrow_nothing_is_missing(tmp_path):
    """A plain CSV table needs no extra."""
    (tmp_path / "toy.csv").write_text("bag,label,f1\na,1,0.5\n")
    with without_pyarrow():
        assert CsvReader().read(tmp_path / "toy.csv").X.tolist() == [[0.5]]
