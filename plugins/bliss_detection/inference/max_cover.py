"""MaxCover (Song et al., 2014): windows that are frequent in positive images, and not in negative ones.

A window v of a positive image is compared with every image by its nearest window there. Its neighbourhood is the k
nearest images. It covers the positive images among them, Gamma(v). The windows that are chosen greedily maximise the
submodular number of covered positive images, less what they cover of negative ones; they and their nearest windows in
the images that they cover start a latent SVM.

H. O. Song, R. Girshick, S. Jegelka, J. Mairal, Z. Harchaoui, T. Darrell: On learning to localize objects with minimal
supervision, ICML 2014.
"""

import numpy as np
from attrs import asdict, field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import areas
from bliss_detection.features.described_boxes import Described
from bliss_detection.inference.picks import Candidates, Picks
from bliss_framework.plugin import at_least, between, positive

ROWS = 4096


@frozen
class MaxCover:
    """Greedy cover of the positive images by discriminative windows.

    Args:
        share: k as a share of the number of positive images; one half in the original.
        penalty: what a covered negative image costs, in covered positive images.
        smallest: area of the smallest window, as a share of its image: means of feature maps are alike in tiny windows.
        n_components: features that distances are computed in.
        duplicate: overlap with a chosen window from which on others of its image are no longer candidates.
    """

    share: float = field(default=0.5, validator=positive)
    penalty: float = field(default=1.0, validator=between(0.0, 100.0))
    smallest: float = field(default=0.05, validator=between(0.0, 1.0))
    n_components: int = field(default=128, validator=at_least(1))
    duplicate: float = field(default=0.5, validator=between(0.0, 1.0))

    def picks(self, candidates: Candidates, column: int) -> Picks:
        """Return one window for each positive image: the nearest to the chosen window that is most like one of it."""
        inputs = {"settings": asdict(self), "column": column}
        kept = candidates.described.kept("max-cover", inputs, lambda: self._picked(candidates, column))
        return {int(i): int(row) for i, row in kept}

    def _picked(self, candidates: Candidates, column: int) -> NDArray[np.intp]:
        described = candidates.described
        photos = described.photos
        train = np.flatnonzero(photos.train & (photos.labels[:, column] != 0))
        rows = self._windows(described, candidates.images)
        nearest, distance = self._nearest(described, rows, train)
        k = max(2, round(self.share * len(candidates.images)))
        covered = np.zeros(distance.shape, dtype=bool)
        order = np.argpartition(distance, min(k, len(train) - 1), axis=1)[:, :k]
        np.put_along_axis(covered, order, True, axis=1)
        is_positive = photos.labels[train, column] == 1
        chosen = self._cover(candidates, rows, covered[:, is_positive], covered[:, ~is_positive].sum(axis=1))
        images = train[is_positive]
        best = chosen[distance[np.ix_(chosen, np.flatnonzero(is_positive))].argmin(axis=0)]
        columns = np.flatnonzero(is_positive)
        return np.stack([images, nearest[best, columns]], axis=1)

    def _windows(self, described: Described, images: NDArray[np.intp]) -> NDArray[np.intp]:
        image = described.image
        whole = described.photos.sizes.prod(axis=1)[image]
        large = areas(described.boxes) >= self.smallest * whole
        return np.flatnonzero(large & np.isin(image, images))

    def _nearest(
        self, described: Described, rows: NDArray[np.intp], train: NDArray[np.intp]
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the nearest large window of each window in each image, and how far it is; a window is near itself."""
        X = described.X[:, : self.n_components]
        X = np.ascontiguousarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-6))
        nearest = np.empty((len(rows), len(train)), dtype=np.int32)
        likeness = np.empty((len(rows), len(train)), dtype=np.float32)
        own = X[rows]
        for place, i in enumerate(train):
            others = self._windows(described, np.array([i]))
            for start in range(0, len(rows), ROWS):
                part = slice(start, start + ROWS)
                products = own[part] @ X[others].T
                found = products.argmax(axis=1)
                nearest[part, place] = others[found]
                likeness[part, place] = products[np.arange(len(found)), found]
        return nearest, np.sqrt(np.maximum(2.0 - 2.0 * likeness, 0.0))

    def _cover(
        self,
        candidates: Candidates,
        rows: NDArray[np.intp],
        covered: NDArray[np.bool_],
        n_negative: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        """Choose windows until all positive images are covered, or none gains more than it costs."""
        described = candidates.described
        left = np.ones(covered.shape[1], dtype=bool)
        usable = np.ones(len(rows), dtype=bool)
        chosen: list[int] = []
        while left.any():
            # What is left to gain shrinks, so the cost of the negatives shrinks alike.
            gain = covered[:, left].sum(axis=1) - self.penalty * n_negative * left.mean()
            gain[~usable] = -np.inf
            best = int(gain.argmax())
            if chosen and gain[best] <= 0:
                break
            chosen.append(best)
            left &= ~covered[best]
            near = candidates.near({int(described.image[rows[best]]): int(rows[best])}, self.duplicate)
            usable &= ~near[rows]
            usable[best] = False
        return np.array(chosen, dtype=np.intp)
