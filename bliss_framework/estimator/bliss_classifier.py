"""BlissClassifier: bandit label inference with the face of a scikit-learn classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.compute.processes import fold_runner
from bliss_framework.errors import BlissError, SettingsError
from bliss_framework.estimator.ensemble import bag_scores, instance_scores
from bliss_framework.estimator.explanation import Explanation, explain
from bliss_framework.estimator.final import probabilities
from bliss_framework.estimator.fit import Fitted, Given, fit_as_set, fit_selected, ranked_settings, warn_of_collapse
from bliss_framework.estimator.inputs import TrainingInput, check_bags, check_labelled, check_training
from bliss_framework.estimator.own_defaults import filled, is_given, with_own_defaults
from bliss_framework.estimator.parameters import check_values, generator
from bliss_framework.estimator.recipes import arranged, recipe_of
from bliss_framework.estimator.selection import SAME, Candidate, Scored, candidates_of
from bliss_framework.extension.components import resolve
from bliss_framework.extension.contracts import Profile, Regime
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.crossfit import CrossFit, RunTasks
from bliss_framework.kernel.events import Emit, silent
from bliss_framework.kernel.labels import WeakLabels
from bliss_framework.kernel.result import InferredLabels

OF_SELECTION = ("settings", "grid", "n_members", "random_state", "n_jobs")


class BlissClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Infer the labels of weakly labelled instances with a combinatorial bandit, then train a classifier on them.

    Li and Malik, "Bandit Label Inference for Weakly Supervised Learning". Without `bags`, every row is a bag of its
    own and this is ordinary classification.

    What is None has the regime's own default, and where the regime has none the one in brackets.

    Args:
        regime: what the weak labels mean: a name, a table {"name": ..., parameters}, or a `Regime`.
        classifier: pulled in label inference: a name, a table, a `Classifier`, or any scikit-learn classifier
            ["kernel-ridge"].
        reward: None for the regime's own, a name, a table, or a `Reward`.
        strategy: "cucb", "kl-ucb", a table, or a `Strategy` ["cucb"].
        n_rounds: rounds N after the initial sweep [100].
        n_folds: K folds of whole bags [5].
        train_on: "one" trains on one fold and holds out the rest (the paper), "rest" the other way round ["one"].
        n_inferences: inferences of each fold with other random draws, averaged [3].
        n_passes: passes of the bootstrapping procedure; 1 means none [1].
        n_parallel: assignments that are chosen before any of them is pulled [1].
        n_neighbors: k of the neighbourhood in classifier output [10].
        final_classifier: trained on the inferred labels; named like `classifier`, and "same" for the same one
            ["svm-rbf"].
        pass_share: share of the instances outside a fold that join its training data in later passes [0.2].
        n_first_draws: None for the initial sweep of Algorithm 1, or draws from the regime's prior instead of it.
        class_balance: exponent of the class weights in every pull; 0 means none [0].
        scaling: see `Scaling`; learnt on the rows passed to `fit` ["auto"].
        confidence_weights: whether confidence scores are sample weights of the final classifier, or soft labels where
            it learns from those [True].
        inherited_share: how much the final classifier learns of what instances inherit from their bag: 0 is the paper,
            1 the control without a bandit, which infers nothing [0].
        bag_threshold: "out-of-fold" chooses it on out-of-fold bag scores of the training bags; or a number
            ["out-of-fold"].
        instance_threshold: the score above which an instance is of the second of two classes: "out-of-fold" lets the
            regime choose it on out-of-fold scores, "auto" does so where `inherited_share` is not 0 and is 0 elsewhere;
            or a number. Several classes have none ["auto"].
        self_training: rounds in which the final classifier labels its training instances anew, by scores of classifiers
            that were not trained on their bags, and learns from that as well [0].
        settings: "default" takes the regime's own defaults for what is None; "as-given" takes those in brackets;
            "select" chooses what is None from a grid, on held-out bags of the training data, and averages the best.
        grid: values by parameter or by "component.parameter", such as {"classifier.width": [0.5, 2.0]}; None for the
            regime's own.
        n_members: how many of the best settings are averaged.
        random_state: seed; the same seed gives the same bits whatever `n_jobs` and the order of rows.
        n_jobs: processes for folds, as in joblib.

    Attributes:
        classes_: (C,) the user's value of each class.
        bag_classes_: the user's value of each weak label, where bags speak other words than instances; else `classes_`.
        labels_: (n,) the inferred class of each training instance, in the caller's row order.
        confidence_: (n,) in [0, 1], the lead of the best label; 1 where the bag leaves no choice.
        undecided_: (n,) bool, instances whose best labels tie.
        label_means_: (n, L) mean reward of each label; NaN where there is no arm.
        label_pulls_: (n, L) pulls of each arm.
        fold_: (n,) the fold that inferred each instance, -1 where none did, or several did.
        inference_: what `result.json` says under "inference".
        bag_threshold_: bags that score above it are positive.
        instance_threshold_: what is taken off the scores of instances, so that those above 0 are of `classes_[1]`.

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
        classifier: Any = None,
        reward: Any = None,
        strategy: Any = None,
        n_rounds: int | None = None,
        n_folds: int | None = None,
        train_on: str | None = None,
        n_inferences: int | None = None,
        n_passes: int | None = None,
        n_parallel: int | None = None,
        n_neighbors: int | None = None,
        final_classifier: Any = None,
        pass_share: float | None = None,
        n_first_draws: int | None = None,
        class_balance: float | None = None,
        scaling: str | None = None,
        confidence_weights: bool | None = None,
        inherited_share: float | None = None,
        bag_threshold: Any = None,
        instance_threshold: Any = None,
        self_training: int | None = None,
        settings: str = "default",
        grid: Any = None,
        n_members: int = 5,
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
        self.inherited_share = inherited_share
        self.bag_threshold = bag_threshold
        self.instance_threshold = instance_threshold
        self.self_training = self_training
        self.settings = settings
        self.grid = grid
        self.n_members = n_members
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
        return self.fit_observed(X, y, bags, silent)

    def fit_observed(
        self, X: Any, y: Any, bags: Any, emit: Emit, run_tasks: RunTasks | None = None
    ) -> "BlissClassifier":
        """Fit as `fit` does, and tell `emit` of folds and rounds as they happen.

        Args:
            X, y, bags: as in `fit`.
            emit: called with each event, in this process.
            run_tasks: runs the fold tasks of a pass instead of `n_jobs` processes, for instance from a checkpoint.
        """
        given = self._given(X, y, bags, emit, run_tasks)
        fitted = self._fitted(given)
        self._remember(fitted, given.training, given.weak)
        warn_of_collapse(fitted.found, self.classes_)
        return self

    def infer(self, X: Any, y: Any, bags: Any = None, emit: Emit = silent) -> tuple[CrossFit, NDArray[np.intp]]:
        """Infer labels as `fit` does first, and train nothing on them; `infer_labels` is the public face of this.

        Returns:
            What was found, in canonical order, and the caller's row of each of its rows.
        """
        given = self._given(X, y, bags, emit, None)
        recipe = recipe_of(self._parameters(given.training.bags, issparse(given.training.X)))
        ready = arranged(given.training, given.weak, recipe.regime, recipe.scaling)
        return recipe.infer(ready.data, given.seed, given.run_tasks, given.emit), ready.order

    def rank_settings(self, X: Any, y: Any, bags: Any = None, emit: Emit = silent) -> list[Scored]:
        """Score every combination of the grid on held-out bags, best first, without fitting anything.

        Args:
            X, y, bags: as in `fit`.
            emit: called with the progress, in this process.
        """
        given = self._given(X, y, bags, emit, None)
        candidates = self._candidates(given.training.bags, issparse(given.training.X))
        return ranked_settings(given, candidates, self.n_members)

    def _given(self, X: Any, y: Any, bags: Any, emit: Emit, run_tasks: RunTasks | None) -> Given:
        self.check_parameters()
        regime: Regime = resolve("regime", self.regime)
        training = check_training(X, y, bags)
        _take_note_of_columns(self, X)
        weak = regime.check(training.weak, training.bags)
        seed = int(generator(self.random_state).randint(2**31 - 1))
        runner = run_tasks if run_tasks is not None else fold_runner(self.n_jobs)
        return Given(training, weak, seed, emit, runner, self.n_jobs)

    def _fitted(self, given: Given) -> Fitted:
        if self.settings == "select":
            candidates = self._candidates(given.training.bags, issparse(given.training.X))
            return fit_selected(given, candidates, self.n_members)
        return fit_as_set(given, self._parameters(given.training.bags, issparse(given.training.X)))

    def _given_parameters(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name not in OF_SELECTION}

    def _is_set(self, name: str) -> bool:
        return is_given(name, self._given_parameters())

    def _parameters(self, bags: Bags, sparse: bool) -> dict[str, Any]:
        given = filled(self._given_parameters())
        if self.settings == "as-given":
            return given
        return with_own_defaults(given, resolve("regime", self.regime), bags, sparse, self._is_set)

    def _candidates(self, bags: Bags, sparse: bool) -> list[Candidate]:
        grid = (
            self.grid
            if self.grid is not None
            else resolve("regime", self.regime).presets.grid_for(Profile.of(bags, sparse))
        )
        return candidates_of(self._parameters(bags, sparse), grid, self._is_set)

    def check_parameters(self) -> None:
        """Refuse parameters that `fit` would refuse, without any data.

        Raises:
            SettingsError, UnknownNameError: naming the parameter, its value and what is allowed.
        """
        check_values(filled(self.get_params(deep=False)))
        given = filled(self._given_parameters())
        recipe_of(given)
        if given["final_classifier"] != SAME:
            resolve("classifier", given["final_classifier"])
        if self.settings == "select":
            self._candidates(Bags.from_ids([0, 1]), sparse=False)

    def _remember(self, fitted: Fitted, given: TrainingInput, weak: WeakLabels) -> None:
        found = fitted.found
        inferred = found.inferred.take(np.argsort(fitted.order))
        self.members_ = fitted.members
        self.bag_threshold_, self.instance_threshold_ = fitted.bag_threshold, fitted.instance_threshold
        self.probability_slope_ = fitted.slope
        self.classes_ = np.asarray(weak.classes)
        self.bag_classes_ = np.asarray(weak.bag_words)
        self.class_indices_ = inferred.classes
        self.class_of_label_ = found.class_of_label
        self.labels_ = self.classes_[inferred.classes]
        self.confidence_ = inferred.confidence
        self.undecided_ = inferred.undecided
        self.known_ = inferred.known
        self.label_means_ = inferred.means
        self.label_pulls_ = inferred.pulls
        self.fold_ = found.fold_of(len(fitted.order))[np.argsort(fitted.order)]
        self.bag_ids_, self.bag_index_ = given.bags.ids, given.bags.index
        self.weak_labels_ = given.weak
        # In canonical order, because the place of a row in a matrix product decides its last bits.
        self.training_scores_ = self._scores(given.X[fitted.order])[np.argsort(fitted.order)]
        self.inference_: dict[str, Any] = {
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
            **({"chosen": fitted.chosen} if fitted.chosen else {}),
        }

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
        return grouped.ids, self._bag_scores(rows, grouped) - self.bag_threshold_

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels), ids in order of first appearance."""
        rows, grouped = self._rows(X, bags)
        weak = self._bag_labels(rows, grouped)
        return grouped.ids, self.bag_classes_[weak] if weak.ndim == 1 and weak.dtype.kind == "i" else weak

    def _bag_scores(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        regime: Regime = resolve("regime", self.regime)
        if regime.reading.from_instances:
            return regime.reading.bag_scores(self._scores(rows), bags)
        return bag_scores(self.members_, rows, bags)

    def _bag_labels(self, rows: Any, bags: Bags) -> NDArray[Any]:
        regime: Regime = resolve("regime", self.regime)
        if regime.reading.from_instances:
            return regime.reading.bag_labels(self._scores(rows), bags, self.bag_threshold_)
        if len(self.members_) == 1:
            return self.members_[0].bag_labels(rows, bags, self.bag_threshold_)
        return regime.reading.labels_of_bag_scores(bag_scores(self.members_, rows, bags), self.bag_threshold_)

    def score(self, X: Any, y: Any, bags: Any = None, sample_weight: None = None) -> float:
        """Return the regime's first measure on bags, for MIL the bag accuracy; larger is better.

        Every bag counts once. `sample_weight` is there because scikit-learn's Pipeline passes a None of that name.
        """
        if sample_weight is not None:
            raise SettingsError("score counts every bag once, so it takes no sample_weight; pass None.")
        return next(iter(self.evaluate(X, y, bags).values()))

    def evaluate(self, X: Any, y: Any, bags: Any = None) -> dict[str, float]:
        """Compare predictions with the weak labels of bags that were not trained on, by all measures of the regime."""
        check_is_fitted(self)
        regime: Regime = resolve("regime", self.regime)
        given = check_labelled(X, y, bags)
        _take_note_of_columns(self, X, given.X, reset=False)
        weak = regime.check_test(given.weak, given.bags, tuple(self.bag_classes_.tolist()))
        predicted = self._bag_labels(given.X, given.bags)
        return dict(
            regime.reading.evaluate(predicted, self._bag_scores(given.X, given.bags) - self.bag_threshold_, weak)
        )

    def explain(self, row: int, n_neighbors: int = 5) -> Explanation:
        """Say why a training instance got its label.

        Args:
            row: the caller's row in the training data.
            n_neighbors: how many training instances of other bags with near final scores to show.

        Raises:
            DataError: if there is no such row.
        """
        check_is_fitted(self)
        return explain(self, row, n_neighbors)

    def _rows(self, X: Any, bags: Any) -> tuple[Any, Bags]:
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        _take_note_of_columns(self, X, rows, reset=False)
        return rows, grouped

    def _scores(self, rows: Any) -> NDArray[np.float64]:
        return instance_scores(self.members_, rows) - self.instance_threshold_

    def __sklearn_tags__(self) -> Any:
        """Declare sparse input, and two classes for the regimes that have no more."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not _is_binary(self.regime)
        return tags


def _take_note_of_columns(model: Any, X: Any, rows: Any = None, reset: bool = True) -> None:
    if isinstance(X, list | tuple):
        X = rows if rows is not None else check_bags(X, None)[0]
    validate_data(model, X, skip_check_array=True, reset=reset)


def _is_binary(regime: Any) -> bool:
    """Say whether a regime knows two classes only; one that cannot be found is refused in `fit`, not here."""
    try:
        return bool(resolve("regime", regime).binary)
    except BlissError:
        return False


def infer_labels(X: Any, y: Any, bags: Any = None, *, emit: Emit = silent, **parameters: Any) -> InferredLabels:
    """Infer the labels of weakly labelled instances (Algorithm 1 on K folds), and train nothing on them.

    Args:
        X, y, bags: as in `BlissClassifier.fit`.
        emit: is told of folds and rounds.
        **parameters: of `BlissClassifier`; those of the final classifier are not looked at.

    Returns:
        Labels, confidence and mean rewards in the caller's row order.

    Raises:
        BlissError: as `BlissClassifier.fit` does.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.arange(20) % 2
    >>> X[::3] += 6.0 * y[:, None]
    >>> found = infer_labels(X, y, np.repeat(np.arange(20), 3), n_rounds=20, random_state=0)
    >>> found.classes[:6].tolist()
    [0, 0, 0, 1, 0, 0]
    """
    found, order = BlissClassifier(**parameters).infer(X, y, bags, emit)
    return found.inferred.take(np.argsort(order))
