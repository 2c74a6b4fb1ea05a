"""Text of a file, whatever mark of its encoding it begins with."""

from pathlib import Path

from bliss_framework.plugin import DataError, file_kind

# The mark of UTF-32 begins like that of UTF-16, so it stands before it.
_MARKS = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CONTEXT = 12


def encoding_of(start: bytes) -> str:
    r"""Return the encoding that the byte order mark says; UTF-8, with a mark or without one, where it says none.

    >>> encoding_of(b"\xff\xfeb\0"), encoding_of(b"bag")
    ('utf-16', 'utf-8-sig')
    """
    return next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8-sig")


def decoded(path: Path) -> str:
    """Read a text file: UTF-8, or what its byte order mark says.

    Returns:
        The text without the mark, with its line ends as they are.

    Raises:
        DataError: the file cannot be read, or is another kind of file, or text in an encoding that it does not say.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    kind = file_kind(raw)
    if kind is not None:
        raise DataError(f"{path} is not a text file of rows but {kind}.")
    encoding = encoding_of(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(_not_text(path, raw, error, encoding)) from error
    if "\0" in text:
        raise DataError(_nul(path, text))
    return text


def _not_text(path: Path, raw: bytes, error: UnicodeDecodeError, encoding: str) -> str:
    if encoding != "utf-8-sig":
        return (
            f"{path} begins with the byte order mark of {encoding.upper()} but is no such text; copy or make it again."
        )
    # With a mark the error counts from behind it.
    position = error.start + len(raw) - len(error.object)
    around = raw[max(0, position - _CONTEXT) : position + _CONTEXT].decode("cp1252", "replace")
    shown = " ".join(around.split())
    line = raw.count(b"\n", 0, position) + 1
    return (
        f"{path} is not UTF-8 text: byte 0x{raw[position]:02x} in line {line}. Its encoding "
        f"may be Windows-1252 or Latin-1, in which this place is {shown!r}; save it as UTF-8."
    )


def _nul(path: Path, text: str) -> str:
    position = text.index("\0")
    line = len(text[:position].splitlines()) or 1
    if text.count("\0") * 3 > len(text):
        return f"{path} is text in UTF-16 without a byte order mark; save it as UTF-8."
    return f"{path}, line {line}: a NUL character, so this is no text; copy or make the file again."
