"""Classes that settings name by an import path: imported from what the user installed, and from nowhere else.

An experiment file comes from anywhere, and importing a module runs it. So the module must belong to an installed
distribution and lie where that was installed; a file beside the experiment, the standard library and whatever else
happens to be importable are refused unless the user names the module.
"""

import json
import re
import site
import sys
import sysconfig
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from importlib.metadata import Distribution, distributions, packages_distributions
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bliss_framework.errors import SettingsError, UnknownNameError
from bliss_framework.extension.naming import normalise
from bliss_framework.faults import is_fault

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_trusted: ContextVar[frozenset[str]] = ContextVar("trusted_modules", default=frozenset())


@contextmanager
def trusting(modules: Collection[str]) -> Iterator[None]:
    """Let settings import these modules, and what is within them, for the length of a with block."""
    token = _trusted.set(_trusted.get() | frozenset(modules))
    try:
        yield
    finally:
        _trusted.reset(token)


def imported_class(path: str) -> type:
    """Return the class that an import path names.

    Args:
        path: such as "sklearn.ensemble.RandomForestClassifier".

    Raises:
        SettingsError: the module belongs to no installed distribution and is not trusted; it was not imported.
        UnknownNameError: there is no such module or class.

    >>> imported_class("sklearn.svm.SVC").__name__
    'SVC'
    >>> imported_class("os.system")
    Traceback (most recent call last):
    bliss_framework.errors.SettingsError: "os.system" is not imported, because the module os belongs to no installed \
distribution, and importing a module runs it. If you know it, allow it by --trust os; in Python, pass an object of the \
class.
    """
    if not _PATH.fullmatch(path) or "__" in path:
        raise UnknownNameError(_unknown(path, "it is no import path"))
    module, _, name = path.rpartition(".")
    top = module.partition(".")[0]
    if not _is_trusted(module) and not _is_installed(top, tuple(sys.path)):
        raise SettingsError(
            f'"{path}" is not imported, because the module {top} belongs to no installed distribution, and importing a '
            f"module runs it. If you know it, allow it by --trust {top}; in Python, pass an object of the class."
        )
    try:
        found = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        if is_fault(error):
            raise
        raise UnknownNameError(_unknown(path, str(error) or type(error).__name__)) from None
    if not isinstance(found, type):
        raise SettingsError(f'"{path}" is no class, so it is no scikit-learn classifier, which has fit and predict.')
    return found


def _unknown(path: str, why: str) -> str:
    return (
        f'"{path}" cannot be imported ({why}). Give the full path of a class, for instance '
        f'"sklearn.ensemble.RandomForestClassifier".'
    )


def _is_trusted(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in _trusted.get())


@lru_cache(maxsize=32)
def _is_installed(top: str, search_path: tuple[str, ...]) -> bool:
    """Say whether a module would be imported from where an installed distribution put it; True where there is none."""
    try:
        spec = find_spec(top)
    except ValueError:
        return False  # A module that was made in this process, such as __main__.
    if spec is None:
        return True
    places = [spec.origin] if spec.has_location and spec.origin else [*(spec.submodule_search_locations or ())]
    files = [Path(place).resolve() for place in places]
    if not files:
        return False  # Built into Python.
    in_site = list(distributions(path=_site_folders()))
    owners = packages_distributions().get(top, [])
    homes = [_home(one) for one in in_site if one.metadata["Name"] in owners]
    homes += [home for one in in_site if (home := _editable(one, top)) is not None]
    return all(any(file.is_relative_to(home) for home in homes) for file in files)


def _site_folders() -> list[str]:
    """Return where packages are installed: a distribution in the current folder is as strange as what is beside it."""
    paths = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return list(dict.fromkeys([*paths, site.getusersitepackages()]))


def _home(distribution: Distribution) -> Path:
    return Path(str(distribution.locate_file(""))).resolve()


def _editable(distribution: Distribution, top: str) -> Path | None:
    """Return the folder of a distribution that is developed there, if a module of this name is its own."""
    try:
        source = json.loads(distribution.read_text("direct_url.json") or "{}")
        if not source.get("dir_info", {}).get("editable"):
            return None
        folder = Path(unquote(urlsplit(source["url"]).path)).resolve()
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    named = {normalise(distribution.metadata["Name"]).replace("-", "_")}
    named |= {entry.value.partition(":")[0].partition(".")[0] for entry in distribution.entry_points}
    return folder if top in named else None
