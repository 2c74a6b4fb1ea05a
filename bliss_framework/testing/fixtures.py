"""A pytest fixture for plugin authors; switch it on by `pytest_plugins = ["bliss_framework.testing.fixtures"]`."""

from collections.abc import Callable

import pytest

from bliss_framework.extension.loading.discovery import find_entries
from bliss_framework.extension.loading.plugins import Plugins, load_plugins


@pytest.fixture
def bliss_host() -> Callable[..., Plugins]:
    """Return a function that makes a host with only the named plugins: `bliss_host("mil", "my-plugin")`.

    All others are blocked, so a test does not depend on what else is installed. A named plugin that is broken raises.
    """

    def host(*names: str) -> Plugins:
        others = {found.name for found in find_entries() if found.name not in names}
        plugins = load_plugins(block=others)
        broken = [report.sentence() for report in plugins.reports if report.name in names and report.state == "broken"]
        assert not broken, "\n".join(broken)
        missing = set(names) - {report.name for report in plugins.reports}
        assert not missing, f"no such plugin is installed: {', '.join(sorted(missing))}"
        return plugins

    return host
