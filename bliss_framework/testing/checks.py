"""Checks, examples, and how a list of checks becomes a verdict."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts import Regime


@frozen(eq=False)
class Check:
    """One thing that a component must do, under a name.

    Attributes:
        name: in words, with hyphens.
        function: raises if the component fails.
    """

    name: str = field()
    function: Callable[[], None] = field()

    def __call__(self) -> None:
        """Run the check; an exception is a failure."""
        self.function()

    def __str__(self) -> str:
        return self.name


@frozen(eq=False)
class Example:
    """A small data set that a regime understands.

    Attributes:
        regime: what the weak labels mean.
        X: (n, d) rows.
        bags: (n,) bag ids; at least eight bags, of several sizes, one of them of a single instance.
        weak: (B, ...) weak label of each bag, in order of first appearance.
    """

    regime: Regime = field()
    X: NDArray[Any] = field()
    bags: NDArray[Any] = field()
    weak: Any = field()


def verify(what: Any, checks: Iterable[Check], expected_failures: Mapping[str, str] | None = None) -> None:
    """Run checks and report every failure at once.

    A class that cannot keep a promise says so in its attribute `expected_failures`, which `bliss plugins --check` finds
    there too.

    Args:
        what: the component.
        checks: to run.
        expected_failures: names of further checks that are known to fail, each with the reason.

    Raises:
        AssertionError: listing what failed, what was expected to fail and did not, and names that are no checks.
    """
    checks = list(checks)
    expected = {**getattr(type(what), "expected_failures", {}), **(expected_failures or {})}
    problems = [f'there is no check "{name}"' for name in expected if name not in {check.name for check in checks}]
    for check in checks:
        failure = _failure(check)
        if failure is not None and check.name not in expected:
            problems.append(f"{check.name}: {failure}")
        if failure is None and check.name in expected:
            problems.append(f"{check.name}: passes, but is declared as an expected failure ({expected[check.name]})")
    if problems:
        raise AssertionError(
            f"{type(what).__name__} fails {len(problems)} of {len(checks)} checks:\n  " + "\n  ".join(problems)
        )


def _failure(check: Check) -> str | None:
    try:
        check()
    except KeyboardInterrupt:
        raise
    except AssertionError as error:
        return str(error) or "assertion failed"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None
