"""What a file is, whatever it is called: the first bytes of formats that are met under other names."""

import re
from pathlib import Path

FIRST_BYTES = 1024

_SIGNATURES = (
    (b"PAR1", "a Parquet file; call it .parquet"),
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"BZh91AY&SY", "a bzip2 archive; unpack it first"),
    (b"\xfd7zXZ", "an xz archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (b"\x93NUMPY", "a single NumPy array of rows; call it .npy, with its bags and labels in a file beside it"),
    (b"\x89HDF", "an HDF5 file; put a file for each bag into a folder, and name the folder and a table of labels"),
    (b"MATLAB 5.0", "a MATLAB file; call it .mat"),
    (b"ARROW1", "an Arrow (Feather) file; write it as Parquet"),
    (b"SQLite format 3", "an SQLite database; write the table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls); save the sheet as CSV in UTF-8"),
    (b"%PDF", "a PDF"),
    (b"version https://git-lfs", "a pointer of Git LFS and not the file itself; fetch it with git lfs pull"),
)
_TEXTS = (
    (re.compile(rb"\s*<(!doctype\s+html|html)\b", re.IGNORECASE), "an HTML page, as of an error; download it again"),
    (re.compile(rb"\s*<\?xml\b"), "an XML document"),
    (re.compile(rb'\s*(\{\s*"|\[\s*[\[{])'), "a JSON document; write it as a table"),
)
_UTF8_MARK = b"\xef\xbb\xbf"


def file_kind(start: bytes) -> str | None:
    r"""Return what a file is and what to do with it, as the end of a sentence; None where its first bytes do not tell.

    Args:
        start: the first bytes, `FIRST_BYTES` or more of them.

    >>> file_kind(b"\x1f\x8b\x08"), file_kind(b"bag,f\na,1\n")
    ('a gzip archive; unpack it first', None)
    """
    if start.startswith(b"PK\x03\x04"):
        return _zip_kind(start)
    found = next((kind for signature, kind in _SIGNATURES if start.startswith(signature)), None)
    text = start.removeprefix(_UTF8_MARK)
    return found or next((kind for pattern, kind in _TEXTS if pattern.match(text)), None)


def kind_of(path: Path) -> str | None:
    """Return what a file is, see `file_kind`; None also where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file_kind(file.read(FIRST_BYTES))
    except (OSError, ValueError):
        return None


def _zip_kind(start: bytes) -> str:
    """Tell archives apart by the name of their first member, which stands at byte 30."""
    name = start[30 : 30 + int.from_bytes(start[26:28], "little")]
    if name.endswith(b".npy"):
        return "an .npz archive of NumPy; call it .npz"
    if name.startswith((b"[Content_Types]", b"_rels/", b"xl/", b"docProps/")):
        return "an Excel workbook; call it .xlsx"
    if name == b"mimetype":
        return "an OpenDocument file (.ods); save the sheet as CSV in UTF-8"
    return "a zip archive; unpack it first"
