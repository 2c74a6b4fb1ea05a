"""Charts of a report, each as the text of an SVG element."""

import io
from collections.abc import Sequence
from typing import Any

from bliss_framework.report.extra import needed

WIDTH, ROW = 6.4, 0.34  # Inches.
DOT, OTHER, BAR = "#b3261e", "#3b5b92", "#7d93b8"


def methods_chart(names: Sequence[str], means: Sequence[float], sds: Sequence[float], label: str) -> str:
    """Draw the mean of each method as a dot with its deviation, the first method in another colour.

    Args:
        names: of the methods, from top to bottom.
        means: of each.
        sds: of each.
        label: of the axis.
    """
    figure, axes = _figure(1.0 + ROW * len(names))
    places = list(range(len(names)))
    colours = [DOT, *[OTHER] * (len(names) - 1)]
    spans = [(mean - sd, mean + sd) for mean, sd in zip(means, sds, strict=True)]
    axes.hlines(places, *zip(*spans, strict=True), colors=colours)
    axes.scatter(means, places, c=colours)
    axes.set_yticks(places, names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel(label, parse_math=False)
    axes.grid(axis="x", alpha=0.3)
    return _svg(figure)


def confidence_chart(confidences: Sequence[float]) -> str:
    """Draw how many instances have which confidence.

    Args:
        confidences: of the instances whose label was inferred.
    """
    figure, axes = _figure(2.4)
    axes.hist(confidences, bins=30, color=BAR)
    axes.set_xlabel("confidence")
    axes.set_ylabel("instances")
    return _svg(figure)


def _figure(height: float) -> tuple[Any, Any]:
    figure = needed("matplotlib.figure").Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    """Write a figure so that the same figure gives the same text."""
    text = io.StringIO()
    with needed("matplotlib").rc_context({"svg.hashsalt": "bliss", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
