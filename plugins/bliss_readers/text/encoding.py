"""Text of a file, whatever mark of its encoding it begins with."""

import codecs
from pathlib import Path

from bliss_framework.plugin import DataError, SettingsError, file_kind

# The mark of UTF-32 begins like that of UTF-16, so it stands before it.
_MARKS = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CONTEXT = 12
_LOOK = 4096  # Bytes in which the zeros of UTF-16 show.


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
    raw = _bytes_of(path)
    return _decoded(path, raw, encoding_of(raw))


def decoded_by(path: Path, encoding: str | None) -> tuple[str, list[str]]:
    """Read a text file in the encoding that the user says; where nobody says it, in the one that it seems to have.

    Args:
        path: of the file.
        encoding: its name, such as "latin-1", or None.

    Returns:
        The text as `decoded` has it, and a sentence for the user where an encoding was found that the file does not
        say.

    Raises:
        DataError: as `decoded` does.
        SettingsError: there is no such encoding.
    """
    raw = _bytes_of(path)
    if encoding is not None:
        return _decoded(path, raw, _known(encoding)).removeprefix("\ufeff"), []
    marked = encoding_of(raw)
    if marked == "utf-8-sig" and raw.count(b"\0", 0, _LOOK) * 3 > len(raw[:_LOOK]):
        wide = "utf-16-le" if raw.count(b"\0", 0, _LOOK) == raw[1:_LOOK:2].count(b"\0") else "utf-16-be"
        return _decoded(path, raw, wide), [f"{path.name} was read as UTF-16, which it does not say"]
    try:
        return _decoded(path, raw, marked), []
    except DataError as error:
        cause = error.__cause__
        claims = marked != "utf-8-sig" or raw.startswith(codecs.BOM_UTF8)
        if claims or not isinstance(cause, UnicodeDecodeError) or b"\0" in raw:
            raise
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError:
            raise error from cause
        line, shown = _place(raw, cause)
        return text, [
            f"{path.name} is not UTF-8 and was read as Windows-1252, in which line {line} has {shown!r}; if that is "
            f"wrong, say encoding"
        ]


def _bytes_of(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    kind = file_kind(raw)
    if kind is not None:
        raise DataError(f"{path} is not a text file of rows but {kind}.")
    return raw


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        # Some codecs of Python are no encodings of text.
        "".encode(name)
    except LookupError:
        raise SettingsError(
            f"encoding is {encoding!r}, which is none that is known; allowed is a name such as utf-8, utf-16, cp1252 "
            f"or latin-1."
        ) from None
    return name


def _decoded(path: Path, raw: bytes, encoding: str) -> str:
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(_not_text(path, raw, error, encoding)) from error
    if "\0" in text:
        raise DataError(_nul(path, text))
    return text


def _not_text(path: Path, raw: bytes, error: UnicodeDecodeError, encoding: str) -> str:
    if encoding == encoding_of(raw) != "utf-8-sig":
        return (
            f"{path} begins with the byte order mark of {encoding.upper()} but is no such text; copy or make it again."
        )
    line, shown = _place(raw, error)
    if encoding != "utf-8-sig":
        return f"{path} is no text in {encoding} (line {line}); say another encoding, or leave it out to have it found."
    # With a mark the error counts from behind it.
    byte = raw[error.start + len(raw) - len(error.object)]
    return (
        f"{path} is not UTF-8 text: byte 0x{byte:02x} in line {line}. Its encoding "
        f"may be Windows-1252 or Latin-1, in which this place is {shown!r}; save it as UTF-8."
    )


def _place(raw: bytes, error: UnicodeDecodeError) -> tuple[int, str]:
    """Return the line of a byte that is no UTF-8, and what is around it as Windows shows it."""
    position = error.start + len(raw) - len(error.object)
    around = raw[max(0, position - _CONTEXT) : position + _CONTEXT].decode("cp1252", "replace")
    return raw.count(b"\n", 0, position) + 1, " ".join(around.split())


def _nul(path: Path, text: str) -> str:
    position = text.index("\0")
    line = len(text[:position].splitlines()) or 1
    if text.count("\0") * 3 > len(text):
        return f"{path} is text in UTF-16 without a byte order mark; save it as UTF-8."
    return f"{path}, line {line}: a NUL character, so this is no text; copy or make the file again."
