"""One row for each bag: its mean, or its smallest and largest values; sparse rows stay sparse."""

from typing import Any

from bliss_framework.plugin import Bags, Rows


def bag_means(rows: Any, bags: Bags) -> Any:
    """Average each bag: (n, d) -> (B, d), array or CSR matrix."""
    return Rows(rows).bag_means(bags).array


def bag_extremes(rows: Any, bags: Bags) -> Any:
    """Put the smallest and the largest value of each column side by side: (n, d) -> (B, 2 d), array or CSR matrix."""
    return Rows(rows).bag_extremes(bags).array
