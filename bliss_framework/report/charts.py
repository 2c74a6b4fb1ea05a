"""Charts of a report, each as the text of an SVG element whose colours follow those of the page."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.report.extra import needed

WIDTH, ROW = 6.4, 0.34  # Inches.
INK, GRID = "#1c1f25", "#c6ccd7"
SERIES = ("#b3261f", "#3b5b93", "#2e7d33", "#8a5a00", "#6a3fa1", "#00707a", "#a03070", "#5c6370")
# What is drawn in a colour is shown in that of the page, which knows of dark screens and of paper.
VARIABLES = {INK: "--ink", GRID: "--line", **{colour: f"--c{n}" for n, colour in enumerate(SERIES)}}
DASHES = ("-", "--", "-.", ":")  # Lines differ in more than colour.
MOST_DOTS = 1000  # Beyond, dots are one picture: a page of a million shapes opens nowhere.
Line = tuple[str, NDArray[np.float64], NDArray[np.float64]]  # Its name, its x and its y.


@frozen(eq=False)
class Dot:
    """A figure with its interval, each on the scale of the axis."""

    name: str = field()
    value: float = field()
    low: float = field()
    high: float = field()


@frozen(eq=False)
class Frame:
    """The axes of a chart: names, and the scale, which does not depend on what is drawn where ends are given."""

    x: str = field()
    y: str = field(default="")
    x_ends: tuple[float, float] | None = field(default=None)
    y_ends: tuple[float, float] | None = field(default=None)
    diagonal: bool = field(default=False)


def dots_chart(dots: Sequence[Dot], frame: Frame, every: int = 0) -> str:
    """Draw figures one below the other with their intervals.

    Args:
        dots: from top to bottom.
        frame: its scale.
        every: so many dots from one in another colour to the next, of which the first is one; 0 for none.
    """
    with _figure(0.8 + ROW * len(dots)) as (figure, (axes,)):
        places = list(range(len(dots)))
        colours = [SERIES[0] if every and place % every == 0 else SERIES[1] for place in places]
        axes.hlines(places, [dot.low for dot in dots], [dot.high for dot in dots], colors=colours, linewidth=2)
        axes.scatter([dot.value for dot in dots], places, c=colours, zorder=3)
        axes.set_yticks(places, [dot.name for dot in dots], parse_math=False)
        axes.set_ylim(len(dots) - 0.4, -0.6)
        _dress(axes, frame)
        return _svg(figure)


def lines_chart(panels: Sequence[tuple[Frame, Sequence[Line]]], legend: bool = True) -> str:
    """Draw lines, in one or more panels side by side."""
    with _figure(3.4 + 0.12 * len(panels[0][1]), len(panels)) as (figure, all_axes):
        for axes, (frame, lines) in zip(all_axes, panels, strict=True):
            for number, (name, x, y) in enumerate(lines):
                style = DASHES[number % len(DASHES)]
                axes.plot(x, y, style, color=SERIES[number % len(SERIES)], label=name, linewidth=1.8)
            _dress(axes, frame)
        if legend:
            _legend(figure, all_axes[0])
        return _svg(figure)


def histogram(groups: Mapping[str, Sequence[float]], frame: Frame, bins: int = 30) -> str:
    """Draw how many values lie where, those of each group in a colour and a hatch of its own."""
    with _figure(2.6) as (figure, (axes,)):
        everything = np.concatenate([np.asarray(values, dtype=np.float64) for values in groups.values()])
        span = frame.x_ends or (float(everything.min()), float(everything.max()))
        edges = np.linspace(*(span if span[0] < span[1] else (span[0] - 0.5, span[1] + 0.5)), bins + 1)
        for number, (name, values) in enumerate(groups.items()):
            colour = SERIES[(1, 0)[number] if number < 2 else number]
            hatch = ("", "///", "...")[number % 3]
            axes.hist(values, edges, color=colour, alpha=0.6, label=name, hatch=hatch, edgecolor=colour)
        _dress(axes, frame)
        if len(groups) > 1:
            _legend(figure, axes)
        return _svg(figure)


def scatter(groups: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], frame: Frame) -> str:
    """Draw the points of each group in a colour and a shape of its own."""
    with _figure(4.6) as (figure, (axes,)):
        for number, (name, (x, y)) in enumerate(groups.items()):
            shape, colour = "osD^vPX*"[number % 8], SERIES[number % len(SERIES)]
            axes.scatter(x, y, s=22, marker=shape, alpha=0.7, color=colour, label=name, rasterized=len(x) > MOST_DOTS)
        _dress(axes, frame)
        axes.set_aspect("equal")
        _legend(figure, axes)
        return _svg(figure)


def bars_chart(names: Sequence[str], stacks: Mapping[str, Sequence[float]], frame: Frame) -> str:
    """Draw a bar for each name, made of several parts one behind the other.

    Args:
        names: from top to bottom.
        stacks: the lengths of each part, by its name.
        frame: its scale.
    """
    with _figure(1.1 + ROW * len(names)) as (figure, (axes,)):
        places, start = np.arange(len(names)), np.zeros(len(names))
        for number, (name, lengths) in enumerate(stacks.items()):
            colour, hatch = SERIES[(2, 3, 0)[number % 3]], ("", "///", "xxx")[number % 3]
            axes.barh(places, lengths, left=start, label=name, color=colour, alpha=0.75, hatch=hatch, edgecolor=INK)
            start = start + np.asarray(lengths)
        axes.set_yticks(places, names, parse_math=False)
        axes.set_ylim(len(names) - 0.4, -0.6)
        _dress(axes, frame)
        _legend(figure, axes)
        return _svg(figure)


def maps_chart(maps: Sequence[tuple[str, NDArray[np.float64]]], label: str) -> str:
    """Draw dots where they lie, coloured by a value, in panels of their own with one scale of colours.

    Args:
        maps: the title of each panel, and (n, 3) x, y and value.
        label: of the values.
    """
    columns = min(3, len(maps))
    rows = -(-len(maps) // columns)
    values = np.concatenate([points[:, 2] for _, points in maps])
    with _figure(2.1 * rows + 0.5, columns, rows) as (figure, all_axes):
        drawn = None
        for axes in all_axes[len(maps) :]:
            axes.set_visible(False)
        for axes, (title, points) in zip(all_axes, maps, strict=False):
            size = float(np.clip(4000 / max(len(points), 1), 1, 60))
            drawn = axes.scatter(
                *points[:, :2].T, c=points[:, 2], s=size, marker="s", cmap="viridis", rasterized=True,
                vmin=values.min(), vmax=max(values.max(), values.min() + 1e-9),
            )  # fmt: skip
            axes.set_title(title, fontsize=9, parse_math=False)
            axes.set_aspect("equal", adjustable="datalim")
            axes.invert_yaxis()  # Pictures have their origin at the top.
            axes.set_xticks([])
            axes.set_yticks([])
        figure.colorbar(drawn, ax=all_axes, shrink=0.7, label=label)
        return _svg(figure)


@contextmanager
def _figure(height: float, columns: int = 1, rows: int = 1) -> Iterator[tuple[Any, list[Any]]]:
    """Make a figure with panels, and draw on it with the colours of the page."""
    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    settings = {**dict.fromkeys(inked, INK), "grid.color": GRID, "legend.labelcolor": INK, "hatch.linewidth": 0.6}
    # Text is text, and the same figure gives the same file.
    settings |= {"svg.hashsalt": "bliss", "svg.fonttype": "none", "font.size": 11, "legend.frameon": False}
    make = needed("matplotlib.figure").Figure
    with needed("matplotlib").rc_context(settings):
        figure = make(figsize=(WIDTH, height), layout="constrained", facecolor="none")
        yield figure, list(figure.subplots(rows, columns, squeeze=False, subplot_kw={"facecolor": "none"}).ravel())


def _dress(axes: Any, frame: Frame) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x" if not frame.y else "both", alpha=0.7)
    axes.set_xlabel(frame.x, parse_math=False)
    axes.set_ylabel(frame.y, parse_math=False)
    # A little room, so that what lies on an end is not cut.
    for ends, put in ((frame.x_ends, axes.set_xlim), (frame.y_ends, axes.set_ylim)):
        if ends is not None:
            room = 0.02 * (ends[1] - ends[0])
            put(ends[0] - room, ends[1] + room)
    if frame.diagonal:
        axes.plot([0, 1], [0, 1], linestyle=":", color=INK, linewidth=1, transform=axes.transAxes)


def _legend(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    longest = max(map(len, labels), default=0)
    legend = figure.legend(handles, labels, loc="outside lower left", ncols=1 if longest > 30 else 3, fontsize=9)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _svg(figure: Any) -> str:
    text = io.StringIO()
    # `savefig` draws each figure twice, and that is most of the time of a report.
    needed("matplotlib.backends.backend_svg").FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg ", '<svg aria-hidden="true" ', 1)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg
