"""Ordinary labelled sets as LLP data: an .npz archive of rows and classes, put into bags as it is read."""

from pathlib import Path
from typing import Any

import numpy as np

from bliss_framework.plugin import DataError, Reader, SettingsError, WeakDataset, open_npz
from bliss_llp.datasets.generator import make_llp_bags


class LabelledNpzReader(Reader):
    """Reads .npz archives of rows `X` (n, d) and classes `y` (n,) without bags, and makes the bags.

    The option `bag_size` is needed: without it, a file whose bags were forgotten would be read as something else.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is an .npz archive with `X` and `y` and without `bag`."""
        if path.suffix.lower() != ".npz":
            return False
        try:
            with open_npz(path) as archive:
                return "X" in archive and "y" in archive and "bag" not in archive
        except (DataError, OSError, ValueError):
            return False

    def read(  # type: ignore[override]
        self, path: Path, *, bag_size: int | None = None, bags: str = "random", bag_seed: int = 0
    ) -> WeakDataset:
        """Read the file and make bags.

        Args:
            path: the archive.
            bag_size: the size of bags, to within one.
            bags: "random"; "skewed" for shares that differ strongly; "alike" for shares that do not differ.
            bag_seed: the same seed makes the same bags.

        Returns:
            The data set for the regime "llp", its rows as float64, with the true classes as `instance_labels`.

        Raises:
            DataError: the file is damaged, or not of this form.
            SettingsError: an option that has no allowed value.
        """
        path = Path(path)
        X, y = _rows_and_classes(path)
        if bag_size is None:
            raise SettingsError(
                f"{path} holds rows and classes, but no bags: say with the option bag_size how large bags shall be for "
                f'learning with label proportions, or add the bag id of each row as "bag" to the file.'
            )
        return make_llp_bags(X, y, bag_size, bags, bag_seed, path.stem)


def _rows_and_classes(path: Path) -> tuple[Any, Any]:
    with open_npz(path) as archive:
        X, y = archive.array("X"), archive.array("y")
    if X.ndim != 2 or X.dtype.kind not in "biuf" or y.shape != X.shape[:1] or y.dtype.kind not in "biuU":
        raise DataError(
            f"{path} holds X of shape {X.shape} ({X.dtype}) and y of shape {y.shape} ({y.dtype}); X must be a table of "
            f"numbers and y hold one class, an integer or text, for each of its rows."
        )
    # True and false are 1 and 0 in every format.
    return X.astype(np.float64), y.astype(np.int64) if y.dtype.kind == "b" else y
