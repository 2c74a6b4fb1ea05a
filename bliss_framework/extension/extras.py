"""Packages that an extra of this distribution brings, imported where they are used."""

from importlib import import_module
from typing import Any

from bliss_framework.errors import MissingExtraError

# Where a package is not called like its module.
_PACKAGES = {"PIL": "pillow", "cv2": "opencv-contrib-python-headless"}


def needed(module: str, extra: str, purpose: str) -> Any:
    """Import a module that an extra brings.

    Args:
        module: such as "PIL.Image".
        extra: of bliss-framework, such as "detection".
        purpose: who needs it, the start of the sentence where it is missing.

    Raises:
        MissingExtraError: one sentence with the pip command.

    >>> needed("no_such_module", "report", "A report needs")
    Traceback (most recent call last):
    bliss_framework.errors.MissingExtraError: A report needs no_such_module, which is not installed: \
pip install "bliss-framework[report]".
    """
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise MissingExtraError(
            f'{purpose} {_PACKAGES.get(name, name)}, which is not installed: pip install "bliss-framework[{extra}]".'
        ) from None
