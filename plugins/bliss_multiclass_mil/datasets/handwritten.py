"""Data sets of bags with label sets: scikit-learn's digits, and MNIST from a folder."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from bliss_framework.plugin import (
    DataError,
    SettingsError,
    Validator,
    WeakDataset,
    at_least,
    check_value,
    one_of,
    optional,
)
from bliss_multiclass_mil.datasets.generator import make_bags
from bliss_multiclass_mil.datasets.idx import read_idx

PAPER = (0, 1, 2, 3, 4)
DIGITS_DETAILS = {
    "source": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998, as in scikit-learn",
    "size": "185 bags of 5 to 15 of 1,797 images of 8 x 8; options positive, bag_size, n_bags, seed",
    "licence": "CC BY 4.0",
}
MNIST_DETAILS = {
    "source": "LeCun, Cortes and Burges, the MNIST database; read from your own files, in --data-dir or named by path",
    "size": "about 6,000 bags of 5 to 15 of 60,000 images of 28 x 28; options part, positive, bag_size, n_bags, seed",
    "licence": "CC BY-SA 3.0",
}
PREFIX = {"train": "train", "test": "t10k"}


def load_digits_bags(
    positive: Sequence[int] = PAPER, bag_size: Sequence[int] = (5, 15), n_bags: int | None = None, seed: int = 0
) -> WeakDataset:
    """Put scikit-learn's handwritten digits into bags, as the paper does with MNIST.

    Args:
        positive: digits that are labels; all others are negative.
        bag_size: smallest and largest size.
        n_bags: how many bags; None uses the images up.
        seed: the same seed makes the same bags.

    >>> data = load_digits_bags()
    >>> data.X.shape[1], float(data.X.max()), len(data.weak)
    (64, 1.0, 185)
    """
    _check(n_bags=(optional(at_least(2)), n_bags), seed=(at_least(0), seed))
    X, y = load_digits(return_X_y=True)
    return make_bags(X / 16.0, y, positive, bag_size, n_bags, seed, name="digits-multiclass")


def load_mnist_bags(
    path: str | None = None,
    part: str = "train",
    positive: Sequence[int] = PAPER,
    bag_size: Sequence[int] = (5, 15),
    n_bags: int | None = None,
    seed: int = 0,
    data_dirs: Sequence[str] = (),
) -> WeakDataset:
    """Put the digits of MNIST into bags (paper, "Multi-Class MIL"); nothing is downloaded.

    Args:
        path: the folder with train-images-idx3-ubyte and its three companions, gzipped or not; None looks for it in
            data_dirs and their folders called mnist.
        part: "train" or "test".
        positive: digits that are labels; all others are negative.
        bag_size: smallest and largest size.
        n_bags: how many bags; None uses the images up.
        seed: the same seed makes the same bags.
        data_dirs: folders of data; a run gives those of --data-dir and BLISS_DATA.

    Raises:
        SettingsError: if there is no folder, or an option has no allowed value.
        DataError: if a file is missing or damaged.
    """
    _check(part=(one_of("train", "test"), part), n_bags=(optional(at_least(2)), n_bags), seed=(at_least(0), seed))
    folder = _folder(data_dirs, part) if path is None else Path(path).expanduser()
    images = read_idx(_found(folder, f"{PREFIX[part]}-images-idx3-ubyte"))
    labels = read_idx(_found(folder, f"{PREFIX[part]}-labels-idx1-ubyte")).astype(np.int64)
    if len(images) != len(labels):
        raise DataError(f"{folder} has {len(images)} images but {len(labels)} labels of the part {part!r}.")
    rows = images.reshape(len(images), -1) / np.float32(255)
    return make_bags(rows, labels, positive, bag_size, n_bags, seed, name=f"mnist-multiclass-{part}")


def _folder(data_dirs: Sequence[str], part: str) -> Path:
    for one in data_dirs:
        for folder in (Path(one).expanduser(), Path(one).expanduser() / "mnist"):
            if _files(folder, f"{PREFIX[part]}-images-idx3-ubyte"):
                return folder
    raise SettingsError(
        "The data set mnist-multiclass needs the folder that holds train-images-idx3-ubyte.gz and its companions: name "
        "it with the option path, or its parent with --data-dir. Nothing is downloaded."
    )


def _files(folder: Path, name: str) -> list[Path]:
    return [path for path in (folder / name, folder / f"{name}.gz") if os.path.isfile(path)]


def _found(folder: Path, name: str) -> Path:
    for path in _files(folder, name):
        return path
    raise DataError(f"{folder} holds neither {name} nor {name}.gz; path names the folder with the files of MNIST.")


def _check(**options: tuple[Validator, object]) -> None:
    for name, (allow, value) in options.items():
        check_value(name, value, allow)
