"""What each negative label stands for: counts of what is known of its instances, and pictures of their means."""

from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from bliss_framework import DataError
from bliss_framework.plugin import needed


@frozen(eq=False)
class Modes:
    """The instances that were inferred to be negative, by negative label.

    Negative labels have no order: each fold numbers its modes in its own way, and so does each of several inferences.

    Attributes:
        folds: (R,) the fold of each row of a table.
        labels: (R,) its negative label.
        members: the instances of each row.
    """

    folds: NDArray[np.intp] = field()
    labels: NDArray[np.intp] = field()
    members: tuple[NDArray[np.intp], ...] = field()

    @classmethod
    def of(cls, model: Any) -> "Modes":
        """Look at a fitted `BlissClassifier`.

        Raises:
            DataError: if its regime has one negative label only, or it averaged several inferences, in which a negative
                label stands for another mode each time.
        """
        negative = np.flatnonzero(model.class_of_label_ == 0)
        if len(negative) < 2:
            raise DataError(
                'There is one negative label; train with regime={"name": "multiclass-mil", "n_negative": 5}.'
            )
        if model.n_inferences > 1 or (model.fold_ < 0).all():
            raise DataError('Averages of inferences have no modes; train with n_inferences=1 and train_on="one".')
        means = np.nan_to_num(model.label_means_[:, negative], nan=-1.0)
        label = np.where((model.class_indices_ == 0) & (model.fold_ >= 0), negative[means.argmax(axis=1)], -1)
        pairs = [(fold, one) for fold in range(int(model.fold_.max()) + 1) for one in negative.tolist()]
        members = tuple(np.flatnonzero((model.fold_ == fold) & (label == one)) for fold, one in pairs)
        return cls(np.array([fold for fold, _ in pairs]), np.array([one for _, one in pairs]), members)

    def counts(self, values: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Count what is known of the instances, such as which digit they are.

        Args:
            values: (n,) of anything.

        Returns:
            (V,) the distinct values, and (R, V) how many members of each row have each.
        """
        distinct, position = np.unique(np.asarray(values), return_inverse=True)
        rows = [np.bincount(position[own], minlength=len(distinct)) for own in self.members]
        return distinct, np.stack(rows)

    def means(self, X: Any) -> NDArray[np.float64]:
        """Return the mean row of each mode: X (n, d) -> (R, d), 0 where a mode has no member."""
        sums = [np.asarray(X[own].sum(axis=0, dtype=np.float64)).ravel() for own in self.members]
        return np.stack([total / max(len(own), 1) for total, own in zip(sums, self.members, strict=True)])

    def draw(self, X: Any, shape: tuple[int, int], path: Path | str) -> None:
        """Draw the mean image of each mode, a line of images for each fold, into a PNG file.

        Args:
            X: (n, d) images, a row each.
            shape: height and width, whose product is d.
            path: of the file.

        Raises:
            MissingExtraError: if matplotlib is not there.
        """
        imsave = needed("matplotlib.image", "report", "Pictures need").imsave
        n_folds = len(np.unique(self.folds))
        images = self.means(X).reshape(n_folds, -1, *shape)
        largest = np.maximum(images.max(axis=(2, 3), keepdims=True), 1e-12)
        # Folds beneath one another, and the images of a fold side by side.
        sheet = np.concatenate([np.concatenate(list(line), axis=1) for line in images / largest])
        imsave(path, sheet, cmap="gray", vmin=0.0, vmax=1.0)
