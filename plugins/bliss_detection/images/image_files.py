"""Image files: whatever their mode and orientation, uint8 RGB in the frame in which people see and draw on them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_detection.images.image_packages import image_package
from bliss_framework import DataError

ORIENTATION = 0x0112  # The EXIF tag.
SWAPPED = (5, 6, 7, 8)  # Orientations that swap width and height.


def read_image(path: Path) -> NDArray[np.uint8]:
    """Read an image: (height, width, 3) uint8 RGB, turned upright as its EXIF orientation says.

    Grey, palette and CMYK images become RGB; transparency is dropped.

    Raises:
        DataError: naming the file, if it is missing, damaged or cut off.
        MissingExtraError: without pillow.
    """
    pillow = image_package("PIL.Image")
    upright = image_package("PIL.ImageOps").exif_transpose
    try:
        with pillow.open(path) as image:
            image.load()
            return np.asarray(_as_rgb(upright(image)))
    except FileNotFoundError:
        raise DataError(f"{path} is missing.") from None
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{path} cannot be read as an image: {error}.") from None


def stored_form(path: Path) -> tuple[tuple[int, int], int]:
    """Return width and height of an image as it is stored, and its EXIF orientation, which is 1 where it has none.

    Raises:
        DataError: naming the file, if it cannot be read.
    """
    try:
        with image_package("PIL.Image").open(path) as image:
            return image.size, int(image.getexif().get(ORIENTATION, 1))
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{path} cannot be read as an image: {error}.") from None


def _as_rgb(image: Any) -> Any:
    # A palette may hold transparency, of which RGB alone would make noise.
    return image.convert("RGBA").convert("RGB") if image.mode == "P" else image.convert("RGB")


def scaled(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Return the image at another size; averages where it gets smaller."""
    pillow = image_package("PIL.Image")
    shrinks = width < image.shape[1]
    way = pillow.Resampling.BOX if shrinks else pillow.Resampling.BILINEAR
    return np.asarray(pillow.fromarray(image).resize((width, height), way))
