"""Packages that an extra of this distribution brings, imported where they are used."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

from bliss_framework.errors import MissingExtraError

DISTRIBUTION = "bliss-framework"

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

    >>> needed("no_such_module", "report", "A report needs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bliss_framework.errors.MissingExtraError: A report needs no_such_module, which is not installed: \
pip install ...
    """
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise MissingExtraError(
            f"{purpose} {_PACKAGES.get(name, name)}, which is not installed: {pip_command(extra)}."
        ) from None


def pip_command(extra: str) -> str:
    """Return what to type for an extra: its packages by their own names, wherever this distribution came from.

    >>> pip_command("torch").startswith('pip install "torch>=')
    True
    """
    try:
        listed = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        listed = []
    wanted = f'extra == "{extra}"'
    parts = [one.replace("'", '"').partition(";") for one in listed]
    packages = [package.strip() for package, _, when in parts if when.strip() == wanted]
    quoted = [f'"{one}"' for one in packages or [f"{DISTRIBUTION}[{extra}]"]]
    return f"pip install {' '.join(quoted)}"
