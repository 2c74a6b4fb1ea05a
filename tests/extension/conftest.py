"""Small real distributions on `sys.path`, written for one test and forgotten after it."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bliss_framework.extension.loading.plugins import load_plugins
from bliss_framework.extension.loading.reports import PluginReport

HEAD = "from bliss_framework import Component, hookimpl\n"
REGISTERING = """
@hookimpl
def {hook}():
    return [Component("{name}", dict, "Made for a test")]
"""


class Site:
    """A place to install distributions; the last one installed is the first on the path."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.count = 0

    def dist(
        self,
        name: str,
        entry_points: str | bytes,
        modules: Mapping[str, str] | None = None,
        version: str = "1.0",
        metadata: str | None = None,
    ) -> Path:
        """Install a distribution.

        Entry points without a section header belong to our group; modules begin with the imports of any plugin.
        """
        self.count += 1
        root = self.folder / f"site{self.count}"
        info = root / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        if metadata is None:
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        if metadata:
            (info / "METADATA").write_text(metadata, encoding="utf-8")
        if isinstance(entry_points, str):
            headed = entry_points if "[" in entry_points else f"[bliss_framework]\n{entry_points}\n"
            entry_points = headed.encode()
        (info / "entry_points.txt").write_bytes(entry_points)
        for module, source in (modules or {}).items():
            (root / f"{module}.py").write_text(HEAD + source, encoding="utf-8")
        self.monkeypatch.syspath_prepend(root)
        return root

    def registering(self, distribution: str, plugin: str, hook: str, name: str, version: str = "1.0") -> None:
        """Install a healthy distribution with one plugin that registers one component."""
        module = f"{distribution}_{plugin}".replace("-", "_")
        source = REGISTERING.format(hook=hook, name=name)
        self.dist(distribution, f"{plugin} = {module}", {module: source}, version)

    def plugin(self, source: str, value: str = "odd_hooks") -> None:
        """Install the plugin "odd" of the distribution "bliss-odd" 0.3, whose module `odd_hooks` has this source."""
        self.dist("bliss-odd", f"odd = {value}", {"odd_hooks": source}, version="0.3")

    def judge(self, source: str, value: str = "odd_hooks") -> PluginReport:
        """Install the plugin "odd", load all plugins, and return its report."""
        self.plugin(source, value)
        return self.report("odd")

    def report(self, name: str, **options: Any) -> PluginReport:
        """Load all plugins and return the report on the one with this name."""
        (report,) = [one for one in load_plugins(**options).reports if one.name == name]
        return report


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An installation without built-in plugins: an empty `bliss-framework` hides the real one, if there is one."""
    monkeypatch.delenv("BLISS_BLOCK_PLUGINS", raising=False)
    place = Site(tmp_path, monkeypatch)
    place.dist("bliss-framework", "[bliss_framework]\n")
    yield place
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
