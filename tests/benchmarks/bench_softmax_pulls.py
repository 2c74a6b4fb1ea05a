"""What a pull of the cooperative softmax costs against one fit of scikit-learn's LogisticRegression on the same rows.

Run it by hand: python tests/benchmarks/bench_softmax_pulls.py FOLDER, the folder with the files of MNIST.
A fifth of the images is the training part, as in the experiment. Times are those of the process on one core, by turns.
"""

# ruff: noqa: T201

import sys
import warnings
from statistics import median
from time import process_time

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from bliss_framework.plugin import Bags, Part, balance_weights, draw_labels
from bliss_multiclass_mil.classifier.cooperative_softmax import CooperativeSoftmax
from bliss_multiclass_mil.datasets.handwritten import load_mnist_bags
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime

N_TURNS = 3


def main(folder: str) -> None:
    """Print both times and their ratio."""
    data = load_mnist_bags(folder)
    bags, regime = Bags.from_ids(data.bags), MultiClassMilRegime()
    weak = regime.check(np.asarray(data.weak), bags)
    whole = Part(data.X, bags, weak, regime.label_space(weak, bags))
    inside = bags.index % 5 == 0
    train, heldout = (whole.take(np.flatnonzero(rows)) for rows in (inside, ~inside))
    rng = np.random.default_rng(0)
    prepared = CooperativeSoftmax().prepare(train, heldout, rng)
    pulls, fits = [], []
    for _ in range(N_TURNS):
        for _ in range(4):
            labels = draw_labels(train.space.draw_weights(), rng)
            start = process_time()
            prepared.pull(labels[None], balance_weights(labels[None], train.space, 0.4, None))
            pulls.append(process_time() - start)
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(max_iter=1000).fit(train.X, np.asarray(data.instance_labels)[inside])
        fits.append(process_time() - start)
    pull, fit = median(pulls), median(fits)
    print(f"{train.n_rows} training and {heldout.n_rows} held-out rows: a pull {pull:.3f} s, LogisticRegression")
    print(f"{fit:.2f} s in {int(model.n_iter_.max())} steps; a pull costs {pull / fit:.3f} of it")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main(sys.argv[1])
