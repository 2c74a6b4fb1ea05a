"""Reading IDX files, the format of MNIST: a magic number, the lengths of the dimensions, and plain numbers."""

import gzip
import math
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import DataError, check_size

DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
GZIP = b"\x1f\x8b"
MOST_DIMENSIONS = 16  # NumPy knows 64; images have 2 to 4.


def read_idx(path: Path) -> NDArray[Any]:
    """Read an IDX file, gzipped or not.

    Source: Y. LeCun, C. Cortes and C. Burges, "The MNIST database", section "The IDX file format".

    Args:
        path: the file.

    Returns:
        An array of the shape and kind of number that the file names, in the machine's byte order.

    Raises:
        DataError: naming the file and what is wrong with it.
    """
    path = Path(path)
    try:
        with _opened(path) as file:
            return _array(path, file)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (EOFError, zlib.error) as error:
        raise DataError(f"{path} is a damaged gzip file ({error}); get it anew.") from None


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP
    return gzip.open(path) if zipped else path.open("rb")


def _array(path: Path, file: IO[bytes]) -> NDArray[Any]:
    start = file.read(4)
    if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in DTYPES:
        raise DataError(f"{path} is no IDX file: it starts with {start.hex(' ')}, and an IDX file with 00 00.")
    n_dimensions = start[3]
    lengths = file.read(4 * n_dimensions)
    if len(lengths) < 4 * n_dimensions or n_dimensions > MOST_DIMENSIONS:
        raise DataError(f"{path} ends within its header of {n_dimensions} dimensions; get it anew.")
    shape = tuple(np.frombuffer(lengths, ">u4").tolist())
    dtype = np.dtype(DTYPES[start[2]])
    # Pixels become float64 at most.
    check_size(path, math.prod(shape) * 8)
    needed = math.prod(shape) * dtype.itemsize
    raw = file.read(needed + 1)
    if len(raw) != needed:
        held = f"{len(raw)} bytes" if len(raw) < needed else f"more than {needed} bytes"
        raise DataError(f"{path} holds {held}, but its shape {shape} needs {needed}; get it anew.")
    return np.frombuffer(raw, dtype).reshape(shape).astype(dtype.newbyteorder("="))
