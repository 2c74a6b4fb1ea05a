"""What this plugin registers."""

from bliss_bandits.cucb import Cucb
from bliss_bandits.kl_ucb import KlUcb
from bliss_framework.plugin import Component, hookimpl


@hookimpl
def bliss_strategies() -> list[Component]:
    """Register CUCB and KL-UCB."""
    return [
        Component("cucb", Cucb, "Combinatorial upper confidence bound, the paper's strategy"),
        Component("kl-ucb", KlUcb, "Kullback-Leibler upper confidence bound, tighter near 0 and 1"),
    ]
