"""BlissClassifier: bandit label inference with the face of a scikit-learn classifier."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.errors import BlissWarning, DataError, PluginError, SettingsError
from bliss_framework.explanation import ArmReport, Explanation, NeighbourReport
from bliss_framework.extension.contracts import Classifier, Regime, Reward, Strategy
from bliss_framework.final import FinalClassifier, probabilities, probability_slope
from bliss_framework.inputs import TrainingInput, check_bags, check_rows, check_training
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.crossfit import CrossFit, Ingredients, cross_fit
from bliss_framework.kernel.events import Emit, silent
from bliss_framework.kernel.folds import deal_folds
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.ordering import canonical_order
from bliss_framework.kernel.pull import Part
from bliss_framework.kernel.settings import InferenceSettings
from bliss_framework.resolve import component_name, resolve
from bliss_framework.scaling import Scaling
from bliss_framework.workers import fold_runner

OUT_OF_FOLD = 5


class BlissClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Infer the labels of weakly labelled instances with a combinatorial bandit, then train a classifier on them.

    Li and Malik, "Bandit Label Inference for Weakly Supervised Learning". Without `bags`, every row is a bag of its
    own and this is ordinary classification.

    Args:
        regime: what the weak labels mean: a name, a table {"name": ..., parameters}, or a `Regime`.
        classifier: pulled in label inference: a name, a table, a `Classifier`, or any scikit-learn classifier.
        reward: None for the regime's own, a name, a table, or a `Reward`.
        strategy: "cucb", "kl-ucb", a table, or a `Strategy`.
        n_rounds: rounds N after the initial sweep.
        n_folds: K folds of whole bags.
        train_on: "one" trains on one fold and holds out the rest (the paper), "rest" the other way round.
        n_inferences: inferences of each fold with other random draws, averaged.
        n_passes: passes of the bootstrapping procedure; 1 means none.
        n_parallel: assignments that are chosen before any of them is pulled.
        n_neighbors: k of the neighbourhood in classifier output.
        final_classifier: trained on the inferred labels; named like `classifier`.
        pass_share: share of the instances outside a fold that join its training data in later passes.
        n_first_draws: None for the initial sweep of Algorithm 1, or draws from the regime's prior instead of it.
        class_balance: exponent of the class weights in every pull; 0 means none.
        scaling: see `Scaling`; learnt on the rows passed to `fit`.
        confidence_weights: whether confidence scores are sample weights of the final classifier.
        bag_threshold: "out-of-fold" chooses it on out-of-fold bag scores of the training bags; or a number.
        random_state: seed; the same seed gives the same bits whatever `n_jobs` and the order of rows.
        n_jobs: processes for folds, as in joblib.

    Attributes:
        classes_: (C,) the user's value of each class.
        labels_: (n,) the inferred class of each training instance, in the caller's row order.
        confidence_: (n,) in [0, 1], the lead of the best label; 1 where the bag leaves no choice.
        undecided_: (n,) bool, instances whose best labels tie.
        label_means_: (n, L) mean reward of each label; NaN where there is no arm.
        label_pulls_: (n, L) pulls of each arm.
        inference_: what `result.json` says under "inference".
        bag_threshold_: bags that score above it are positive.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> bags = np.repeat(np.arange(20), 4)
    >>> y = np.arange(20) % 2
    >>> X[::4] += 5.0 * y[:, None]          # the first instance of each positive bag is shifted
    >>> model = BlissClassifier(random_state=0, n_rounds=30).fit(X, y, bags=bags)
    >>> model.predict([[5.0, 5.0], [0.0, 0.0]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        regime: Any = "mil",
        classifier: Any = "kernel-ridge",
        reward: Any = None,
        strategy: Any = "cucb",
        n_rounds: int = 100,
        n_folds: int = 5,
        train_on: str = "one",
        n_inferences: int = 1,
        n_passes: int = 1,
        n_parallel: int = 1,
        n_neighbors: int = 10,
        final_classifier: Any = "svm-rbf",
        pass_share: float = 0.2,
        n_first_draws: int | None = None,
        class_balance: float = 0.0,
        scaling: str = "auto",
        confidence_weights: bool = True,
        bag_threshold: Any = "out-of-fold",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.regime = regime
        self.classifier = classifier
        self.reward = reward
        self.strategy = strategy
        self.n_rounds = n_rounds
        self.n_folds = n_folds
        self.train_on = train_on
        self.n_inferences = n_inferences
        self.n_passes = n_passes
        self.n_parallel = n_parallel
        self.n_neighbors = n_neighbors
        self.final_classifier = final_classifier
        self.pass_share = pass_share
        self.n_first_draws = n_first_draws
        self.class_balance = class_balance
        self.scaling = scaling
        self.confidence_weights = confidence_weights
        self.bag_threshold = bag_threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, bags: Any = None) -> "BlissClassifier":
        """Infer the labels of the training instances and train the final classifier on them.

        Args:
            X: (n, d) rows, dense, sparse or a data frame; or a list of bags.
            y: one weak label for each bag (mapping or series by id, or in order of first appearance) or for each row.
            bags: (n,) bag id of each row; None makes every row a bag of its own.

        Raises:
            DataError: if the data cannot be used; checked before any pull.
            SettingsError, UnknownNameError: if a parameter cannot be used.
        """
        return self.fit_and_tell(X, y, bags, silent)

    def fit_and_tell(self, X: Any, y: Any, bags: Any, emit: Emit) -> "BlissClassifier":
        """Fit as `fit` does, and tell `emit` of folds and rounds as they happen."""
        settings, ingredients, final = self._settings(), self._ingredients(), resolve("classifier", self.final_classifier)
        given = check_training(X, y, bags)
        _take_note_of_columns(self, X)
        weak = ingredients.regime.check(given.weak, given.bags)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        strata = ingredients.regime.strata(weak)
        order = canonical_order(given.X, given.bags, strata)
        data, strata = _part(given, order, self.scaling_, weak, ingredients.regime, strata)
        found = self._cross_fit(ingredients, data, strata, settings, seed, emit)
        self._learn(found, data, strata, final, seed)
        self._remember(found, given, weak, order)
        self._warn(found)
        return self

    def _settings(self) -> InferenceSettings:
        if not isinstance(self.bag_threshold, int | float) and self.bag_threshold != "out-of-fold":
            raise SettingsError(f'bag_threshold must be "out-of-fold" or a number; got {self.bag_threshold!r}.')
        names = [attribute.name for attribute in InferenceSettings.__attrs_attrs__]  # type: ignore[attr-defined]
        return InferenceSettings(**{name: getattr(self, name) for name in names})

    def _ingredients(self) -> "_Ingredients":
        regime: Regime = resolve("regime", self.regime)
        reward: Reward = resolve("reward", self.reward if self.reward is not None else regime.default_reward)
        return _Ingredients(resolve("classifier", self.classifier), reward, resolve("strategy", self.strategy), regime)

    def _cross_fit(
        self,
        ingredients: "_Ingredients",
        data: Part,
        strata: NDArray[np.intp],
        settings: InferenceSettings,
        seed: int,
        emit: Emit,
    ) -> CrossFit:
        try:
            return cross_fit(ingredients, data, strata, settings, seed, fold_runner(self.n_jobs), emit)
        except PluginError as error:
            reward = self.reward if self.reward is not None else ingredients.regime.default_reward
            note = " ".join(getattr(error, "__notes__", []))
            raise type(error)(
                f'Label inference stopped in reward "{component_name(reward)}", strategy '
                f'"{component_name(self.strategy)}": {error} {note}'.rstrip()
            ) from error

    def _learn(self, found: CrossFit, data: Part, strata: NDArray[np.intp], final: Classifier, seed: int) -> None:
        """Train the final classifier, and choose bag threshold and probability slope on its out-of-fold scores."""
        regime: Regime = resolve("regime", self.regime)
        inferred = found.inferred
        estimator = final.estimator(seed)
        model = FinalClassifier(estimator, data.space.n_classes)
        usable = ~inferred.undecided if not inferred.undecided.all() else np.ones(data.n_rows, dtype=bool)
        weights = inferred.confidence if self.confidence_weights and not inferred.undecided.all() else None

        def fitted_on(rows: NDArray[np.intp]) -> FinalClassifier:
            kept = rows[usable[rows]]
            chosen = kept if len(kept) else rows
            fresh = FinalClassifier(estimator, model.n_classes)
            return fresh.fit(data.X[chosen], inferred.classes[chosen], None if weights is None else weights[chosen])

        self.final_ = fitted_on(np.arange(data.n_rows))
        self.bag_threshold_, self.probability_slope_ = self._calibrate(fitted_on, data, inferred.classes, strata, regime)

    def _calibrate(
        self, fitted_on: Any, data: Part, classes: NDArray[np.intp], strata: NDArray[np.intp], regime: Regime
    ) -> tuple[float, float]:
        given = 0.0 if self.bag_threshold == "out-of-fold" else float(self.bag_threshold)
        if data.bags.n_bags < OUT_OF_FOLD:
            return given, 1.0
        folds = deal_folds(strata, OUT_OF_FOLD, np.random.default_rng(0))
        rows_of = [data.bags.rows_of(np.flatnonzero(folds == fold)) for fold in range(OUT_OF_FOLD)]
        parts = []
        for rows in rows_of:
            parts.append(fitted_on(np.setdiff1d(np.arange(data.n_rows), rows)).decision(data.X[rows]))
        scores = np.concatenate(parts)[np.argsort(np.concatenate(rows_of))]
        slope = probability_slope(scores, classes)
        # Rows that are bags of their own are ordinary classification: a bag is what its instance is.
        if self.bag_threshold != "out-of-fold" or data.bags.n_bags == data.n_rows:
            return given, slope
        return float(regime.bag_threshold(regime.bag_scores(scores, data.bags), data.weak)), slope

    def _remember(self, found: CrossFit, given: TrainingInput, weak: WeakLabels, order: NDArray[np.intp]) -> None:
        back = np.argsort(order)
        inferred = found.inferred.take(back)
        self.classes_ = np.asarray(weak.classes)
        self.class_indices_ = inferred.classes
        self.labels_ = self.classes_[inferred.classes]
        self.confidence_ = inferred.confidence
        self.undecided_ = inferred.undecided
        self.known_ = inferred.known
        self.label_means_ = inferred.means
        self.label_pulls_ = inferred.pulls
        self.bag_ids_, self.bag_index_ = given.bags.ids, given.bags.index
        self.weak_labels_ = given.weak
        self.training_scores_ = self.final_.decision(self.scaling_.transform(given.X))
        self.inference_ = {
            "mean_reward": found.mean_reward,
            "n_undecided": int(inferred.undecided.sum()),
            "collapsed": found.collapsed,
            "weak_score": found.weak_score,
            "n_pulls": found.n_pulls,
            "n_folds": found.n_folds,
            "label_counts": {
                str(value): int((inferred.classes == c).sum()) for c, value in enumerate(self.classes_.tolist())
            },
            "seconds": found.seconds,
        }

    def _warn(self, found: CrossFit) -> None:
        """Say once and plainly when the bandit learnt nothing."""
        complaints = [f.never_informed for f in found.folds]
        never = f" Also, {complaints[0]}" if complaints and all(complaints) else ""
        free = ~found.inferred.known
        if found.collapsed:
            value = self.classes_[found.inferred.classes[free][0]]
            warnings.warn(
                f"Label inference collapsed: in every fold, all free instances got one label ({value!r} in the first "
                f"of {int(free.sum())}). Try fewer folds, train_on=\"rest\", class_balance=0.5, or more bags.{never}",
                BlissWarning,
                stacklevel=4,
            )
        elif never:
            warnings.warn(f"Label inference was never informed:{never[6:]}", BlissWarning, stacklevel=4)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n,) for two classes, positive for `classes_[1]`, else (n, C)."""
        check_is_fitted(self)
        rows, _ = self._rows(X, None)
        return self._scores(rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance: (n,) values of `classes_`."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate class probabilities (n, C): a logistic curve through out-of-fold scores."""
        return probabilities(self.decision_function(X), self.probability_slope_)

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score bags: (ids, scores), ids in order of first appearance, scores relative to the bag threshold."""
        rows, grouped = self._rows(X, bags)
        scores = resolve("regime", self.regime).bag_scores(self._scores(rows), grouped)
        return grouped.ids, scores - self.bag_threshold_

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels), ids in order of first appearance."""
        rows, grouped = self._rows(X, bags)
        weak = resolve("regime", self.regime).bag_labels(self._scores(rows), grouped, self.bag_threshold_)
        return grouped.ids, self.classes_[weak] if weak.ndim == 1 and weak.dtype.kind == "i" else weak

    def score(self, X: Any, y: Any, bags: Any = None) -> float:
        """Return the regime's first measure on bags, for MIL the bag accuracy; larger is better."""
        return next(iter(self.evaluate(X, y, bags).values()))

    def evaluate(self, X: Any, y: Any, bags: Any = None) -> dict[str, float]:
        """Compare predictions with the weak labels of bags that were not trained on, by all measures of the regime."""
        regime: Regime = resolve("regime", self.regime)
        rows, grouped = self._rows(X, bags)
        weak = self._known_weak(check_training(X, y, bags).weak)
        scores = self._scores(rows)
        predicted = regime.bag_labels(scores, grouped, self.bag_threshold_)
        return dict(regime.evaluate(predicted, regime.bag_scores(scores, grouped) - self.bag_threshold_, weak))

    def _known_weak(self, weak: NDArray[Any]) -> WeakLabels:
        """Read weak labels of test bags with the classes learnt in training; one class alone is fine here."""
        if weak.ndim > 1 or weak.dtype == object:
            return WeakLabels(weak, tuple(self.classes_.tolist()))
        position = {value: c for c, value in enumerate(self.classes_.tolist())}
        unknown = [value for value in weak.tolist() if value not in position]
        if unknown:
            raise DataError(f"y has the weak label {unknown[0]!r}, which was not there in training: {list(position)}.")
        return WeakLabels(np.array([position[v] for v in weak.tolist()], dtype=np.int8), tuple(self.classes_.tolist()))

    def explain(self, row: int, n_neighbors: int = 5) -> Explanation:
        """Say why a training instance got its label.

        Args:
            row: the caller's row in the training data.
            n_neighbors: how many training instances of other bags with near final scores to show.

        Raises:
            DataError: if there is no such row.
        """
        check_is_fitted(self)
        n = len(self.labels_)
        if not 0 <= row < n:
            raise DataError(f"There is no training row {row}; rows are 0 to {n - 1}.")
        state = "known" if self.known_[row] else "undecided" if self.undecided_[row] else "inferred"
        return Explanation(
            row=row,
            bag=self._bag_of(row),
            weak_label=_item(self.weak_labels_[self.bag_index_[row]]),
            class_=_item(self.labels_[row]),
            confidence=float(self.confidence_[row]),
            state=state,
            arms=self._arms(row),
            neighbours=self._neighbours(row, n_neighbors),
        )

    def _arms(self, row: int) -> tuple[ArmReport, ...]:
        arms = []
        for label in np.flatnonzero(self.label_pulls_[row] > 0):
            mean = float(self.label_means_[row, label])
            class_ = _item(self.classes_[label]) if len(self.classes_) == self.label_pulls_.shape[1] else None
            arms.append(ArmReport(int(label), class_, int(self.label_pulls_[row, label]), mean))
        return tuple(arms)

    def _neighbours(self, row: int, n: int) -> tuple[NeighbourReport, ...]:
        scores = self.training_scores_
        column = scores if scores.ndim == 1 else scores[:, self.class_indices_[row]]
        distance = np.abs(column - column[row])
        distance[self.bag_index_ == self.bag_index_[row]] = np.inf
        nearest = [int(i) for i in np.argsort(distance, kind="stable")[:n] if np.isfinite(distance[i])]
        return tuple(
            NeighbourReport(
                i,
                self._bag_of(i),
                _item(self.weak_labels_[self.bag_index_[i]]),
                _item(self.labels_[i]),
                float(column[i]),
            )
            for i in nearest
        )

    def _bag_of(self, row: int) -> Any:
        return _item(self.bag_ids_[self.bag_index_[row]])

    def _rows(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        _take_note_of_columns(self, X, rows, reset=False)
        return rows, grouped

    def _scores(self, rows: Any) -> NDArray[np.float64]:
        return self.final_.decision(self.scaling_.transform(rows))

    def __sklearn_tags__(self) -> Any:
        """Declare sparse input, and two classes for the regimes that have no more."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = component_name(self.regime) != "mil"
        return tags


class _Ingredients(Ingredients):
    """Ingredients whose regime is the full contract."""

    regime: Regime
    strategy: Strategy


def _part(
    given: TrainingInput,
    order: NDArray[np.intp],
    scaling: Scaling,
    weak: WeakLabels,
    regime: Regime,
    strata: NDArray[np.intp],
) -> tuple[Part, NDArray[np.intp]]:
    """Scale rows and bring them into canonical order, with candidates and weights; and the strata of their bags."""
    bags, positions = given.bags.take(order)
    weak = weak.take(positions)
    X = scaling.transform(given.X)[order]
    part = Part(X, bags, weak, regime.label_space(weak, bags), regime.instance_weights(bags, weak))
    return part, strata[positions]


def _take_note_of_columns(model: Any, X: Any, rows: Any = None, reset: bool = True) -> None:
    if isinstance(X, list | tuple):
        X = rows if rows is not None else check_bags(X, None)[0]
    validate_data(model, X, skip_check_array=True, reset=reset)


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else value
