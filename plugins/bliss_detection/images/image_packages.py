"""What the extra `detection` brings, imported where it is used."""

from typing import Any

from bliss_framework.plugin import needed


def image_package(module: str) -> Any:
    """Import a module of the extra, or say in one sentence how to install it (MissingExtraError)."""
    return needed(module, "detection", "Images need")
