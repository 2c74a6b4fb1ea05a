"""True and predicted classes in the words of others: read once as positions in the classes of the training data.

Labels of instances often come out of another file than those of bags, in other words: 0/1 beside -1/1, booleans beside
"yes" and "no". What can mean one thing only is read so; anything else is refused with both alphabets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import DataError, PluginError
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.words import listed_words, plain_value, positions_of, senses_of

UNKNOWN = -1


@frozen(eq=False)
class Alphabet:
    """The classes of a problem, and what is known of them.

    Attributes:
        classes: the user's own value of each class.
        bag_words: the words in which bags are labelled.
        binary: whether class 1 is the positive one of two.
        negative_first: whether class 0 is that of instances without a label.
    """

    classes: tuple[Any, ...] = field()
    bag_words: tuple[Any, ...] = field()
    binary: bool = field()
    negative_first: bool = field()

    @classmethod
    def of(cls, weak: WeakLabels, regime: Regime) -> "Alphabet":
        """Take the classes of weak labels that a regime has read."""
        return cls(weak.classes, weak.bag_words, regime.binary, regime.reading.class_0_is_negative)

    def places_of(self, values: Sequence[Any]) -> tuple[dict[Any, int], bool] | None:
        """Find the class of each of some different values.

        Returns:
            The positions of their classes, and whether they are other words for them; None where a value can mean no
            class, or might mean several.
        """
        own = positions_of(values, self.classes)
        if own is not None:
            return own, False
        other = self._by_sense(values) or self._beside_zero(values) or self._by_number(values)
        return None if other is None else (other, True)

    def _by_sense(self, values: Sequence[Any]) -> dict[Any, int] | None:
        """Read words for positive and negative, where there are two classes and one of them is positive."""
        senses = senses_of(values) if len(self.classes) == 2 else None
        known = senses_of(self.classes)
        if senses is None or (known is not None and known[self.classes[1]] != 1):
            return None  # Where "no" is the positive class, nobody knows what 1 means.
        # Without a positive class numbers are places in the user's order, and words are a guess.
        numeric = all(isinstance(plain_value(value), int) for value in values)
        return senses if self.binary or numeric else None

    def _beside_zero(self, values: Sequence[Any]) -> dict[Any, int] | None:
        """Read 0 as the negative class beside the names of labels."""
        if not self.negative_first:
            return None
        zeros = [value for value in values if plain_value(value) == 0]
        others = positions_of([value for value in values if plain_value(value) != 0], self.classes)
        return None if others is None or not zeros else {**others, **dict.fromkeys(zeros, 0)}

    def _by_number(self, values: Sequence[Any]) -> dict[Any, int] | None:
        """Read whole numbers as places in a list of names."""
        numbers = {value: plain_value(value) for value in values}
        named = all(isinstance(plain_value(one), str) for one in self.classes)
        if (
            not named
            or len(self.classes) < 3
            or any(number not in range(len(self.classes)) for number in numbers.values())
        ):
            return None
        return numbers


def true_classes(labels: Any, alphabet: Alphabet, origin: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Read the true classes of instances.

    Args:
        labels: (n,) in any words; None, NaN and empty text are missing.
        alphabet: the classes.
        origin: of the data, for messages.

    Returns:
        (n,) positions in the classes, -1 where the class is not known, and a sentence for each thing that was
        understood but not said.

    Raises:
        DataError: a label is none of the classes, with both alphabets.
    """
    values = np.asarray(labels).tolist()
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    named = list(dict.fromkeys(value for value, lacks in zip(values, missing, strict=True) if not lacks))
    found = alphabet.places_of(named)
    if found is None:
        raise DataError(_mismatch(values, named, alphabet, origin))
    places, translated = found
    nothing = 0 if alphabet.negative_first else UNKNOWN
    codes = [nothing if lacks else places[value] for value, lacks in zip(values, missing, strict=True)]
    notes = [_translation(places, alphabet, origin)] if translated else []
    if missing.any():
        notes.append(_about_missing(int(missing.sum()), len(values), alphabet, origin))
    return np.array(codes, dtype=np.intp), tuple(notes)


def predicted_classes(predicted: Any, alphabet: Alphabet, method: str) -> NDArray[np.intp]:
    """Read what a method predicts of instances as `true_classes` reads what is known of them: (n,) positions.

    Raises:
        PluginError: the method predicts what is no class.
    """
    values = np.asarray(predicted).tolist()
    distinct = list(dict.fromkeys(values))
    found = alphabet.places_of(distinct)
    if found is None:
        raise PluginError(
            f"The method {method!r} predicted the instance labels {listed_words(distinct)}, but the classes are "
            f"{listed_words(alphabet.classes)}. Tell its authors."
        )
    return np.array([found[0][value] for value in values], dtype=np.intp)


def _is_missing(value: Any) -> bool:
    # The comparisons of pandas' NA are neither true nor false.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value != value) or (isinstance(value, str) and not value.strip())


def _mismatch(values: Sequence[Any], named: Sequence[Any], alphabet: Alphabet, origin: str) -> str:
    strange = [value for value in named if positions_of([value], alphabet.classes) is None] or list(named)
    first = values.index(strange[0])
    words = "" if alphabet.bag_words == alphabet.classes else f" (bags: {listed_words(alphabet.bag_words)})"
    return (
        f"{origin} has the instance labels {listed_words(named)}, and the classes are "
        f"{listed_words(alphabet.classes)}{words}: {strange[0]!r} (row {first}; {values.count(strange[0])} of "
        f"{len(values)} rows) is none of them. Write both in the same words, or leave the instance labels out; they "
        f"only serve to evaluate."
    )


def _translation(places: Mapping[Any, int], alphabet: Alphabet, origin: str) -> str:
    read = ", ".join(f"{value!r} as {alphabet.classes[place]!r}" for value, place in places.items())
    return f"{origin} has instance labels in other words than the classes; {read} was read."


def _about_missing(n_missing: int, n: int, alphabet: Alphabet, origin: str) -> str:
    if alphabet.negative_first:
        return f"{origin} has no instance label in {n_missing} of {n} rows; they count as {alphabet.classes[0]!r}."
    return f"{origin} has no instance label in {n_missing} of {n} rows; they are left out of the figures of instances."
