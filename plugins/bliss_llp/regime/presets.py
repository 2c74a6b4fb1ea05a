"""What LLP advises: of many settings tried on four sets with bags of 8 to 64, the best in the mean."""

from bliss_framework.plugin import Case, Presets, When

PRESETS = Presets(
    defaults={
        "reward": "llp-marginal",
        "n_folds": 3,
        "train_on": "rest",
        "n_inferences": 4,
        "n_rounds": 80,
        "n_first_draws": 10,
        "classifier": {"name": "kernel-ridge", "width": 0.25, "ridge": 1.0},
        "final_classifier": {"name": "svm-rbf", "C": 1.0, "width": 0.25},
        "scaling": "standard",
    },
    grid={"classifier.width": (0.1, 0.25, 0.5)},
    paper={"reward": "llp"},
    baselines=("proportion-matching", "mean-map"),
    # What instances inherit are shares, and a control that learns from those is the stronger one.
    control={"final_classifier": "same"},
    cases=(
        # Labels inferred in small bags are nearly all right, and then least squares on soft labels does better in the
        # end than a support vector machine, which is better at wrong ones.
        Case(When(bag_size_at_most=4.5), defaults={"final_classifier": "same"}),
        Case(When(sparse=True), defaults={"scaling": "auto"}),
    ),
)
