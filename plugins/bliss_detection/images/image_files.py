"""Image files: whatever their mode and orientation, uint8 RGB in the frame in which people see and draw on them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_detection.images.image_packages import image_package
from bliss_framework.plugin import DataError, MissingExtraError

# Not all that Pillow opens: of some formats, such as EPS, it starts another program to draw them.
FORMATS = ("JPEG", "MPO", "PNG", "GIF", "BMP", "WEBP", "TIFF")
MOST_PIXELS = 50_000_000  # A few copies of an image are made while it is read, of 3 bytes for each pixel.

ORIENTATION = 0x0112  # The EXIF tag.
SWAPPED = (5, 6, 7, 8)  # Orientations that swap width and height.


def read_image(path: Path) -> NDArray[np.uint8]:
    """Read an image: (height, width, 3) uint8 RGB, turned upright as its EXIF orientation says.

    Grey, palette and CMYK images become RGB; transparency is dropped.

    Raises:
        DataError: naming the file, if it is missing, damaged or cut off, or has more than 50 million pixels.
        MissingExtraError: without pillow.
    """
    with _opened(path) as image:
        return np.asarray(_as_rgb(image))


def whole_size(path: Path) -> tuple[int, int]:
    """Read an image to its end, and return width and height when it is upright; raises as `read_image` does.

    One that is cut off is better found before than after an hour of features.
    """
    with _opened(path) as image:
        return int(image.size[0]), int(image.size[1])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Give an image that is loaded and upright; copies of it are not made, as it may take 150 MB."""
    pillow = image_package("PIL.Image")
    turn_upright = image_package("PIL.ImageOps").exif_transpose
    try:
        pillow.init()
        formats = [one for one in FORMATS if one in pillow.OPEN]
        # Pillow warns of sizes that are refused here.
        with warnings.catch_warnings(action="ignore"), pillow.open(path, formats=formats) as image:
            _check_pixels(path, *image.size)
            image.load()
            turn_upright(image, in_place=True)
            yield image
    except (DataError, MissingExtraError):
        raise
    except FileNotFoundError:
        raise DataError(f"{path} is missing.") from None
    except Exception as error:
        # A damaged image can raise nearly anything: OSError, SyntaxError, struct.error, DecompressionBombError.
        raise DataError(f"{path} cannot be read as an image: {str(error).rstrip('.')}.") from None


def _check_pixels(path: Path, width: int, height: int) -> None:
    """Refuse an image that would fill the memory: a few bytes can say that they are a hundred million pixels."""
    if width * height > MOST_PIXELS:
        raise DataError(
            f"{path} has {width} x {height} pixels, and images of more than {MOST_PIXELS // 10**6} million are not "
            f"read; make it smaller, and the boxes of its annotation with it."
        )


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
    if image.mode == "RGB":
        return image
    # A palette may hold transparency, of which RGB alone would make noise.
    return image.convert("RGBA").convert("RGB") if image.mode == "P" else image.convert("RGB")


def of_most_pixels(image: NDArray[np.uint8], n_pixels: int) -> NDArray[np.uint8]:
    """Return the image, averaged to a smaller size where it has more pixels.

    >>> of_most_pixels(np.zeros((20, 40, 3), dtype=np.uint8), 200).shape
    (10, 20, 3)
    """
    height, width = image.shape[:2]
    if height * width <= n_pixels:
        return image
    factor = (n_pixels / (height * width)) ** 0.5
    return scaled(image, max(int(width * factor), 1), max(int(height * factor), 1))


def scaled(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Return the image at another size; averages where it gets smaller."""
    pillow = image_package("PIL.Image")
    shrinks = width < image.shape[1]
    way = pillow.Resampling.BOX if shrinks else pillow.Resampling.BILINEAR
    return np.asarray(pillow.fromarray(image).resize((width, height), way))
