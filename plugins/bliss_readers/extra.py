"""What the extra `files` brings, imported where it is used."""

from importlib import import_module
from typing import Any

from bliss_framework import MissingExtraError


def arrow() -> Any:
    """Import pyarrow, with its module for Parquet.

    Raises:
        MissingExtraError: one sentence with the pip command.
    """
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        command = 'pip install "bliss-framework[files]"'
        raise MissingExtraError(f"Parquet files need pyarrow, which is not installed: {command}.") from None
