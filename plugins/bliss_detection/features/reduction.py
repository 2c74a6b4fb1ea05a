"""From blocks of features to one short row for each box: weights of blocks, box geometry, principal components."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.linalg import eigh

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.features.array_cache import writable
from bliss_framework.plugin import at_least, between

ROWS = 8192  # At a time, so that memory stays small.


@frozen
class Reduction:
    """Each block gets length 1 and its weight; the rows are centred, rotated to their principal components, and get
    length 1 again.

    Args:
        n_components: features that are kept.
        ring, grid: weights of these blocks beside that of the box itself, 1.
        geometry: weight of eight numbers that say where in the image a box lies and how large it is; 0 for none.
        n_rows: training boxes on which the components are learnt.
        seed: draws these boxes.
    """

    n_components: int = field(default=512, validator=at_least(1))
    ring: float = field(default=0.5, validator=between(0.0, 10.0))
    grid: float = field(default=0.5, validator=between(0.0, 10.0))
    geometry: float = field(default=0.0, validator=between(0.0, 10.0))
    n_rows: int = field(default=30_000, validator=at_least(2))
    seed: int = field(default=0, validator=at_least(0))

    def write(
        self,
        path: Path,
        blocks: Mapping[str, NDArray[Any]],
        boxes: Boxes,
        sizes: NDArray[np.floating],
        train: NDArray[np.bool_],
    ) -> None:
        """Write X.npy (N, d) float32 and share.npy, the share of the variance that is kept.

        Args:
            path: a folder.
            blocks: (N, ...) features by name.
            boxes: (N, 4).
            sizes: (N, 2) width and height of the image of each box.
            train: (N,) whether it is in a training image.
        """
        rng = np.random.default_rng(self.seed)
        candidates = np.flatnonzero(train)
        chosen = np.sort(rng.choice(candidates, min(self.n_rows, len(candidates)), replace=False))
        mean, components, share = self._components(blocks, boxes, sizes, chosen)
        X = writable(path, "X", (len(boxes), components.shape[1]), np.float32)
        for rows in _pieces(np.arange(len(boxes))):
            X[rows] = _unit((self._joined(blocks, boxes, sizes, rows) - mean) @ components)
        X.flush()  # type: ignore[attr-defined]
        np.save(path / "share.npy", np.array([share]))

    def _components(
        self,
        blocks: Mapping[str, NDArray[Any]],
        boxes: Boxes,
        sizes: NDArray[np.floating],
        chosen: NDArray[np.intp],
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
        total: Any = 0.0
        products: Any = 0.0
        for rows in _pieces(chosen):
            part = self._joined(blocks, boxes, sizes, rows)
            total = total + part.sum(axis=0, dtype=np.float64)
            products = products + (part.T @ part).astype(np.float64)
        mean = total / len(chosen)
        covariance = products / len(chosen) - np.outer(mean, mean)
        n, d = len(covariance), min(self.n_components, len(covariance))
        values, vectors = eigh(covariance, subset_by_index=(n - d, n - 1))
        share = float(values.sum() / np.trace(covariance))
        # Signs of eigenvectors are free; fix them, so that another library gives the same features.
        largest = np.abs(vectors).argmax(axis=0)
        vectors = vectors * np.sign(vectors[largest, np.arange(d)])
        return mean.astype(np.float32), vectors[:, ::-1].astype(np.float32), share

    def _joined(
        self, blocks: Mapping[str, NDArray[Any]], boxes: Boxes, sizes: NDArray[np.floating], rows: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        weights = {"box": 1.0, "ring": self.ring, "grid": self.grid}
        parts = [weights[name] * _unit(blocks[name][rows]) for name in ("box", "ring", "grid") if weights[name] > 0]
        if self.geometry > 0:
            parts.append(self.geometry * box_geometry(boxes[rows], sizes[rows]))
        return np.concatenate(parts, axis=1)


def box_geometry(boxes: Boxes, sizes: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return (n, 8): corners, sides and area as shares of the image, and a quarter of the log of the aspect ratio.

    Args:
        boxes: (n, 4).
        sizes: (n, 2) width and height of their images.
    """
    shares = boxes / np.concatenate([sizes, sizes], axis=1)
    wide, high = shares[:, 2] - shares[:, 0], shares[:, 3] - shares[:, 1]
    aspect = np.log(np.maximum(wide, 1e-6) / np.maximum(high, 1e-6)) / 4
    return np.column_stack([shares, wide, high, wide * high, aspect]).astype(np.float32)


def _pieces(rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    for start in range(0, len(rows), ROWS):
        yield rows[start : start + ROWS]


def _unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    values = np.asarray(rows, dtype=np.float32)
    return np.asarray(values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-6))
