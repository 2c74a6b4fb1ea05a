"""Whose code an exception comes from: of all calls that it passed through, the innermost in a package of a plugin.

Host and plugins call one another in many places. Where each of these calls were guarded by itself, one would be
forgotten; a traceback forgets none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path
from traceback import walk_tb
from types import FrameType

from attrs import field, frozen

from bliss_framework.errors import BlissError, PluginError
from bliss_framework.extension.loading.isolation import describe
from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.extension.loading.reports import PluginReport
from bliss_framework.extension.naming import is_own, normalise
from bliss_framework.faults import is_fault, is_lost_worker


@frozen(eq=False)
class Culprit:
    """A plugin whose code raised.

    Attributes:
        report: of the plugin.
        component: (kind, name) of the component whose method it was, or None.
        place: the function, its file and line.
    """

    report: PluginReport = field()
    component: tuple[str, str] | None = field()
    place: str = field()

    def sentence(self, error: BaseException) -> str:
        """Say whose code raised what, where, and who can mend it."""
        origin = self.report.origin
        who = origin if self.component is None else f'{self.component[0]} "{self.component[1]}" of {origin}'
        told = f"Tell the authors of {self.report.distribution}."
        return f"{who[0].upper()}{who[1:]} broke in {self.place}: {describe(error)}. {told}"


@contextmanager
def naming_plugins(plugins: Callable[[], Plugins]) -> Iterator[None]:
    """Turn what code of a third party's plugin raises in a with block into an error that names the plugin.

    Ctrl-C, faults of the machine and errors that name somebody already come through, and so does what no plugin raised.

    Args:
        plugins: returns those that are active; asked where something was raised.

    Raises:
        PluginError: with what was raised as its cause, and its notes.
    """
    try:
        yield
    except (BlissError, KeyboardInterrupt):
        raise
    except BaseException as error:  # A plugin that calls sys.exit must not end a run without a word.
        culprit = culprit_of(error, plugins())
        if culprit is None:
            raise
        named = PluginError(culprit.sentence(error))
        for note in getattr(error, "__notes__", ()):
            named.add_note(note)
        raise named from error


def culprit_of(error: BaseException, plugins: Plugins) -> Culprit | None:
    """Return the plugin whose code raised an exception, or None where it was nobody's or that of the host."""
    if is_fault(error) or is_lost_worker(error):
        return None
    strangers = [one for one in plugins.reports if not is_own(one.distribution)]
    if not strangers:
        return None
    shipped = _shipped()
    reports = {package: one for one in strangers for package in _packages(one, shipped)}
    calls = [(frame, line, reports.get(_package(frame))) for frame, line in walk_tb(error.__traceback__)]
    report = next((whose for _, _, whose in reversed(calls) if whose is not None), None)
    if report is None:
        return None
    own = [(frame, line) for frame, line, whose in reversed(calls) if whose is report]
    return Culprit(report, _component([frame for frame, _ in own], report), _place(own))


def _shipped() -> dict[str, set[str]]:
    """Return the top-level packages that each distribution installed, by its normalised name."""
    try:
        owners = packages_distributions()
    except Exception:
        return {}  # Some other distribution may have metadata that cannot be read.
    shipped: dict[str, set[str]] = {}
    for package, distributions in owners.items():
        for one in distributions:
            shipped.setdefault(normalise(one), set()).add(package)
    return shipped


def _packages(report: PluginReport, shipped: Mapping[str, set[str]]) -> set[str]:
    """Return the packages of a plugin's distribution, that of its entry point among them."""
    return {*shipped.get(normalise(report.distribution), ()), report.module.partition(".")[0]} - {""}


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _component(calls: Sequence[FrameType], report: PluginReport) -> tuple[str, str] | None:
    """Return the innermost component of which a method was called."""
    for call in calls:
        of = call.f_locals.get("self")
        for kind, component in report.components:
            if isinstance(component.factory, type) and isinstance(of, component.factory):
                return kind, component.name
    return None


def _place(calls: Sequence[tuple[FrameType, int]]) -> str:
    """Name the innermost call that stands in a file: code that was made at run time has none."""
    in_files = [(call.f_code, line) for call, line in calls if Path(call.f_code.co_filename).suffix == ".py"]
    code, line = in_files[0] if in_files else (calls[0][0].f_code, calls[0][1])
    return f"{code.co_qualname} ({Path(code.co_filename).name}, line {line})"
