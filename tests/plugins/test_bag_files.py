"""One file per bag: every format as its own library writes it, tables of labels, and files that disagree."""

import os
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from bliss_framework.compute import empty_rows
from bliss_framework.plugin import DataError
from bliss_framework.testing import check_reader
from bliss_readers.bag_files import gathered_rows
from bliss_readers.bag_files.bag_files_reader import BagFilesReader
from bliss_readers.bag_files.bag_paths import natural
from bliss_readers.tables.parquet_reader import ParquetReader

SIZES = {"007": 3, "a10": 2, "a9": 4, "b": 1}  # In the order of file names, which is not that of the table.
LABELS = "slide,label,patient\na9,1,p1\nb,0,p1\n007,1,p2\na10,0,p3\n"


def rows_of(bag: str, dtype: str = "f4") -> np.ndarray:
    """Return rows that nobody else has: the hundreds tell the bag, the ones the row, the eighths the column."""
    number = sorted(SIZES).index(bag)
    return (100 * number + np.arange(SIZES[bag])[:, None] + np.arange(3) / 8).astype(dtype)


def place_of(bag: str) -> np.ndarray:
    """Return coordinates (n, 2)."""
    return np.stack([np.arange(SIZES[bag]) * 256, np.full(SIZES[bag], sorted(SIZES).index(bag))], axis=1)


def write_npy(path: Path, bag: str) -> None:
    """Write rows alone."""
    np.save(path.with_suffix(".npy"), rows_of(bag))


def write_npz(path: Path, bag: str) -> None:
    """Write rows and coordinates."""
    np.savez(path.with_suffix(".npz"), features=rows_of(bag), coords=place_of(bag))


def write_h5(path: Path, bag: str) -> None:
    """Write the layout of CLAM: features and coords, compressed in chunks."""
    h5py = pytest.importorskip("h5py", reason="needs the extra files")
    with h5py.File(path.with_suffix(".h5"), "w") as file:
        file.create_dataset("features", data=rows_of(bag), chunks=(2, 3), maxshape=(None, 3), compression="gzip")
        file.create_dataset("coords", data=place_of(bag))
        file["coords"].attrs["patch_size"] = 256


def write_trident(path: Path, bag: str) -> None:
    """Write the layout of TRIDENT, whose arrays may have a first axis of one slide."""
    h5py = pytest.importorskip("h5py", reason="needs the extra files")
    with h5py.File(path.with_suffix(".hdf5"), "w") as file:
        file["features"], file["coords"] = rows_of(bag)[None], place_of(bag)[None]


def write_pt(path: Path, bag: str) -> None:
    """Write a tensor."""
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    torch.save(torch.from_numpy(rows_of(bag)), path.with_suffix(".pt"))


def write_pt_dictionary(path: Path, bag: str) -> None:
    """Write a dictionary of tensors, and a word that is none."""
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    named = {"feats": torch.from_numpy(rows_of(bag)), "coords": torch.from_numpy(place_of(bag)), "slide": bag}
    torch.save(named, path.with_suffix(".pt"))


def frame_of(bag: str):
    """Return a data frame of rows, coordinates and names."""
    pandas = pytest.importorskip("pandas", reason="tests need pandas")
    frame = pandas.DataFrame(rows_of(bag), columns=["f0", "f1", "f2"])
    frame["coords_x"], frame["coords_y"] = place_of(bag).T
    frame["name"] = [f"{bag}-{row}" for row in range(SIZES[bag])]
    return frame


def write_csv(path: Path, bag: str) -> None:
    """Write a table as pandas does, with its index."""
    frame_of(bag).to_csv(path.with_suffix(".csv"))


def write_parquet(path: Path, bag: str) -> None:
    """Write a Parquet table."""
    pytest.importorskip("pyarrow", reason="needs the extra files")
    frame_of(bag).to_parquet(path.with_suffix(".parquet"))


WRITERS = [write_npy, write_npz, write_h5, write_trident, write_pt, write_pt_dictionary, write_csv, write_parquet]


@pytest.fixture
def slides(tmp_path):
    """Write a folder of bags and a table of labels beside it; return the folder."""

    def write(writer=write_npy, labels=LABELS, name="slides"):
        folder = tmp_path / name
        folder.mkdir()
        for bag in SIZES:
            writer(folder / bag, bag)
        (tmp_path / "labels.csv").write_text(labels)
        return folder

    return write


def read(path, **options):
    """Read a folder with the table beside it."""
    return BagFilesReader().read(path, **{"labels": "labels.csv", **options})


@pytest.mark.parametrize("writer", WRITERS)
def test_every_format_gives_the_same_bags(slides, writer):
    """Rows, ids as text, labels by id and not by order, and coordinates are those that were written."""
    data = read(slides(writer), group="patient")
    order = ["007", "a9", "a10", "b"]  # Numbers in names count.
    assert data.bags.tolist() == [bag for bag in order for _ in range(SIZES[bag])]
    assert data.X.tolist() == np.concatenate([rows_of(bag) for bag in order]).astype(data.X.dtype).tolist()
    assert (data.weak.tolist(), data.regime, data.name) == ([1, 1, 0, 0], "mil", "slides")
    assert data.groups.tolist() == ["p2"] * 3 + ["p1"] * 4 + ["p3"] * 2 + ["p1"]
    assert data.X.dtype == (np.float64 if writer is write_csv else np.float32)
    if writer in (write_npy, write_pt):
        assert data.carried == {}
        return
    places = np.concatenate([place_of(bag) for bag in order])
    assert data.carried["coords_x"].tolist() == places[:, 0].tolist()
    assert data.carried["coords_y"].tolist() == places[:, 1].tolist()
    if writer in (write_csv, write_parquet):
        assert data.carried["name"].tolist()[:4] == ["007-0", "007-1", "007-2", "a9-0"]
        assert data.feature_names == ("f0", "f1", "f2")


@pytest.mark.parametrize(("dtype", "kept"), [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i2", "f8")])
def test_precision_is_kept(slides, dtype, kept):
    """Single precision stays single, half becomes single, and other numbers become double."""
    folder = slides(lambda path, bag: np.save(path.with_suffix(".npy"), rows_of(bag, dtype)))
    assert read(folder).X.dtype == np.dtype(kept)


def test_a_pattern_and_a_list_are_the_same_data(slides, tmp_path):
    """Both give what the folder gives; a list keeps its own order."""
    folder = slides()
    whole = read(folder)
    assert read(tmp_path / "slides" / "*.npy").sha256() == whole.sha256()
    (tmp_path / "some.txt").write_text("# the good ones\nslides/b.npy\nslides/a9.npy\n")
    (tmp_path / "labels.csv").write_text("slide,label\na9,1\nb,0\n")
    some = read(tmp_path / "some.txt")
    assert (list(dict.fromkeys(some.bags.tolist())), some.weak.tolist()) == (["b", "a9"], [0, 1])


def test_the_reader_keeps_its_contract(slides, tmp_path):
    """The kit of readers, on a list of files."""
    slides()
    (tmp_path / "all.txt").write_text("".join(f"slides/{bag}.npy\n" for bag in SIZES))
    check_reader(BagFilesReader(), tmp_path / "all.txt")


def test_new_slides_need_no_labels(slides):
    """Without a table there are no weak labels, and rows and ids are the same."""
    folder = slides()
    assert read(folder, labels=None).weak is None
    assert read(folder, labels=None).bags.tolist() == read(folder).bags.tolist()


class TestLabels:
    def test_ids_may_be_names_of_slides(self, slides):
        """A table with "a9.svs" speaks of a9.npy, which is noted."""
        lines = [line.split(",", 1) for line in LABELS.splitlines()[1:]]
        labels = "slide,label,patient\n" + "".join(f"{bag}.svs,{rest}\n" for bag, rest in lines)
        data = read(slides(labels=labels))
        assert data.weak.tolist() == [1, 1, 0, 0]
        assert any("without the suffix" in note for note in data.notes)

    def test_a_column_bag_comes_before_the_first(self, slides):
        """The column "bag" holds the stems wherever it stands, and --bag any other one."""
        labels = "label,{}\n1,a9\n0,b\n1,007\n0,a10\n"
        folder = slides(labels=labels.format("bag"))
        assert read(folder).weak.tolist() == [1, 1, 0, 0]
        (folder.parent / "labels.csv").write_text(labels.format("slide"))
        assert read(folder, bag="slide").weak.tolist() == [1, 1, 0, 0]

    def test_sets_in_one_cell(self, slides):
        """Names between bars are label sets."""
        data = read(slides(labels="bag,label\na9,u|v\nb,u\n007,v\na10,\n"))
        assert data.regime == "multiclass-mil"
        assert data.weak.tolist() == [{"v"}, {"u", "v"}, set(), {"u"}]

    def test_columns_of_zero_and_one_are_label_sets(self, slides):
        """A column for each label is the set of labels that have a 1; one that nobody has stays a name."""
        data = read(slides(labels="bag,u,v,w\na9,1,1,0\nb,1,0,0\n007,0,1,0\na10,0,0,0\n"))
        assert (data.regime, data.label_names) == ("multiclass-mil", ("u", "v", "w"))
        assert data.weak.tolist() == [{"v"}, {"u", "v"}, set(), {"u"}]

    def test_columns_of_shares(self, slides):
        """Fractions that add up to 1 are shares of the classes that the columns are called like."""
        data = read(slides(labels="bag,u,v\na9,0.25,0.75\nb,1,0\n007,0.4,0.6\na10,0.5,0.5\n"))
        assert data.regime == "llp"
        assert data.weak.tolist()[:2] == [{"u": 0.4, "v": 0.6}, {"u": 0.25, "v": 0.75}]

    def test_columns_of_counts(self, slides):
        """Counts of the rows stay counts; counts of more cells than there are rows are shares."""
        data = read(slides(labels="bag,u,v\na9,1,3\nb,1,0\n007,1,2\na10,0,2\n"))
        assert data.weak.tolist()[:2] == [{"u": 1, "v": 2}, {"u": 1, "v": 3}]
        data = read(data_folder := slides(labels="bag,u,v\na9,10,30\nb,10,0\n007,10,20\na10,0,5\n", name="more"))
        assert data_folder.name == "more"
        assert data.weak.tolist()[1] == {"u": 0.25, "v": 0.75}

    def test_columns_are_named_among_others(self, slides):
        """Columns between commas are the classes; the others are not looked at."""
        labels = "bag,u,v,age\na9,1,1,50\nb,1,0,60\n007,0,1,70\na10,0,0,80\n"
        assert read(slides(labels=labels), label="u, v").weak.tolist() == [{"v"}, {"u", "v"}, set(), {"u"}]

    def test_zero_and_one_are_shares_where_the_regime_says_so(self, slides):
        """The regime decides what a table of 0 and 1 means."""
        data = read(slides(labels="bag,u,v\na9,0,1\nb,1,0\n007,0,1\na10,1,0\n"), regime="llp")
        assert data.weak.tolist()[0] == {"u": 0.0, "v": 1.0}

    def test_the_table_may_be_parquet(self, slides, tmp_path):
        """A Parquet table of labels is read as a CSV one."""
        pandas = pytest.importorskip("pandas", reason="tests need pandas")
        pytest.importorskip("pyarrow", reason="needs the extra files")
        folder = slides()
        pandas.DataFrame({"slide": list(SIZES), "label": ["t", "n", "t", "n"]}).to_parquet(tmp_path / "l.parquet")
        assert read(folder, labels="l.parquet").weak.tolist() == ["t", "t", "n", "n"]

    def test_it_may_lie_in_the_folder_of_tables(self, slides):
        """A table of labels among CSV files of bags is no bag."""
        folder = slides(write_csv)
        os.replace(folder.parent / "labels.csv", folder / "labels.csv")
        assert read(folder).weak.tolist() == [1, 1, 0, 0]


class TestArrays:
    def test_true_classes_are_found(self, slides):
        """An array patch_labels with an entry for each row holds true classes, which nothing is learnt from."""

        def write(path, bag):
            np.savez(path.with_suffix(".npz"), X=rows_of(bag), patch_labels=np.arange(SIZES[bag]) % 2)

        assert read(slides(write)).instance_labels.tolist() == [0, 1, 0, 0, 1, 0, 1, 0, 1, 0]

    def test_the_rows_may_be_named(self, slides):
        """Where two arrays could be the rows, the option says which; without it neither is taken."""

        def write(path, bag):
            np.savez(path.with_suffix(".npz"), red=rows_of(bag), blue=rows_of(bag) + 1)

        folder = slides(write)
        assert read(folder, array="blue").X[0, 0] == rows_of("007")[0, 0] + 1
        with pytest.raises(DataError, match=r"which of its arrays.*red \(3, 3\), blue.*option array"):
            read(folder)

    def test_what_some_file_lacks_is_not_carried(self, slides):
        """Coordinates that one file lacks are left out, which is noted with its name."""
        folder = slides(write_npz)
        np.savez(folder / "b.npz", features=rows_of("b"))
        data = read(folder)
        assert data.carried == {}
        assert any('"coords_x" is not carried, because b.npz' in note for note in data.notes)


class TestTables:
    def test_columns_are_matched_by_name(self, slides):
        """A file with its columns in another order gives the same rows."""
        folder = slides(write_csv)
        frame = frame_of("b")
        frame[["f2", "name", "f0", "f1", "coords_y", "coords_x"]].to_csv(folder / "b.csv", index=False)
        assert read(folder).X[-1].tolist() == rows_of("b")[0].tolist()

    def test_a_label_column_is_refused(self, slides):
        """A column that would give the answer away is named, and may be left out."""
        folder = slides(write_csv)
        for bag in SIZES:
            frame_of(bag).assign(Label=1).to_csv(folder / f"{bag}.csv", index=False)
        with pytest.raises(DataError, match=r'has a column "Label".*ignore'):
            read(folder)
        assert read(folder, ignore=["Label"]).feature_names == ("f0", "f1", "f2")

    def test_columns_are_carried_and_left_out(self, slides):
        """Who carries a column keeps it beside the rows."""
        data = read(slides(write_csv), carry=["f1"], ignore="name")
        assert data.feature_names == ("f0", "f2")
        assert sorted(data.carried) == ["coords_x", "coords_y", "f1"]

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_words_that_bags_share_are_a_category(self, slides, suffix):
        """As in one table: few words are a feature, names are carried, and options say otherwise."""
        pytest.importorskip("pyarrow", reason="needs the extra files")
        folder, stains = slides(lambda path, bag: None), ["H&E", "PAS", "H&E", "PAS"]
        for bag in SIZES:
            frame = frame_of(bag).assign(stain=stains[: SIZES[bag]], stage=[1, 2, 1, 2][: SIZES[bag]])
            write = frame.to_csv if suffix == ".csv" else frame.to_parquet
            write(folder / f"{bag}{suffix}", index=False)
        data = read(folder)
        assert data.feature_names == ("f0", "f1", "f2", "stage", "stain")
        assert data.categories == {"stain": ("H&E", "PAS")}
        assert data.X[:, 4].tolist() == [0, 1, 0, 0, 1, 0, 1, 0, 1, 0]
        assert data.X[:, 2].tolist() == [row[2] for bag in ["007", "a9", "a10", "b"] for row in rows_of(bag).tolist()]
        assert sorted(data.carried) == ["coords_x", "coords_y", "name"]
        assert any('"stain" holds few words, each in several bags' in note for note in data.notes)
        told = read(folder, categorical="stag*", carry=["stain"])
        assert told.categories == {"stage": ("1", "2")}
        assert told.carried["stain"].tolist() == [*stains[:3], *stains, *stains[:2], stains[0]]
        assert read(folder, features=["f*"]).feature_names == ("f0", "f1", "f2")
        new = read(folder, trained_on=["stain", "f1"], categorical=["stain"], ignore=["not here"])
        assert (new.feature_names, sorted(new.categories)) == (("f1", "stain"), ["stain"])

    def test_a_word_among_numbers_is_named(self, slides):
        """A column of numbers with one word in it is refused with the file and the row, as in any table."""
        folder = slides(write_csv)
        for bag in SIZES:
            cells = ["<5", "7", "8", "9"]
            frame_of(bag).assign(dose=cells[: SIZES[bag]]).to_csv(folder / f"{bag}.csv", index=False)
        with pytest.raises(DataError, match=r'007\.csv, row 1, column "dose": \'<5\' is no number'):
            read(folder)

    def test_parquet_pieces_stay_one_table(self, slides):
        """A folder of Parquet files is one table without labels, and where its files have a column of bags."""
        pandas = pytest.importorskip("pandas", reason="tests need pandas")
        folder = slides(write_parquet)
        both = [BagFilesReader(), ParquetReader()]
        assert [one.takes(folder, {}) for one in both] == [False, True]
        assert [one.takes(folder, {"labels": "labels.csv"}) for one in both] == [True, False]
        assert [one.takes(folder, {"reader": "bag-files"}) for one in both] == [True, False]
        pandas.DataFrame({"bag": ["b"], "f0": [1.0]}).to_parquet(folder / "007.parquet")
        assert [one.takes(folder, {"labels": "labels.csv"}) for one in both] == [False, True]


class TestDisagreement:
    def damaged(self, folder):
        """Damage a folder in six ways."""
        (folder / "a9.npy").unlink()
        (folder / "007.npy").write_bytes((folder / "007.npy").read_bytes()[:-5])
        np.save(folder / "c.npy", rows_of("b"))
        np.save(folder / "d.npy", rows_of("b")[:, :2])
        np.save(folder / "e.npy", rows_of("b")[:0])
        np.save(folder / "f.npy", rows_of("b", "f8"))
        (folder.parent / "labels.csv").write_text(LABELS + "d,0,p\ne,0,p\nf,1,p\n")

    def test_files_are_named_and_counted(self, slides):
        """The first three are named, with what is wrong, and the others counted; nothing is read."""
        folder = slides()
        self.damaged(folder)
        words = r"6 of 8 bags cannot be used, so none was\..*007\.npy says.*c\.npy has no line.*d\.npy has 2 columns"
        with pytest.raises(DataError, match=rf"{words}.*And 3 more\..*--skip-bad"):
            read(folder)

    def test_skip_bad_says_what_it_skips(self, slides):
        """Only bags that are sound are left, and the note says how many are not."""
        folder = slides()
        self.damaged(folder)
        data = read(folder, skip_bad=True)
        assert list(dict.fromkeys(data.bags.tolist())) == ["a10", "b"]
        assert data.X.tolist() == np.concatenate([rows_of("a10"), rows_of("b")]).tolist()
        assert data.weak.tolist() == [0, 0]
        assert any(note.startswith("6 of 8 bags were left out") for note in data.notes)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda folder: (folder / "a9.npy").unlink(), "has a line for the bag 'a9', which has no file"),
            (lambda folder: np.save(folder / "a99.npy", rows_of("b")), r"a99\.npy has no line in .*labels\.csv"),
            (
                lambda folder: np.save(folder / "b.npy", rows_of("b")[:, :2]),
                r"b\.npy has 2 columns, and 3 others have 3",
            ),
            (lambda folder: np.save(folder / "b.npy", rows_of("b")[:0]), r"b\.npy has no rows"),
            (lambda folder: np.save(folder / "b.npy", rows_of("b", "f8")), r"b\.npy holds values of type float64"),
            (lambda folder: np.save(folder / "b.npy", rows_of("b")[0]), r"b\.npy: its array has the shape \(3,\)"),
            (lambda folder: (folder / "b.npy").write_bytes(b"\x93NUMPY"), r"b\.npy is damaged"),
            (lambda folder: np.save(folder / "b.npy", np.array([[{}]]), allow_pickle=True), r"b\.npy holds Python"),
        ],
    )
    def test_each_way_to_disagree(self, slides, change, words):
        """One bag of four is wrong, and the message says which and how."""
        folder = slides()
        change(folder)
        with pytest.raises(DataError, match=rf"1 of \d bags cannot be used, so none was\. .*{words}"):
            read(folder)

    def test_another_column_is_named(self, slides):
        """A table that has another column than the others says which."""
        folder = slides(write_csv)
        frame_of("b").rename(columns={"f1": "g1"}).to_csv(folder / "b.csv")
        with pytest.raises(
            DataError, match=r'b\.csv has more \("g1"\) and fewer \("f1"\) columns of numbers than 3 others'
        ):
            read(folder)

    def test_two_files_of_one_name_are_refused(self, slides, tmp_path):
        """Two files with one stem would be one bag."""
        folder = slides()
        (folder / "deep").mkdir()
        np.save(folder / "deep" / "b.npy", rows_of("b"))
        with pytest.raises(DataError, match=r"b\.npy and .*b\.npy are both the bag 'b'"):
            read(tmp_path / "slides" / "**" / "*.npy")

    def test_a_table_of_other_bags_is_refused(self, slides):
        """Where no id fits, both sides are shown."""
        with pytest.raises(DataError, match=r"no line for any of the 4 files.*007, a9, a10.*\"slide\" holds q, r"):
            read(slides(labels="slide,label\nq,1\nr,0\n"))

    def test_a_bag_with_two_labels_is_refused(self, slides):
        """Two lines of a bag that differ are named by their lines."""
        with pytest.raises(DataError, match=r"line 6.*'b' has the weak label '1', but '0' in line 3"):
            read(slides(labels=LABELS + "b,1,p1\n"))

    def test_other_kinds_are_passed_over(self, slides):
        """In a folder of arrays a stray table is no bag, which is noted."""
        folder = slides()
        (folder / "process_list.csv").write_text("a,b\n1,2\n")
        assert any("process_list.csv was passed over" in note for note in read(folder).notes)


class TestMemory:
    def test_rows_that_memory_has_no_room_for_are_mapped(self, slides, monkeypatch):
        """Where little memory is left the same rows stand in a temporary file, and that is said."""
        folder = slides(write_npz)
        whole = read(folder)
        monkeypatch.setattr(empty_rows, "memory_left", lambda: [SimpleNamespace(n_bytes=10)])
        data = read(folder)
        assert isinstance(data.X, np.memmap)
        assert not isinstance(whole.X, np.memmap)
        assert data.sha256() == whole.sha256()
        assert any("stand in a temporary file" in note for note in data.notes)

    def test_every_row_is_written_once(self, slides, monkeypatch):
        """Each file is copied into its own part of one array, which nothing but these rows fills."""
        seen = []
        copy = gathered_rows._copy
        monkeypatch.setattr(gathered_rows, "_copy", lambda f, c, out: (seen.append(out), copy(f, c, out)))
        data = read(slides(write_h5))
        assert [one.shape[0] for one in seen] == [3, 4, 2, 1]
        assert all(np.shares_memory(one, data.X) for one in seen)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Return a folder in which examples are written one after the other."""
    return tmp_path_factory.mktemp("many")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.dictionaries(st.text("ab019-_", min_size=1, max_size=6).filter(lambda t: t[0] != "_"), st.integers(1, 4)),
    n_columns=st.integers(1, 5),
)
def test_any_names_and_sizes_come_back(many, sizes, n_columns):
    """Whatever bags are called and however large they are, each row keeps its bag and each bag its label."""
    for old in many.glob("*"):
        old.unlink()
    if len(sizes) < 1:
        return
    rng = np.random.default_rng(0)
    rows = {bag: rng.normal(size=(n, n_columns)) for bag, n in sizes.items()}
    for bag, own in rows.items():
        np.save(many / f"{bag}.npy", own)
    weak = {bag: f"w{number % 3}" for number, bag in enumerate(sizes)}
    (many / "l.csv").write_text("slide,label\n" + "".join(f"{bag},{one}\n" for bag, one in weak.items()))
    data = read(many, labels="l.csv")
    order = list(dict.fromkeys(data.bags.tolist()))
    assert sorted(order) == sorted(sizes)
    assert order == sorted(sizes, key=natural)
    for bag, label in zip(order, data.weak.tolist(), strict=True):
        assert label == weak[bag]
        assert np.array_equal(data.X[data.bags == bag], rows[bag])


class TestHostileFiles:
    def h5(self, folder, write):
        """Write one .h5 file by a function of the open file."""
        h5py = pytest.importorskip("h5py", reason="needs the extra files")
        with h5py.File(folder / "b.h5", "w") as file:
            write(file, h5py)
        return pytest.raises(DataError)

    def test_nothing_outside_of_an_hdf5_file_is_opened(self, slides, tmp_path):
        """Links to other files, virtual arrays and arrays in other files are refused, even if they are there."""
        folder = slides(write_h5)
        (tmp_path / "raw").write_bytes(rows_of("b").tobytes())

        def virtual(file, h5py):
            layout = h5py.VirtualLayout((1, 3), "f4")
            layout[:] = h5py.VirtualSource(str(folder / "a9.h5"), "features", (4, 3))[:1]
            file.create_virtual_dataset("features", layout)

        def linked(file, h5py):
            file["features"] = h5py.ExternalLink(str(folder / "a9.h5"), "features")

        def elsewhere(file, h5py):
            file.create_dataset("features", (1, 3), "f4", external=[(str(tmp_path / "raw"), 0, 12)])

        for write, words in ((virtual, "other files"), (linked, "link to another file"), (elsewhere, "other files")):
            with self.h5(folder, write) as caught:
                read(folder)
            assert words in str(caught.value)

    def test_huge_claims_of_hdf5_are_refused(self, slides):
        """A shape that nothing fills, and a chunk that decodes to more than it says, take no memory."""
        folder = slides(write_h5)

        def huge(file, h5py):
            file.create_dataset("features", (2**40, 3), "f4", chunks=(2, 3))

        def unfilled(file, h5py):
            file.create_dataset("features", (4, 3), "f4")

        def bomb(file, h5py):
            import zlib

            stored = file.create_dataset("features", (1, 3), "f4", chunks=(1, 3), compression="gzip")
            stored.id.write_direct_chunk((0, 0), zlib.compress(b"\0" * 2**24))

        for write, words in (
            (huge, "says that it holds"),
            (unfilled, "stores fewer"),
            (bomb, "another number of bytes"),
        ):
            with self.h5(folder, write) as caught:
                read(folder)
            assert words in str(caught.value)

    def test_a_pickle_of_pytorch_is_not_run(self, slides, tmp_path):
        """Objects in a .pt file are refused by name and their code is not run."""
        torch = pytest.importorskip("torch", reason="needs the extra torch")
        folder = slides(write_pt)

        class Evil:
            def __reduce__(self):
                return (os.mkdir, (str(tmp_path / "owned"),))

        torch.save({"features": torch.zeros(1, 3), "u": Evil()}, folder / "b.pt")
        with pytest.raises(DataError, match=r"b\.pt holds more than tensors"):
            read(folder)
        torch.save(Evil(), folder / "b.pt", _use_new_zipfile_serialization=False)
        with pytest.raises(DataError, match=r"b\.pt is damaged, or written by a PyTorch before 1\.6"):
            read(folder)
        assert not (tmp_path / "owned").exists()

    def test_a_tensor_that_repeats_a_value_is_refused(self, slides):
        """A shape of a million million over one stored value takes no memory."""
        torch = pytest.importorskip("torch", reason="needs the extra torch")
        folder = slides(write_pt)
        torch.save(torch.zeros(1).expand(2**38, 3), folder / "b.pt")
        with pytest.raises(DataError, match=r"b\.pt has .* and says that it holds"):
            read(folder)

    def test_many_files_are_held_against_their_sizes_together(self, slides, monkeypatch):
        """Files that each claim what a small file may are refused where all of them together claim too much."""
        h5py = pytest.importorskip("h5py", reason="needs the extra files")
        folder = slides(write_h5)
        for bag in SIZES:
            with h5py.File(folder / f"{bag}.h5", "w") as file:
                file.create_dataset("features", (2**21, 16), "f4", chunks=(2**14, 16), compression="gzip")
        with warnings.catch_warnings(), pytest.raises(DataError, match=r"slides has .* and says that it holds"):
            read(folder)
