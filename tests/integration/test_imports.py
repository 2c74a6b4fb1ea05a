"""Every module can be imported first."""

import pkgutil
import subprocess
import sys
import tomllib

import pytest

import bliss_framework

DRIVER = """
import builtins, functools, gc, importlib, sys
from importlib.machinery import SourceFileLoader

# What others wrote is imported once, so that only our modules are imported again and again.
for name in ("numpy", "scipy.sparse", "scipy.special", "sklearn.svm", "sklearn.linear_model", "sklearn.metrics",
             "joblib", "pluggy", "attrs", "rich.progress", "rich.table", "rich_click", "skops.io", "tomli_w"):
    importlib.import_module(name)
gc.freeze()  # The collector need not look at that each time.
# A module is compiled once, and run each time.
SourceFileLoader.get_code = functools.cache(SourceFileLoader.get_code)
builtins.compile = functools.cache(compile)
for name in sys.stdin.read().split():
    for ours in [one for one in sys.modules if one.startswith("bliss")]:
        del sys.modules[ours]
    try:
        importlib.import_module(name)
    except BaseException as error:
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
"""


@pytest.fixture(scope="module")
def packages(root):
    """The names of the packages of the wheel."""
    project = tomllib.loads((root / "pyproject.toml").read_text())
    return [path.rpartition("/")[2] for path in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]


def modules(packages):
    """List the modules of our packages; what runs when it is imported is left out, and so is what templates hold."""
    found = []
    for package in packages:
        path = __import__(package).__path__
        walked = pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None)
        found += [package, *(one.name for one in walked if not one.name.endswith("__main__"))]
    return [name for name in found if not name.startswith("bliss_templates.")]


def test_every_module_imports_alone(packages):
    """A module that needs another one to be imported before it would break for the first user who starts with it."""
    names = modules(packages)
    assert len(names) > 60
    done = subprocess.run(
        [sys.executable, "-c", DRIVER], input="\n".join(names), capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_package_does_no_work(packages):
    """`import bliss_framework` loads neither numpy nor a plugin, and finds its names on first use."""
    code = (
        "import sys, bliss_framework; print(*sorted(sys.modules)); bliss_framework.Bags; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded, needed = done.stdout.splitlines()
    unwanted = {"numpy", "sklearn", "pluggy", *packages} - {"bliss_framework"}
    assert unwanted.isdisjoint(name.partition(".")[0] for name in loaded.split())
    assert needed == "True"
    assert "BlissClassifier" in dir(bliss_framework)
