"""Measure every kind of weak label on two real sets: BLISS, its control, baselines and true labels on the same splits.

    python docs/experiments/weak_labels_table.py TABLE.md --repeats 10 --jobs 2

In each split 30 % of the rows are put aside with their true classes, and the others lose theirs for weak labels. For
the two kinds of MIL both parts are put into bags, and test accuracy is that of bags; the regime "mil" stands among
their baselines. Every method has its defaults. "no-bandit" is BLISS on what rows inherit, with and without the rounds
of relabelling that it has, and the better one is shown; "one pull" is BLISS of one round; "true labels" is the final
classifier of BLISS on the truth.
A difference counts beyond noise where the t-test for resampled splits (Nadeau and Bengio, 2003) has p < 0.05. More
repeats than the JSON file beside the table holds are added to those that it has.
"""

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from bliss_framework import BlissClassifier
from bliss_framework.plugin import load_plugins, resolve
from bliss_mil.datasets import real_bags
from bliss_weak_labels.datasets.makers import MAKERS, Weakened
from bliss_weak_labels.datasets.real_sets import BINARY, SETS, confidence_of

TEST_SHARE, FIRST_SEED = 0.3, 100
SVM = {"name": "svm-rbf", "C": 1.0, "width": 0.5}
TRUTH = BlissClassifier(regime={"name": "noisy-labels", "noise": 0.0}, inherited_share=1.0, final_classifier=SVM)
N_BAGS = 140
# The rows with their concepts, what makes bags of them, and the class of bags by the true classes (b, s) of their rows.
BAGS = {
    "two-condition": (
        {"digits": real_bags.concepts_of_digits, "wine": real_bags.concepts_of_wine},
        lambda truth, rng: real_bags.two_condition_bags(truth, N_BAGS, rng),
        lambda classes: (classes == 1).any(axis=1) & (classes == 2).any(axis=1),
    ),
    "collective": (
        {"breast-cancer": real_bags.malignant_samples, "odd-digits": real_bags.odd_digits},
        real_bags.collective_bags,
        lambda classes: classes.mean(axis=1) > 0.5,
    ),
}


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="a Markdown file; the figures of single splits go beside it as JSON")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", default=",".join([*MAKERS, *BAGS]))
    options = parser.parse_args()
    kept = options.table.with_suffix(".json")
    figures = json.loads(kept.read_text()) if kept.exists() else {}
    for kind in options.kinds.split(","):
        for name in sorted(BAGS[kind][0] if kind in BAGS else SETS[kind in BINARY]):
            done = figures.setdefault(f"{kind} {name}", [])
            seeds = range(FIRST_SEED + len(done), FIRST_SEED + options.repeats)
            done += Parallel(n_jobs=options.jobs)(
                delayed(split_of_bags if kind in BAGS else split)(kind, name, seed) for seed in seeds
            )
            kept.write_text(json.dumps(figures, indent=1))
    options.table.write_text("\n".join(lines(figures)) + "\n")


def split(kind: str, name: str, seed: int) -> dict[str, float]:
    """Return the test accuracy of each method on one split."""
    X, y = SETS[kind in BINARY][name]()
    train, test = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, random_state=seed, stratify=y)
    more = {"chances": confidence_of(X, y)[train]} if kind == "confidences" else {}
    weakened = MAKERS[kind](y[train], np.random.default_rng(seed), **more)
    rows = train[weakened.rows]
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for method, model in methods(weakened, y[train], seed):
            fitted = model.fit(X[rows], weakened.weak, bags=weakened.bags)
            found[method] = float((fitted.predict(X[test]) == y[test]).mean())
        known = train if kind == "confidences" else rows
        ceiling = clone(TRUTH).set_params(random_state=seed).fit(X[known], y[known])
        found["true labels"] = float((ceiling.predict(X[test]) == y[test]).mean())
    return found


def split_of_bags(kind: str, name: str, seed: int) -> dict[str, float]:
    """Return the accuracy of each method on bags of test rows."""
    sets, put_into_bags, class_of = BAGS[kind]
    X, y = sets[name]()
    train, test = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, random_state=seed, stratify=y)
    rng = np.random.default_rng(seed)
    rows, bags, weak = put_into_bags(y[train], rng)
    others, test_bags, truth = put_into_bags(y[test], rng)
    rows, others = train[rows], test[others]
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        data = Weakened(rows, bags, weak, {"name": f"{kind}-mil"})
        for method, model in [*methods(data, y[rows], seed), ("mil", BlissClassifier(regime="mil", random_state=seed))]:
            fitted = model.fit(X[rows], weak, bags=bags)
            found[method] = float((fitted.predict_bags(X[others], test_bags)[1] == truth).mean())
        ceiling = clone(TRUTH).set_params(random_state=seed).fit(X[rows], y[rows])
        classes = ceiling.predict(X[others]).reshape(len(truth), -1)
        found["true labels"] = float((class_of(classes) == truth).mean())
    return found


def methods(weakened: Weakened, truth: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield BLISS, its control and the baselines of the regime."""
    spec = dict(weakened.regime)
    presets = resolve("regime", spec).presets
    yield "BLISS", BlissClassifier(regime=spec, random_state=seed)
    control = {"regime": spec, "random_state": seed, "inherited_share": 1.0, **presets.control}
    yield "no-bandit", BlissClassifier(**control)
    yield "no-bandit, no rounds", BlissClassifier(**control, relabel_rounds=0)
    yield "one pull", BlissClassifier(regime=spec, random_state=seed, n_rounds=1, n_first_draws=1)
    for name in presets.baselines:
        yield name, baseline(name, spec, truth, seed)


def baseline(name: str, spec: Mapping[str, Any], truth: Any, seed: int) -> Any:
    """Return a baseline with the parameters of the regime that it has too; the prior of comparisons is told."""
    model = load_plugins().registry.create("baseline", {"name": name})
    shared = {"regime": dict(spec), "prior": float(np.mean(truth)), "random_state": seed} | dict(spec)
    return model.set_params(**{key: value for key, value in shared.items() if key in model.get_params()})


def lines(figures: Mapping[str, list[dict[str, float]]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    columns = ["weak labels", "set", "BLISS", "one pull", "no-bandit", "best baseline", "true labels"]
    columns += ["against no-bandit", "the baseline"]
    yield f"| {' | '.join(columns)} |"
    yield "| --- " * len(columns) + "|"
    for key, splits in figures.items():
        kind, name = key.split(" ", 1)
        of = {method: np.array([100 * one[method] for one in splits]) for method in splits[0]}
        own, first, truth = of.pop("BLISS"), of.pop("one pull"), of.pop("true labels")
        control = max((of.pop(name) for name in ("no-bandit", "no-bandit, no rounds")), key=lambda one: one.mean())
        best = max(of, key=lambda method: of[method].mean())
        cells = [shown(own), shown(first), shown(control), f"{shown(of[best])} ({best})", shown(truth)]
        verdicts = [difference(own, control), difference(own, of[best])]
        yield "| " + " | ".join([kind, name, *cells, *verdicts]) + " |"


def shown(values: Any) -> str:
    """Write a mean and a deviation over splits."""
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def difference(own: Any, other: Any) -> str:
    """Write a mean difference, whether it is beyond noise, and in how many splits it is above 0."""
    apart = own - other
    spread = np.sqrt(apart.var(ddof=1) * (1 / len(apart) + TEST_SHARE / (1 - TEST_SHARE)))
    p = 2 * student.sf(abs(apart.mean()) / spread, len(apart) - 1) if spread > 0 else 1.0
    verdict = "level" if p >= 0.05 else ("ahead" if apart.mean() > 0 else "behind")
    return f"{apart.mean():+.1f}, {verdict} (p {p:.2g}, {(apart > 0).sum()} of {len(apart)})"


if __name__ == "__main__":
    main()
