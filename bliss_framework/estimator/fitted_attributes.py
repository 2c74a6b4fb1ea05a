"""What a fitted `BlissClassifier` keeps: the inferred labels as soon as there are any, the rest when it is trained."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.configure import Config
from bliss_framework.estimator.fit import FitResult
from bliss_framework.estimator.parameters import named
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.crossfit import CrossFit
from bliss_framework.kernel.words import class_array


def remember_columns(model: Any, data: CheckedData) -> None:
    """Keep how many columns the training rows have, and their names where they have some."""
    model.n_features_in_ = int(data.rows.shape[1])
    if data.columns is not None:
        model.feature_names_in_ = np.array(data.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def remember_labels(model: Any, found: CrossFit, order: NDArray[np.intp], data: CheckedData) -> None:
    """Keep what was inferred of each training instance, in the caller's order.

    Args:
        model: the estimator, of which nothing is trained yet.
        found: in canonical order.
        order: (n,) the caller's row of each of its rows.
        data: the training data, in the caller's order.
    """
    model.out_of_fold_scores_ = model.out_of_fold_bag_scores_ = model.out_of_fold_bags_ = None
    vars(model).pop("members_", None)  # Those of an earlier fit learnt other labels.
    place = np.argsort(order)
    inferred = found.inferred.take(place)
    model.classes_ = class_array(data.labels.classes)
    model.bag_classes_ = class_array(data.labels.bag_words)
    model.class_indices_ = inferred.classes
    model.class_of_label_ = found.class_of_label
    model.labels_ = model.classes_[inferred.classes]
    model.confidence_ = inferred.confidence
    model.undecided_ = inferred.undecided
    model.known_ = inferred.known
    model.label_means_ = inferred.means
    model.label_pulls_ = inferred.pulls
    model.fold_ = found.fold_of(len(order))[place]
    model.bag_ids_, model.bag_index_ = data.bags.ids, data.bags.index
    model.has_bags_ = bool(data.bags.n_bags < data.bags.n_rows)
    model.weak_labels_ = data.weak


def remember_result(model: Any, result: FitResult) -> None:
    """Keep what was trained on the inferred labels, and the configuration in use."""
    own = {name: getattr(model, name) for name in named("rows", "selection", "run")}
    model.config_ = Config({**result.config.values, **own})
    model.plugins_ = {name: dict(origin) for name, origin in result.config.components_from.items()}
    model.members_ = result.members
    _remember_head(model, result)
    model.bag_threshold_, model.instance_threshold_ = result.bag_threshold, result.instance_threshold
    model.probability_slope_ = result.slope
    model._regimes_in_hand = result.regimes
    _remember_out_of_fold(model, result)


def _remember_head(model: Any, result: FitResult) -> None:
    """Keep the bag head as `head_`, and what it said of training bags out of fold as `bag_parts_`, by name."""
    model.head_, model.bag_parts_ = None, None
    if result.headed is None:
        return
    model.head_ = result.headed.head
    place = np.argsort(Bags(model.bag_ids_, model.bag_index_).take(result.order)[1])
    model.bag_parts_ = {name: said[place] for name, said in result.headed.parts.items()}


def _remember_out_of_fold(model: Any, result: FitResult) -> None:
    """Keep what classifiers that were not trained on a bag say of it, in the caller's order; None where none did.

    The attributes are `out_of_fold_scores_` (n,) or (n, C), as `decision_function` returns scores,
    `out_of_fold_bag_scores_` (B,) or (B, C), above 0 where they exceed a threshold that the bag had no say in,
    `out_of_fold_bags_` (B, ...), the weak labels that follow, as `predict_bags` returns them, and `bag_slope_`, of the
    logistic curve from bag scores to probabilities.
    """
    model.bag_slope_ = 1.0
    model.out_of_fold_scores_ = model.out_of_fold_bag_scores_ = model.out_of_fold_bags_ = None
    if result.out_of_fold is None:
        return
    positions = Bags(model.bag_ids_, model.bag_index_).take(result.order)[1]
    own = result.out_of_fold.take(np.argsort(result.order), np.argsort(positions))
    model.bag_slope_ = own.bag_slope
    model.out_of_fold_scores_, model.out_of_fold_bag_scores_ = own.scores, own.bag_scores
    model.out_of_fold_bags_ = in_words(own.bags, model.bag_classes_)


def in_words(weak: NDArray[Any], bag_classes: NDArray[Any]) -> NDArray[Any]:
    """Turn predicted weak labels (B, ...) into the user's values where they are codes of those."""
    coded = weak.ndim == 1 and weak.dtype.kind in "biu"
    return np.asarray(bag_classes[weak.astype(np.intp)]) if coded else weak
