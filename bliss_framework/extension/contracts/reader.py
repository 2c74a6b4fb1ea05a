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

        What it leaves out, and what may mean something else than it seems, it says in the notes of the data set. Where
        it has the options `rows_are_bags` and `separator`, it is told what the regime says of them. Where it has
        `trained_on`, `categorical` and `labelled`, it is told which columns a model needs of new rows, which of them
        are categories, and that no weak label is wanted.

        Raises:
            DataError: naming the file, the place in it, what was found and what is allowed.
        """
