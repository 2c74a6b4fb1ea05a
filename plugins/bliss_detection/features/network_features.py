"""Features by a convolutional network in an ONNX file: one pass of an image, and pooling in its boxes."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_detection.boxes.geometry import Boxes
from bliss_detection.features.pooling import box_means, grid_means
from bliss_detection.images.image_files import scaled
from bliss_detection.images.image_packages import image_package
from bliss_framework import DataError
from bliss_framework.plugin import at_least, positive

CELL = 32


@frozen(slots=False)
class NetworkFeatures:
    """The means of feature maps in a box, in a ring around it, and in its quarters.

    Without the ring and the quarters a detector cannot tell a head from an animal.

    Args:
        model: the ONNX file. Its one input takes n x 3 x h x w images of any size; its last output is a map of coarse
            features, an output before that one of finer ones.
        side: the longer side of the image in the network, in pixels; sides become multiples of 32.
        mean, scale: a pixel enters as (value - mean) / scale.
    """

    model: Path = field(converter=Path)
    side: int = field(default=640, validator=at_least(64))
    mean: float = field(default=127.0)
    scale: float = field(default=128.0, validator=positive)

    @cached_property
    def _session(self) -> Any:
        onnx: Any = image_package("onnxruntime")
        if not self.model.is_file():
            raise DataError(f"{self.model} is missing; model names an ONNX file.")
        options = onnx.SessionOptions()
        # More threads would change the last bits.
        options.intra_op_num_threads = 1
        try:
            return onnx.InferenceSession(str(self.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            # onnxruntime raises errors of its own making, which share no base class.
            raise DataError(f"{self.model} is no ONNX model that can be run: {error}") from None

    def check(self) -> None:
        """Refuse a model with other inputs or outputs.

        Raises:
            DataError: naming the file, what was found and what is allowed.
        """
        inputs = [(one.name, one.shape) for one in self._session.get_inputs()]
        shape = inputs[0][1]
        fixed = [size for size in shape[2:] if isinstance(size, int)] if len(shape) == 4 else [0]
        if len(inputs) != 1 or len(shape) != 4 or shape[1] not in (3, "channels") or fixed:
            raise DataError(
                f"{self.model} has the inputs {inputs}; allowed is one input n x 3 x height x width, height and width "
                f"left open."
            )
        if any(len(one.shape) != 4 for one in self._session.get_outputs()):
            raise DataError(f"{self.model} must put out feature maps (n x channels x h x w) only.")

    def blocks(self, image: NDArray[np.uint8], boxes: Boxes) -> dict[str, NDArray[np.floating]]:
        """Describe boxes (m, 4) of an image: (m, d) for each block "box", "ring" and "grid"."""
        height, width = image.shape[:2]
        maps = self._maps(image)
        inside, around = box_means(maps[-1], _in_cells(boxes, maps[-1], width, height))
        fine = maps[0]
        return {"box": inside, "ring": around, "grid": grid_means(fine, _in_cells(boxes, fine, width, height))}

    def _maps(self, image: NDArray[np.uint8]) -> list[NDArray[np.float32]]:
        height, width = image.shape[:2]
        ratio = self.side / max(height, width) / CELL
        wide, high = (max(round(size * ratio), 1) * CELL for size in (width, height))
        pixels = (scaled(image, wide, high).astype(np.float32) - self.mean) / self.scale
        name = self._session.get_inputs()[0].name
        batch = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None].astype(np.float32))
        return [np.asarray(one[0]) for one in self._session.run(None, {name: batch})]


def _in_cells(boxes: Boxes, values: NDArray[np.float32], width: int, height: int) -> Boxes:
    return np.asarray(boxes * np.array([values.shape[2] / width, values.shape[1] / height] * 2))
