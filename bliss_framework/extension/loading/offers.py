"""From the answers of registration hooks to the offers of the registry: checks, and names that are claimed twice."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import field, frozen

from bliss_framework.extension.contracts import KINDS, Component
from bliss_framework.extension.loading.reports import Refusal, describe
from bliss_framework.extension.names import OWN_DISTRIBUTION, is_component_name, is_own, plural, singular
from bliss_framework.extension.registry import Offer


@frozen
class Complaint:
    """A component whose name somebody else claims too.

    Attributes:
        offer: the component.
        reason: who else claims its name, and what follows.
        remedy: what to do.
    """

    offer: Offer = field()
    reason: str = field()
    remedy: str = field()


def registration_hooks() -> dict[str, str]:
    """Return the name of each hook that offers components, with the kind that it offers.

    >>> registration_hooks()["bliss_strategies"]
    'strategy'
    """
    return {f"bliss_{plural(kind).replace(' ', '')}": kind for kind in KINDS}


def call_hook(hook: str, function: Callable[..., Any], **given: Any) -> list[Any]:
    """Call one implementation of a hook and list its answer.

    Raises:
        Refusal: at "call", where it raises or its answer cannot be listed.
    """
    try:
        answer = function(**given)
        if isinstance(answer, Iterable):
            return list(answer)
    except (Exception, SystemExit) as error:
        raise Refusal("call", f"{hook} raised {describe(error)}") from error
    raise Refusal("call", f"{hook} returned {_thing(answer)}; it must return a list")


def check_components(hook: str, answers: Iterable[Any], seen: set[str]) -> None:
    """Check the answers of a registration hook; `seen` collects the names that the plugin offers under this hook.

    Raises:
        Refusal: at "call", naming the hook and the first answer that is no component with a proper name of its own.
    """
    for one in answers:
        if not isinstance(one, Component):
            raise Refusal("call", f"{hook} offers {_thing(one)}; it must offer Component(name, factory, summary) only")
        if not is_component_name(one.name):
            raise Refusal("call", f"{hook} offers the name {one.name!r}; allowed are {_proper(one.name)}")
        if not callable(one.factory):
            raise Refusal("call", f'the factory of "{one.name}" in {hook} is {_thing(one.factory)}, not a function')
        if one.name in seen:
            raise Refusal("call", f'{hook} offers the name "{one.name}" twice')
        seen.add(one.name)


def settle(offers: Sequence[Offer]) -> tuple[tuple[Offer, ...], tuple[Complaint, ...]]:
    """Find the names that several plugins claim.

    A built-in name stays with the built-in. Between strangers nobody wins: both offers stay, and the registry refuses
    to choose.

    Returns:
        the offers that stay, and a complaint for each stranger's component.
    """
    kept: list[Offer] = []
    complaints: list[Complaint] = []
    for one in offers:
        rivals = [other for other in offers if other is not one and _same_name(one, other)]
        if is_own(one.distribution) or not rivals:
            kept.append(one)
        elif any(is_own(other.distribution) for other in rivals):
            complaints.append(_refused(one))
        else:
            kept.append(one)
            complaints.append(_ambiguous(one, rivals))
    return tuple(kept), tuple(complaints)


def _same_name(one: Offer, other: Offer) -> bool:
    return (one.kind, one.component.name) == (other.kind, other.component.name)


def _refused(offer: Offer) -> Complaint:
    what = f'{singular(offer.kind)} "{offer.component.name}"'
    reason = f"its {what} was refused, because {OWN_DISTRIBUTION} has one of that name and a built-in is never replaced"
    return Complaint(offer, reason, "ask its authors for another name, or use the built-in one")


def _ambiguous(offer: Offer, rivals: Iterable[Offer]) -> Complaint:
    what = f'{singular(offer.kind)} "{offer.component.name}"'
    others = " and by ".join(one.origin() for one in rivals)
    switches = " or ".join(f"--block-plugin {one.plugin}" for one in (offer, *rivals))
    reason = f"its {what} is also offered by {others}, so the name is ambiguous and cannot be used"
    return Complaint(offer, reason, f"{switches}, or pip uninstall one of their distributions")


def _proper(name: object) -> str:
    rule = "lower case words with single hyphens between them"
    words = re.findall(r"[a-z0-9]+", str(name).lower())
    return f'{rule}, such as "{"-".join(words)}"' if words else rule


def _thing(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r}"[:80]
