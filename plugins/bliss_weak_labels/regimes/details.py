"""What `bliss regimes` says of these regimes: what the field calls them, and what a weak label looks like."""

from collections.abc import Mapping
from types import MappingProxyType

from bliss_weak_labels.datasets.real_sets import BINARY, SETS

# Of each kind: a set, and there the test accuracy in percent of BLISS, its control and its best baseline in the mean of
# thirty splits (docs/results/weak-labels.md).
MEASURED: Mapping[str, tuple[str, float, float, float]] = MappingProxyType(
    {
        "partial": ("digits", 97.3, 96.6, 95.6),
        "complementary": ("digits", 87.0, 47.6, 71.7),
        "positive-unlabelled": ("odd digits", 81.4, 51.8, 77.0),
        "unlabelled-unlabelled": ("odd digits", 93.0, 90.3, 91.6),
        "noisy": ("wine", 95.4, 81.5, 66.1),
        "semi-supervised": ("digits", 88.5, 59.9, 79.8),
        "annotators": ("wine", 96.8, 93.3, 88.9),
        "confidences": ("breast cancer", 93.8, 93.7, 95.8),
        "similar": ("odd digits", 96.9, 93.4, 96.3),
        "ordered": ("odd digits", 94.2, 78.3, 93.1),
        "triplets": ("odd digits", 93.0, 66.1, 90.6),
        "intervals": ("odd digits", 95.4, 94.6, 93.3),
    }
)


def _details(called: str, weak_label: str, example: str, kind: str) -> dict[str, str]:
    data_sets = ", ".join(f"{name}-{kind}" for name in SETS[kind in BINARY])
    name, own, control, baseline = MEASURED[kind]
    results = (
        f"On {name} {own:.1f} % of test rows are right, {control:.1f} % without a bandit, {baseline:.1f} % with the "
        f"best baseline (docs/results/weak-labels.md)."
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
