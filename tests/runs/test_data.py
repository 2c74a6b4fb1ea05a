"""From a name, a file or a TOML table to a data set."""

import os
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bliss_framework import Component, DataError, PluginError, Reader, SettingsError, UnknownNameError, WeakDataset
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.extension.registry import Registration, Registry
from bliss_framework.runs.data.files import FileReaders
from bliss_framework.runs.data.find import available_datasets, default_data_dirs, find_dataset
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.parquet_reader import ParquetReader


def toy(n_bags: int = 2) -> WeakDataset:
    return WeakDataset("toy", np.zeros((n_bags, 1)), np.arange(n_bags), np.arange(n_bags) % 2)


class Odd(Reader):
    """Reads .odd files, and anything else that it is asked to; takes any option."""

    def sniff(self, path):
        return path.suffix in (".odd", ".csv")

    def read(self, path, **options):
        return toy(options.get("n_bags", 2))


class Clumsy(Odd):
    """Breaks its contract wherever it can."""

    def sniff(self, path):
        raise KeyError("sniff")

    def read(self, path):
        raise KeyError("read")


class Forgetful(Odd):
    """Returns nothing."""

    def read(self, path, **options):
        return None


def broken_factory():
    raise ImportError("no module named pyarrow")


def registration(kind: str, name: str, factory, plugin: str = "own") -> Registration:
    return Registration(kind, Component(name, factory, details={"licence": "MIT"}), plugin, "bliss-own")


READERS = (registration("reader", "csv", CsvReader), registration("reader", "npz", NpzReader))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty current folder, a data folder beside it, and a way to load and to write tables."""
    here, data = tmp_path / "here", tmp_path / "data"
    here.mkdir()
    data.mkdir()
    monkeypatch.chdir(here)

    def write(path: Path, text: str = "bag,label,f\na,1,0\nb,0,0\n") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def find(source, *more, **arguments):
        return find_dataset(source, registry=Registry((*READERS, *more)), data_dirs=[data], **arguments)

    return SimpleNamespace(here=here, data=data, write=write, find=find)


class TestFiles:
    def test_a_path_is_read(self, place):
        """An absolute path, and one in the current folder, are read by the reader that recognises them."""
        path = place.write(place.here / "t.csv")
        for source in ("t.csv", str(path)):
            loaded = place.find(source)
            assert loaded.dataset.weak.tolist() == [1, 0]
            assert (loaded.dataset.name, loaded.origin, loaded.notes) == ("t", source, ())

    def test_a_path_is_relative_to_the_experiment_file(self, place):
        """The folder of the experiment file comes before the current folder."""
        place.write(place.here / "t.csv")
        inner = place.write(place.here / "inner" / "t.csv", "bag,label,f\na,0,0\n")
        assert place.find("t.csv", relative_to=inner.parent).dataset.weak.tolist() == [0]
        assert place.find("t.csv", relative_to=place.data).dataset.weak.tolist() == [1, 0]

    def test_a_home_folder_is_expanded(self, place, monkeypatch):
        """A leading ~ is the user's home."""
        monkeypatch.setenv("HOME", str(place.data))
        monkeypatch.setenv("USERPROFILE", str(place.data))
        place.write(place.data / "t.csv")
        assert place.find("~/t.csv").dataset.weak.tolist() == [1, 0]

    def test_options_reach_the_reader(self, place):
        """Options are the reader's own, and one that it does not have is a mistake with a near miss."""
        place.write(place.here / "t.csv", "mol,label,f\na,1,0\n")
        assert place.find("t.csv", options={"bag": "mol"}).dataset.bags.tolist() == ["a"]
        with pytest.raises(
            SettingsError, match=r'"csv" has no option "bagg".*Did you mean "bag".*Its options: bag, label'
        ):
            place.find("t.csv", options={"bagg": "mol"})

    def test_a_reader_that_takes_anything_gets_anything(self, place):
        """A reader with free options is not second-guessed."""
        place.write(place.here / "t.odd")
        loaded = place.find("t.odd", registration("reader", "odd", Odd), options={"n_bags": 5})
        assert loaded.dataset.X.shape == (5, 1)

    def test_a_reader_can_be_named(self, place):
        """The option `reader` reads a file whose name says nothing; an unknown one is named."""
        place.write(place.here / "table.txt")
        assert place.find("table.txt", options={"reader": "csv"}).dataset.weak.tolist() == [1, 0]
        with pytest.raises(UnknownNameError, match='Did you mean "csv"'):
            place.find("table.txt", options={"reader": "csw"})

    def test_a_file_that_no_reader_recognises(self, place):
        """The message lists the readers, and those that broke with the reason."""
        place.write(place.here / "t.parquet")
        broken = registration("reader", "arrow", broken_factory), registration("reader", "clumsy", Clumsy)
        with pytest.raises(
            DataError, match=r"No reader recognises t\.parquet\. Installed readers: clumsy, csv"
        ) as caught:
            place.find("t.parquet", *broken)
        assert "no module named pyarrow" in str(caught.value)
        assert "the reader \"clumsy\" was passed over: KeyError: 'sniff'" in str(caught.value)

    def test_what_a_file_is_that_no_reader_recognises(self, place):
        """A file whose first bytes tell what it is, whatever its name, is refused with that."""
        path = place.here / "t.csv"
        path.write_bytes(b"\x1f\x8b\x08\0")
        with pytest.raises(DataError, match=r"No reader recognises t\.csv\. It is a gzip archive; unpack it first\."):
            place.find("t.csv")

    def test_notes_of_a_reader_reach_the_user(self, place):
        """What a reader noted comes after what was noted of readers, and does not change the digest of the data."""
        place.write(place.here / "t.csv", ",bag,label,f\n0,a,1,0\n1,b,0,0\n")
        loaded = place.find("t.csv", registration("reader", "odd", Odd))
        assert loaded.notes == (
            "t.csv is recognised by the readers csv, odd; csv was taken",
            't.csv: "Unnamed: 0" is the row index of a data-frame library and was left out of the features',
        )
        place.write(place.here / "t.csv")
        assert loaded.dataset.sha256() == place.find("t.csv").dataset.sha256()

    def test_the_separator_of_a_regime_reaches_readers_of_text(self, place):
        """A separator is given to readers that have the option, unless the user says another; others are not asked."""
        place.write(place.here / "t.csv", "bag,label,f\na,x/y,0\nb,y+z,0\n")
        assert place.find("t.csv", separator="/").dataset.weak.tolist() == [{"x", "y"}, {"y+z"}]
        told = place.find("t.csv", separator="/", options={"separator": "+"})
        assert told.dataset.weak.tolist() == [{"x/y"}, {"y", "z"}]
        place.write(place.here / "t.odd")
        assert place.find("t.odd", registration("reader", "odd", Odd), separator="/").dataset.X.shape == (2, 1)

    def test_two_readers_of_one_file(self, place):
        """The first by name is taken, and the user is told."""
        place.write(place.here / "t.csv")
        loaded = place.find("t.csv", registration("reader", "odd", Odd))
        assert loaded.notes == ("t.csv is recognised by the readers csv, odd; csv was taken",)

    def test_a_reader_that_breaks_is_named(self, place):
        """An exception that is no error of the user's names the reader and who ships it."""
        place.write(place.here / "t.xyz")
        with pytest.raises(PluginError, match='the reader "clumsy" of plugin "own" from bliss-own broke: KeyError'):
            place.find("t.xyz", registration("reader", "clumsy", Clumsy), options={"reader": "clumsy"})
        with pytest.raises(PluginError, match=r"A WeakDataset is needed.*returned NoneType"):
            place.find("t.xyz", registration("reader", "forgetful", Forgetful), options={"reader": "forgetful"})

    def test_data_without_weak_labels(self, place):
        """Learning refuses unlabelled data in one sentence; prediction takes them."""
        place.write(place.here / "new.csv", "bag,f\na,1\n")
        with pytest.raises(DataError, match=r"new.csv holds no weak labels"):
            place.find("new.csv")
        assert place.find("new.csv", needs_labels=False).dataset.weak is None


class TestNames:
    def test_a_plugin_comes_before_the_data_folders(self, place):
        """The plugin's data set is taken, and the other place of the name is said."""
        path = place.write(place.data / "mil" / "musk1.csv")
        loaded = place.find("musk1", registration("dataset", "musk1", toy))
        origin = 'plugin "own" from bliss-own'
        assert (loaded.dataset.name, loaded.origin) == ("toy", origin)
        assert loaded.notes == (f'the name "musk1" is also at {path}; the one of {origin} was taken',)

    def test_a_file_comes_before_a_plugin(self, place):
        """A file that exists under exactly this name is taken; the plugin is mentioned."""
        place.write(place.here / "musk1")
        loaded = place.find("musk1", registration("dataset", "musk1", toy), options={"reader": "csv"})
        assert loaded.origin == "musk1"
        assert 'also at plugin "own"' in loaded.notes[0]

    def test_options_reach_the_data_set(self, place):
        """Parameters of a plugin's data set are its factory's; unknown ones are a mistake."""
        assert place.find("toy", registration("dataset", "toy", toy), options={"n_bags": 4}).dataset.X.shape == (4, 1)
        with pytest.raises(SettingsError, match='has no parameter "n_bag"'):
            place.find("toy", registration("dataset", "toy", toy), options={"n_bag": 4})

    def test_a_data_set_of_the_wrong_type(self, place):
        """A plugin that returns something else is named."""
        with pytest.raises(PluginError, match='the data set "toy" of plugin "own" from bliss-own returned dict'):
            place.find("toy", registration("dataset", "toy", dict))

    def test_a_name_that_two_plugins_register(self, place):
        """An ambiguous name is an error, unless a file of this name makes it needless."""
        twice = (registration("dataset", "toy", toy, "one"), registration("dataset", "toy", toy, "two"))
        with pytest.raises(PluginError, match="--block-plugin one"):
            place.find("toy", *twice)
        place.write(place.here / "toy")
        assert place.find("toy", *twice, options={"reader": "csv"}).origin == "toy"

    def test_data_folders_are_searched_in_order(self, place):
        """Files come before those in subfolders, names are in order, and every other place is said."""
        deep = place.write(place.data / "a" / "b" / "c" / "t.csv")
        place.write(place.data / "a" / "b" / "c" / "d" / "t.csv")
        place.write(place.data / ".hidden" / "t.csv")
        near = place.write(place.data / "z" / "t.csv")
        loaded = place.find("t")
        assert loaded.origin == str(deep)
        assert loaded.notes == (f'the name "t" is also at {near}; the one of {deep} was taken',)
        assert place.find("t.csv").origin == str(deep)

    def test_one_file_is_not_two_places(self, place):
        """Data folders within one another, and the current folder as a data folder, find a file once."""
        place.write(place.data / "sub" / "t.csv")
        registry = Registry(READERS)
        loaded = find_dataset("t", registry=registry, data_dirs=[place.data, place.data / "sub"])
        assert loaded.notes == ()
        place.write(place.here / "u.csv")
        assert find_dataset("u.csv", registry=registry, data_dirs=[place.here]).notes == ()

    def test_files_that_cannot_be_read_are_no_data_sets(self, place):
        """Notes beside a data file are left alone; alone they are refused as a file that no reader recognises."""
        place.write(place.data / "t.txt")
        with pytest.raises(DataError, match=r"No reader recognises .*t\.txt"):
            place.find("t")
        path = place.write(place.data / "u" / "t.csv")
        assert (place.find("t").origin, place.find("t").notes) == (str(path), ())

    def test_an_unknown_name_gets_the_nearest(self, place):
        """The message offers the nearest data set or file, lists them, and says where it looked."""
        place.write(place.data / "elephant.csv")
        with pytest.raises(UnknownNameError, match=r'"elefant".*Did you mean "elephant".*elephant, musk1') as caught:
            place.find("elefant", registration("dataset", "musk1", toy))
        assert str(place.data) in str(caught.value)
        with pytest.raises(UnknownNameError, match='Did you mean "musk1"'):
            place.find("musk", registration("dataset", "musk1", toy))

    def test_a_folder_is_no_data_set(self, place):
        """The user is told that the name is a folder."""
        (place.here / "sets").mkdir()
        with pytest.raises(UnknownNameError, match=r'"sets" is a folder; name a file in it.*Data sets: none'):
            place.find("sets")

    def test_a_folder_that_a_reader_takes_is_a_data_set(self, place):
        """It is found by its path, and in the data folders by its name where that has a suffix; its parts are not."""
        pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra files")
        table = pytest.importorskip("pyarrow").table({"bag": ["a", "b"], "label": [0, 1], "f": [0.5, 1.5]})
        for folder in (place.here / "slides", place.data / "deep" / "stored.parquet"):
            folder.mkdir(parents=True)
            for part in ("one", "two"):
                pq.write_table(table, folder / f"{part}.parquet")
        parquet = registration("reader", "parquet", ParquetReader)
        assert place.find("slides", parquet).dataset.X.shape == (4, 1)
        stored = place.find("stored", parquet)
        assert (stored.path, stored.notes, stored.dataset.name) == (folder, (), "stored")
        listed = available_datasets(Registry((*READERS, parquet)), [place.data])
        assert [(one.name, one.path) for one in listed] == [("stored", folder)]
        parts = [(folder / f"{part}.parquet").stat().st_size for part in ("one", "two")]
        assert listed[0].details == {"size": f"{sum(parts) / 1000:,.1f} kB"}

    @pytest.mark.parametrize("source", ["", "a\0b", "x" * 5000, "no/such/file.csv"])
    def test_impossible_names_are_unknown(self, place, source):
        """A name that no file can have is an unknown name like any other."""
        with pytest.raises(UnknownNameError, match="No file and no data set is called"):
            place.find(source)


class TestDataFolders:
    def test_the_order_of_folders(self, tmp_path):
        """--data-dir comes first, then BLISS_DATA, then the user's own folder; each once, none created."""
        environ = {"BLISS_DATA": os.pathsep.join(["/one", "", str(tmp_path)]), "XDG_DATA_HOME": "/xdg"}
        (tmp_path / "own").mkdir()
        found = default_data_dirs([tmp_path / "own", tmp_path], environ)
        assert found == [tmp_path / "own", tmp_path, Path("/one"), Path("/xdg/bliss_framework")]
        assert not found[-1].exists()

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system keeps such folders in other places")
    def test_the_user_folder_without_environment(self, monkeypatch):
        """Without XDG_DATA_HOME the user's folder is in ~/.local/share."""
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        assert default_data_dirs([], {}) == [Path("~/.local/share/bliss_framework").expanduser()]

    def test_a_data_dir_must_exist(self, tmp_path):
        """An option that names no folder is a mistake; a missing folder in BLISS_DATA is not."""
        with pytest.raises(SettingsError, match=r"data_dir is .*gone.*no folder"):
            default_data_dirs([tmp_path, tmp_path / "gone"], {})
        assert len(default_data_dirs([], {"BLISS_DATA": str(tmp_path / "gone")})) == 2


class TestAvailable:
    def test_what_is_there_is_listed_without_loading(self, place):
        """Plugins' data sets and readable files are listed with what is known of them; nothing is loaded."""

        def explode():
            raise AssertionError("loaded")

        path = place.write(place.data / "sub" / "t.csv", "not a table")
        place.write(place.data / "README.md")
        plugin, file = available_datasets(Registry((*READERS, registration("dataset", "musk1", explode))), [place.data])
        assert (plugin.name, plugin.origin, plugin.path) == ("musk1", 'plugin "own" from bliss-own', None)
        assert plugin.details == {"licence": "MIT"}
        assert (file.name, file.origin, file.path, file.details) == ("t", str(path), path, {"size": "0.0 kB"})

    def test_the_shared_sets_are_found(self, shared, place):
        """The real data sets are found by their names, two folders down."""
        registry, folder = Registry(READERS), shared / "data"
        names = {one.name for one in available_datasets(registry, [folder])}
        assert {"musk1", "elephant", "miml_birds"} <= names
        loaded = find_dataset("east_west", registry=registry, data_dirs=[folder])
        assert loaded.dataset.X.shape == (213, 24)
        assert loaded.origin == str(folder / "mil" / "east_west.npz")


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("bag", 3, "text"),
        ("bag", date(2020, 1, 2), "text"),
        ("ignore", date(2020, 1, 2), "a list of texts"),
        ("ignore", [1], "a list of texts"),
        ("label", ["a"], "text or nothing"),
        ("label_sets", 1, "true or false or nothing"),
    ],
)
def test_an_option_of_another_type(tmp_path, option, value, allowed):
    """A settings file can hold a date or a number where text is needed: the option is named, and no author blamed."""
    path = tmp_path / "t.csv"
    path.write_text("bag,label,a\nb1,0,1\nb2,1,2\n")
    readers = FileReaders.of(default_plugins().registry)
    with pytest.raises(SettingsError) as caught:
        readers.read(path, {option: value})
    assert str(caught.value) == f'The option "{option}" of the reader "csv" is {value!r}; allowed is {allowed}.'
    assert readers.read(path, {"bag": "bag", "ignore": [], "label_sets": False})[0].X.shape == (2, 1)
