"""The contract of readers of data files."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from bliss_framework.extension.dataset import WeakDataset


class Reader(ABC):
    """Reads one file format."""

    @abstractmethod
    def sniff(self, path: Path) -> bool:
        """Say whether this reader can read the file, from its name and first bytes; fast, and never raises."""

    @abstractmethod
    def read(self, path: Path, **options: Any) -> WeakDataset:
        """Read the file.

        Raises:
            DataError: naming the file, the place in it, what was found and what is allowed.
        """
