"""What the extra `report` brings, imported where it is used."""

from importlib import import_module
from types import ModuleType

from bliss_framework.errors import MissingExtraError


def needed(module: str) -> ModuleType:
    """Import a module of the extra.

    Raises:
        MissingExtraError: one sentence with the pip command.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        command = 'pip install "bliss-framework[report]"'
        raise MissingExtraError(f"A report needs {package}, which is not installed: {command}.") from None
