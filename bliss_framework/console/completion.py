"""What the shell offers for a word that is begun: names of data sets, of files, of components and of plugins.

Nothing may be printed here, and nothing may fail: the shell waits for one line for each completion.
"""

import os
from collections.abc import Callable, Iterable
from glob import escape, glob
from typing import Any

Complete = Callable[[Any, Any, str], list[str]]
KINDS = {"final_classifier": "classifier"}  # Parameters that are called otherwise than what they are.
WORDS = {"final_classifier": ("same",)}  # What may stand there beside names of components.


def sources(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Complete the name of a data set, or of a file."""
    return [*_beginning(incomplete, _dataset_names()), *_files(incomplete)]


def datasets(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Complete the name of a data set."""
    return _beginning(incomplete, _dataset_names())


def components(parameter: str) -> Complete:
    """Return what completes the name of a component of a parameter, such as "reward"."""

    def complete(ctx: Any, param: Any, incomplete: str) -> list[str]:
        names = _registry_names(KINDS.get(parameter, parameter))
        return _beginning(incomplete, [*names, *WORDS.get(parameter, ())])

    return complete


def methods(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Complete the last of several methods with commas between them."""
    before, comma, last = incomplete.rpartition(",")
    names = ("bliss", "no-bandit", *_registry_names("baseline"))
    return [f"{before}{comma}{name}" for name in _beginning(last, names)]


def plugins(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Complete the name of a plugin or of a component."""
    from bliss_framework.extension.loading.plugins import load_plugins

    reports = _quietly(lambda: load_plugins().reports) or ()
    names = [name for one in reports for name in (one.name, *(part.name for _, part in one.components))]
    return _beginning(incomplete, dict.fromkeys(names))


def _dataset_names() -> list[str]:
    from bliss_framework.extension.loading.plugins import load_plugins
    from bliss_framework.runs.data.find import available_datasets, default_data_dirs

    def names() -> list[str]:
        return [one.name for one in available_datasets(load_plugins().registry, default_data_dirs([], os.environ))]

    return _quietly(names) or []


def _registry_names(kind: str) -> list[str]:
    from bliss_framework.extension.loading.plugins import load_plugins

    return _quietly(lambda: list(load_plugins().registry.names(kind))) or []


def _quietly(work: Callable[[], Any]) -> Any:
    """Return what some work gives, None where it fails: a broken plugin must not break the shell."""
    try:
        return work()
    except Exception:
        return None


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str) -> list[str]:
    found = sorted(glob(f"{escape(os.path.expanduser(incomplete))}*"))
    return [f"{path}/" if os.path.isdir(path) else path for path in found]
