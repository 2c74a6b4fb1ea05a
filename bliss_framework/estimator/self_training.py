"""Self-training: the final classifier labels its training instances anew and learns from that as well.

Labels that one bag suggests reach the instances of others. A bag is labelled anew by a classifier that was not trained
on it, so no label confirms itself.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from bliss_framework.estimator.final import FinalLearner, mixed_targets
from bliss_framework.estimator.thresholds import instance_cut
from bliss_framework.extension.contracts import Regime
from bliss_framework.kernel.labels import LabelSpace


def self_trained(
    learner: FinalLearner,
    parameters: Mapping[str, Any],
    folds: NDArray[np.intp],
    classes: NDArray[np.intp],
    regime: Regime,
) -> FinalLearner:
    """Return a learner of which half of what it learns are labels given anew, in so many rounds as the settings say.

    The other half stays what it was, so that rounds cannot drift away from what was inferred. Source of self-training:
    Scudder, IEEE Transactions on Information Theory 11 (1965).

    Args:
        learner: what the final classifier learns without self-training.
        parameters: of `BlissClassifier`.
        folds: (B,) the fold of each bag.
        classes: (n,) inferred classes.
        regime: says where two classes of scores are cut.
    """
    current, data = learner, learner.data
    for _ in range(parameters["self_training"]):
        scores = current.out_of_fold(folds)
        cut = instance_cut(parameters, scores, data.bags, data.weak, classes, regime)
        anew = np.eye(data.space.n_classes)[labelled_anew(scores - cut, data.space)]
        shares = (learner.targets.shares + anew) / 2
        current = evolve(learner, targets=mixed_targets(shares, data.weights, parameters["confidence_weights"]))
    return current


def labelled_anew(scores: NDArray[np.float64], space: LabelSpace) -> NDArray[np.intp]:
    """Return the candidate class (n,) with the largest score of (n, C), or of (n,) for two classes cut at 0."""
    columns = scores if scores.ndim == 2 else np.stack([np.zeros_like(scores), scores], axis=1)
    return np.asarray(np.where(space.class_shares() > 0, columns, -np.inf).argmax(axis=1), dtype=np.intp)
