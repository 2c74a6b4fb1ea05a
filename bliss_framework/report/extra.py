"""What the extra `report` brings, imported where it is used."""

from typing import Any

from bliss_framework.extension import extras


def needed(module: str) -> Any:
    """Import a module of the extra, or say in one sentence how to install it (MissingExtraError)."""
    return extras.needed(module, "report", "A report needs")
