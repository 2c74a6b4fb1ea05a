"""What classifiers on a device take of this computer's own memory."""

from bliss_framework.plugin import ProblemSize
from bliss_torch.device import CPU_GRAM_VALUES, Device

SINGLE, DOUBLE = 4, 8
BLOCKS = 3 * SINGLE * CPU_GRAM_VALUES  # What is made of a block of rows on its way through a sum.
CUDA_HOST = 1 << 29  # What the driver of a CUDA device keeps here, and a block on its way there.


def rows_memory(size: ProblemSize, device: Device, n_rows: int) -> int:
    """Return what stored rows take here: nothing where they are on another device, or read from a file."""
    if not device.is_cpu:
        return CUDA_HOST
    return BLOCKS if size.mapped else BLOCKS + device.itemsize * n_rows * size.n_columns


def sums_memory(size: ProblemSize, n_columns: int) -> int:
    """Return what sums over rows of so many columns take, with their system and the predictions."""
    return 5 * DOUBLE * n_columns**2 + size.predictions
