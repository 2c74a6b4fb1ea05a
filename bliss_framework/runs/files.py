"""Files that appear whole or not at all, and JSON that any reader can read."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def write_text(path: Path, text: str) -> None:
    """Write a file under another name and rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def to_json(value: Any, indent: int | None = 2) -> str:
    """Write JSON: arrays as lists, NaN and infinity as null, anything else that JSON lacks as text."""
    return json.dumps(plain(value), indent=indent, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Turn records of numbers, arrays and paths into what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)
