"""Tables as spreadsheets export them: delimiters, decimal signs, encodings, and what columns are taken for."""

import csv
import io
from datetime import date, datetime

import numpy as np
import pytest

from bliss_framework import DataError, SettingsError
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.dialect import found_delimiter
from bliss_readers.tables.excel_reader import ExcelReader
from bliss_readers.tables.number_format import NumberFormat, found_format
from bliss_readers.tables.parquet_reader import ParquetReader

N_BAGS = 12
WORDS = ["Sigma", "Merck", "Zürich AG"]


@pytest.fixture(params=["pyarrow", "csv"], autouse=True)
def both_ways(request, monkeypatch):
    """Read text by pyarrow, and without it."""
    if request.param == "csv":
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        monkeypatch.setitem(__import__("sys").modules, "pyarrow.csv", None)
    else:
        pytest.importorskip("pyarrow.csv", reason="needs the extra files")


def molecules() -> tuple[list[str], list[list]]:
    """Return the names and the rows of a table with a column of each kind: numbers, words, names, dates, ids."""
    rng = np.random.default_rng(0)
    rows = [
        [
            f"{bag:03d}",
            f"{bag}_{row}",
            WORDS[(bag + row) % 3],
            date(2024, 3, bag + 1).isoformat(),
            f"{bag * 4 + row:05d}",
            "yes" if bag % 2 else "no",
            round(float(rng.normal()), 3) if (bag, row) != (3, 1) else "",
            1000.5 + bag,
        ]
        for bag in range(N_BAGS)
        for row in range(4)
    ]
    return ["Molecule", "Conformation", "Supplier", "Measured", "Serial", "Active", "f1", "mass"], rows


def as_text(header, rows, delimiter=",", decimal=".", thousands="") -> str:
    """Write a table as text in some dialect."""

    def shown(cell):
        if not isinstance(cell, float):
            return cell
        return f"{cell:,.3f}".replace(",", "#").replace(".", decimal).replace("#", thousands)

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerows([header, *([shown(cell) for cell in row] for row in rows)])
    return stream.getvalue()


@pytest.fixture
def written(tmp_path):
    """A function that writes the molecules in a dialect, and returns the path."""

    def write(encoding="utf-8", name="export.csv", **dialect):
        path = tmp_path / name
        path.write_bytes(as_text(*molecules(), **dialect).encode(encoding))
        return path

    return write


def read(path, **options):
    return CsvReader().read(path, bag="Molecule", label="Active", **options)


def roles(data) -> dict[str, str]:
    return {one.name: one.role for one in data.table}


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_every_dialect_is_the_same_table(written, delimiter, decimal, encoding):
    """Delimiter, decimal sign and encoding are found: cells, ids and labels are those that were written."""
    data = read(written(encoding, delimiter=delimiter, decimal=decimal))
    rows = molecules()[1]
    assert data.bags.tolist() == [row[0] for row in rows]
    assert data.weak.tolist() == ["no", "yes"] * (N_BAGS // 2)
    numbers = [[np.nan if row[6] == "" else row[6], row[7]] for row in rows]
    assert np.array_equal(data.X[:, [1, 2]], numbers, equal_nan=True)
    assert data.categories == {"Supplier": tuple(sorted(WORDS))}
    assert [data.categories["Supplier"][int(code)] for code in data.X[:, 0]] == [row[2] for row in rows]


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        (
            {"delimiter": ";", "decimal": ",", "thousands": "."},
            "a semicolon, and numbers have a decimal comma and a point",
        ),
        ({"delimiter": ";", "decimal": ",", "thousands": "\xa0"}, "numbers have a decimal comma and a blank between"),
        ({"delimiter": ",", "thousands": ","}, "export.csv: numbers have a comma between thousands"),
        ({"delimiter": "\t", "thousands": "'"}, "a tab, and numbers have an apostrophe between thousands"),
    ],
)
def test_thousands_are_found_and_noted(written, dialect, said):
    """What stands between thousands is no part of a number, and what was found is said in one sentence."""
    data = read(written(**dialect))
    assert data.X[:, 2].tolist() == [row[7] for row in molecules()[1]]
    assert said in data.notes[0]


@pytest.mark.parametrize(
    ("text", "delimiter", "found"),
    [
        ("1,5;2", ";", NumberFormat(",")),
        ("1,234;2", ";", NumberFormat(",")),
        ("1,234;2.5", ";", NumberFormat(".", ",")),
        ("1.234;2,5", ";", NumberFormat(",", ".")),
        ("1.234;2", ";", NumberFormat(".")),
        ('"1,234",2', ",", NumberFormat(".", ",")),
        ('"1,5",2', ",", NumberFormat(",")),
        ("a,b;c", ";", NumberFormat(".")),
        ("030 123 456;1.5", ";", NumberFormat(".")),
    ],
)
def test_a_comma_is_decimal_where_it_can_mean_nothing_else(text, delimiter, found):
    """One cell that is no group of thousands decides; where both are possible the delimiter does."""
    assert found_format(text, delimiter, None) == found


def test_a_number_with_groups_of_other_lengths_is_none():
    """Between thousands there are three digits: "1.23,4" is no number where a point stands between thousands."""
    form = NumberFormat(",", ".")
    assert (form.number("1.234.567,5"), form.is_number("1.23,4"), form.is_number("12,5.1")) == (1234567.5, False, False)


@pytest.mark.parametrize(
    ("text", "usual", "delimiter"),
    [
        ("a;b\n1,5;2,5\n", ",", ";"),
        ("a,b\n1;2,3\n", ",", ","),
        ("a\tb\n1\t2\n", ",", "\t"),
        ("a,b\n1,2\n", "\t", ","),
        ("a,b\n1,2,3\n", ",", ","),
        ('a;b\n"x;y";2\n', ",", ";"),
    ],
)
def test_lines_are_split_where_all_of_them_have_as_many_cells(text, usual, delimiter):
    """The delimiter is the one that cuts every line alike; else the usual one, whose fault is then named."""
    assert found_delimiter(text, usual) == delimiter


def test_columns_are_taken_for_what_they_hold(written):
    """Numbers are features, few words a category; names, dates and ids with leading zeros are carried, with a note."""
    data = read(written())
    assert roles(data) == {
        "Molecule": "bag",
        "Conformation": "carried",
        "Supplier": "category",
        "Measured": "carried",
        "Serial": "carried",
        "Active": "label",
        "f1": "feature",
        "mass": "feature",
    }
    assert {one.name: one.n_missing for one in data.table if one.n_missing} == {"f1": 1}
    assert list(data.carried) == ["Conformation", "Measured", "Serial"]
    assert data.carried["Serial"].tolist()[:2] == ["00000", "00001"]
    assert data.notes == (
        'export.csv: "Supplier" holds few words, each in several bags, and is a category',
        'export.csv: "Conformation" holds names or free text, and is carried beside the rows; categorical makes '
        "features of words",
        'export.csv: "Measured" holds dates or times, and is carried beside the rows',
        'export.csv: "Serial" holds numbers with leading zeros, so ids, and is carried beside the rows',
    )


def test_what_the_user_says_of_columns_comes_first(written):
    """Each option gives the columns that it names a role, and patterns name several."""
    path = written()
    assert roles(read(path, ignore=["Con*", "Measured"]))["Conformation"] == "ignored"
    carried = read(path, carry="mass")
    assert (carried.feature_names, carried.carried["mass"].tolist()[:1]) == (("Supplier", "f1"), [1000.5])
    assert read(path, features=["f*"]).feature_names == ("f1",)
    assert "mass" in read(path, features=["f*"]).carried
    words = read(path, categorical=["Conformation", "mass"], features="f1")
    assert words.feature_names == ("Conformation", "f1", "mass")
    assert words.categories["mass"] == tuple(sorted(f"{1000.5 + bag}" + "00" for bag in range(N_BAGS)))
    assert read(path, features=["Serial"]).X[:3, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ignore": ["Suplier"]}, 'has no column "Suplier", which the option ignore names'),
        ({"ignore": ["Suplier"]}, 'Did you mean "Supplier"?'),
        ({"carry": ["g*"]}, 'has no column "g*", which the option carry names'),
        ({"carry": ["mass"], "ignore": ["mass"]}, '"mass" is named by both carry and ignore; leave one out'),
        ({"features": ["mass"], "carry": ["m*"]}, '"mass" is named by both features and carry'),
        (
            {"features": ["Measured"]},
            "\"Measured\" holds dates or times, such as '2024-03-01', and is named by features",
        ),
        ({"features": ["Conformation"]}, "\"Conformation\" holds 48 different words, such as '0_0', and is named"),
        ({"trained_on": ["f1", "masse"]}, 'no column "masse", on which the model was trained. Did you mean "mass"?'),
        ({"features": ["f1"], "ignore": ["f1"]}, "named by both features and ignore"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(written, options, said):
    """A column that is not there, has two roles, or cannot be a feature is named, with what is near."""
    with pytest.raises(DataError) as caught:
        read(written(), **options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("words", "is_category"),
    [
        (["x", "y"] * 24, True),
        ([f"w{row % 20:02d}" for row in range(48)], True),
        ([f"w{row % 21:02d}" for row in range(48)], False),
        (["x"] * 48, False),
        ([*["lone"] * 4, *["x", "y"] * 22], True),
        ([*["lone"] * 4, *["own"] * 4, *["x", "y"] * 20], False),
        ([f"bag{row // 4}" for row in range(48)], False),
        (["", "x", "y"] * 16, True),
    ],
)
def test_a_category_has_few_words_that_several_bags_share(tmp_path, words, is_category):
    """At most 20 words, two or more, and no more than one row in ten with a word that only one bag has."""
    lines = [f"b{row // 4},{row},{word}" for row, word in enumerate(words)]
    (tmp_path / "toy.csv").write_text("\n".join(["bag,f,w", *lines]))
    data = CsvReader().read(tmp_path / "toy.csv")
    assert ("w" in data.categories) == is_category
    assert ("w" in data.carried) != is_category
    if is_category:
        assert np.isnan(data.X[:, 1]).tolist() == [word == "" for word in words]


@pytest.mark.parametrize("cell", ["<0.01", "12%", "1_000", "n.d.", "5 mg"])
def test_a_column_of_numbers_is_not_carried_for_one_cell(tmp_path, cell):
    """A cell that is no number among numbers is an error that names its line, never a reason to drop the column."""
    (tmp_path / "toy.csv").write_text(f"bag,f\na,1\na,2\nb,3\nb,{cell}\n")
    with pytest.raises(DataError, match=rf"line 5, column \"f\": '{cell}' is no number"):
        CsvReader().read(tmp_path / "toy.csv")


def test_an_empty_column_is_left_out(tmp_path):
    """A column without a cell says nothing; of a model that learnt from it, it is still needed."""
    (tmp_path / "toy.csv").write_text("bag,f,g\na,1,\nb,2,?\n")
    data = CsvReader().read(tmp_path / "toy.csv")
    assert (data.feature_names, data.notes) == (("f",), ('toy.csv: "g" is empty and left out',))
    assert CsvReader().read(tmp_path / "toy.csv", trained_on=["g", "f"]).feature_names == ("f", "g")


def test_new_rows_are_read_as_those_of_the_model(written):
    """Columns of the model are features, whatever else there is, and no label is needed or looked at."""
    told = {"trained_on": ["mass", "Supplier"], "categorical": ["Supplier"], "labelled": False}
    data = CsvReader().read(written(), bag="Molecule", ignore=["Measured", "gone"], **told)
    assert (data.feature_names, list(data.categories), data.weak) == (("Supplier", "mass"), ["Supplier"], None)
    assert roles(data)["Measured"] == "ignored"
    assert list(data.carried) == ["Conformation", "Serial", "Active", "f1"]
    with pytest.raises(DataError, match=r"line 2, column \"Conformation\": '0_0' is no number"):
        CsvReader().read(written(), bag="Molecule", trained_on=["Conformation"], labelled=False)


def test_a_workbook_is_the_same_table(tmp_path, written):
    """openpyxl writes what the CSV reader reads: ids keep their zeros, dates are carried, empty cells are NaN."""
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra files")
    header, rows = molecules()
    book = openpyxl.Workbook()
    book.active.title = "Export"
    for row in [
        [],
        header,
        *([datetime.fromisoformat(c) if i == 3 else c or None for i, c in enumerate(r)] for r in rows),
    ]:
        book.active.append(row)
    book.create_sheet("Notes").append(["text"])
    book.save(tmp_path / "export.xlsx")
    assert ExcelReader().sniff(tmp_path / "export.xlsx")
    data = ExcelReader().read(tmp_path / "export.xlsx", bag="Molecule", label="Active")
    expected = read(written())
    assert data.bags.tolist() == expected.bags.tolist()
    assert np.array_equal(data.X, expected.X, equal_nan=True)
    assert {name: own.tolist() for name, own in data.carried.items()} == {
        name: own.tolist() for name, own in expected.carried.items()
    }
    assert data.notes[0] == 'export.xlsx: the first of 2 sheets, "Export", was read; sheet names another one'
    with pytest.raises(SettingsError, match=r'has no sheet "Exprt"\. Did you mean "Export"'):
        ExcelReader().read(tmp_path / "export.xlsx", bag="Molecule", sheet="Exprt")
    book["Export"]["G6"] = "n.d."
    book.save(tmp_path / "export.xlsx")
    with pytest.raises(DataError, match='row 6, column "f1"'):
        ExcelReader().read(tmp_path / "export.xlsx", bag="Molecule", label="Active")


def test_a_number_that_excel_shows_with_zeros_keeps_them(tmp_path):
    """The bag 7 that is shown as 007 is the bag "007"."""
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra files")
    book = openpyxl.Workbook()
    for row in (["bag", "f"], [7, 1.0], [12, 2.0]):
        book.active.append(row)
    book.active["A2"].number_format = "000"
    book.save(tmp_path / "toy.xlsx")
    assert ExcelReader().read(tmp_path / "toy.xlsx").bags.tolist() == ["007", "12"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive"])
def test_a_damaged_workbook_is_named(tmp_path, content):
    """What is no workbook is said to be none, with its path."""
    pytest.importorskip("openpyxl", reason="needs the extra files")
    (tmp_path / "toy.xlsx").write_bytes(content)
    assert not ExcelReader().sniff(tmp_path / "toy.xlsx")
    with pytest.raises(DataError, match=r"toy\.xlsx is damaged or no Excel workbook"):
        ExcelReader().read(tmp_path / "toy.xlsx")


def test_what_pandas_writes_is_the_same_table(tmp_path, both_ways, written):
    """A frame as CSV with a decimal comma, as Parquet and as a workbook has the same rows, dates by their type."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow", reason="needs the extra files")
    header, rows = molecules()
    frame = pd.DataFrame([[None if cell == "" else cell for cell in row] for row in rows], columns=header)
    frame["Measured"] = pd.to_datetime(frame["Measured"])
    frame["Supplier"] = frame["Supplier"].astype("category")
    frame.to_csv(tmp_path / "a.csv", sep=";", decimal=",", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    expected = read(written())
    readers = {"a.csv": CsvReader(), "a.parquet": ParquetReader(), "a.xlsx": ExcelReader()}
    for name, reader in readers.items():
        data = reader.read(tmp_path / name, bag="Molecule", label="Active")
        assert np.array_equal(data.X, expected.X, equal_nan=True), name
        assert data.categories == expected.categories
        assert list(data.carried) == list(expected.carried)
        assert roles(data) == roles(expected)
