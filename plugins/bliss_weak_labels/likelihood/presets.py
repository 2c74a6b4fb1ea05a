"""What these regimes advise."""

from typing import Any

from bliss_framework.plugin import Presets, likelihood_presets

GENERAL = "weak-label-em"  # The baseline of all kinds.


def presets_with(*baselines: str, **defaults: Any) -> Presets:
    """Return presets with 30 rounds of relabelling and a general baseline, but for what is given."""
    return likelihood_presets(*baselines, GENERAL, **{"relabel_rounds": 30, **defaults})


PRESETS = presets_with()
