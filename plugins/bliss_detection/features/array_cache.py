"""A cache of arrays on disk: each entry is a folder of .npy files and a manifest of all that they were made from."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework import RunError

FORMAT = 1
MANIFEST = "manifest.json"
Arrays = dict[str, NDArray[Any]]


@frozen
class Cache:
    """Where arrays are kept from run to run.

    Attributes:
        folder: made when the first entry is.
    """

    folder: Path = field()

    def arrays(self, what: str, inputs: Mapping[str, Any], make: Callable[[Path], None]) -> Arrays:
        """Return the memory-mapped arrays of an entry, made now if they are not there or were made from other inputs.

        An entry appears whole or not at all. One that is damaged is made again.

        Args:
            what: names the entry.
            inputs: everything that decides the arrays, as JSON can hold it; digests stand for files.
            make: writes .npy files into an empty folder.

        Raises:
            RunError: if the folder cannot be written.
        """
        text = json.dumps({"format": FORMAT, "inputs": inputs}, sort_keys=True, default=str)
        path = self.folder / f"{what}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        found = _opened(path, json.loads(text)["inputs"])
        if found is not None:
            return found
        try:
            _make(path, json.loads(text)["inputs"], make)
        except OSError as error:
            raise RunError(
                f"{path} cannot be written: {error.strerror}. The option cache names another folder."
            ) from None
        found = _opened(path, json.loads(text)["inputs"])
        assert found is not None
        return found


def _opened(path: Path, inputs: Mapping[str, Any]) -> Arrays | None:
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT or manifest["inputs"] != inputs:
            return None
        arrays = {name: np.load(path / f"{name}.npy", mmap_mode="r") for name in manifest["arrays"]}
        sound = all([str(a.dtype), list(a.shape)] == manifest["arrays"][name] for name, a in arrays.items())
    except Exception:
        # A damaged manifest or header can raise nearly anything, and a lost entry costs nothing but time.
        return None
    return arrays if sound else None


def _make(path: Path, inputs: Mapping[str, Any], make: Callable[[Path], None]) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        make(partial)
        shapes = {one.stem: np.load(one, mmap_mode="r") for one in sorted(partial.glob("*.npy"))}
        manifest = {
            "format": FORMAT,
            "inputs": inputs,
            "arrays": {name: [str(array.dtype), list(array.shape)] for name, array in shapes.items()},
        }
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        shutil.rmtree(path, ignore_errors=True)
        partial.rename(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def writable(path: Path, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return a new memory-mapped array of an entry that is being made."""
    return np.lib.format.open_memmap(path / f"{name}.npy", mode="w+", dtype=dtype, shape=shape)


def default_folder() -> Path:
    """Return the user's cache folder: `XDG_CACHE_HOME`, else ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "bliss_framework" / "detection"
