"""Data sets that come with the plugin, and generators of them."""

from bliss_multiclass_mil.datasets.handwritten import (
    load_digits_bags as load_digits_bags,
    load_mnist_bags as load_mnist_bags,
)
