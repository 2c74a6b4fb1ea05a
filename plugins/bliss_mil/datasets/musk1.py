"""MUSK1, the first MIL benchmark, as packaged data."""

from importlib.resources import as_file, files

import numpy as np

from bliss_framework.plugin import WeakDataset

DETAILS = {
    "source": "Chapman and Jain, Musk (Version 1), UCI Machine Learning Repository, 1994, doi:10.24432/C5ZK5B",
    "size": "92 bags (47 positive), 476 instances, 166 features",
    "licence": "CC BY 4.0",
}


def load_musk1() -> WeakDataset:
    """Load MUSK1: molecules (bags) of conformations (instances), positive if a human nose calls it musk.

    The values are UCI's own integers, unscaled.
    """
    with as_file(files("bliss_mil.datasets") / "musk1.npz") as path, np.load(path, allow_pickle=False) as stored:
        X, bags, weak = stored["X"].astype(np.float64), stored["bag"], stored["y"].astype(np.int64)
    return WeakDataset("musk1", X, bags, weak, regime="mil")
