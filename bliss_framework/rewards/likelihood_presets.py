"""What regimes advise whose weak labels have a likelihood, for the reward "weak-likelihood"."""

from typing import Any

from bliss_framework.extension.contracts import Presets

# Chosen on four splits of two real sets for each kind of weak label, and none of those of the results.
DEFAULTS = {
    "reward": "weak-likelihood",
    "n_folds": 3,
    "train_on": "rest",
    "n_inferences": 4,
    "n_rounds": 60,
    "n_first_draws": 10,
    "classifier": {"name": "kernel-ridge", "width": 0.5, "ridge": 1.0},
    "final_classifier": {"name": "svm-rbf", "C": 1.0, "width": 0.5},
    "scaling": "standard",
}


def likelihood_presets(*baselines: str, **defaults: Any) -> Presets:
    """Return what a regime advises that has a method `slopes(chances, part)` for the reward "weak-likelihood".

    Args:
        baselines: names of methods that a run is compared with.
        defaults: over those that did best on most kinds of weak labels.

    >>> likelihood_presets("self-training", n_rounds=20).defaults["n_rounds"]
    20
    """
    return Presets(defaults={**DEFAULTS, **defaults}, control={"final_classifier": "same"}, baselines=tuple(baselines))
