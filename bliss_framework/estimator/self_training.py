"""Self-training: the final classifier labels its training instances anew and learns from that as well.

Labels that one bag suggests reach the instances of others. A bag is labelled anew by a classifier that was not trained
on it, so no label confirms itself. `kernel/relabelling.py` does that before the final classifier, see
docs/explanation/algorithm.md for how the two differ.
"""

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.compute.processes import Spread
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.final import FinalLearner, mixed_targets
from bliss_framework.estimator.instance_threshold import instance_threshold
from bliss_framework.kernel.labels import LabelSpace
from bliss_framework.kernel.relabelling import label_columns


def self_trained(
    learner: FinalLearner,
    config: FitConfig,
    folds: NDArray[np.intp],
    classes: NDArray[np.intp],
    spread: Spread,
) -> FinalLearner:
    """Return a learner of which half of what it learns are labels given anew, in so many rounds as are configured.

    The other half stays what it was, so that rounds cannot drift away from what was inferred. Source of self-training:
    Scudder, IEEE Transactions on Information Theory 11 (1965).

    Args:
        learner: what the final classifier learns without self-training.
        config: says how many rounds there are.
        folds: (B,) the fold of each bag.
        classes: (n,) inferred classes.
        spread: makes the calls for each fold.
    """
    current, data = learner, learner.data
    for _ in range(config["self_training"]):
        scores = current.out_of_fold(folds, spread)
        threshold = instance_threshold(config, scores, data.bags, data.weak, classes)
        anew = np.eye(data.space.n_classes)[best_candidates(scores - threshold, data.space)]
        shares = (learner.targets.shares + anew) / 2
        current = evolve(learner, targets=mixed_targets(shares, data.weights, config["confidence_weights"]))
    return current


def best_candidates(scores: NDArray[np.float64], space: LabelSpace) -> NDArray[np.intp]:
    """Return the candidate class (n,) with the largest score of (n, C), or of (n,) for two classes cut at 0."""
    possible = np.where(space.class_shares() > 0, label_columns(scores), -np.inf)
    return np.asarray(possible.argmax(axis=1), dtype=np.intp)
