"""The documentation names everything that exists, and its Python runs."""

import importlib.util
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import attrs
import click
import pytest

import bliss_framework
from bliss_framework import BlissClassifier, errors
from bliss_framework.console.app import bliss
from bliss_framework.extension import contracts, hookspecs
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.plugin import resolve
from bliss_framework.runs.settings.experiment_file import read_experiments

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    """Read a reference page."""
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_every_hook_and_argument_is_documented() -> None:
    """docs/reference/hooks.md lists each hook with its arguments."""
    text = page("hooks.md")
    for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
        if name.startswith("bliss_"):
            assert f"`{name}({', '.join(inspect.signature(hook).parameters)})`" in text


def test_generated_pages_are_up_to_date() -> None:
    """Pages of hooks and contracts, and tables of settings, are what `python docs/generate_reference.py` writes."""
    spec = importlib.util.spec_from_file_location("generate_reference", ROOT / "docs" / "generate_reference.py")
    assert spec
    assert spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    for path, text in generator.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date"


def public_contracts() -> list[type]:
    """Return the contracts and records that `bliss_framework.extension.contracts` gives authors."""
    package = contracts.__name__
    found = [one for _, one in inspect.getmembers(contracts, inspect.isclass) if one.__module__.startswith(package)]
    assert {"Reward", "Regime", "BagReading", "Presets"} <= {one.__name__ for one in found}
    return found


def test_every_contract_method_is_documented() -> None:
    """docs/reference/contracts.md names each contract and record, and each of their public methods and attributes."""
    text = page("contracts.md")
    missing = []
    for contract in public_contracts():
        fields = [one.name for one in attrs.fields(contract)] if attrs.has(contract) else []
        own = [*vars(contract), *getattr(contract, "__annotations__", ()), *fields]
        names = [contract.__name__, *(name for name in dict.fromkeys(own) if not name.startswith("_"))]
        missing += [f"{contract.__name__}: {name}" for name in names if not re.search(rf"`{name}\b", text)]
    assert missing == []


def test_every_public_name_is_documented() -> None:
    """Every name that `bliss_framework` exports is in the documentation."""
    everything = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
    missing = [name for name in bliss_framework.__all__ if not re.search(rf"\b{name}\b", everything)]
    assert missing == ["__version__"] or missing == []


def test_every_error_is_documented() -> None:
    """docs/reference/errors.md names each error and warning."""
    text = page("errors.md")
    for name, _ in inspect.getmembers(errors, inspect.isclass):
        assert f"`{name}`" in text, name


def test_every_option_and_parameter_is_documented() -> None:
    """docs/reference/settings.md names each parameter of BlissClassifier and each option of the commands."""
    text = page("settings.md")
    for parameter in inspect.signature(BlissClassifier).parameters:
        assert f"`{parameter}`" in text, parameter
    for command in bliss.commands.values():
        for option in command.params:
            if not isinstance(option, click.Option):
                continue
            name = option.opts[0]
            assert f"`{name}`" in text or f"`{name.removeprefix('--').replace('-', '_')}`" in text, name


def test_every_component_is_documented() -> None:
    """Each built-in component is named in the README's table, but for baselines and data sets, of which some are."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    own = [one for one in default_plugins().registry.registrations if one.distribution == "bliss-framework"]
    for one in own:
        if one.kind not in ("baseline", "dataset") and one.component.name != "sklearn":
            assert f"`{one.component.name}`" in text, one.component.name
    named = re.findall(r"`([\w-]+)`", "\n".join(re.findall(r"^\| (?:baseline|data set) \|.*$", text, re.MULTILINE)))
    assert {one.component.name for one in own} >= set(named)
    assert f"baseline | {sum(one.kind == 'baseline' for one in own)} of them" in text


def python_blocks(path: Path) -> list[str]:
    """Return the Python code blocks of a page."""
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


# tests/integration follows the tutorials line by line.
RUNNABLE = [p for p in DOCS if python_blocks(p) and "examples" not in p.parts and p.parent.name != "tutorial"]
RUNNABLE.append(ROOT / "docs" / "tutorial" / "first-run.md")


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_python_of_the_documentation_runs(path: Path) -> None:
    """Every Python block of a page runs as written, one after the other."""
    namespace: dict[str, object] = {"__name__": "page"}
    for block in python_blocks(path):
        exec(compile(block, str(path), "exec"), namespace)


def console_commands() -> list[str]:
    """Return the command lines of `bliss` in the console blocks of all pages."""
    blocks = [re.findall(r"```console\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL) for path in DOCS]
    lines = [line.removeprefix("$ ") for found in blocks for block in found for line in block.splitlines()]
    return sorted({line for line in lines if line.startswith("bliss ")})


@pytest.mark.parametrize("line", console_commands())
def test_commands_of_the_documentation_are_understood(line: str) -> None:
    """Commands, options and their values are those that there are; most need files of the reader's own to run."""
    name, *words = shlex.split(line, comments=True)[1:]
    assert bliss.commands[name].make_context(name, words)


def test_links_lead_somewhere() -> None:
    """Every relative link of the documentation and of the README points at a file."""
    for path in [*DOCS, *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


# What a plugin of the reader's own is made of is not in this repository.
OWN_CODE = [p for p in DOCS if p.parts[-2] in ("explanation", "reference")]


@pytest.mark.parametrize("path", OWN_CODE, ids=lambda path: path.stem)
def test_files_of_the_code_are_there(path: Path) -> None:
    """Every Python file that a page names is where the page says, in the framework, its plugins or the repository."""
    named = re.findall(r"`([\w/]+\.py)`", path.read_text(encoding="utf-8"))
    homes = [ROOT / "bliss_framework", ROOT / "plugins", ROOT / "plugins" / "bliss_detection", ROOT]
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Links, anchors, and every name whose docstring is drawn in."""
    pytest.importorskip("mkdocstrings", reason="needs the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    text = (tmp_path / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    assert 'id="bliss_framework.estimator.bliss_classifier.BlissClassifier.fit"' in text


def test_the_citation_is_of_this_version() -> None:
    """CITATION.cff and the package agree; PyYAML is no dependency, so the line is read as text."""
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {bliss_framework.__version__}" in lines


def test_every_page_is_in_the_table_of_contents() -> None:
    """`mkdocs.yml` leads to every page, and to nothing that is not there."""
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md") if path.parts[-2] != "experiments"}
    pages = {page for page in pages if not page.startswith("examples/")}
    listed = re.findall(
        r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("row", ["linear-paper", "features-paper"])
def test_rows_of_the_paper_let_assignments_leave_out_labels(row: str) -> None:
    """The regime's own defaults keep every label, so a row that is the paper's has to say otherwise."""
    rows = read_experiments(ROOT / "docs" / "experiments" / "mnist-multiclass-mil.toml").rows
    (own,) = [one for one in rows if one.name == row]
    assert own.bliss["regime"]["assignments"] == "free"


@pytest.mark.parametrize("regime", ["mil", "llp", "multiclass-mil"])
def test_what_runs_say_of_bags_was_measured(regime):
    """Every figure that a built-in regime says of a kind of bags stands on its page of results."""
    measured = (ROOT / "docs" / "results" / f"{regime}.md").read_text()
    figures = [one for kind in resolve("regime", regime).presets.kinds for one in re.findall(r"\d+\.\d", kind.advice)]
    assert figures
    assert [one for one in figures if one not in measured] == []
