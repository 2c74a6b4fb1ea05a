"""Writes the pages of hooks and contracts from their docstrings: `python docs/generate_reference.py`."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bliss_framework.extension import contracts, hookspecs

REFERENCE = Path(__file__).parent / "reference"
CONTRACTS = (
    contracts.Reward,
    contracts.RewardFunction,
    contracts.Strategy,
    contracts.Classifier,
    contracts.PreparedClassifier,
    contracts.Regime,
    contracts.BagReading,
    contracts.Reader,
    contracts.Pipeline,
    contracts.Baseline,
    contracts.Observer,
)
INTRODUCTION = """\
A plugin implements any of these functions, marked with `@hookimpl` from `bliss_framework`. An implementation may take
fewer arguments than listed. Hooks are called one plugin at a time, so that one that raises costs only itself. The entry
point: group `bliss_framework`, value a module or an object with hook methods, never a class.
"""
HEAD = "<!-- Written by docs/generate_reference.py from the docstrings; change those. -->\n"


def hooks_page() -> str:
    """Return docs/reference/hooks.md."""
    parts = [
        HEAD,
        "# Hooks\n",
        INTRODUCTION,
    ]
    for name, hook in vars(hookspecs).items():
        if name.startswith("bliss_") and inspect.isfunction(hook):
            arguments = ", ".join(inspect.signature(hook).parameters)
            parts.append(f"## `{name}({arguments})`\n\n{_as_text(hook)}\n")
    return "\n".join(parts)


def contract_page(contract: type) -> str:
    """Return the page of one contract: its own text, then each method with its text."""
    parts = [HEAD, f"# `{contract.__name__}`\n", f"{_as_text(contract)}\n"]
    for name, member in _members(contract):
        kind = "implement this" if getattr(member, "__isabstractmethod__", False) else "may be left as it is"
        if getattr(contract, "_is_protocol", False):
            kind = "no base class is needed"
        parts.append(f"## `{name}{_arguments(member)}`\n\n*{kind}*\n\n{_as_text(member)}\n")
    return "\n".join(parts)


def _members(contract: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(contract).items():
        if isinstance(member, property) or (
            inspect.isfunction(member) and (not name.startswith("_") or name == "__call__")
        ):
            yield name, member


def _arguments(member: Any) -> str:
    if isinstance(member, property):
        return ""
    return "(" + ", ".join(name for name in inspect.signature(member).parameters if name != "self") + ")"


def _as_text(documented: Any) -> str:
    """Turn a docstring into Markdown: sections become headings of their own, their entries a list."""
    lines = []
    listing = False
    for line in (inspect.getdoc(documented) or "").splitlines():
        if line in ("Args:", "Returns:", "Raises:", "Attributes:"):
            lines.append(f"**{line[:-1]}**\n")
            listing = True
        elif listing and line.startswith("        "):
            lines[-1] += f" {line.strip()}"
        elif listing and line.startswith("    "):
            lines.append(f"* {line.strip()}")
        else:
            listing = listing and not line.strip()
            lines.append(line)
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Return every generated page with its text."""
    written = {REFERENCE / "hooks.md": hooks_page()}
    for contract in CONTRACTS:
        written[REFERENCE / "contracts" / f"{contract.__name__.lower()}.md"] = contract_page(contract)
    return written


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
