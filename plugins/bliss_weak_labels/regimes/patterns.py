"""Small bags whose weak label says how the classes of their rows go together: pairs, comparisons, triplets."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from bliss_framework.plugin import BagReading, Bags, DataError, LabelSpace, Part, Presets, WeakLabels
from bliss_weak_labels.likelihood.patterns import best_patterns, pattern_slopes, places_in, rows_by_bag
from bliss_weak_labels.likelihood.presets import presets_with
from bliss_weak_labels.likelihood.regime import LikelihoodRegime
from bliss_weak_labels.regimes.pattern_reading import PatternReading
from bliss_weak_labels.regimes.words import COLLECTIONS, OF_SETS, is_missing

REGIME_OF = {
    "similar": "similar-pairs",
    "dissimilar": "similar-pairs",
    "ordered": "ordered-pairs",
    "nearer": "triplets",
}
OF_LARGE_BAGS = (
    ' For whether a bag holds a positive row use regime="mil", for shares of classes "llp", for the number of positive '
    'rows "count-intervals".'
)


class PatternRegime(LikelihoodRegime):
    """Bags of few rows, of which a word says which classes they can have together; and single rows of known classes.

    A weak label is one of the words of `relations`, or for a bag of one row its class. Some rows must be known, because
    relations alone do not tell which class is which. The order of rows in a bag counts.
    """

    @abstractmethod
    def relations(self, n_classes: int) -> Mapping[str, NDArray[np.float64]]:
        """Return for each word an array with an axis for each row: 1 where classes can stand together so."""

    @property
    def reading(self) -> BagReading:
        """The word of a bag is that under which the classes of its rows are likeliest."""
        return PatternReading(self.relations)

    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Read the word of each bag, or the class of a single row."""
        words = tuple(self.relations(2))
        self._refuse_others(weak, bags)
        named = [one for one, size in zip(weak.tolist(), bags.sizes, strict=True) if size == 1 and one not in words]
        classes = tuple(sorted({one for one in named if not is_missing(one)}, key=lambda one: (str(type(one)), one)))
        if len(classes) < 2:
            raise DataError(
                f"The classes of single rows are {list(classes)}, and two at least must be known: bags of one row with "
                f"a class as weak label. {' and '.join(map(repr, words))} alone do not tell which class is which."
            )
        return self.check_test(weak, bags, (*classes, *words))

    def _refuse_others(self, weak: NDArray[Any], bags: Bags) -> None:
        """Refuse weak labels that are no words, bags that are too large, and words of another of these regimes."""
        most = max(one.ndim for one in self.relations(2).values())
        for bag, value, size in zip(bags.ids.tolist(), weak.tolist(), bags.sizes.tolist(), strict=True):
            said = f"Bag {bag!r} of {size} row(s) has the weak label {value!r}"
            if isinstance(value, COLLECTIONS | dict):
                hint = OF_SETS if size == 1 and isinstance(value, set | frozenset) else ""
                raise DataError(f"{said}, and a bag has one word, or a class.{hint}")
            if value in REGIME_OF and value not in self.relations(2):
                raise DataError(f'{said}, which is a word of regime="{REGIME_OF[value]}".')
            if size > most:
                raise DataError(f"{said}, and a bag has {most} rows at most here.{OF_LARGE_BAGS}")

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Read words and classes of training."""
        words = tuple(self.relations(2))
        n_classes = len(classes) - len(words)
        sizes = [1] * n_classes + [one.ndim for one in self.relations(2).values()]
        codes = np.empty(bags.n_bags, dtype=np.intp)
        for bag, (value, size) in enumerate(zip(weak.tolist(), bags.sizes.tolist(), strict=True)):
            if value not in classes or sizes[classes.index(value)] != size:
                raise DataError(
                    f"Bag {bags.ids.tolist()[bag]!r} of {size} row(s) has the weak label {value!r}; allowed are "
                    + ", ".join(f"{one!r} ({rows})" for one, rows in zip(classes, sizes, strict=True))
                    + ", with the number of rows in brackets."
                )
            codes[bag] = classes.index(value)
        return WeakLabels(codes, classes[:n_classes], of_rows=places_in(bags), bag_classes=classes)

    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Leave rows of known class that class, and the others all of them."""
        n_classes = len(weak.classes)
        codes = bags.spread(weak.values)
        candidates = (codes >= n_classes)[:, None] | (codes[:, None] == np.arange(n_classes))
        return LabelSpace(candidates, np.arange(n_classes))

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Let rows of known class count more, the more others there are: all that tells the classes apart is in them.

        A row counts sqrt(others / known) times; else the classes of single folds come out the other way round.
        """
        known = bags.spread(weak.values) < len(weak.classes)
        others = max(int((~known).sum()), 1)
        weights = np.where(known, max(1.0, np.sqrt(others / max(int(known.sum()), 1))), 1.0)
        return weights / weights.mean()

    def slopes(self, chances: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Return the slope of the log-chance that the classes of a bag stand together as its word says."""
        found = np.zeros_like(chances)
        for rows, allowed in self._bags_by_word(part):
            found[rows] = pattern_slopes(chances, rows, allowed)
        return found

    def constraint(self) -> Any:
        """Assign the rows of a bag classes that can stand together as its word says."""
        return self._best

    def _best(self, bounds: NDArray[np.float64], part: Part) -> NDArray[np.intp]:
        assignment = part.space.known.copy()
        for rows, allowed in self._bags_by_word(part):
            assignment[rows] = best_patterns(bounds, rows, allowed)
        return np.where(part.space.free, assignment, part.space.known)

    def _bags_by_word(self, part: Part) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        n_classes = len(part.weak.classes)
        patterns = [*np.eye(n_classes), *self.relations(n_classes).values()]
        for code in np.unique(part.weak.values):
            bags = np.flatnonzero((part.weak.values == code) & (part.bags.sizes > 0))
            if len(bags):
                yield rows_by_bag(part.bags, part.weak.of_rows, bags), patterns[code]


@frozen
class SimilarPairs(PatternRegime):
    """Bags of two rows that are "similar" (of one class) or "dissimilar", and some rows of known class.

    Source: Hsu et al., Multi-class classification without multi-class labels, ICLR 2019.
    """

    def relations(self, n_classes: int) -> Mapping[str, NDArray[np.float64]]:
        """Allow equal or different classes."""
        equal = np.eye(n_classes)
        return {"similar": equal, "dissimilar": 1 - equal}


@frozen
class OrderedPairs(PatternRegime):
    """Bags of two rows whose first is at least as high as the second, and some rows of known class.

    The weak label of a pair is "ordered". For two classes: the first is positive, or both are negative, the "pairwise
    comparisons" of Feng et al., ICML 2021; for more they are ordinal, in sorted order.
    """

    presets: ClassVar[Presets] = presets_with("pairwise-comparison-risk")

    def relations(self, n_classes: int) -> Mapping[str, NDArray[np.float64]]:
        """Allow a first class that is not below the second."""
        return {"ordered": np.tri(n_classes)}


@frozen
class Triplets(PatternRegime):
    """Bags of three rows whose first is more like the second than like the third, and some rows of known class.

    The weak label of three is "nearer". Only first and third of one class and the second of another are excluded.
    Source: Cui et al., Classification from triplet comparison data, Neural Computation 2020.
    """

    def relations(self, n_classes: int) -> Mapping[str, NDArray[np.float64]]:
        """Exclude that the first is of the class of the third and not of that of the second."""
        equal = np.eye(n_classes)
        return {"nearer": 1 - equal[:, None, :] * (1 - equal)[:, :, None]}
