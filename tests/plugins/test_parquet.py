"""Parquet tables are read as the same table in CSV, and refused in the same words."""

import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from bliss_framework import DataError, MissingExtraError, WeakDataset
from bliss_framework.testing import check_reader
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.parquet_reader import ParquetReader

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow, which the test extra brings")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def table(tmp_path):
    """Write columns as a Parquet file."""

    def write(columns, name: str = "toy.parquet") -> Path:
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    return write


def read(path: Path, **options) -> WeakDataset:
    return ParquetReader().read(path, **options)


def refusal(path: Path, **options) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    return str(caught.value)


def same(one: WeakDataset, other: WeakDataset) -> bool:
    parts = [(data.bags.tolist(), data.weak.tolist(), data.regime, data.feature_names) for data in (one, other)]
    labels = [None if data.instance_labels is None else data.instance_labels.tolist() for data in (one, other)]
    return parts[0] == parts[1] and labels[0] == labels[1] and np.array_equal(one.X, other.X, equal_nan=True)


names = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=4).filter(
    lambda name: name not in ("nan", "NaN", "NaT")
)
bag_of_rows = st.lists(
    st.lists(st.one_of(st.floats(allow_infinity=False), st.integers(-(2**53), 2**53)), min_size=2, max_size=2),
    min_size=1,
    max_size=3,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(st.one_of(st.integers(), names), st.tuples(bag_of_rows, st.integers(0, 1)), min_size=1, max_size=4)
)
def test_a_table_says_the_same_in_both_formats(tmp_path, bags):
    """Whatever bags pandas writes, the Parquet file is the data set that its CSV file is."""
    # Arrow has no column of numbers and text.
    ids = [str(bag) if any(isinstance(one, str) for one in bags) else min(max(bag, -9), 2**62) for bag in bags]
    rows = [(bag, label, *row) for bag, (rows, label) in zip(ids, bags.values(), strict=True) for row in rows]
    frame = pd.DataFrame(rows, columns=["bag", "label", "f1", "f2"]).astype({"f1": float, "f2": float})
    frame = frame[frame.groupby("bag").label.transform("nunique") == 1]
    if frame.empty:
        return
    frame.to_parquet(tmp_path / "toy.parquet")
    frame.to_csv(tmp_path / "toy.csv", index=False)
    data = read(tmp_path / "toy.parquet")
    assert same(data, CsvReader().read(tmp_path / "toy.csv"))
    assert np.array_equal(data.X, frame[["f1", "f2"]].to_numpy(), equal_nan=True)
    assert data.bags.tolist() == frame.bag.astype(str).tolist()


def test_columns_are_chosen_by_name(table):
    """Roles and their options are those of the CSV reader."""
    path = table({"id": ["x", "y"], "mol": ["m", "m"], "musk": [1, 1], "true": [1, 0], "f1": [0.5, 1.5], "f2": [2, 3]})
    data = read(path, bag="mol", label="musk", instance_label="true", ignore="id")
    assert (data.name, data.regime, data.feature_names) == ("toy", "mil", ("f1", "f2"))
    assert data.X.tolist() == [[0.5, 2.0], [1.5, 3.0]]
    assert data.instance_labels.tolist() == [1, 0]
    assert data.weak.tolist() == [1]
    assert data.X.dtype == np.float64
    assert read(path, bag="mol", label="musk", ignore=["id"], regime="other").regime == "other"


def test_bag_ids_are_text(table):
    """A bag whose id is the number 7 is the bag "7" of a second table that is text."""
    path = table({"bag": [7, 7, -3], "f": [1, 2, 3]})
    (path.parent / "weak.csv").write_text("bag,label\n-3,0\n7,1\n")
    data = read(path, labels="weak.csv")
    assert data.bags.tolist() == ["7", "7", "-3"]
    assert data.weak.tolist() == [1, 0]


def test_a_second_table_may_be_of_either_format(table):
    """A CSV table finds its weak labels in a Parquet file."""
    weak = table({"bag": ["a", "b"], "label": ["cat|dog", None]}, "weak.parquet")
    (weak.parent / "toy.csv").write_text("bag,f\nb,0\na,1\n")
    data = CsvReader().read(weak.parent / "toy.csv", labels="weak.parquet")
    assert data.weak.tolist() == [frozenset(), {"cat", "dog"}]
    assert data.regime == "multiclass-mil"


def test_lists_of_names_are_label_sets(table):
    """A column of lists holds label sets, also where every list has one name; an empty or missing one is empty."""
    path = table({"bag": ["a", "b", "b", "c", "d"], "label": [["cat"], ["a b"], ["a b"], [], None], "f": range(5)})
    data = read(path)
    assert (data.regime, data.weak.tolist()) == ("multiclass-mil", [{"cat"}, {"a b"}, frozenset(), frozenset()])
    assert read(table({"bag": ["a"], "y": [1], "label": [["a|b", "c;d"]]}), label="label").weak.tolist() == [
        {"a|b", "c;d"}
    ]
    assert 'row 1, column "label": the list holds a null' in refusal(
        table({"bag": ["a"], "f": [1], "label": [["a", None]]})
    )


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([1, None], pa.int8()), [1.0, np.nan]),
        (pa.array([0.1, 2], pa.float32()), [float(np.float32(0.1)), 2.0]),
        (pa.array([True, False]), [1.0, 0.0]),
        (pa.array([Decimal("1.50"), None]), [1.5, np.nan]),
        (pa.array(["1e3", "?"]), [1000.0, np.nan]),
        (pa.array(["7", "8"]).dictionary_encode(), [7.0, 8.0]),
        (pa.array([2**53 + 1, 0]), [float(2**53), 0.0]),
    ],
    ids=str,
)
def test_numbers_of_every_type_are_features(table, column, values):
    """Integers, floats, true and false, decimals and text that is a number are float64; null is NaN."""
    data = read(table({"bag": ["a", "a"], "f": column}))
    assert np.array_equal(data.X[:, 0], values, equal_nan=True)


def test_the_index_of_pandas_is_no_feature(tmp_path):
    """Row numbers that are left over from a shuffle are stored as a column, which would be a feature."""
    frame = pd.DataFrame({"bag": ["a", "b", "c"], "label": [1, 0, 1], "f": [0.5, 1.5, 2.5]}).iloc[[1, 0, 2]]
    frame.to_parquet(tmp_path / "toy.parquet")
    assert len(pq.read_schema(tmp_path / "toy.parquet").names) == 4
    data = read(tmp_path / "toy.parquet")
    assert data.X.tolist() == [[1.5], [0.5], [2.5]]
    assert data.notes == (
        'toy.parquet: "__index_level_0__" is the row index of a data-frame library and was left out of the features',
    )


def test_folders_make_no_columns(table, tmp_path):
    """A folder called "year=2020" is a folder."""
    (tmp_path / "year=2020").mkdir()
    path = table({"bag": ["a"], "f": [1]}, "year=2020/toy.parquet")
    assert read(path).feature_names == ("f",)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"bag": ["a", "b"], "f": ["1", "red"]}, {}, "row 2, column \"f\": 'red' is no number"),
        ({"bag": ["a"], "f": [[1.0, 2.0]]}, {}, 'the column "f" holds lists'),
        (
            {"mol": ["a"], "f": [1]},
            {},
            'has no column "bag". Say with bag, on the command line --bag COLUMN, which column',
        ),
        ({"bag": ["a", None], "f": [1, 2]}, {}, 'row 2, column "bag": no bag id'),
        ({"bag": ["a", "a"], "y": [1, 0], "f": [1, 2]}, {}, "bag 'a' has the weak label '0', but '1' in row 1"),
        ({"bag": ["a"], "y": [1], "label": [1], "f": [1]}, {}, "has the columns label, y; say with label"),
        ({"bag": ["a", "b"], "y": [1, None], "f": [1, 2]}, {}, "bag 'b' has no weak label ('')"),
        ({"bag": pa.array([], pa.string()), "f": pa.array([], pa.float64())}, {}, "has no rows"),
        ({"bag": ["a"]}, {}, "has no features"),
        ({"bag": ["a"], "f": [1]}, {"labels": "gone.parquet"}, "gone.parquet cannot be read"),
    ],
)
def test_a_wrong_table_is_explained(table, columns, options, said):
    """The message names the file, the row or column, and what was found there."""
    message = refusal(table(columns), **options)
    assert "toy.parquet" in message or "gone.parquet" in message
    assert said in message


def test_two_columns_of_one_name_are_refused(tmp_path):
    """Parquet allows two columns of one name; which of them is meant nobody can say."""
    pq.write_table(
        pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([2])], ["bag", "f", "f"]), tmp_path / "t.parquet"
    )
    assert 'two columns are called "f"' in refusal(tmp_path / "t.parquet")


def test_damaged_files_are_refused(table):
    """A truncated file, and one that is something else, are refused in one sentence."""
    path = table({"bag": ["a"] * 100, "f": range(100)})
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"PAR1 nothing of the kind", b"", whole[:40] + bytes(60) + whole[100:]):
        path.write_bytes(damaged)
        message = refusal(path)
        assert str(path) in message
        assert "\n" not in message


def test_text_that_is_none_is_damage(table):
    """Bytes in a column of text that are no UTF-8 are said to be damage of the file."""
    path = table({"bag": pa.array(["ä1", "b2"]), "label": [1, 0], "f": [1.0, 2.0]})
    path.write_bytes(path.read_bytes().replace("ä1".encode(), b"\xff\xfe1"))
    assert "is damaged or no Parquet file (Invalid UTF8" in refusal(path)


def test_the_missing_package_is_one_sentence(table, monkeypatch):
    """Without pyarrow a Parquet file is still recognised, and the pip command is said."""
    path = table({"bag": ["a"], "f": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert ParquetReader().sniff(path)
    with pytest.raises(MissingExtraError, match=r'pyarrow, which is not installed: pip install .*"pyarrow>='):
        read(path)


def test_the_contract_is_kept(table):
    """The conformance kit of readers passes, and sniff looks at the first bytes alone."""
    path = table({"bag": ["a", "b"], "label": [1, 0], "f": [1, 2]})
    check_reader(ParquetReader(), path)
    other = path.with_suffix(".csv")
    other.write_bytes(path.read_bytes())
    assert ParquetReader().sniff(other)
    assert not CsvReader().sniff(other)
    assert read(other).notes == ("toy.csv is a Parquet file and was read as one",)
    path.write_text("bag,f\n")
    assert not ParquetReader().sniff(path)


def test_the_shared_set_reads_the_same(shared, tmp_path):
    """MUSK1 written as Parquet has the rows, bags and weak labels of the reference arrays."""
    with np.load(shared / "data" / "mil" / "musk1.npz") as arrays:
        X, bag, y = arrays["X"], arrays["bag"], arrays["y"]
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).assign(bag=bag, label=y[bag])
    frame.to_parquet(tmp_path / "musk1.parquet")
    data = read(tmp_path / "musk1.parquet")
    assert np.array_equal(data.X, X)
    assert data.bags.tolist() == list(map(str, bag))
    assert data.weak.tolist() == y.tolist()


def test_lists_of_one_name_are_label_sets(table):
    """Where the weak label is a list, it is a label set, even if each bag has exactly one label."""
    data = read(table({"bag": ["a", "a", "b"], "label": [["cat"], ["cat"], ["dog"]], "f1": [0.5, 1.5, 2.5]}))
    assert data.weak.tolist() == [{"cat"}, {"dog"}]
    assert data.regime == "multiclass-mil"


def test_true_and_false_are_numbers(table):
    """Weak labels and true classes of true and false are 1 and 0 here, in a second table too; null is missing."""
    truth = pa.array([True, True, False])
    data = read(table({"bag": ["a", "a", "b"], "label": truth, "inst_y": truth, "f": truth}))
    assert (data.weak.tolist(), data.instance_labels.tolist(), data.X[:, 0].tolist()) == ([1, 0], [1, 1, 0], [1, 1, 0])
    weak = table({"bag": ["a", "b"], "label": pa.array([False, True])}, "weak.parquet")
    rows = table({"bag": ["a", "b"], "f": [1, 2]})
    assert read(rows, labels=weak).weak.tolist() == [0, 1]
    weak = table({"bag": ["a", "b"], "label": pa.array([False, None])}, "weak.parquet")
    assert "bag 'b' has no weak label ('')" in refusal(rows, labels=weak)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([1, None], pa.int64()), "row 2"),
        (pa.array([datetime(2020, 1, 1), None], pa.timestamp("ns")), "row 2"),
        (pa.array([date(2020, 1, 1), None], pa.date32()), "row 2"),
        (pa.array([Decimal("1.5"), None]), "row 2"),
        (pa.array([1.0, float("nan")]), "row 2"),
        (pa.array(["2020-01-01", "NaT"]), "'NaT' is no bag id"),
        (pa.array(["1", "<NA>"]), "'<NA>' is no bag id"),
        (pa.array([1.0, 2.0**53]), "'9007199254740992.0' is a float beyond 2**53"),
    ],
    ids=str,
)
def test_missing_bag_ids_are_refused_whatever_their_type(table, column, said):
    """Null, NaN, NaT and the texts that they become are no bag ids; neither are floats that have lost digits."""
    assert said in refusal(table({"bag": column, "f": [1, 2]}))


def test_long_integers_keep_their_digits(table):
    """Two ids that are one float64 are two bags, also where other columns have a null."""
    ids = [2**53, 2**53 + 1]
    data = read(table({"bag": ids, "label": pa.array([1, 0]), "f": pa.array([1, None])}))
    assert data.bags.tolist() == ["9007199254740992", "9007199254740993"]
    assert data.weak.tolist() == [1, 0]


def test_lists_of_numbers_are_shares_indicators_or_labels(table):
    """Fractions that add up to 1 are shares in their order, 0 and 1 stand for labels, other numbers are labels."""
    bags = {"bag": ["a", "b"], "f": [1, 2]}
    shares = read(table({**bags, "label": [[0.25, 0.75], [1.0, 0.0]]}))
    assert (shares.regime, shares.weak.tolist()) == ("llp", [[0.25, 0.75], [1, 0]])
    flags = read(table({**bags, "label": [[1, 0, 1], [0, 0, 1]]}))
    assert (flags.regime, flags.weak.tolist()) == ("multiclass-mil", [[1, 0, 1], [0, 0, 1]])
    truth = read(table({**bags, "label": [[True, False, True], [False, False, True]]}))
    assert (truth.regime, truth.weak.tolist()) == ("multiclass-mil", flags.weak.tolist())
    labels = read(table({**bags, "label": [[1, 3], [2]]}))
    assert (labels.regime, labels.weak.tolist()) == ("multiclass-mil", [{"1", "3"}, {"2"}])


def test_dates_of_two_tables_are_compared(table):
    """A date and the midnight of that day do not match, and the message shows both."""
    weak = table({"bag": pa.array([datetime(2020, 1, 1)], pa.timestamp("us")), "label": [1]}, "weak.parquet")
    message = refusal(table({"bag": pa.array([date(2020, 1, 1)], pa.date32()), "f": [1]}), labels=weak)
    assert (
        "'2020-01-01'; every bag needs one. There is '2020-01-01 00:00:00', which differs in the time of day" in message
    )


class TestFolders:
    @pytest.fixture
    def folder(self, tmp_path):
        """Write files of a folder, by name."""

        def write(**files) -> Path:
            for name, columns in files.items():
                path = tmp_path / "slides" / f"{name.replace('__', '/')}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.table(columns), path)
            return tmp_path / "slides"

        return write

    def test_rows_follow_one_another(self, folder, table):
        """A folder is one table of the rows of all its files; 10 comes after 9, and notes of programs are not data."""
        rows = [{"bag": [f"b{at}"] * 2, "label": [at % 2] * 2, "f": [at, -0.5], "g": [at, 1]} for at in (1, 9, 10)]
        path = folder(part10=rows[2], part9=rows[1], part1=rows[0])
        (path / "_SUCCESS").write_text("")
        (path / ".part1.crc").write_bytes(b"crc")
        whole = pa.concat_tables(map(pa.table, rows))
        data, expected = read(path), read(table({name: whole[name] for name in whole.column_names}, "slides.parquet"))
        assert data.sha256() == expected.sha256()
        assert (data.name, data.feature_names, data.notes) == (expected.name, expected.feature_names, ())

    def test_folders_say_values_of_columns(self, folder):
        """What the name of a subfolder says is the text of a column, digits too; a missing value is missing."""
        rows = {"label": [1], "f": [0.5]}
        parts = {f"bag={name}__a": rows for name in ("007", "7", "a%20b")}
        data = read(folder(**parts))
        assert data.bags.tolist() == ["007", "7", "a b"]
        assert data.feature_names == ("f",)
        message = refusal(folder(**{"bag=__HIVE_DEFAULT_PARTITION____a": rows}))
        assert 'column "bag": no bag id; every row needs one' in message

    @pytest.mark.parametrize(
        ("other", "said"),
        [
            ({"bag": ["b"], "label": [1]}, '/b.parquet has no column "f", which a.parquet has'),
            ({"bag": ["b"], "label": [1], "f": [1.5], "g": [1]}, '/a.parquet has no column "g", which b.parquet has'),
            (
                {"bag": ["b"], "label": [1], "f": ["1.5"]},
                '/b.parquet: the column "f" is of the type string, and before',
            ),
            ({"bag": [7], "label": [1], "f": [1.5]}, '/b.parquet: the column "bag" is of the type int64, and before'),
            ({"bag": ["b"], "label": [1], "f": pa.array([1], pa.float32())}, "as in a.parquet, of double; write all"),
        ],
    )
    def test_files_that_disagree(self, folder, other, said):
        """The file and the column are named, before values are read."""
        message = refusal(folder(a={"bag": ["a"], "label": [0], "f": [0.5]}, b=other))
        assert said in message
        assert message.count(".parquet") >= 2

    def test_columns_in_another_order_and_of_nulls_agree(self, folder):
        """Columns are matched by name; one that is null throughout a file, or whose words are stored once, fits."""
        a = {"bag": ["a"], "label": [0], "f": pa.nulls(1), "g": [1.0]}
        b = {"g": [2.0], "label": [1], "f": [0.5], "bag": pa.array(["b"]).dictionary_encode()}
        data = read(folder(a=a, b=b))
        assert (data.bags.tolist(), data.weak.tolist()) == (["a", "b"], [0, 1])
        assert np.array_equal(data.X, [[np.nan, 1.0], [0.5, 2.0]], equal_nan=True)

    def test_a_cell_is_found_in_its_file(self, folder):
        """Rows are counted in their file, which is named."""
        rows = {"bag": ["a", "b"], "label": [0, 1], "f": ["1", "2"]}
        path = folder(a=rows, b={**rows, "f": ["1", "x"]})
        assert refusal(path) == (
            f"{path}, row 2 of b.parquet, column \"f\": 'x' is no number. Every column of numbers that is no bag "
            f'and no label is a feature; correct the cell, or leave this one out with ignore = ["f"].'
        )
        assert "row 1 of b.parquet" in refusal(
            folder(a={**rows, "f": ["1", "2"]}, b={**rows, "label": [1, 1], "f": ["1", "2"]})
        )

    def test_a_damaged_file_is_named(self, folder):
        """A file that ends early is named among the others."""
        path = folder(a={"bag": ["a"], "label": [0], "f": [0.5]}, b={"bag": ["b"], "label": [0], "f": [0.5]})
        whole = (path / "b.parquet").read_bytes()
        (path / "b.parquet").write_bytes(whole[:-20])
        assert f"{path / 'b.parquet'} is damaged or no Parquet file" in refusal(path)

    def test_a_folder_is_recognised_by_what_is_in_it(self, folder, tmp_path):
        """A folder of Parquet files alone is one data set; with something else in it, or nothing, it is not."""
        (tmp_path / "none").mkdir()
        path = folder(a={"bag": ["a"], "label": [0], "f": [0.5]})
        assert ParquetReader().sniff(path)
        assert not ParquetReader().sniff(tmp_path / "none")
        (path / "notes.txt").write_text("")
        assert not ParquetReader().sniff(path)

    def test_the_contract_is_kept(self, folder):
        """The conformance kit passes with a folder, too."""
        check_reader(ParquetReader(), folder(a={"bag": ["a", "b"], "label": [1, 0], "f": [1, 2]}))


@pytest.mark.parametrize(
    ("kinds", "read_as"),
    [
        (("float32", "float32"), "f4"),
        (("float16", "float32"), "f4"),
        (("float32", "float64"), "f8"),
        (("int8", "float32"), "f8"),
    ],
)
def test_rows_have_the_precision_of_the_file(table, kinds, read_as):
    """Rows are float32 where no feature needs more, with NaN for null; the values are those of the file."""
    columns = [pa.array(values, kind) for values, kind in zip(([1, 2, None], [0.1, -3.0, 65504.0]), kinds, strict=True)]
    data = read(table({"bag": ["a", "b", "c"], "f": columns[0], "g": columns[1]}))
    assert data.X.dtype == read_as
    expected = np.column_stack([np.array(one.to_pylist(), dtype=float) for one in columns])
    assert np.array_equal(data.X, expected, equal_nan=True)


def test_row_groups_and_batches_are_one_table(tmp_path, monkeypatch):
    """However a file is cut into groups, and however many rows are decoded at a time, it is the same data."""
    rows = pa.table(
        {"bag": [f"b{i // 3}" for i in range(20)], "label": [i // 3 % 2 for i in range(20)], "f": range(20)}
    )
    digests = set()
    for group, batch in ((20, 1 << 22), (7, 1 << 22), (20, 3), (7, 3)):
        monkeypatch.setattr("bliss_readers.tables.parquet_piece._BATCH", batch)
        pq.write_table(rows, tmp_path / "toy.parquet", row_group_size=group)
        digests.add(read(tmp_path / "toy.parquet").sha256())
    assert len(digests) == 1


def test_rows_that_memory_does_not_hold_are_mapped(table, monkeypatch):
    """Where memory is short the rows are in a file, with the same values."""
    path = table({"bag": ["a", "b", "c"], "f": [1.0, 2.5, None], "g": [3, 4, 5]})
    plain = read(path)
    monkeypatch.setattr("bliss_framework.compute.empty_rows.MOST", 0)
    mapped = read(path)
    assert isinstance(mapped.X, np.memmap)
    assert np.array_equal(mapped.X, plain.X, equal_nan=True)


DAMAGED = """
import sys
from pathlib import Path

from bliss_framework import DataError
from bliss_readers.tables.parquet_piece import ParquetPiece

whole, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[1])
size = int.from_bytes(whole[-8:-4], "little")
refused = 0
for place in range(len(whole) - 8 - size, len(whole) - 8):
    path.write_bytes(whole[:place] + bytes([(whole[place] + 1) % 256]) + whole[place + 1 :])
    try:
        ParquetPiece.opened(path, {})
    except DataError:
        refused += 1
print(refused)
"""


def test_damaged_files_with_lists_do_not_end_the_process(tmp_path):
    """Whichever byte of its footer is changed, a file with a column of lists is read or refused by name."""
    table = pa.table({"bag": ["a", "a", "b"], "labels": [["x"], ["x", "y"], []], "f": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "t.parquet")
    done = subprocess.run(
        [sys.executable, "-c", DAMAGED, str(tmp_path / "t.parquet")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 200
