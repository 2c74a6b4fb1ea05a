"""What the extra `detection` brings, imported where it is used."""

from typing import Any

from bliss_framework import plugin


def needed(module: str) -> Any:
    """Import a module of the extra, or say in one sentence how to install it (MissingExtraError)."""
    return plugin.needed(module, "detection", "Images need")
