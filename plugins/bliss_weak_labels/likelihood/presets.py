"""What these regimes advise: chosen on four splits of two sets for each kind, and none of those of the results."""

from attrs import evolve

from bliss_framework.plugin import Presets

PRESETS = Presets(
    defaults={
        "reward": "weak-likelihood",
        "n_folds": 3,
        "train_on": "rest",
        "n_inferences": 4,
        "n_rounds": 60,
        "n_first_draws": 10,
        "classifier": {"name": "kernel-ridge", "width": 0.5, "ridge": 1.0},
        "final_classifier": {"name": "svm-rbf", "C": 1.0, "width": 0.5},
        "scaling": "standard",
        "relabel_rounds": 30,
    },
    control={"final_classifier": "same"},
    baselines=("weak-label-em",),
)


def presets_with(*baselines: str, **defaults: object) -> Presets:
    """Return the same with other defaults, and baselines before the one of all kinds."""
    return evolve(PRESETS, defaults={**PRESETS.defaults, **defaults}, baselines=(*baselines, *PRESETS.baselines))
