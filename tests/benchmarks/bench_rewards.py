"""What rewards that need neighbours cost fold by fold and in lock-step, there by ranks and by quantile bins.

Run it by hand:
    python tests/benchmarks/bench_rewards.py --rows 200000 --rewards mil llp multiclass-mil
Every fit is a process of its own. Data are those of bench_large.py, harder where --shift is smaller. Of `llp` bags have
the shares of both classes, and of `multiclass-mil` a positive row has one of two labels, by the side of one column.
"""

# ruff: noqa: T201

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import bench_large
import numpy as np
from sklearn.metrics import roc_auc_score

EVERY = 1 << 62
WAYS = {"fold by fold": (EVERY, EVERY), "ranks": (100_000, EVERY), "bins": (100_000, 1 << 16)}
BINS = 1 << 14
SETTINGS: dict[str, dict[str, Any]] = {
    "mil": {},
    "llp": {"regime": "llp", "n_inferences": 1, "n_rounds": 30, "final_classifier": "same"},
    "multiclass-mil": {"regime": "multiclass-mil", "classifier": "ridge", "class_balance": 0.0, "n_rounds": 30},
}


def main() -> None:
    """Run each reward in each way in a child, or one of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--shift", type=float, default=bench_large.SHIFT)
    parser.add_argument("--bins", type=int, default=BINS)
    parser.add_argument("--rewards", nargs="+", default=list(SETTINGS))
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--one", action="store_true", help="fit here")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(fitted(given)))
        return
    for reward in given.rewards:
        before = None
        for way in given.ways:
            now = child(given, reward, way)
            before = before or now
            print(
                f"{reward:>15} {way:>13}: {now['seconds']:6.1f} s ({now['seconds'] / before['seconds']:.2f}), "
                f"{now['peak'] - now['start']:5.0f} MB above {now['start']:.0f}, instance AUC {now['auc']:.4f}, "
                f"of mean rewards alone {now['arms']:.4f}, labels right {now['right']:.4f}",
                flush=True,
            )


def child(given: argparse.Namespace, reward: str, way: str) -> dict[str, Any]:
    """Fit in a process of its own."""
    sizes = [f"--{name}={getattr(given, name)}" for name in ("rows", "columns", "shift", "bins")]
    words = [sys.executable, __file__, "--one", *sizes, "--rewards", reward, "--ways", way]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def fitted(given: argparse.Namespace) -> dict[str, Any]:
    """Fit once in this process, and measure it."""
    from bliss_framework import BlissClassifier
    from bliss_framework.lockstep import runner
    from bliss_framework.rewards import block_neighbourhood

    (reward,), (way,) = given.rewards, given.ways
    runner.MANY_ROWS, block_neighbourhood.MOST_RANKS = WAYS[way]
    block_neighbourhood.N_BINS = given.bins
    bench_large.SHIFT = given.shift
    X, y, bags, truth = bench_large.made(given.rows, given.columns, np.float64)
    labels = truth * (1 + (X[:, 0] > 0)) if reward == "multiclass-mil" else truth
    start, seconds = bench_large.peak(), time.process_time()
    model = BlissClassifier(reward=reward, random_state=0, **SETTINGS[reward])
    model.fit(X, weak_labels(reward, y, bags, labels), bags=bags)
    seconds = time.process_time() - seconds
    means = np.nan_to_num(model.label_means_, nan=-1.0)
    n_negative = means.shape[1] - len(model.classes_) + 1
    lead = means[:, n_negative:].max(axis=1) - means[:, :n_negative].max(axis=1)
    scores = model.training_scores_
    scores = scores if scores.ndim == 1 else scores[:, 1:].max(axis=1) - scores[:, 0]
    inside = np.isfinite(model.label_means_).sum(axis=1) > 1
    return {
        "seconds": seconds,
        "start": start,
        "peak": bench_large.peak(),
        "auc": float(roc_auc_score(truth > 0, scores)),
        "arms": float(roc_auc_score(truth[inside] > 0, lead[inside])),
        "right": float((np.asarray(model.labels_) == np.asarray(model.classes_)[labels]).mean()),
    }


def weak_labels(reward: str, y: Any, bags: Any, labels: Any) -> Any:
    """Return what is known of each bag, in the words of the regime of a reward."""
    sizes = np.bincount(bags)
    if reward == "mil":
        return y
    if reward == "llp":
        return dict(enumerate((np.bincount(bags, weights=labels) / sizes).tolist()))
    has = [np.bincount(bags, weights=labels == one) > 0 for one in (1, 2)]
    return {bag: [str(one) for one in (1, 2) if has[one - 1][bag]] for bag in range(len(sizes))}


if __name__ == "__main__":
    main()
