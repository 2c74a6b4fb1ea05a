"""Bags in files of NumPy: an array of rows (.npy), or several arrays (.npz)."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from bliss_framework.plugin import map_npy, open_npz
from bliss_readers.bag_files.named_arrays import About


@define(eq=False, slots=False)
class NpyArrays:
    """The one array of an .npy file, which is mapped where it is read."""

    path: Path = field()

    @cached_property
    def about(self) -> Mapping[str, About]:
        """What the array says of itself; it has no name."""
        stored = map_npy(self.path)
        return {"": About(stored.shape, stored.dtype)}

    def read(self, name: str) -> NDArray[Any]:
        """Return the array."""
        return np.array(map_npy(self.path))

    def copy(self, name: str, out: NDArray[Any]) -> None:
        """Write the rows into an array."""
        out[...] = map_npy(self.path).reshape(out.shape)


@define(eq=False, slots=False)
class NpzArrays:
    """The arrays of an .npz archive."""

    path: Path = field()

    @cached_property
    def about(self) -> Mapping[str, About]:
        """What each array says of itself."""
        with open_npz(self.path) as archive:
            headers = {key: archive.header(key) for key in archive.keys}
        return {key: About(one.shape, one.dtype) for key, one in headers.items()}

    def read(self, name: str) -> NDArray[Any]:
        """Return an array."""
        with open_npz(self.path) as archive:
            return archive.array(name)

    def copy(self, name: str, out: NDArray[Any]) -> None:
        """Write the rows into an array."""
        out[...] = self.read(name).reshape(out.shape)
