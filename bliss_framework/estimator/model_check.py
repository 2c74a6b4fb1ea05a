"""What a model from a file must be before anybody predicts with it: whole, and safe for compiled code to read.

A file can hold arrays of any length. What is plain Python answers that with an exception; libsvm, the neighbours of
scikit-learn and sparse products believe what they are given, and read memory that is not theirs. So their arrays are
checked first, and then the model predicts one row: whatever that raises, it would have raised later.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors._base import NeighborsBase
from sklearn.svm import SVC, NuSVC
from sklearn.svm._base import BaseLibSVM

from bliss_framework.errors import BlissError, PluginError
from bliss_framework.estimator.bag_head import ModelHead
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.configure import Config
from bliss_framework.estimator.ensemble import Member
from bliss_framework.estimator.final import FINAL, FinalClassifier
from bliss_framework.estimator.parameters import TABLE
from bliss_framework.estimator.preparation import Preparation
from bliss_framework.estimator.scaling import Scaling

MOST_COLUMNS = 2**24  # Of a dense row, 128 MiB; a model of more was trained on sparse rows.
IMPLEMENTED = {SVC: "c_svc", NuSVC: "nu_svc"}
FITTED = (
    "classes_",
    "bag_classes_",
    "labels_",
    "class_indices_",
    "class_of_label_",
    "confidence_",
    "undecided_",
    "known_",
    "label_means_",
    "label_pulls_",
    "fold_",
    "bag_ids_",
    "bag_index_",
    "weak_labels_",
    "training_scores_",
)


def check_model(model: Any) -> None:
    """Refuse what was read from a file and is no model, or one that cannot predict.

    Args:
        model: the root of the file.

    Raises:
        ValueError: saying what is wrong.
    """
    if isinstance(model, type) or not all(callable(getattr(model, name, None)) for name in ("fit", "predict")):
        raise ValueError(f"it holds {_kind(model)}, which is no model")
    for part in _parts(model):
        _check_part(part)
    if isinstance(model, BlissClassifier):
        missing = [name for name in TABLE if not hasattr(model, name)]
        _check(not missing, f"it lacks the parameter {', '.join(missing)}")
    if is_fitted(model):
        if isinstance(model, BlissClassifier):
            _check_bliss(model)
        _predict_once(model)


def is_fitted(model: Any) -> bool:
    """Say whether a model was fitted: then it has attributes that end with an underscore."""
    return any(name.endswith("_") and not name.startswith("__") for name in vars(model))


def _check(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {type(value).__name__}"


def _parts(root: Any) -> Iterator[Any]:
    """Yield everything that a model is made of, each object once."""
    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, str | bytes | int | float | type(None)):
            continue
        seen[id(one)] = one
        yield one
        waiting += _inside(one)


def _inside(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return list(value.flat) if value.dtype.hasobject else []
    if sp.issparse(value):
        return []
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if attrs.has(type(value)):
        return [getattr(value, one.name, None) for one in attrs.fields(type(value))]
    return list(getattr(value, "__dict__", {}).values())


def _check_part(part: Any) -> None:
    if sp.issparse(part):
        _check_sparse(part)
    elif isinstance(part, BaseLibSVM):
        _check_libsvm(part)
    elif isinstance(part, NeighborsBase):
        _check_neighbours(part)


def _check_sparse(matrix: Any) -> None:
    """Refuse a sparse matrix whose indices lie outside of it."""
    _check(matrix.format in ("csr", "csc"), f"it holds a sparse matrix of the format {matrix.format}")
    try:
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"a sparse matrix in it does not fit together ({error})") from None


def _check_libsvm(machine: Any) -> None:
    """Refuse a support vector machine of which libsvm would read beyond the end of an array."""
    if "support_" not in vars(machine):
        return
    name = type(machine).__name__
    _check(IMPLEMENTED.get(type(machine)) == machine._impl, f"{name} is no classifier that can be read")
    try:
        _check_arrays_of_libsvm(machine)
    except (AttributeError, TypeError, IndexError) as error:
        raise ValueError(f"an array of {name} is missing or of the wrong kind ({error})") from None


def _check_arrays_of_libsvm(machine: Any) -> None:
    name = type(machine).__name__
    n_classes, n_vectors, n_rows = len(machine.classes_), len(machine.support_), int(machine.shape_fit_[0])
    n_pairs = n_classes * (n_classes - 1) // 2
    counts, vectors, dual = machine._n_support, machine.support_vectors_, machine._dual_coef_
    _check(n_classes >= 2, f"{name} has {n_classes} classes")
    _array(machine.support_, f"support_ of {name}", (n_vectors,), np.int32, 0, n_rows - 1)
    _array(counts, f"_n_support of {name}", (n_classes,), np.int32, 0, n_vectors)
    _check(int(counts.sum(dtype=np.int64)) == n_vectors, f"_n_support of {name} does not add up to {n_vectors}")
    _array(machine._intercept_, f"_intercept_ of {name}", (n_pairs,), np.float64)
    _check(bool(machine._sparse) == sp.issparse(vectors) == sp.issparse(dual), f"{name} is both sparse and dense")
    if machine.kernel == "precomputed":
        _check(vectors.shape[0] in (0, n_vectors), f"support_vectors_ of {name} has the shape {vectors.shape}")
    else:
        wanted = (n_vectors, int(machine.n_features_in_))
        _check(vectors.shape == wanted, f"support_vectors_ of {name} has the shape {vectors.shape}, not {wanted}")
    shape = (n_classes - 1, n_vectors)
    _array(vectors.data if sp.issparse(vectors) else vectors, f"support_vectors_ of {name}", None, np.float64)
    _check(dual.shape == shape, f"_dual_coef_ of {name} has the shape {dual.shape}, not {shape}")
    values = dual.data if sp.issparse(dual) else dual
    _array(values, f"_dual_coef_ of {name}", None, np.float64)
    _check(values.size == shape[0] * shape[1], f"_dual_coef_ of {name} has {values.size} values")
    for one in ("_probA", "_probB"):
        _array(getattr(machine, one), f"{one} of {name}", None, np.float64)
        _check(getattr(machine, one).shape in ((0,), (n_pairs,)), f"{one} of {name} is not of {n_pairs} pairs")


def _check_neighbours(neighbours: Any) -> None:
    """Refuse classes of neighbours that are none."""
    rows, classes = getattr(neighbours, "_fit_X", None), getattr(neighbours, "classes_", None)
    if rows is None or classes is None:
        return
    _check(isinstance(classes, np.ndarray), "the classes of neighbours are no array")
    name = "the classes of neighbours"
    own = _array(getattr(neighbours, "_y", None), name, (rows.shape[0],), None, 0, len(classes) - 1)
    _check(own.dtype.kind in "iu", f"{name} are of type {own.dtype}, and whole numbers are needed")


def _array(
    value: Any,
    name: str,
    shape: tuple[int, ...] | None = None,
    dtype: Any = None,
    lowest: float = -np.inf,
    highest: float = np.inf,
) -> NDArray[Any]:
    """Refuse what is no array of a shape and type, or holds NaN, infinity or numbers that are out of range."""
    _check(isinstance(value, np.ndarray), f"{name} is no array")
    _check(shape is None or value.shape == shape, f"{name} has the shape {value.shape}, and {shape} is needed")
    _check(dtype is None or value.dtype == dtype, f"{name} is of type {value.dtype}, and {np.dtype(dtype)} is needed")
    _check(value.dtype.kind in "biuf", f"{name} is of type {value.dtype}, and numbers are needed")
    sound = np.isfinite(value).all() and (value >= lowest).all() and (value <= highest).all()
    _check(sound, f"{name} holds numbers that cannot be")
    return np.asarray(value)


def _check_bliss(model: BlissClassifier) -> None:
    """Refuse a fitted `BlissClassifier` whose attributes do not fit together."""
    try:
        _check_attributes(model)
        _check_members(model)
    except (AttributeError, TypeError, IndexError) as error:
        raise ValueError(f"an attribute of the model is missing or of the wrong kind ({error})") from None


def _check_attributes(model: BlissClassifier) -> None:
    for name in FITTED:
        _check(isinstance(getattr(model, name), np.ndarray), f"{name} is no array")
    n, n_bags, n_classes = len(model.bag_index_), len(model.bag_ids_), len(model.classes_)
    n_labels = len(model.class_of_label_)
    _check(model.classes_.ndim == model.bag_classes_.ndim == 1 and n_classes > 1, "classes_ are no classes")
    _check(n > 0, "it has no training instances")
    _array(model.bag_index_, "bag_index_", (n,), np.intp, 0, n_bags - 1)
    _array(model.class_indices_, "class_indices_", (n,), np.intp, 0, n_classes - 1)
    _array(model.class_of_label_, "class_of_label_", (n_labels,), np.intp, 0, n_classes - 1)
    _array(model.confidence_, "confidence_", (n,), np.float64)
    _array(model.undecided_, "undecided_", (n,), np.bool_)
    _array(model.known_, "known_", (n,), np.bool_)
    _array(model.fold_, "fold_", (n,))
    _array(model.label_pulls_, "label_pulls_", (n, n_labels), np.float64, 0)
    # The mean of what was never pulled is NaN.
    _array(np.nan_to_num(model.label_means_), "label_means_", (n, n_labels), np.float64)
    _array(model.training_scores_, "training_scores_", (n,) if n_classes == 2 else (n, n_classes), np.float64)
    _check_out_of_fold(model, model.training_scores_.shape, n_bags)
    _check(model.labels_.shape == (n,), f"labels_ has the shape {model.labels_.shape}, and {(n,)} is needed")
    _check(model.bag_ids_.ndim == 1, "bag_ids_ are no bag ids")
    _check(len(model.weak_labels_) == n_bags, f"weak_labels_ are of {len(model.weak_labels_)} bags, not of {n_bags}")
    for name in ("bag_threshold_", "instance_threshold_", "probability_slope_", "bag_slope_"):
        value = np.asarray(getattr(model, name))
        _check(value.dtype.kind in "iuf" and np.isfinite(value).all(), f"{name} is no number")
    _check(isinstance(model.config_, Config) and isinstance(model.inference_, Mapping), "config_ or inference_ is none")
    _check(model.head_ is None or isinstance(model.head_, ModelHead), "head_ is no bag head")
    _check(model.bag_parts_ is None or isinstance(model.bag_parts_, Mapping), "bag_parts_ are no parts")
    for part in (model.bag_parts_ or {}).values():
        _array(part, "a part of bag scores", np.shape(model.out_of_fold_bag_scores_), np.float64)
    _check(_are_origins(model.plugins_), "plugins_ does not say where components come from")


def _check_out_of_fold(model: BlissClassifier, shape: tuple[int, ...], n_bags: int) -> None:
    """Refuse out-of-fold scores that are not of the training rows and bags; there may be none."""
    own = [getattr(model, f"out_of_fold_{name}_") for name in ("scores", "bag_scores", "bags")]
    if all(one is None for one in own):
        return
    scores, bag_scores, bags = own
    _array(scores, "out_of_fold_scores_", shape, np.float64)
    _array(bag_scores, "out_of_fold_bag_scores_", None, np.float64)
    for one in (bag_scores, bags):
        _check(isinstance(one, np.ndarray) and len(one) == n_bags, "an out-of-fold array is not of the training bags")


def _is_unit(value: Any) -> bool:
    return bool(np.ndim(value) == 0 and np.isfinite(value) and value > 0)


def _are_origins(plugins: Any) -> bool:
    keys = {"plugin", "distribution", "version"}
    return isinstance(plugins, Mapping) and all(
        isinstance(one, Mapping) and keys <= set(one) for one in plugins.values()
    )


def _check_members(model: BlissClassifier) -> None:
    _check(isinstance(model.members_, list | tuple) and model.members_, "it has no members")
    views = [] if model.head_ is None else model.head_.views
    own = None if model.head_ is None else model.head_.own_unit
    _check(own is None or _is_unit(own), "the unit of a bag head is no number above 0")
    for member in [*model.members_, *(one for view in views for one in view)]:
        _check(isinstance(member, Member), "a member is none")
        _check(
            isinstance(member.scaling, Scaling) and isinstance(member.final, FinalClassifier), "a member is not whole"
        )
        _check(_is_unit(member.instance_unit) and _is_unit(member.bag_unit), "a unit of a member is no number above 0")
        present = _array(member.final.present_, "present_ of a member", None, None, 0, len(model.classes_) - 1)
        _check(member.final.n_classes == len(model.classes_) and present.ndim == 1, "a member has other classes")
        _check(np.unique(present).size == present.size > 0, "a member has a class twice, or none")


def _predict_once(model: Any) -> None:
    """Predict one row, of zeros: what does not fit together shows."""
    n_columns = getattr(model, "n_features_in_", None)
    if n_columns is None:
        return
    _check(isinstance(n_columns, int | np.integer) and 0 < n_columns < 2**31, f"it has {n_columns!r} features")
    names = getattr(model, "feature_names_in_", None)
    _check(names is None or np.shape(names) == (n_columns,), "it has not one name for each feature")
    row = np.zeros((1, n_columns)) if n_columns <= MOST_COLUMNS else sp.csr_matrix((1, n_columns))
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            _check_predictions(model, row)
        except BlissError as error:
            cause = error.__cause__
            if not isinstance(error, PluginError) or error.kind != FINAL or cause is None:
                return  # A plugin is missing, or says what it wants: not a matter of the file.
            raise ValueError(f"it cannot predict: {type(cause).__name__}: {cause}") from None
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"it cannot predict: {type(error).__name__}: {error}") from None


def _check_predictions(model: Any, row: Any) -> None:
    preparation = getattr(model, "preparation_", None)
    if isinstance(preparation, Preparation):
        row = preparation.first_row(row, getattr(model, "feature_names_in_", None))
    elif preparation is not None:
        return  # Whose rows are the user's own, and hold words or whatever else it takes.
    if isinstance(model, BlissClassifier):
        scores = model.decision_function(row)
        shape = (1,) if len(model.classes_) == 2 else (1, len(model.classes_))
        _array(np.asarray(scores), "a score", shape)
    else:
        model.predict(row)
    if hasattr(model, "predict_bags"):
        model.predict_bags(row)
        model.score_bags(row)
