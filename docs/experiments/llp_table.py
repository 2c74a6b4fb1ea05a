"""Draw the runs of llp.toml: a table and a picture with one panel for each set, accuracy against the size of bags.

    python docs/experiments/llp_table.py RUNS_DIR TABLES.md PICTURE.svg

RUNS_DIR holds the run directories of the rows, `SET-SIZE`. The picture needs the extra `report`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (2, 4, 8, 16, 32, 64)
CEILING = 1
SIX = ("wdbc", "heart-scale", "australian", "ionosphere", "pima", "a1a")
DRAWN = ("bliss", "no-bandit", "proportion-matching", "alter-psvm-linear", "mean-map")

Accuracies = dict[tuple[str, str, int], list[float]]


def read(folder: Path) -> Accuracies:
    """Read the test accuracies of instances by method, set and size of bags."""
    found: Accuracies = {}
    for path in sorted(folder.rglob("result.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        name, _, size = document["name"].rpartition("-")
        for method, evaluation in methods_of(document["evaluation"]):
            found[method, name, int(size)] = [
                100 * one for one in evaluation["instance_accuracy"]["test"]["overall"]["runs"]
            ]
    return found


def methods_of(evaluation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the evaluation of BLISS and of each baseline."""
    yield "bliss", evaluation
    for row in evaluation["baselines"]:
        yield row["name"], row


def table(found: Accuracies, sets: tuple[str, ...], sizes: tuple[int, ...]) -> list[str]:
    """Return the lines of a Markdown table: the mean over sets, and the deviation of that mean over splits."""
    lines = ["| method | " + " | ".join(map(str, sizes)) + " | mean |", "| --- " * (len(sizes) + 2) + "|"]
    for method in dict.fromkeys(method for method, _, _ in found):
        cells, means = [], []
        for size in sizes:
            of_splits = np.mean([found[method, name, size] for name in sets], axis=0)
            means.append(of_splits.mean())
            cells.append(f"{of_splits.mean():.1f} ± {of_splits.std():.1f}")
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {np.mean(means):.1f} |")
    return lines


def by_set(found: Accuracies, sets: tuple[str, ...]) -> list[str]:
    """Return the lines of a Markdown table: BLISS / the best other method by set and size of bags."""
    others = sorted({method for method, _, _ in found} - {"bliss"})
    lines = ["| set | " + " | ".join(map(str, SIZES)) + " |", "| --- " * (len(SIZES) + 1) + "|"]
    for name in sets:
        cells = []
        for size in SIZES:
            means = {method: np.mean(found[method, name, size]) for method in others}
            best = max(means, key=means.__getitem__)
            cells.append(f"{np.mean(found['bliss', name, size]):.1f} / {means[best]:.1f} {best}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def draw(found: Accuracies, sets: tuple[str, ...], path: Path) -> None:
    """Draw one panel for each set: means over splits, and bands of one deviation."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(-(-len(sets) // 3), 3, figsize=(12, 3 * -(-len(sets) // 3)), squeeze=False)
    for name, axis in zip(sets, axes.flat, strict=False):
        for method in DRAWN:
            runs = np.array([found[method, name, size] for size in SIZES])
            mean, deviation = runs.mean(axis=1), runs.std(axis=1)
            (line,) = axis.plot(SIZES, mean, marker=".", label=method)
            axis.fill_between(SIZES, mean - deviation, mean + deviation, color=line.get_color(), alpha=0.12)
        ceiling = found.get(("bliss", name, CEILING))
        if ceiling:
            axis.axhline(np.mean(ceiling), color="grey", linestyle=":", label="SVM on true labels")
        axis.set(title=name, xscale="log", xticks=SIZES, xticklabels=SIZES)
    axes.flat[0].legend(fontsize=7)
    figure.supxlabel("instances in a bag")
    figure.supylabel("accuracy of test instances (%)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main(folder: str, tables: str, picture: str) -> None:
    """Write the tables, and draw the picture."""
    found = read(Path(folder))
    sets = tuple(dict.fromkeys(name for _, name, size in found if size in SIZES))
    lines: list[str] = []
    for names in (SIX, sets):
        lines += ["", f"Mean over {len(names)} sets", "", *table(found, names, SIZES)]
        lines += ["", "On true labels", "", *table(found, names, (CEILING,))]
    lines += ["", *by_set(found, sets)]
    Path(tables).write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(found, sets, Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
