"""One Parquet file: what it says of itself is checked when it is opened, its values are read some rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from re import fullmatch
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework.plugin import BlissError, DataError, check_size, needed
from bliss_readers.tables.cell_table import unique_header

# Values that are decoded at a time.
_BATCH = 1 << 22
_BUFFER = 1 << 16
_SCANNED = 1 << 16  # Values that are read at a time only to see whether they can be.
# Pandas writes an index without a name, such as the row numbers before a shuffle, as a column of this name.
_PANDAS_INDEX = r"__index_level_\d+__"


@frozen(eq=False)
class ParquetPiece:
    """An opened file.

    Attributes:
        path: of the file.
        n_rows: its rows.
        types: the Arrow type of each column, that of its words where these are stored once.
        index: the names of columns that are the index of a data frame.
        told: columns that have one value in all rows and stand in the names of folders, with that value.
    """

    path: Path = field()
    n_rows: int = field()
    types: Mapping[str, Any] = field()
    index: tuple[str, ...] = field(default=())
    told: Mapping[str, str] = field(factory=dict)

    @classmethod
    def opened(cls, path: Path, told: Mapping[str, str]) -> "ParquetPiece":
        """Read what a file says of itself.

        Raises:
            DataError: naming the file.
            MissingExtraError: pyarrow is not installed.
        """
        with _stored(path) as stored:
            _check_values(path, stored)
            schema = stored.schema_arrow
            unique_header(path, schema.names)
            names = [name for name in schema.names if not fullmatch(_PANDAS_INDEX, name)]
            types = {name: _plain_type(schema.field(name).type) for name in names}
            own = {name: value for name, value in told.items() if name not in types}
            index = tuple(name for name in schema.names if name not in types)
            return cls(path, stored.metadata.num_rows, {**types, **dict.fromkeys(own, arrow().string())}, index, own)

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Read columns some rows at a time: by name, an Arrow array for each.

        Raises:
            DataError: naming the file.
        """
        stored_names = [name for name in names if name not in self.told]
        # Text is read as its words and their places: a long word in every row is then there but once.
        text = [name for name in stored_names if is_text(self.types[name])]
        n_rows = 0
        with _stored(self.path, text) as stored:
            for batch in stored.iter_batches(max(1, _BATCH // max(1, len(names))), columns=stored_names):
                n_rows += batch.num_rows
                if n_rows > self.n_rows:
                    break
                _check_text(self.path, batch)
                told = {name: arrow().repeat(value, batch.num_rows) for name, value in self.told.items()}
                yield {name: told[name] if name in told else _plain(batch.column(name)) for name in names}
            if n_rows != self.n_rows:
                raise ValueError(f"it says that it has {self.n_rows} rows and has {n_rows}")


def arrow() -> Any:
    """Import pyarrow, with its module for Parquet, or say in one sentence how to install it (MissingExtraError)."""
    needed("pyarrow.parquet", "files", "Parquet files need")
    return needed("pyarrow", "files", "Parquet files need")


def is_text(kind: Any) -> bool:
    """Say whether an Arrow type is one of text, or of bytes that may be text."""
    types = arrow().types
    return any(getattr(types, f"is_{one}")(kind) for one in ("string", "large_string", "binary", "large_binary"))


@contextmanager
def _stored(path: Path, text: Sequence[str] = ()) -> Iterator[Any]:
    """Open a file for as long as the block lasts, and say of any error in it that the file is damaged."""
    package = arrow()
    try:
        # Not a data set of Arrow, which makes columns of folders that are called like "year=2020", and guesses types.
        with path.open("rb") as file:
            # Without these two, Arrow holds all row groups that were read until the end.
            yield package.parquet.ParquetFile(file, read_dictionary=list(text), pre_buffer=False, buffer_size=_BUFFER)
    except BlissError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or _one_line(error)}.") from error
    except Exception as error:
        # A damaged file can raise nearly anything: ArrowException, ValueError, MemoryError, OverflowError, KeyError.
        raise DataError(f"{path} is damaged or no Parquet file ({_one_line(error)}); copy or make it again.") from error


def _check_values(path: Path, stored: Any) -> None:
    """Refuse a file that says of so many values, or of so long text, that they would fill the memory."""
    about = stored.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    n_values, n_bytes = about.num_rows * about.num_columns, sum(group.total_byte_size for group in groups)
    # Only a list holds several values in a row. Of a damaged file pyarrow may end the process when it is asked of a
    # column, where reading the column is an error that can be caught; so it is read first, a few values at a time.
    if any(arrow().types.is_nested(one.type) for one in stored.schema_arrow):
        check_size(path, max(16 * n_values, n_bytes))
        stored.scan_contents(batch_size=_SCANNED)
        chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
        n_values = max(n_values, sum(chunk.num_values for chunk in chunks))
        n_bytes = max(n_bytes, sum(chunk.total_uncompressed_size for chunk in chunks))
    # Arrow holds a value in 8 bytes or so, and the rows are float64 beside that.
    check_size(path, max(16 * n_values, n_bytes))


def _check_text(path: Path, batch: Any) -> None:
    """Refuse a file whose text, written out in every row, would fill the memory."""
    lengths = needed("pyarrow.compute", "files", "Parquet files need").binary_length
    for column in batch.columns:
        if arrow().types.is_dictionary(column.type) and is_text(column.type.value_type):
            words = np.asarray(lengths(column.dictionary).fill_null(0))
            check_size(path, int(words[np.asarray(column.indices.drop_null())].sum(dtype=np.int64)))


def _plain_type(kind: Any) -> Any:
    return kind.value_type if arrow().types.is_dictionary(kind) else kind


def _plain(column: Any) -> Any:
    # Pandas writes categories as codes and a dictionary.
    kind = _plain_type(column.type)
    plain = column if kind is column.type else column.cast(kind)
    if not _holds_numbers(kind):
        plain.validate(full=True)  # Whether text is UTF-8, for instance.
    return plain


def _holds_numbers(kind: Any) -> bool:
    types = arrow().types
    return any(getattr(types, f"is_{one}")(kind) for one in ("integer", "floating", "boolean", "decimal"))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
