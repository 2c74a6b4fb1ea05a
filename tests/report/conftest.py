"""Finished runs that tests write by hand: reports are made of files alone, so no run is needed."""

import csv
import json

import numpy as np
import pytest

METHODS = ("bliss", "other", "third")
HOSTILE = "<img src=x onerror=alert(1)>"


def table(path, rows):
    """Write a table."""
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def measured(values):
    """A measure as result.json has it."""
    return {"mean": float(np.mean(values)), "sd": float(np.std(values)), "runs": [float(one) for one in values]}


@pytest.fixture(scope="session")
def binary_run(tmp_path_factory):
    """A function that writes a run on 40 bags of two classes, 20 of each, with three methods in their tests.

    bliss has all bags right but as many as `wrong` says, the second method 2 bags less, and the third every other bag.
    """

    def write(wrong=2, tested=True, carried=True):
        folder = tmp_path_factory.mktemp("runs") / "out"
        folder.mkdir()
        truth = np.arange(40) % 2
        rightness = {
            "bliss": np.arange(40) >= wrong,
            "other": np.arange(40) >= wrong + 2,
            "third": np.arange(40) % 4 < 2,
        }
        rows = {
            name: {"cv": 4, "repeats": 1, "bag_accuracy": measured([right.mean()])} for name, right in rightness.items()
        }
        evaluation = {**rows["bliss"], "baselines": [{"name": name, **rows[name]} for name in METHODS[1:]]}
        evaluation["instance_accuracy"] = {"inferred": {"overall": 0.75, "per_class": {"no": 1.0, "yes": 0.5}}}
        evaluation["instance_confidence"] = {
            "n": [4, 0, 0, 0, 0, 0, 0, 0, 0, 16],
            "right": [1, 0, 0, 0, 0, 0, 0, 0, 0, 16],
        }
        document = {
            "format": 1,
            "name": f"toy {HOSTILE}",
            "settings": {},
            "data": {"name": "toy", "n_bags": 40, "n_instances": 120, "n_features": 2, "classes": ["no", "yes"]},
            "inference": {
                "label_counts": {"no": 100, "yes": 20},
                "n_undecided": 0,
                "mean_reward": 0.5,
                "n_pulls": 8,
                "reward_curves": [[0.25, 0.5, 0.625], [0.125, 0.75, 0.875]],
            },
            "evaluation": evaluation if tested else {},
            "notes": [],
            "seconds": {"total": 1.0},
        }
        (folder / "result.json").write_text(json.dumps(document))
        (folder / "run.toml").write_text("[bliss]\n")
        words = ("no", "yes")
        bags = [
            {
                "bag": f"b{b:02d}",
                "n_instances": 3,
                "weak_label": words[truth[b]],
                "predicted": words[truth[b]],
                "score": 1.0,
            }
            for b in range(40)
        ]
        table(folder / "bags.csv", bags)
        table(folder / "labels.csv", [_instance(b, k, truth[b], carried) for b in range(40) for k in range(3)])
        if tested:
            told = [
                {
                    "method": name,
                    "repeat": 1,
                    "fold": b % 4 + 1,
                    "bag": f"b{b:02d}",
                    "weak_label": truth[b],
                    "predicted": truth[b] if right[b] else 1 - truth[b],
                    "score": (1 if truth[b] == right[b] else -1) * (1 + b / 100),
                }
                for name, right in rightness.items()
                for b in range(40)
            ]
            table(folder / "tests.csv", told)
        return folder

    return write


def _instance(b, k, positive, carried):
    """The k-th instance of bag b: its first one is the witness of a positive bag, but that b01 has none."""
    witness = bool(positive) and k == 0 and b != 1
    own = {
        "row": 3 * b + k,
        "bag": f"b{b:02d}",
        "label": "yes" if witness else "no",
        "confidence": b / 40 if positive else 1.0,
        "undecided": 0,
        "mean_reward_0": 0.25 if positive else "",
        "mean_reward_1": 0.25 + b / 80 if positive else "",
    }
    # As a run writes them that carries a file's columns: the strongest witness is that of bag b03.
    ranked = {"score": 0.5 - b / 100 - k / 4, "probability": 1 - b / 100 - k / 4, "rank": k + 1}
    extra = {"tile": f"tile {3 * b + k}", "x": k, "y": b, HOSTILE: HOSTILE}
    return {**own, **ranked, **extra} if carried else own
