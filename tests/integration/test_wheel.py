"""The wheel of this repository: what is in it, and what it is without one of its entry points."""

import configparser
import json
import shutil
import zipfile

import pytest

LINE = "mil = bliss_mil.hooks\n"


@pytest.fixture(scope="module")
def names(wheel):
    """The names of the files in the wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def without_mil(wheel, tmp_path_factory):
    """The unpacked wheel, less one line of its entry points."""
    site = tmp_path_factory.mktemp("without-mil")
    zipfile.ZipFile(wheel).extractall(site)
    (entry_points,) = site.glob("*.dist-info/entry_points.txt")
    text = entry_points.read_text()
    assert LINE in text
    entry_points.write_text(text.replace(LINE, ""))
    return site


class TestContent:
    def test_every_file_of_the_packages_is_there(self, names, root):
        """Whatever lies in a package, code or data, is in the wheel."""
        wanted = set()
        for parent in (root, root / "plugins", root / "templates"):
            for package in parent.glob("bliss_*/__init__.py"):
                files = [path for path in package.parent.rglob("*") if path.is_file()]
                wanted |= {path.relative_to(parent).as_posix() for path in files if path.suffix != ".pyc"}
        assert {name for name in wanted if "/." not in name} - names == set()

    @pytest.mark.parametrize(
        "name",
        [
            "bliss_framework/py.typed",
            "bliss_framework/console/app.py",
            "bliss_mil/datasets/musk1.npz",
            "bliss_mil/datasets/ATTRIBUTION.md",
            "bliss_bandits/cucb.py",
            "bliss_classifiers/ridge.py",
            "bliss_readers/tables/csv_reader.py",
            "bliss_templates/__init__.py",
        ],
    )
    def test_what_must_not_be_forgotten(self, names, name):
        """The marker of types, the packaged data with their attribution, plugins and templates are there."""
        assert name in names

    def test_what_must_not_be_there(self, names):
        """Tests, documents and compiled files stay at home."""
        tops = {name.split("/")[0] for name in names}
        assert {top for top in tops if not top.startswith("bliss_")} == set()
        assert [name for name in names if name.endswith(".pyc")] == []

    def test_metadata(self, wheel):
        """The licence, the console script and the entry point of each built-in plugin are in the metadata."""
        archive = zipfile.ZipFile(wheel)
        texts = {
            name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist() if "dist-info" in name
        }
        assert "License-Expression: BSD-3-Clause" in texts["METADATA"]
        assert "Redistribution and use" in texts["LICENSE"]
        parsed = configparser.ConfigParser(delimiters=("=",))
        parsed.read_string(texts["entry_points.txt"])
        assert parsed["console_scripts"]["bliss"] == "bliss_framework.console:main"
        assert {"bandits", "classifiers", "mil", "readers"} <= set(parsed["bliss_framework"])


class TestWithoutTheEntryPoint:
    def test_no_regime(self, without_mil, bliss_at):
        """Deleting one line of the metadata is all it takes: `bliss run musk1` says that there is no regime "mil"."""
        done = bliss_at(without_mil, "run", "musk1")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith('Error: No regime "mil" is installed. ')
        # The same plugin ships the data, and that they are gone is said as well.
        assert 'No file and no data set is called "musk1".' in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_no_regime_for_data_that_are_there(self, without_mil, bliss_at, tmp_path, root):
        """With the same data as a file, the regime is all that is missing."""
        (tmp_path / "data").mkdir()
        shutil.copy(root / "plugins" / "bliss_mil" / "datasets" / "musk1.npz", tmp_path / "data")
        done = bliss_at(without_mil, "run", "musk1", "--data-dir", "data")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith('Error: No regime "mil" is installed. ')
        assert "No file" not in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["data"]

    def test_the_others_are_there(self, without_mil, bliss_at):
        """Nothing else is lost, and nothing is broken."""
        plugins = {one["name"]: one for one in json.loads(bliss_at(without_mil, "plugins", "--json").stdout)["plugins"]}
        assert "mil" not in plugins
        assert {"bandits", "classifiers", "readers"} <= set(plugins)
        assert {one["state"] for one in plugins.values()} == {"ok"}
