"""Files that appear whole or not at all, and JSON that any reader can read."""

import json
from pathlib import Path

import numpy as np
import pytest

from bliss_framework import RunError
from bliss_framework.runs.folder.atomic import plain, to_json, write_text


def test_a_file_is_written_with_its_folders(tmp_path):
    """Missing folders are made, and nothing but the file is left behind."""
    path = tmp_path / "a" / "b" / "file.txt"
    write_text(path, "ü\n")
    assert path.read_bytes() == b"\xc3\xbc\n"
    assert [one.name for one in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(28, "No space left on device")], ids=["ctrl-c", "full"])
def test_what_was_there_survives_an_interrupted_write(tmp_path, monkeypatch, stop):
    """A write that is stopped half-way leaves the old file, and no part of the new one."""
    path = tmp_path / "file.txt"
    write_text(path, "old")
    whole = Path.write_text

    def half(self, text, **options):
        whole(self, text[: len(text) // 2], **options)
        raise stop

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises((KeyboardInterrupt, RunError)) as caught:
        write_text(path, "something new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file.txt", "old")]
    if caught.type is RunError:
        assert str(caught.value) == f"{path} cannot be written: No space left on device."


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """Where a folder of the path is a file, the user reads which path cannot be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"file/result\.json cannot be written: "):
        write_text(tmp_path / "file" / "result.json", "{}")


def test_json_knows_neither_nan_nor_infinity():
    """NaN and infinity become null, at any depth and in arrays, so that a strict reader takes the file."""
    value = {"a": np.array([[1.5, np.nan]]), "b": (float("inf"), -float("inf")), 3: np.float32("nan")}
    written = to_json(value)
    assert json.loads(written, parse_constant=pytest.fail) == {"a": [[1.5, None]], "b": [None, None], "3": None}


def test_json_of_what_python_has():
    """Numpy scalars, bools, paths and sets become what JSON has; text stays readable."""
    value = [np.int64(3), np.bool_(True), True, None, Path("x") / "y", frozenset(["a"]), "Zürich"]
    assert to_json(value).split() == ["[", "3,", "true,", "true,", "null,", '"x/y",', "[", '"a"', "],", '"Zürich"', "]"]


def test_a_name_that_is_not_utf8_can_be_written(tmp_path):
    r"""Bytes of a file name that are no UTF-8 are written as Python shows them; two such names stay two."""
    names = [name.decode("utf-8", "surrogateescape") for name in (b"data-\xff.csv", b"data-\xfe.csv")]
    write_text(tmp_path / "result.json", to_json({"sources": names}))
    assert json.loads((tmp_path / "result.json").read_text()) == {"sources": [r"data-\udcff.csv", r"data-\udcfe.csv"]}


def test_sets_are_written_in_their_order():
    """Files do not depend on the order of a set, which is another in every process."""
    assert plain({"labels": frozenset({"dog", "cat", "ape"})}) == {"labels": ["ape", "cat", "dog"]}


def test_plain_may_keep_what_is_not_finite():
    """State keeps NaN and infinity, because it must read back as the same bits."""
    kept = plain({"x": np.array([np.nan, np.inf])}, finite=False)["x"]
    assert np.isnan(kept[0])
    assert kept[1] == np.inf
