"""Words for classes: spellings of one value, and which of two words means positive."""

import numpy as np
import pytest

from bliss_framework.kernel.words import class_array, plain_value, positions_of, senses_of


@pytest.mark.parametrize(
    ("values", "classes", "places"),
    [
        ([0, 1], (0, 1), [0, 1]),
        ([True, False], (0, 1), [1, 0]),
        (["1", "0"], (0, 1), [1, 0]),
        ([1.0, -1.0], (-1, 1), [1, 0]),
        ([np.int64(2), np.float32(1)], ("1", "2"), [1, 0]),
        (["True", "false"], (False, True), [1, 0]),
        ([" Yes", "NO"], ("no", "yes"), [1, 0]),
        (["dog"], ("cat", "dog"), [1]),
        (["b", "B"], ("B", "b"), [1, 0]),
        (["007"], ("7", "007"), [1]),
        ([1, "negative"], ("negative", 1, 2), [1, 0]),
        ([0, 1], (-1, 1), None),
        ([2], (0, 1), None),
        (["cat", "emu"], ("cat", "dog"), None),
        (["cAT"], ("cat", "Cat"), None),
        ([7.0], ("7", "007"), None),
        (["nan"], (0, 1), None),
        (["1_0"], (1, 10), None),
    ],
)
def test_places_of_values(values, classes, places):
    """A value is a class as it is, in another spelling, or in other case; never where two classes would be the same."""
    found = positions_of(values, classes)
    assert found == (None if places is None else dict(zip(values, places, strict=True)))


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        (1, 0),
        (1, -1),
        (1.0, 0.0),
        ("1", "0"),
        (True, False),
        ("True", "False"),
        ("yes", "no"),
        (" Yes ", "NO"),
        ("y", "n"),
        ("t", "f"),
        ("+", "-"),
        ("pos", "neg"),
        ("positive", "negative"),
        ("Tumor", "normal"),
        ("tumour", "Normal"),
        ("cancer", "normal"),
        ("malignant", "benign"),
        ("active", "inactive"),
        ("abnormal", "normal"),
        ("present", "absent"),
        ("diseased", "healthy"),
        ("case", "control"),
        ("musk", "non-musk"),
        ("musk", "Non_Musk"),
        ("fox", "not fox"),
        ("fox", "no fox"),
    ],
)
def test_pairs_that_everybody_knows(positive, negative):
    """Of these words the first means positive, in whatever order they are found."""
    assert senses_of([positive, negative]) == senses_of([negative, positive]) == {positive: 1, negative: 0}


@pytest.mark.parametrize(
    "values", [["cat", "dog"], [1, 2], [0, 2], [0, 255], ["normal", "control"], ["yes", "false"], [0.5, 1]]
)
def test_other_pairs_say_nothing(values):
    """Other pairs of values do not tell which one is positive."""
    assert senses_of(values) is None
    assert senses_of([*values, "x"]) is None


def test_one_word_alone():
    """A word that stands on one side of all its pairs has that sense alone, too."""
    assert [senses_of([word]) for word in ("benign", -1, 0, 1, "yes", True)] == [
        {"benign": 0},
        {-1: 0},
        {0: 0},
        {1: 1},
        {"yes": 1},
        {True: 1},
    ]
    assert senses_of(["cat"]) is None


def test_plain_values_of_text():
    """Text that is no finite number stays text, without blanks around it."""
    assert [plain_value(text) for text in ("inf", "nan", " a b ", "1e3", "-0.5")] == ["inf", "nan", "a b", 1000, -0.5]


def test_arrays_of_classes_keep_each_class():
    """Numbers stay numbers beside text; classes of one kind make the array that numpy makes."""
    mixed = class_array(("negative", 1, 2))
    assert (mixed.dtype, mixed.tolist()) == (object, ["negative", 1, 2])
    assert class_array(("a", "b")).dtype == np.asarray(("a", "b")).dtype
    assert class_array((-1, 1)).dtype == np.asarray((-1, 1)).dtype
