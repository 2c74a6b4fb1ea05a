"""Bags in files of PyTorch: tensors alone, never an object that a pickle makes."""

import math
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from bliss_framework.plugin import BlissError, DataError, check_size, needed
from bliss_readers.bag_files.named_arrays import About

_MOST_PICKLE = 1 << 20  # What describes the tensors of a bag is some hundred bytes.
_NUMBERS = {"torch.bfloat16": np.dtype(np.float32)}
_ONLY_TENSORS = "allowed is a tensor, or a dictionary of tensors, as torch.save writes it"


@define(eq=False, slots=False)
class TorchArrays:
    """The tensors of a .pt file."""

    path: Path = field()

    @cached_property
    def about(self) -> Mapping[str, About]:
        """What each tensor says of itself; a lone one has no name."""
        with _opened(self.path) as tensors:
            return {name: About(tuple(one.shape), _dtype(one)) for name, one in tensors.items()}

    def read(self, name: str) -> NDArray[Any]:
        """Return a tensor as an array."""
        with _opened(self.path) as tensors:
            return np.array(_array(tensors[name]))

    def copy(self, name: str, out: NDArray[Any]) -> None:
        """Write the rows into an array."""
        with _opened(self.path) as tensors:
            out[...] = _array(tensors[name]).reshape(out.shape)


@contextmanager
def _opened(path: Path) -> Iterator[dict[str, Any]]:
    """Map the tensors of a file for as long as the block lasts.

    Raises:
        DataError: naming the file.
        MissingExtraError: PyTorch is not installed.
    """
    torch = needed("torch", "torch", "Files of PyTorch need")
    try:
        _check_zip(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # About how PyTorch itself will change.
            stored = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            yield _tensors(path, stored, torch)
    except BlissError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        if "Weights only load failed" in said or "Unsupported" in said:
            raise DataError(f"{path} holds more than tensors, or is damaged; {_ONLY_TENSORS}.") from error
        raise DataError(f"{path} is damaged ({said[:200] or type(error).__name__}); copy or make it again.") from error


def _check_zip(path: Path) -> None:
    """Refuse what is no archive of PyTorch 1.6 or newer, is compressed, or describes too much."""
    if not zipfile.is_zipfile(path):
        raise DataError(
            f"{path} is damaged, or written by a PyTorch before 1.6, as one pickle; write it again with torch.save."
        )
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    check_size(path, sum(one.file_size for one in members))
    if any(one.compress_type != zipfile.ZIP_STORED for one in members):
        raise DataError(f"{path} is compressed, which torch.save never does; {_ONLY_TENSORS}.")
    if any(one.file_size > _MOST_PICKLE for one in members if one.filename.endswith(".pkl")):
        raise DataError(f"{path} holds more than tensors; {_ONLY_TENSORS}.")


def _tensors(path: Path, stored: Any, torch: Any) -> dict[str, Any]:
    """Return the tensors by name; what a dictionary holds beside them is passed over."""
    named = stored if isinstance(stored, Mapping) else {"": stored}
    found = {str(name): one.detach() for name, one in named.items() if isinstance(one, torch.Tensor)}
    found = {name: one for name, one in found.items() if one.layout is torch.strided and one.device.type == "cpu"}
    if not found:
        raise DataError(f"{path} holds no tensor; {_ONLY_TENSORS}.")
    for one in found.values():
        # A tensor may repeat a few values over any shape.
        check_size(path, math.prod(one.shape) * one.element_size())
    return found


def _dtype(tensor: Any) -> np.dtype[Any]:
    known = _NUMBERS.get(str(tensor.dtype))
    return np.dtype(tensor.new_zeros(1).numpy().dtype) if known is None else known


def _array(tensor: Any) -> NDArray[Any]:
    return np.asarray((tensor.float() if str(tensor.dtype) in _NUMBERS else tensor).numpy())
