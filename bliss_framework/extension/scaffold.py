"""`bliss new`: a complete distribution from a template, by plain replacement of {{tokens}}."""

import importlib.util
import keyword
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from importlib.resources import files
from pathlib import Path

from attrs import field, frozen

from bliss_framework.errors import FileError, SettingsError
from bliss_framework.extension.naming import OBSERVER, SCAFFOLDS, is_component_name, normalise, plural
from bliss_framework.extension.registry import Registry
from bliss_framework.faults import in_words
from bliss_framework.version import __version__

TEMPLATES = "bliss_templates"
OWN_HOOKS = ("dataset", "regime", OBSERVER)  # Kinds with a hook module of another form.
LICENCES = ("BSD-3-Clause", "MIT", "none")
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
SUMMARIES = {
    "reward": "F measure of recall and precision near each instance",
    "regime": "A bag is positive if it holds at least a number of positive instances",
    "strategy": "Thompson sampling: a draw from the posterior mean of each arm",
    "classifier": "Nearest centroid: the label whose mean is nearest",
    "reader": "JSON lines, one bag a line",
    "baseline": "Logistic regression on the minimum and maximum of each feature in a bag",
    "pipeline": "Generated bags, labels that are inferred, and how many of them are right",
    "dataset": "Bags of normal rows, of which every second bag holds one that is shifted",
    "observer": "Says how good the labels of each fold are",
}


@frozen
class Blueprint:
    """What is to be made.

    Attributes:
        kind: one of SCAFFOLDS.
        name: of the component, which is also that of the distribution.
        folder: where the new folder goes.
        summary: one line.
        author: for pyproject and licence.
        licence: one of LICENCES.
    """

    kind: str = field()
    name: str = field()
    folder: Path = field()
    summary: str = field()
    author: str = field(default="The author")
    licence: str = field(default="BSD-3-Clause")

    @property
    def target(self) -> Path:
        """The folder that is made."""
        return self.folder / self.name

    @property
    def package(self) -> str:
        """The name of the Python package."""
        return self.name.replace("-", "_")


def check_blueprint(blueprint: Blueprint, registry: Registry) -> None:
    """Refuse what cannot be made, before anything is written.

    Raises:
        SettingsError: naming the rule that is broken.
    """
    if blueprint.kind not in SCAFFOLDS:
        raise SettingsError(f"A plugin can be made of the kinds {', '.join(SCAFFOLDS)}; not {blueprint.kind!r}.")
    if blueprint.licence not in LICENCES:
        raise SettingsError(f"The licence must be one of {', '.join(LICENCES)}; got {blueprint.licence!r}.")
    for what, text in (("summary", blueprint.summary), ("author", blueprint.author)):
        if not text.strip() or any(c in text for c in '"\\\n\r') or not _is_utf8(text):
            raise SettingsError(f"The {what} must be one line of text without quotes and backslashes; got {text!r}.")
    _check_name(blueprint)
    if blueprint.kind != OBSERVER and blueprint.name in registry.names(blueprint.kind):
        owner = registry.registration(blueprint.kind, blueprint.name).origin()
        raise SettingsError(f'There is a {blueprint.kind} "{blueprint.name}" already, {owner}; choose another name.')
    if blueprint.name in {name for one in registry.registrations for name in (one.plugin, normalise(one.distribution))}:
        raise SettingsError(f'A plugin "{blueprint.name}" is installed already; choose another name.')
    if os.path.lexists(blueprint.target):
        raise SettingsError(f"{blueprint.target} exists already; choose another name or folder.")


def _is_utf8(text: str) -> bool:
    """Say whether a text can be written to a file; what was no UTF-8 on the command line cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check_name(blueprint: Blueprint) -> None:
    name = blueprint.name
    if not is_component_name(name) or not name[0].isalpha():
        raise SettingsError(
            f"A name is lower case letters, digits and single hyphens, starting with a letter; got {name!r}."
            f"{_suggestion(name)}"
        )
    if keyword.iskeyword(blueprint.package):
        raise SettingsError(f'"{name}" is a keyword of Python, so its package could not be imported; choose another.')
    if name in RESERVED:
        raise SettingsError(f'"{name}" cannot be the name of a folder on Windows; choose another.')
    if blueprint.package in sys.stdlib_module_names or importlib.util.find_spec(blueprint.package) is not None:
        raise SettingsError(f'"{blueprint.package}" would shadow a module that is there already; choose another.')


def _suggestion(name: str) -> str:
    normalised = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f' Did you mean "{normalised}"?' if is_component_name(normalised) and normalised[0].isalpha() else ""


def scaffold(blueprint: Blueprint, registry: Registry) -> list[Path]:
    """Write a complete distribution: package, hook module, component, tests, README, licence, CI file.

    Returns:
        The files that were written.

    Raises:
        SettingsError: before anything is written, if it cannot be made.
        FileError: it cannot be written there; nothing is left of it.
    """
    check_blueprint(blueprint, registry)
    rendered = list(render(blueprint))
    made = [one for one in (blueprint.folder, *blueprint.folder.parents) if not one.exists()]
    partial = blueprint.folder / f".{blueprint.name}.{os.getpid()}.part"
    try:
        for path, text in rendered:
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_text(text, encoding="utf-8")
        partial.rename(blueprint.target)
    except OSError as error:
        raise FileError(in_words(error, blueprint.target, "cannot be written")) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):
            for one in made:
                one.rmdir()
    return [blueprint.target / path for path, _ in rendered]


def render(blueprint: Blueprint) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file."""
    tokens = _tokens(blueprint)
    package, module = blueprint.package, tokens["module"]
    yield "pyproject.toml", _template_text("common/pyproject.toml", tokens)
    yield "README.md", _template_text("common/README.md", tokens)
    yield ".gitignore", _template_text("common/gitignore", tokens)
    yield ".github/workflows/test.yml", _template_text("common/test.yml", tokens)
    yield f"{package}/__init__.py", _template_text("common/init.py", tokens)
    hooks = blueprint.kind if blueprint.kind in OWN_HOOKS else "common"
    yield f"{package}/hooks.py", _template_text(f"{hooks}/hooks.py", tokens)
    yield f"{package}/{module}.py", _template_text(f"{blueprint.kind}/component.py", tokens)
    yield f"tests/test_{package}.py", _template_text(f"{blueprint.kind}/test.py", tokens)
    if blueprint.licence != "none":
        yield "LICENSE", _template_text(f"licences/{blueprint.licence}", tokens)


def _tokens(blueprint: Blueprint) -> dict[str, str]:
    licence = blueprint.licence
    kind = blueprint.kind
    return {
        "name": blueprint.name,
        "distribution": blueprint.name,
        "package": blueprint.package,
        "module": kind,
        "class": made_by(blueprint),
        "kind": kind,
        "plural": plural(kind).replace(" ", ""),
        "summary": blueprint.summary.strip(),
        "author": blueprint.author.strip(),
        "year": str(date.today().year),
        "host_version": __version__,
        "next_host": next_breaking(__version__),
        "licence_lines": "" if licence == "none" else f'license = "{licence}"\nlicense-files = ["LICENSE"]\n',
        "extra_dependencies": ', "scikit-learn>=1.8"' if kind in ("classifier", "baseline") else "",
        "use": how_to_use(kind, blueprint.name),
        "used": "told of every run" if kind == OBSERVER else f"used by the name `{blueprint.name}`",
        "Article": "An" if kind[0] in "aeiou" else "A",
    }


def next_breaking(version: str) -> str:
    """Return the version that may break what works with another one.

    >>> next_breaking("0.1.0"), next_breaking("2.3.1")
    ('0.2', '3')
    """
    major, minor, *_ = (int(part) for part in version.split(".")[:2])
    return f"0.{minor + 1}" if major == 0 else str(major + 1)


def made_by(blueprint: Blueprint) -> str:
    """Return what the component is made by: a class, or a function that returns a data set."""
    if blueprint.kind == "dataset":
        return "load"
    return "".join(word.capitalize() for word in blueprint.name.split("-"))


def how_to_use(kind: str, name: str) -> str:
    """Return the command that runs a component of a kind by name."""
    if kind == "reader":
        return "bliss run bags.jsonl --n-folds 2"
    if kind in ("dataset", "pipeline"):
        return f"bliss run {name}"
    if kind == OBSERVER:
        return "bliss run musk1"
    if kind == "baseline":
        return f"bliss compare musk1 --methods bliss,{name}"
    return f"bliss run musk1 --{kind} {name}"


def _template_text(template: str, tokens: dict[str, str]) -> str:
    text = files(TEMPLATES).joinpath(f"{template}.tmpl").read_text(encoding="utf-8")
    for token, value in tokens.items():
        text = text.replace("{{" + token + "}}", value)
    return text
