"""Reading IDX files, the format of MNIST: a magic number, the lengths of the dimensions, and plain numbers."""

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework import DataError

DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
GZIP = b"\x1f\x8b"


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
    raw = _bytes(Path(path))
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in DTYPES:
        raise DataError(f"{path} is no IDX file: it starts with {raw[:4].hex(' ')}, and an IDX file with 00 00.")
    n_dimensions = raw[3]
    start = 4 + 4 * n_dimensions
    if len(raw) < start:
        raise DataError(f"{path} ends within its header of {n_dimensions} dimensions; get it anew.")
    shape = tuple(np.frombuffer(raw, ">u4", n_dimensions, 4).tolist())
    dtype = np.dtype(DTYPES[raw[2]])
    needed = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if len(raw) - start != needed:
        raise DataError(f"{path} holds {len(raw) - start} bytes, but its shape {shape} needs {needed}; get it anew.")
    return np.frombuffer(raw, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def _bytes(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == GZIP else raw
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (EOFError, zlib.error) as error:
        raise DataError(f"{path} is a damaged gzip file ({error}); get it anew.") from None
