"""Rules of the house that the import linter cannot state."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bliss_framework

ROOT = Path(__file__).resolve().parents[1]
FRAMEWORK = sorted((ROOT / "bliss_framework").rglob("*.py"))
PLUGINS = sorted((ROOT / "plugins").rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of each import; name is empty for `import module`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("entrypoints", {"discovery.py"}),
        ("pluggy", {"plugins.py", "markers.py", "hookspecs.py"}),
        ("tomli_w", {"results.py", "tuning.py"}),
        ("skops", {"persistence.py"}),
    ],
)
def test_package_has_one_home(package: str, allowed: set[str]) -> None:
    """A package that may be replaced one day is imported in one place only."""
    importers = {path.name for path in FRAMEWORK for module, _ in imported(path) if module.split(".")[0] == package}
    assert importers <= allowed


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_builtin_plugin_uses_public_names_only(path: Path) -> None:
    """A built-in plugin imports what a stranger could: names of `bliss_framework`, and its validators."""
    own = path.relative_to(ROOT / "plugins").parts[0]
    for module, name in imported(path):
        top = module.split(".")[0]
        assert module in ("bliss_framework", "bliss_framework.validators") or top != "bliss_framework", module
        assert not top.startswith("bliss_") or top in ("bliss_framework", own), f"{module} is another plugin"
        if module == "bliss_framework":
            assert name in bliss_framework.__all__, name


def test_kernel_and_runs_do_not_print() -> None:
    """Nothing outside the console writes to the screen."""
    for path in [*FRAMEWORK, *PLUGINS]:
        if "console" in path.parts:
            continue
        calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
        assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path


def test_public_names_exist() -> None:
    """Every public name can be looked up, and importing the package alone loads none of their homes."""
    for name in bliss_framework.__all__:
        assert getattr(bliss_framework, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = bliss_framework.Nothing


def function_lengths() -> Iterator[tuple[str, int]]:
    """Yield each function of the product with its lines, less its docstring."""
    for path in [*FRAMEWORK, *PLUGINS]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                docstring = len((ast.get_docstring(node) or "").splitlines())
                yield f"{path.name}:{node.name}", node.end_lineno - node.lineno + 1 - docstring


def test_modules_and_functions_stay_small() -> None:
    """No module has more than 400 lines, no function more than 60."""
    assert [p.name for p in [*FRAMEWORK, *PLUGINS] if len(p.read_text(encoding="utf-8").splitlines()) > 400] == []
    assert [name for name, length in function_lengths() if length > 60] == []
