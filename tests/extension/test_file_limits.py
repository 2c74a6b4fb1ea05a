"""What a file says of itself is held against its size, and no header is believed."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy_format

from bliss_framework import DataError, SettingsError
from bliss_framework.extension.file_limits import FREE, check_columns, check_size, shown_size
from bliss_framework.extension.npy_files import map_npy
from bliss_framework.extension.npz_files import open_npz


def npy(descr, shape, content=b"", version=(1, 0)):
    """The bytes of an .npy file whose header says what is asked for."""
    stream = io.BytesIO()
    stream.write(npy_format.magic(*version))
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    stream.write(len(text).to_bytes(2 if version == (1, 0) else 4, "little") + text)
    return stream.getvalue() + content


@pytest.fixture
def archive(tmp_path):
    """A function that writes a zip archive of some members."""

    def write(**members):
        path = tmp_path / "a.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in members.items():
                file.writestr(f"{name}.npy", content)
        return path

    return write


class TestSizes:
    def test_a_small_claim_is_free(self, tmp_path):
        """128 MiB are allowed whatever the size of the file, which is not even looked at."""
        check_size(tmp_path / "missing", FREE)

    def test_a_large_claim_of_a_small_file(self, tmp_path):
        """The message says both sizes, what is allowed, and what to do."""
        path = tmp_path / "a"
        path.write_bytes(b"x" * 300)
        with pytest.raises(DataError) as caught:
            check_size(path, 3_200_000_000)
        for said in ("a has 300 bytes", "holds 3.2 GB", "100 times", "134 MB", "BLISS_READ_LIMIT", "4GB"):
            assert said in str(caught.value)

    def test_a_large_file(self, tmp_path):
        """A hundred times its size is allowed, one byte more is not."""
        path = tmp_path / "a"
        path.write_bytes(bytes(2_000_000))
        check_size(path, 200_000_000)
        with pytest.raises(DataError):
            check_size(path, 200_000_001)

    @pytest.mark.parametrize(("limit", "allowed"), [("4GB", True), ("4 gb", True), ("200MB", False), ("", False)])
    def test_the_user_can_raise_the_limit(self, tmp_path, monkeypatch, limit, allowed):
        """The environment variable allows more, never less."""
        monkeypatch.setenv("BLISS_READ_LIMIT", limit)
        path = tmp_path / "a"
        path.write_bytes(b"x")
        if allowed:
            check_size(path, 3_200_000_000)
            return
        with pytest.raises(DataError):
            check_size(path, 3_200_000_000)

    @pytest.mark.parametrize("limit", ["much", "-1GB", "1e9", "GB"])
    def test_a_limit_that_is_no_size(self, tmp_path, monkeypatch, limit):
        """It is named with what is allowed."""
        monkeypatch.setenv("BLISS_READ_LIMIT", limit)
        (tmp_path / "a").write_bytes(b"x")
        with pytest.raises(SettingsError, match=r"BLISS_READ_LIMIT is .*; allowed is a size such as 500MB"):
            check_size(tmp_path / "a", FREE + 1)

    def test_columns(self, tmp_path):
        """Two million columns are fine, two thousand million are named."""
        (tmp_path / "a").write_bytes(b"x")
        check_columns(tmp_path / "a", 2_000_000)
        with pytest.raises(DataError, match="a has 2000000000 columns"):
            check_columns(tmp_path / "a", 2_000_000_000)

    def test_shown_sizes(self):
        """Sizes are rounded down and have a unit."""
        assert [shown_size(n) for n in (0, 999, 1999, 15_900_000, 10**13)] == [
            "0 bytes",
            "999 bytes",
            "1.9 KB",
            "15 MB",
            "10 TB",
        ]


HEADERS = {
    "a shape without bytes": npy("<f8", (2**40,)),
    "a shape that overflows": npy("<f8", (2**62, 2**62)),
    "a negative shape": npy("<f8", (-1,)),
    "text of a gigabyte": npy("<U250000000", (1,)),
    "a text as shape": npy("<f8", "(3,)"),
    "true as shape": npy("<f8", (True,), bytes(8)),
    "another version": npy("<f8", (1,), bytes(8), version=(9, 0)),
    "an unknown type": npy("<q99", (1,), bytes(8)),
    "cut off": npy("<f8", (4,), bytes(24)),
    "too long": npy("<f8", (4,), bytes(40)),
    "empty": b"",
    "no header": b"\x93NUMPY",
    "a token that does not end": npy("<f8", (1,)).replace(b"}", b"(((["),
    "an indentation": npy("<f8", (1,)).replace(b"{", b"\n  {\n "),
    "not ASCII": npy("<f8", (1,)).replace(b"descr", b"\xff\xfe\xfd\xfc\xfb"),
    "a number of digits": npy("<f8", (1,)).replace(b"(1,)", b"(" + b"9" * 5000 + b",)"),
    "nested": npy("<f8", (1,)).replace(b"(1,)", b"(" * 3000 + b")" * 3000),
}


class TestArchives:
    def test_arrays_come_back(self, archive, tmp_path):
        """What numpy wrote is read, whatever its type and order."""
        arrays = {
            "a": np.arange(6.0).reshape(2, 3),
            "b": np.array(["x", "yz"]),
            "c": np.asfortranarray(np.ones((2, 2))),
        }
        np.savez(tmp_path / "b.npz", **arrays)
        with open_npz(tmp_path / "b.npz") as found:
            assert found.keys == ["a", "b", "c"]
            for name, array in arrays.items():
                assert np.array_equal(found.array(name), array)

    @pytest.mark.parametrize("content", HEADERS.values(), ids=HEADERS)
    def test_a_header_that_lies(self, archive, content):
        """It is damage of the file, named with the array, and takes no memory."""
        path = archive(X=content)
        tracemalloc.start()
        with open_npz(path) as found, pytest.raises(DataError, match=r'a\.npz: "X" (is damaged \(|has)'):
            found.array("X")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5_000_000

    def test_objects_are_refused(self, tmp_path):
        """A pickle is never opened."""
        np.savez(tmp_path / "a.npz", X=np.array([print], dtype=object))
        with open_npz(tmp_path / "a.npz") as found, pytest.raises(DataError, match="holds Python objects"):
            found.array("X")

    def test_zeros_that_fill_the_memory(self, archive):
        """A third of a megabyte that says truly that it is 320 MB of zeros is refused when it is opened."""
        path = archive(X=npy("|u1", (320_000_000,), bytes(320_000_000)))
        with pytest.raises(DataError, match="says that it holds 320 MB"), open_npz(path):
            pass

    def test_bytes_that_become_numbers(self, archive):
        """Small integers are counted as the float64 that rows become."""
        path = archive(X=npy("|u1", (40_000_000,), bytes(40_000_000)))
        with open_npz(path) as found, pytest.raises(DataError, match="says that it holds 320 MB"):
            found.array("X")

    def test_what_is_no_archive(self, tmp_path):
        """Missing files, other files and broken archives are told apart from archives in one sentence."""
        for content in (b"", b"text", b"PK\x03\x04 half"):
            (tmp_path / "a.npz").write_bytes(content)
            with pytest.raises(DataError, match=r"a\.npz is damaged or no \.npz archive"), open_npz(tmp_path / "a.npz"):
                pass
        with pytest.raises(DataError, match="there is no such file"), open_npz(tmp_path / "b.npz"):
            pass

    @pytest.mark.parametrize("content", HEADERS.values(), ids=HEADERS)
    def test_a_header_that_lies_is_not_mapped(self, archive, tmp_path, content):
        """Nothing is mapped that is not there, in an archive and in a file of its own."""
        path = tmp_path / "b.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
            file.writestr("X.npy", content)
        with open_npz(path) as found, pytest.raises(DataError, match=r'b\.npz: "X" (is damaged \(|has)'):
            found.mapped("X")
        (tmp_path / "X.npy").write_bytes(content)
        with pytest.raises(DataError, match=r"X\.npy (is damaged or no|says that it holds|cannot be read)"):
            map_npy(tmp_path / "X.npy")


class TestMaps:
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("kind", ["<f4", ">f8", "<U3", "|u1"])
    def test_a_map_has_the_values_of_the_array(self, tmp_path, order, kind):
        """Whatever numpy wrote, stored and not compressed, is found at its place in the file."""
        array = np.arange(60).reshape(5, 12).astype(kind, order=order)
        np.save(tmp_path / "X.npy", array)
        np.savez(tmp_path / "a.npz", before=np.arange(3), X=array)
        with open_npz(tmp_path / "a.npz") as found:
            maps = [map_npy(tmp_path / "X.npy"), found.mapped("X")]
        for one in maps:
            assert isinstance(one, np.memmap)
            assert (one.dtype, one.tolist()) == (array.dtype, array.tolist())
            assert not one.flags.writeable

    def test_an_array_without_values_is_not_mapped(self, tmp_path):
        """No memory can be mapped there."""
        np.save(tmp_path / "X.npy", np.empty((0, 3)))
        assert map_npy(tmp_path / "X.npy").shape == (0, 3)

    def test_a_file_that_was_cut_short(self, tmp_path):
        """The sentence says what should be there and what is; bytes too many are refused as well."""
        path = tmp_path / "X.npy"
        np.save(path, np.ones((1000, 4), dtype=np.float32))
        whole = path.read_bytes()
        path.write_bytes(whole[:-400])
        with pytest.raises(DataError) as caught:
            map_npy(path)
        assert str(caught.value) == (
            f"{path} says that it holds an array of shape (1000, 4) of float32, which is 16000 bytes, and 15600 bytes "
            f"follow. It was cut short; copy or make it again."
        )
        path.write_bytes(whole + b"x")
        with pytest.raises(DataError, match="Something else stands behind the array"):
            map_npy(path)

    def test_objects_are_never_opened(self, tmp_path):
        """A pickle in an .npy file is refused."""
        np.save(tmp_path / "X.npy", np.array([{1}], dtype=object))
        with pytest.raises(DataError, match="holds Python objects"):
            map_npy(tmp_path / "X.npy")

    def test_an_archive_that_points_elsewhere(self, tmp_path):
        """A local header that is none is damage."""
        path = tmp_path / "a.npz"
        np.savez(path, X=np.ones(4))
        path.write_bytes(path.read_bytes().replace(b"PK\x03\x04", b"PK\x03\x05", 1))
        with open_npz(path) as found, pytest.raises(DataError, match=r'"X" is damaged'):
            found.mapped("X")
