"""Measure binary MIL on the twelve sets of mil-other.toml: BLISS beside its control and methods that see whole bags.

    python docs/experiments/mil_other_table.py DATA_DIR OUT --repeats 1

OUT takes the drawn sets of Corel, a run directory for each set, and `table.md`: bag accuracy in percent, and the AUC of
instances of positive test bags where their labels are known. Runs that are finished are not made again, and one that
was stopped goes on.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("mil-other.toml")
METHODS = "bliss,no-bandit,bag-mean-svm,min-max-svm,set-kernel-svm,mi-graph-svm,attention-mil"
COREL = (0, 5, 10)
N_OTHERS = 100


def main() -> None:
    """Draw, run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--settings", default="select", help="default, select or paper")
    options = parser.parse_args()
    drawn = options.out / "data"
    drawn.mkdir(parents=True, exist_ok=True)
    for number in COREL:
        draw_class(options.data_dir / "corel20.npz", number, drawn / f"corel_{number}.npz")
    names = [one["name"] for one in tomllib.loads(FILE.read_text(encoding="utf-8"))["experiment"]]
    results = {name: result(name, options, drawn) for name in names}
    (options.out / "table.md").write_text("\n".join(lines(results)) + "\n", encoding="utf-8")


def draw_class(source: Path, number: int, path: Path) -> None:
    """Write the bags of a class and drawn others, in the order in which they come."""
    stored = np.load(source)
    X, bag, y = stored["X"], stored["bag"], stored["y"]
    others = np.random.default_rng(number).choice(np.flatnonzero(y != number), N_OTHERS, replace=False)
    kept = np.sort(np.concatenate([np.flatnonzero(y == number), others]))
    rows = np.flatnonzero(np.isin(bag, kept))
    np.savez(path, X=X[rows], bag=np.searchsorted(kept, bag[rows]), y=(y[kept] == number).astype(np.int8))


def result(name: str, options: argparse.Namespace, drawn: Path) -> Mapping[str, Any]:
    """Return the document of a run, which is made or finished where it is not."""
    folder = options.out / f"{name}-{options.settings}"
    if not (folder / "result.json").exists():
        start = ["compare", str(FILE), "--only", name, "--methods", options.methods, "--settings", options.settings]
        start += [
            "--repeats",
            str(options.repeats),
            "--n-jobs",
            str(options.n_jobs),
            "--data-dir",
            str(drawn),
            "--data-dir",
            str(options.data_dir),
        ]
        words = [*start, "--output", str(folder), *(["--resume"] if folder.exists() else [])]
        subprocess.run([sys.executable, "-m", "bliss_framework", *words, "--quiet"], check=True)
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def lines(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    of = {name: {row["name"]: row["evaluation"] for row in one["methods"]} for name, one in results.items()}
    methods = list(next(iter(of.values())))
    yield "| set | " + " | ".join(methods) + " |"
    yield "| --- " * (len(methods) + 1) + "|"
    for name, rows in of.items():
        yield f"| {name} | " + " | ".join(cell(rows[method]) for method in methods) + " |"
    means = [np.mean([100 * rows[method]["bag_accuracy"]["mean"] for rows in of.values()]) for method in methods]
    yield "| mean | " + " | ".join(f"{mean:.1f}" for mean in means) + " |"


def cell(evaluation: Mapping[str, Any]) -> str:
    """Write the accuracy of bags, and the AUC of instances where there is one."""
    area = evaluation.get("instance_auc", {}).get("test")
    return f"{100 * evaluation['bag_accuracy']['mean']:.1f}" + (f" ({area['mean']:.3f})" if area else "")


if __name__ == "__main__":
    main()
