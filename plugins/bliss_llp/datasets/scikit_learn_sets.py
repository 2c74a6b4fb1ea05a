"""scikit-learn's breast cancer set and digits in bags, of which the shares of the classes are known."""

from sklearn.datasets import load_breast_cancer, load_digits

from bliss_framework.plugin import WeakDataset
from bliss_llp.datasets.generator import make_llp_bags

BREAST_CANCER_DETAILS = {
    "source": "Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), UCI, 1995",
    "size": "71 bags of 8 or 9 of 569 cell samples, 30 features; options bag_size, bags, bag_seed",
    "licence": "CC BY 4.0",
}


def load_breast_cancer_bags(bag_size: int = 8, bags: str = "random", bag_seed: int = 0) -> WeakDataset:
    """Put the samples of scikit-learn's breast cancer set into bags; class 1 is malignant.

    Args:
        bag_size: the size of bags, to within one.
        bags: "random"; "skewed" for shares that differ strongly; "alike" for shares that do not differ.
        bag_seed: the same seed makes the same bags.

    >>> data = load_breast_cancer_bags()
    >>> data.X.shape, len(data.weak), int(data.instance_labels.sum())
    ((569, 30), 71, 212)
    """
    stored = load_breast_cancer()
    malignant = (stored.target == 0).astype(int)
    names = stored.feature_names.tolist()
    return make_llp_bags(stored.data, malignant, bag_size, bags, bag_seed, "breast-cancer-llp", names)


DIGITS_DETAILS = {
    "source": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits (test part), UCI, 1998",
    "size": "225 bags of 8 or 7 of 1,797 pictures of 8 x 8; options bag_size, bags, bag_seed",
    "licence": "CC BY 4.0",
}


def load_digits_bags(bag_size: int = 8, bags: str = "random", bag_seed: int = 0) -> WeakDataset:
    """Put the pictures of scikit-learn's digits into bags; of each bag the shares of the ten digits are known.

    Args:
        bag_size: the size of bags, to within one.
        bags: "random"; "skewed" for shares that differ strongly; "alike" for shares that do not differ.
        bag_seed: the same seed makes the same bags.

    >>> data = load_digits_bags(bag_size=32)
    >>> data.X.shape, data.weak.shape
    ((1797, 64), (56, 10))
    """
    stored = load_digits()
    return make_llp_bags(stored.data, stored.target, bag_size, bags, bag_seed, "digits-llp")
