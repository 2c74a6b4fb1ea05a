"""Rules of the house that the import linter cannot state, and that its contract is as strict as it should be."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import bliss_framework
import bliss_framework.plugin

ROOT = Path(__file__).resolve().parents[1]
FRAMEWORK = sorted((ROOT / "bliss_framework").rglob("*.py"))
PLUGINS = sorted((ROOT / "plugins").rglob("*.py"))
HOMES = {
    "entrypoints": {"extension/loading/discovery.py"},
    "pluggy": {"extension/loading/plugins.py", "extension/markers.py", "extension/hookspecs.py"},
    "tomli_w": {"estimator/configure.py", "runs/folder/run_folder.py", "runs/tuning.py"},
    "skops": {"estimator/persistence.py"},
}


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of each import; name is empty for `import module`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def home(path: Path) -> str:
    """Return the path of a module inside its part of the repository, for instance `runs/tuning.py`."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[1:])


@pytest.mark.parametrize("package", HOMES)
def test_package_has_one_home(package: str) -> None:
    """A package that may be replaced one day is imported in one place only."""
    importers = {home(path) for path in FRAMEWORK for module, _ in imported(path) if module.split(".")[0] == package}
    assert importers <= HOMES[package]


def test_builtin_plugins_use_public_names_only() -> None:
    """A built-in plugin imports what a third-party one could: its own modules, and the names for users and authors."""
    public = {"bliss_framework", "bliss_framework.plugin", "bliss_framework.validators"}
    broken = []
    for path in PLUGINS:
        own = path.relative_to(ROOT / "plugins").parts[0]
        for module, name in imported(path):
            top = module.split(".")[0]
            if top == "bliss_framework":
                owner = {"bliss_framework": bliss_framework, "bliss_framework.plugin": bliss_framework.plugin}.get(
                    module
                )
                if module not in public or (owner is not None and not hasattr(owner, name)):
                    broken.append(f"{home(path)}: {module}.{name} is not public")
            elif top.startswith("bliss_") and top != own:
                broken.append(f"{home(path)}: {module} is another plugin")
    assert broken == []


def illegal(graph: grimp.ImportGraph) -> bool:
    """Say whether imports break the layers that pyproject.toml lists."""
    layers = [grimp.Layer(name.strip("()")) for name in listed_layers()]
    return bool(graph.find_illegal_dependencies_for_layers(layers=layers, containers={"bliss_framework"}))


def listed_layers() -> list[str]:
    """Return the layers of the import contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = [one for one in contracts if one["type"] == "layers"]
    assert contract["containers"] == ["bliss_framework"]
    assert contract["exhaustive"]
    return list(contract["layers"])


def test_a_console_import_breaks_the_contract_in_every_module() -> None:
    """Whichever module of another room imports the console, the contract of layers is broken; as it is, it is kept."""
    graph = grimp.build_graph("bliss_framework", cache_dir=None)
    assert not illegal(graph)
    above = ("bliss_framework.console", "bliss_framework.__main__")
    others = [name for name in graph.modules if name != "bliss_framework" and not name.startswith(above)]
    assert len(others) > 80
    unnoticed = []
    for name in others:
        graph.add_import(importer=name, imported="bliss_framework.console.options")
        if not illegal(graph):
            unnoticed.append(name)
        graph.remove_import(importer=name, imported="bliss_framework.console.options")
    assert unnoticed == []


def test_every_module_has_a_layer() -> None:
    """A room or a module of the top floor that the contract does not list would be free to import anything."""
    top = {path.stem for path in (ROOT / "bliss_framework").glob("*.py")} - {"__init__"}
    rooms = {path.parent.name for path in (ROOT / "bliss_framework").glob("*/__init__.py")}
    assert top | rooms <= {name.strip("()") for name in listed_layers()}


def test_nothing_but_the_console_prints() -> None:
    """Nothing outside the console writes to the screen."""
    for path in [*FRAMEWORK, *PLUGINS]:
        if home(path).startswith("console/"):
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
