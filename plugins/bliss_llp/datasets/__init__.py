"""Data sets that come with the plugin, and generators of them."""

from bliss_llp.datasets.scikit_learn_sets import (
    load_breast_cancer_bags as load_breast_cancer_bags,
    load_digits_bags as load_digits_bags,
)
