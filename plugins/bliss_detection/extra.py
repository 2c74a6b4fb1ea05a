"""What the extra `detection` brings, imported where it is used."""

from importlib import import_module
from typing import Any

from bliss_framework import MissingExtraError

PACKAGE = {"PIL": "pillow", "cv2": "opencv-contrib-python-headless", "onnxruntime": "onnxruntime"}


def needed(module: str) -> Any:
    """Import a module of the extra.

    Raises:
        MissingExtraError: one sentence with the pip command.
    """
    try:
        return import_module(module)
    except ImportError:
        package = PACKAGE[module.partition(".")[0]]
        command = 'pip install "bliss-framework[detection]"'
        raise MissingExtraError(f"Images need {package}, which is not installed: {command}.") from None
