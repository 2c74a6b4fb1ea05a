"""Torch and its devices: imported where they are used, and left as they were found."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework import SettingsError
from bliss_framework.plugin import DataError, MemoryNeededError, Rows, RowView, needed, one_of

STORAGES = ("float32", "float16", "bfloat16")
stored_as = one_of(*STORAGES)
_NAME = re.compile(r"auto|cpu|cuda(:\d+)?")
# Values of rows that are worked on at a time: as many as stay near a processor, or as keep a graphics card busy.
CPU_VALUES, CUDA_VALUES = 1 << 19, 1 << 26
CPU_GRAM_VALUES = 1 << 22  # Where more is made of a block than is read.


def device_name(_: Any, attribute: Any, value: Any) -> None:
    """Allow what names a device (an attrs validator); whether it is there is asked when it is needed."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise SettingsError(f'{attribute.name} must be "auto", "cpu", "cuda" or "cuda:0" and so on; got {value!r}.')


@frozen
class Device:
    """Where tensors are, and how rows are stored there.

    Attributes:
        name: "auto", "cpu", "cuda" or "cuda:0" and so on; "auto" is CUDA where there is such a device.
        storage: "float32", "float16" or "bfloat16", of rows; sums are of single precision and add up in double.
        user: who needs it, for messages.
    """

    name: str = field()
    storage: str = field()
    user: str = field()

    def check(self) -> None:
        """Refuse a device that is not there.

        Raises:
            MissingExtraError: torch is not installed; one sentence with the pip command.
            SettingsError: there is no such device.
        """
        torch = self.torch
        if not self.name.startswith("cuda"):
            return
        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        number = int(self.name.partition(":")[2] or 0)
        if number >= there:
            devices = "no CUDA device" if there == 0 else f"{there} CUDA device{'s' if there > 1 else ''}"
            raise SettingsError(
                f'{self.user} cannot use the device "{self.name}", because torch sees {devices} here: choose '
                f'device="auto" or "cpu".'
            )

    @property
    def torch(self) -> Any:
        """The module, imported when it is first needed."""
        return needed("torch", "torch", f"{self.user} needs")

    @property
    def place(self) -> str:
        """The name of a device that is there."""
        if self.name != "auto":
            return self.name
        return "cuda" if self.torch.cuda.is_available() else "cpu"

    @property
    def is_cpu(self) -> bool:
        """Whether tensors are in the memory of this process."""
        return self.place == "cpu"

    @property
    def n_values(self) -> int:
        """How many values of rows are worked on at a time."""
        return CPU_VALUES if self.is_cpu else CUDA_VALUES

    @property
    def n_gram_values(self) -> int:
        """How many values of rows are worked on at a time where a matrix of all pairs of columns is made of them."""
        return CPU_GRAM_VALUES if self.is_cpu else CUDA_VALUES

    @property
    def itemsize(self) -> int:
        """Bytes of a stored value."""
        return 4 if self.storage == "float32" else 2

    def tensor(self, values: Any) -> Any:
        """Return numbers as a tensor of single precision on the device; a tensor that is there stays where it is."""
        torch = self.torch
        if not isinstance(values, torch.Tensor):
            # A copy that is its own: torch warns of arrays that nobody may write to.
            values = torch.from_numpy(np.array(values, dtype=np.float32, order="C"))
        return values.to(self.place, torch.float32)

    def indices(self, values: Any) -> Any:
        """Return positions or labels as a tensor on the device."""
        return self.torch.from_numpy(np.array(values, dtype=np.int64)).to(self.place)

    @contextmanager
    def computing(self) -> Iterator[Any]:
        """Give torch in a with block, on a processor with one thread: the last bits of a sum depend on their number.

        Raises:
            MemoryNeededError: the memory of the device does not do.
        """
        torch = self.torch
        before = torch.get_num_threads()
        try:
            if self.is_cpu and before != 1:
                torch.set_num_threads(1)
            with torch.no_grad():
                yield torch
        except torch.cuda.OutOfMemoryError:
            raise MemoryNeededError(
                f'{self.user} needs more memory than there is on the device "{self.place}": choose storage="float16", '
                f'fewer assignments at once (n_parallel, n_inferences), or device="cpu".'
            ) from None
        finally:
            if torch.get_num_threads() != before:
                torch.set_num_threads(before)


@frozen(eq=False)
class HeldRows:
    """Rows (n, d) that are on the device.

    Attributes:
        values: tensor (n, d) as they are stored.
        device: where.
    """

    values: Any = field()
    device: Device = field()
    dtype = np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        n, d = self.values.shape
        return n, d

    def take(self, rows: Any) -> "HeldRows":
        """Keep some rows, by position."""
        return HeldRows(self.values[self.device.indices(rows)], self.device)

    def blocks(self, n_values: int) -> Iterator[tuple[slice, Any]]:
        """Yield the place of each block of rows, of about so many values, and those in single precision, (b, d)."""
        for place in _places(*self.shape, n_values):
            yield place, self.values[place].float()


@frozen(eq=False)
class ReadRows:
    """Rows (n, d) that are read and sent to the device a block at a time: those of a file, for a processor.

    Attributes:
        rows: where they are.
        device: that computes with them.
    """

    rows: RowView = field()
    device: Device = field()
    dtype = np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.rows.shape

    def take(self, rows: Any) -> "ReadRows":
        """Keep some rows, by position."""
        return ReadRows(self.rows.take(rows), self.device)

    def blocks(self, n_values: int) -> Iterator[tuple[slice, Any]]:
        """Yield the place of each block of rows, of about so many values, and those in single precision, (b, d)."""
        places = _places(*self.shape, n_values)
        size = places[0].stop
        for place, block in zip(places, self.rows.blocks(size), strict=True):
            yield place, _stored(block, self.device).float()


DeviceRows = HeldRows | ReadRows


def held(rows: Rows | RowView, device: Device) -> DeviceRows:
    """Return rows as the device has them: all of them at once, unless that is a processor and they stay in a file.

    Raises:
        DataError: a value is too large for how rows are stored.
        MemoryNeededError: they do not fit onto the device.
    """
    if rows.is_mapped and device.is_cpu:
        return ReadRows(rows if isinstance(rows, RowView) else RowView.of(rows), device)
    n, d = rows.shape
    with device.computing() as torch:
        values = torch.empty((n, d), dtype=getattr(torch, device.storage), device=device.place)
        places = _places(n, d, device.n_values)
        for place, block in zip(places, rows.blocks(places[0].stop), strict=True):
            values[place] = _stored(block, device)
    return HeldRows(values, device)


def _stored(block: Rows, device: Device) -> Any:
    """Return a block of rows on the device, as it is stored there."""
    with np.errstate(over="ignore"):
        sent = device.tensor(block.dense())
    stored = sent.to(getattr(device.torch, device.storage))
    if not bool(stored.isfinite().all()):
        largest = float(np.max(block.column_magnitudes()))
        raise DataError(
            f"The rows have values of up to {largest:.2g}, which {device.storage} cannot hold: scale the rows "
            f'(scaling), or let {device.user} store them in another precision (storage, "bfloat16" has the range of '
            f'"float32").'
        )
    return stored


def _places(n: int, d: int, n_values: int) -> list[slice]:
    size = max(1, n_values // max(d, 1))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]
