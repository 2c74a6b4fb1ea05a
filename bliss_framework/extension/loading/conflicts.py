"""Component names that several plugins register: a built-in is never replaced, and two third parties lose both."""

from collections.abc import Iterable, Sequence

from attrs import field, frozen

from bliss_framework.extension.naming import OWN_DISTRIBUTION, is_own, singular
from bliss_framework.extension.registry import Registration


@frozen
class Conflict:
    """A third party's component whose name somebody else has registered, too.

    Attributes:
        registration: of the component.
        reason: who else has the name, and what follows.
        hint: what to do.
    """

    registration: Registration = field()
    reason: str = field()
    hint: str = field()


def settle(registrations: Sequence[Registration]) -> tuple[tuple[Registration, ...], tuple[Conflict, ...]]:
    """Find the names that several plugins register.

    A built-in name stays with the built-in. Between third parties nobody wins: both registrations stay, and the
    registry refuses to choose.

    Returns:
        the registrations that stay, and a conflict for each third-party component.
    """
    kept: list[Registration] = []
    conflicts: list[Conflict] = []
    for one in registrations:
        others = [other for other in registrations if other is not one and _same_name(one, other)]
        if is_own(one.distribution) or not others:
            kept.append(one)
        elif any(is_own(other.distribution) for other in others):
            conflicts.append(_refused(one))
        else:
            kept.append(one)
            conflicts.append(_ambiguous(one, others))
    return tuple(kept), tuple(conflicts)


def _same_name(one: Registration, other: Registration) -> bool:
    return (one.kind, one.component.name) == (other.kind, other.component.name)


def _refused(one: Registration) -> Conflict:
    what = f'{singular(one.kind)} "{one.component.name}"'
    reason = f"its {what} was refused, because {OWN_DISTRIBUTION} has one of that name and a built-in is never replaced"
    return Conflict(one, reason, "ask its authors for another name, or use the built-in one")


def _ambiguous(one: Registration, others: Iterable[Registration]) -> Conflict:
    what = f'{singular(one.kind)} "{one.component.name}"'
    owners = " and by ".join(other.origin() for other in others)
    switches = " or ".join(f"--block-plugin {other.plugin}" for other in (one, *others))
    reason = f"its {what} is also registered by {owners}, so the name is ambiguous and cannot be used"
    return Conflict(one, reason, f"{switches}, or pip uninstall one of their distributions")
