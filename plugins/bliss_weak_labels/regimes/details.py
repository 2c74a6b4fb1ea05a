"""What `bliss regimes` says of these regimes: what the field calls them, and what a weak label looks like."""

from collections.abc import Mapping
from types import MappingProxyType

from bliss_weak_labels.datasets.real_sets import BINARY, SETS

# Of each kind: a set, and there the test accuracy in percent of BLISS, its control and its best baseline in the mean of
# ten splits (docs/explanation/weak-labels.md).
MEASURED: Mapping[str, tuple[str, float, float, float]] = MappingProxyType(
    {
        "partial": ("digits", 97.2, 96.7, 95.6),
        "complementary": ("digits", 85.9, 46.6, 71.0),
        "positive-unlabelled": ("odd digits", 82.8, 52.1, 77.4),
        "unlabelled-unlabelled": ("odd digits", 92.6, 89.6, 91.1),
        "noisy": ("wine", 98.1, 82.2, 69.1),
        "semi-supervised": ("digits", 87.1, 60.2, 80.4),
        "annotators": ("wine", 98.1, 94.1, 89.8),
        "confidences": ("breast cancer", 94.0, 93.9, 96.0),
        "similar": ("odd digits", 96.6, 96.2, 96.1),
        "ordered": ("odd digits", 94.4, 79.5, 93.0),
        "triplets": ("odd digits", 93.7, 71.4, 91.1),
        "intervals": ("odd digits", 95.1, 94.4, 92.6),
    }
)


def _details(called: str, weak_label: str, example: str, kind: str) -> dict[str, str]:
    data_sets = ", ".join(f"{name}-{kind}" for name in SETS[kind in BINARY])
    name, own, control, baseline = MEASURED[kind]
    results = (
        f"On {name} {own:.1f} % of test rows are right, {control:.1f} % without a bandit, {baseline:.1f} % with the "
        f"best baseline (docs/explanation/weak-labels.md)."
    )
    return {
        "called": called,
        "weak label": weak_label,
        "example": example,
        "data sets": data_sets,
        "results": results,
    }


DETAILS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "partial-labels": _details(
            "partial-label learning, superset learning, candidate labels",
            "the set of classes that are possible",
            '{"cat", "dog"}',
            "partial",
        ),
        "complementary-labels": _details(
            "complementary-label learning, negative labels",
            "a class that the row is not of, or a set of them",
            '{"dog"}',
            "complementary",
        ),
        "positive-unlabelled": _details(
            "PU learning, one-class learning with unlabelled data",
            "1 where the row is known to be positive, 0 where nothing is known",
            "1",
            "positive-unlabelled",
        ),
        "unlabelled-unlabelled": _details(
            "UU learning, learning from two unlabelled sets",
            "the name of one of two sets",
            '"ward A"',
            "unlabelled-unlabelled",
        ),
        "noisy-labels": _details(
            "learning with label noise, noisy labels, class-conditional noise",
            "a class that may be wrong",
            '"cat"',
            "noisy",
        ),
        "semi-supervised": _details(
            "semi-supervised learning, few labels",
            "the class, or None where it is not known",
            '"cat"',
            "semi-supervised",
        ),
        "several-annotators": _details(
            "crowdsourcing, learning from crowds, multiple annotators",
            "a class from each annotator, or None",
            '["cat", None, "dog"]',
            "annotators",
        ),
        "positive-confidences": _details(
            "Pconf learning, learning from positive-confidence data",
            "the chance that such a row is positive, or None for a row of which nothing is known",
            "0.8",
            "confidences",
        ),
        "similar-pairs": _details(
            "similar and dissimilar pairs (SU, SD learning), must-link and cannot-link",
            '"similar" or "dissimilar" for two rows, the class for a single row',
            '"similar"',
            "similar",
        ),
        "ordered-pairs": _details(
            "pairwise comparisons (Pcomp), learning from preferences",
            '"ordered" for two rows, the class for a single row',
            '"ordered"',
            "ordered",
        ),
        "triplets": _details(
            "triplet comparisons, relative similarity",
            '"nearer" for three rows, the class for a single row',
            '"nearer"',
            "triplets",
        ),
        "count-intervals": _details(
            "count bounds, graded bags, ordinal bag labels",
            "the smallest and the largest number of positives, or a grade that stands for them",
            "[1, 3]",
            "intervals",
        ),
    }
)
