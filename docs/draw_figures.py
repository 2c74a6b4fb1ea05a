"""Draws the figures of docs/explanation: `python docs/draw_figures.py`. Needs the extra `report`; takes a minute."""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from bliss_framework import infer_labels, load_plugins

FIGURES = Path(__file__).parent / "explanation" / "figures"
ROUNDS = (1, 2, 4, 8, 15, 30, 60)
DATA = {"n_bags": 60, "bag_size": 10, "shift": 2.5}  # About one witness in each positive bag.
REWARDS = {"mil": "the paper's reward", "mil-marginal": "the default, mil-marginal"}
BLUE, ORANGE, GREY = "#2b6cb0", "#c05621", "#718096"
STYLE = {"svg.hashsalt": "bliss", "svg.fonttype": "path", "font.size": 9, "axes.spines.top": False}
STYLE |= {"axes.spines.right": False, "savefig.facecolor": "white"}
LABELS = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])  # Of the drawn assignment.
WITNESSES = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


def main() -> None:
    """Draw all of them."""
    with plt.style.context(STYLE):
        _save(draw_pull(), "pull")
        _save(draw_means(), "means")
    draw_output()


def _save(figure: Any, name: str) -> None:
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def draw_pull() -> Any:
    """Draw one pull: an assignment of labels, a classifier, held-out bags, and the reward that goes back."""
    figure, axes = plt.subplots(figsize=(8.4, 2.7), layout="constrained")
    axes.set(xlim=(0, 17.6), ylim=(0, 5.8))
    axes.axis("off")
    _bags(axes, 0.2, LABELS, "a label assignment\nfor bags + + - -")
    _box(axes, 5.5, "any classifier,\ntrained on it")
    _bags(axes, 9.2, WITNESSES, "what it predicts in\nheld-out bags + + - -")
    _box(axes, 14.8, "reward: are their\nweak labels met?")
    for start, end in ((4.3, 5.3), (8.0, 9.0), (13.4, 14.6)):
        _arrow(axes, (start, 2.7), (end, 2.7))
    axes.plot([16.0, 16.0, 2.1], [1.9, 0.5, 0.5], color=GREY, lw=1.0)
    _arrow(axes, (2.1, 0.5), (2.1, 1.25))
    axes.text(9.0, 0.75, "the means of the arms, from which the next assignment is chosen", ha="center", color=GREY)
    return figure


def _bags(axes: Any, left: float, labels: NDArray[np.intp], title: str) -> None:
    for bag, row in enumerate(labels):
        x, y = left + 2.1 * (bag % 2), 3.0 - 1.55 * (bag // 2)
        axes.add_patch(FancyBboxPatch((x, y), 1.7, 1.0, boxstyle="round,pad=0.1", facecolor="none", edgecolor=GREY))
        for place, label in enumerate(row):
            axes.plot(x + 0.25 + 0.4 * place, y + 0.5, "o", ms=7, color=ORANGE if label else BLUE)
    axes.text(left + 1.9, 4.75, title, ha="center")


def _box(axes: Any, left: float, text: str) -> None:
    axes.add_patch(FancyBboxPatch((left, 2.1), 2.3, 1.2, boxstyle="round,pad=0.1", facecolor="#edf2f7", edgecolor=GREY))
    axes.text(left + 1.15, 2.7, text, ha="center", va="center", fontsize=8)


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], way: str = "arc3") -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=GREY, connectionstyle=way))


def draw_means() -> Any:
    """Draw how far 1 leads 0 for instances of positive bags, by the number of rounds, with two rewards."""
    data = load_plugins().registry.create("dataset", {"name": "generated-mil", **DATA})
    positive = data.weak[np.unique(data.bags, return_inverse=True)[1]] == 1
    witness = positive & (data.instance_labels == 1)
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained", sharex=True)
    for axes, (reward, title) in zip(panels, REWARDS.items(), strict=True):
        leads = []
        for n_rounds in ROUNDS:
            found = infer_labels(data.X, data.weak, data.bags, n_rounds=n_rounds, reward=reward, random_state=0)
            leads.append(found.means[:, 1] - found.means[:, 0])
        for which, colour, name in ((witness, ORANGE, "witnesses"), (positive & ~witness, BLUE, "other instances")):
            quartiles = np.array([np.percentile(lead[which], (25, 50, 75)) for lead in leads])
            axes.fill_between(ROUNDS, quartiles[:, 0], quartiles[:, 2], color=colour, alpha=0.2, lw=0)
            axes.plot(ROUNDS, quartiles[:, 1], "o-", color=colour, ms=4, label=name)
        axes.axhline(0.0, color=GREY, lw=0.8)
        axes.set(xlabel="rounds", ylabel="mean reward, 1 less 0", title=title)
    panels[1].legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.3))
    return figure


def draw_output() -> None:
    """Draw what a run with folds prints, for the front of the repository."""
    shown = "bliss run musk1 --cv 10 --n-jobs 2"
    environ = {**os.environ, "COLUMNS": "100", "FORCE_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "bliss_framework", *shown.split()[1:], "--output", "musk1-run"]
        ended = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, check=True)
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(f"$ {shown}", highlight=False)
    console.print(Text.from_ansi(ended.stdout))
    svg = console.export_svg(title="bliss", unique_id="run")
    # The font would be fetched from elsewhere; any of fixed width will do.
    (FIGURES / "run.svg").write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
