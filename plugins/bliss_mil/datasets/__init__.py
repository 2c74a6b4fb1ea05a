"""Data sets that come with the plugin, and generators of them."""

from bliss_mil.datasets.generated import generate_mil as generate_mil
from bliss_mil.datasets.musk1 import load_musk1 as load_musk1
