"""The contract of readers of data files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bliss_framework.extension.dataset import WeakDataset


class Reader(ABC):
    """Reads one file format."""

    @abstractmethod
    def sniff(self, path: Path) -> bool:
        """Say whether this reader can read the file, from its name and first bytes; fast, and never raises."""

    def takes(self, path: Path, options: Mapping[str, Any]) -> bool:
        """Say whether this reader is for what a user names, with these options; by default what `sniff` says.

        A folder, or a pattern such as `slides/*.h5`, may be a data set only because a user names it: `sniff` says no to
        it, so that it is not found in folders of data, and this method says yes. Fast, and never raises.

        Args:
            path: of a file, a folder or a pattern.
            options: of the reader, as the user gave them; and `reader`, the name of the one that read the rows of a
                model, where new rows are to be predicted with it.
        """
        return self.sniff(path)

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
