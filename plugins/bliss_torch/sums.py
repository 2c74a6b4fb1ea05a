"""Sums over rows on a device: what `gram`, `moments` and `outputs` of the framework are, and sums of bags.

Rows are read as they are stored and multiplied in single precision a block at a time; blocks add up in double. So the
sums are those of the rounded rows, whatever the storage: it is the rows that half precision changes.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, Rows, RowView
from bliss_torch.device import Device, DeviceRows, held


@frozen
class TorchSums:
    """Sums over rows on a device, for whoever asks with arrays of NumPy (a `RowSums`).

    Attributes:
        device: that computes.
    """

    device: Device = field()

    def held(self, rows: Rows | RowView) -> DeviceRows:
        """Return rows (n, d) as the device has them."""
        return held(rows, self.device)

    def gram(self, held: DeviceRows, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the weighted sum of outer products (d + 1, d + 1); the last row and column belong to the constant 1.

        Args:
            held: (n, d).
            weights: (n,), or None where all rows count alike.
        """
        n, d = held.shape
        with self.device.computing() as torch:
            own = torch.ones(n, device=self.device.place) if weights is None else self.device.tensor(weights)
            total = torch.zeros((d + 1, d + 1), dtype=torch.float64, device=self.device.place)
            for place, block in held.blocks(self.device.n_gram_values):
                weighted = block if weights is None else block * own[place, None]
                total[:d, :d] += block.T @ weighted
                total[:d, d] += block.T @ own[place]
            total[d, d] = own.sum(dtype=torch.float64)
            total[d, :d] = total[:d, d]
            return _array(total)

    def moments(self, held: DeviceRows, targets: Any) -> NDArray[np.float64]:
        """Return the sums of rows times targets (n, T), array or tensor: (d + 1, T); the last row belongs to 1."""
        with self.device.computing() as torch:
            given = self.device.tensor(targets)
            total = torch.zeros((held.shape[1] + 1, given.shape[1]), dtype=torch.float64, device=self.device.place)
            for place, block in held.blocks(self.device.n_values):
                total[:-1] += block.T @ given[place]
            total[-1] = given.sum(dim=0, dtype=torch.float64)
            return _array(total)

    def outputs(self, held: DeviceRows, coefficients: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return rows times coefficients (d + 1, T): (n, T) in single precision."""
        with self.device.computing() as torch:
            given = self.device.tensor(coefficients)
            found = torch.empty((held.shape[0], given.shape[1]), device=self.device.place)
            for place, block in held.blocks(self.device.n_values):
                torch.addmm(given[-1], block, given[:-1], out=found[place])
            return _array(found)

    def bag_sums(self, values: Any, bags: Bags) -> Any:
        """Return the sums of values (n,) or (n, T) over the rows of each bag: a tensor (B,) or (B, T) of doubles.

        One bag after the other, without the atomic additions whose order, and so whose bits, is left to chance.
        """
        with self.device.computing() as torch:
            given = (values if isinstance(values, torch.Tensor) else self.device.tensor(values)).double()
            if (np.diff(bags.index) < 0).any():
                given = given[self.device.indices(np.argsort(bags.index, kind="stable"))]
            return torch.segment_reduce(given, "sum", lengths=self.device.indices(bags.sizes), axis=0, unsafe=True)


def _array(tensor: Any) -> NDArray[Any]:
    return np.asarray(tensor.cpu().numpy())
