"""BlissClassifier: bandit label inference with the face of a scikit-learn classifier."""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np
from attrs import evolve
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bliss_framework.compute.processes import fold_runner, one_blas_thread
from bliss_framework.errors import DataError
from bliss_framework.estimator.bag_explanation import BagExplanation, explain_bag
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.component_tables import is_binary
from bliss_framework.estimator.configure import FitConfig, configure
from bliss_framework.estimator.default_words import DocumentedDefaults
from bliss_framework.estimator.ensemble import measures
from bliss_framework.estimator.explanation import Explanation, explain
from bliss_framework.estimator.extremes import check_values
from bliss_framework.estimator.fit import FitRequest, fit, warn_of_collapse
from bliss_framework.estimator.fit_best import fit_best, ranked_trials
from bliss_framework.estimator.fitted_attributes import in_words, remember_labels, remember_result
from bliss_framework.estimator.inputs import check_labelled, check_training, check_unlabelled, has_bags, is_table
from bliss_framework.estimator.label_inference import infer, order_data
from bliss_framework.estimator.lost_bags import refuse_lost_bags, warn_of_no_bags
from bliss_framework.estimator.memory_estimate import Work, check_memory
from bliss_framework.estimator.parameters import (
    TABLE,
    Parameters,
    generator,
    not_given,
    signature,
)
from bliss_framework.estimator.picture import Picture, picture_above, picture_of
from bliss_framework.estimator.prepared_rows import prepared_rows, reading_for_fit, reading_of, with_preparation
from bliss_framework.estimator.probabilities import probabilities
from bliss_framework.estimator.read_bags import read_instances, read_labels, read_scores, regimes_of
from bliss_framework.estimator.selection import Pieces, Trial
from bliss_framework.estimator.suspect_columns import warn_of_suspect_columns
from bliss_framework.extension.contracts import Profile, Regime
from bliss_framework.extension.culprits import naming_plugins
from bliss_framework.extension.global_state import global_state_kept
from bliss_framework.extension.loading.plugins import active_plugins
from bliss_framework.kernel.crossfit import CrossFit, RunTasks
from bliss_framework.kernel.events import Emit, silent

SIGNATURE = signature()  # Of the constructor, made from the table of parameters.


class BlissClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Infer the labels of weakly labelled instances with a combinatorial bandit, then train a classifier on them.

    Li and Malik, "Bandit Label Inference for Weakly Supervised Learning". Without `bags`, every row is a bag of its
    own and this is ordinary classification.

    A parameter that is None has the value that the regime advises, else the one in brackets; a component may also be
    a table without a name, which sets parameters of the one in use.

    @ARGUMENTS@

    Attributes:
        classes_: (C,) the user's value of each class.
        bag_classes_: the user's value of each weak label, where bags speak other words than instances; else `classes_`.
        labels_: (n,) the inferred class of each training instance, in the caller's row order.
        confidence_: (n,) in [0, 1], the lead of the best label, or after relabelling the share of labellings that agree
            with the last; 1 where the bag leaves no choice.
        undecided_: (n,) bool, instances whose best labels tie.
        label_means_: (n, L) mean reward of each label; NaN where there is no arm.
        label_pulls_: (n, L) pulls of each arm.
        fold_: (n,) the fold that inferred each instance, -1 where none did, or several did.
        inference_: what `result.json` says under "inference".
        bag_threshold_: bags that score above it are positive.
        head_: the bag head, where the regime has one; else None. `bag_parts_` is what each of its kinds of evidence
            says of the training bags out of fold, by name: (B,), or (B, C) of label sets.
        out_of_fold_scores_: (n,) or (n, C) scores of the training instances by final classifiers that were not trained
            on their bags; None where there are fewer than five bags. `out_of_fold_bag_scores_` (B,) or (B, C) and
            `out_of_fold_bags_` (B, ...) are the same of bags, with thresholds that the bag had no say in.
        instance_threshold_: what is taken off the scores of instances, so that those above 0 are of `classes_[1]`.
        preparation_: what fills empty cells and encodes categories, or the fitted `prepare`; None where there is none.
        plugins_: the plugin, distribution and version that each named component comes from.
        config_: the configuration in use, every parameter resolved; it prints, compares, turns into JSON and TOML.

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

    __doc__ = DocumentedDefaults(__doc__)

    # What scikit-learn's metadata routing hands over unless the user asks otherwise.
    __metadata_request__fit = {"bags": True, "groups": True}  # noqa: RUF012 - the form that scikit-learn looks for
    __metadata_request__score = {"bags": True}  # noqa: RUF012

    def __init__(self, *given: Any, **parameters: Unpack[Parameters]) -> None:
        bound = SIGNATURE.bind(self, *given, **parameters).arguments
        for name in TABLE:
            setattr(self, name, bound.get(name, not_given(name)))

    __init__.__signature__ = SIGNATURE  # type: ignore[attr-defined]

    def fit(
        self,
        X: Any,
        y: Any = None,
        bags: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        progress: Emit = silent,
    ) -> "BlissClassifier":
        """Infer the labels of the training instances and train the final classifier on them.

        What belongs to bags is given by bag id, in a mapping or a series; or in order of first appearance; or for each
        row, the same in a bag. The index of a series or data frame is that of X, or holds the bag ids.

        Args:
            X: (n, d) rows, dense, sparse or a data frame; or a list of bags; or a mapping of bags by id; or
                `CheckedData`, which hold all of these.
            y: one weak label for each bag, or a data frame with a named column for each label or share.
            bags: (n,) bag id of each row; None makes every row a bag of its own.
            groups: the group of each bag, such as the patient of a slide: bags of one group are never on both sides of
                a split, in label inference and after it.
            sample_weight: a positive weight of each bag or each row, by which its instances count in training.
            progress: called with each event of folds and rounds as it happens, for instance `print`.

        Raises:
            DataError: if the data cannot be used; checked before any pull.
            SettingsError, UnknownNameError: if a parameter cannot be used.
        """
        return self.fit_observed(X, y, bags, progress, None, groups, sample_weight)

    def fit_observed(
        self,
        X: Any,
        y: Any,
        bags: Any,
        emit: Emit,
        run_tasks: RunTasks | None = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> "BlissClassifier":
        """Fit as `fit` does, and tell `emit` of folds and rounds as they happen.

        Args:
            X, y, bags, groups, sample_weight: as in `fit`.
            emit: called with each event, in this process.
            run_tasks: runs the fold tasks of a pass instead of `n_jobs` processes, for instance from a checkpoint.
        """
        self.check_parameters()
        with naming_plugins(active_plugins):
            data = self._checked(X, y, bags, groups, sample_weight)
            config = self._configured(data)
            data = data.read_by(config.regime)
        if bags is None and not has_bags(X) and not config.regime.rows_are_bags:
            warn_of_no_bags(data.bags.n_rows)
        warn_of_suspect_columns(data)
        return self.fit_configured(data, config, emit, run_tasks)

    def fit_configured(
        self,
        data: CheckedData,
        config: FitConfig,
        emit: Emit = silent,
        run_tasks: RunTasks | None = None,
        keep: Callable[["BlissClassifier"], None] = silent,
        pieces: Pieces | None = None,
    ) -> "BlissClassifier":
        """Fit checked data with a configuration that is resolved; of the parameters only those of the run are used.

        Args:
            data, config, emit, run_tasks: as in `fit_observed`.
            keep: is given this estimator when labels are inferred, and no final classifier is trained yet.
            pieces: where finished parts of a choice of settings are kept, or None.
        """
        with one_blas_thread(), naming_plugins(active_plugins):
            request = self._request(data, config, emit, run_tasks, Work())
            # Were it to hold the request, which holds it, all rows would stay in memory until cycles are looked for.
            rows = request.data

            def keep_labels(found: CrossFit, order: NDArray[np.intp]) -> None:
                remember_labels(self, found, order, rows)
                keep(self)

            request = evolve(request, keep=keep_labels, pieces=pieces)
            with global_state_kept():
                result = fit_best(request) if config.candidates else fit(request)
                remember_result(self, result)
                # In canonical order, because the place of a row in a matrix product decides its last bits.
                scores = self._scores(request.data.view.take(result.order))
            self.training_scores_ = scores[np.argsort(result.order)]
            self.inference_ = result.inference(self.classes_)
        warn_of_collapse(result.found, self.classes_)
        return self

    @naming_plugins(active_plugins)
    def infer(self, X: Any, y: Any = None, bags: Any = None, emit: Emit = silent) -> tuple[CrossFit, NDArray[np.intp]]:
        """Infer labels as `fit` does first, and train nothing on them; `infer_labels` is the public face of this.

        Returns:
            What was found, in canonical order, and the caller's row of each of its rows.
        """
        self.check_parameters()
        data = self._checked(X, y, bags)
        request = self._request(data, self._configured(data), emit, None, Work(final=False))
        with one_blas_thread():
            ready = order_data(request.data, request.config)
            return infer(request.config, ready.data, request.seed, request.run_tasks, emit), ready.order

    @naming_plugins(active_plugins)
    def rank_settings(self, X: Any, y: Any = None, bags: Any = None, emit: Emit = silent) -> list[Trial]:
        """Score every combination of the grid on held-out bags, best first, without fitting anything.

        Args:
            X, y, bags: as in `fit`.
            emit: called with the progress, in this process.
        """
        data = self._checked(X, y, bags)
        return self.rank_configured(data, self._configured(data, settings="select"), emit)

    @naming_plugins(active_plugins)
    def rank_configured(self, data: CheckedData, config: FitConfig, emit: Emit = silent) -> list[Trial]:
        """Score the candidates of a configuration as `rank_settings` does."""
        return ranked_trials(self._request(data, config, emit, None, Work(final=False)))

    def check_parameters(self) -> None:
        """Refuse parameters that `fit` would refuse, without any data.

        Raises:
            SettingsError, UnknownNameError: naming the parameter, its value and what is allowed.
        """
        self._configure(Profile(n_rows=2, n_bags=2))

    def _checked(self, X: Any, y: Any, bags: Any, groups: Any = None, sample_weight: Any = None) -> CheckedData:
        data = check_training(X, y, bags, groups, sample_weight, reading_for_fit(self, X))
        if is_table(X):
            validate_data(self, X, skip_check_array=True)
        return data

    def _configured(self, data: CheckedData, **other: Any) -> FitConfig:
        return self._configure(Profile.of(data.bags, data.rows.is_sparse), data.facts, **other)

    def _configure(self, profile: Profile, facts: Mapping[str, Any] | None = None, **other: Any) -> FitConfig:
        return configure({**self.get_params(deep=False), **other}, profile, active_plugins().registry, facts)

    def _request(
        self, data: CheckedData, config: FitConfig, emit: Emit, run_tasks: RunTasks | None, work: Work
    ) -> FitRequest:
        data = with_preparation(self, data)
        check_values(data, config["scaling"])
        seed = int(generator(self.random_state).randint(2**31 - 1))
        runner = fold_runner(self.n_jobs) if run_tasks is None else run_tasks
        data = data.read_by(config.regime)
        check_memory(config, data, lambda: active_plugins().registry, self.n_jobs, self.max_memory, work)
        return FitRequest(config, data, seed, emit, runner, self.n_jobs, self.n_members, lambda found, order: None)

    @naming_plugins(active_plugins)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n,) for two classes, positive for `classes_[1]`, else (n, C)."""
        return self._scores(self._rows(X, None).rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance: (n,) values of `classes_`."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate class probabilities (n, C): a logistic curve through out-of-fold scores."""
        return probabilities(self.decision_function(X), self.probability_slope_)

    @naming_plugins(active_plugins)
    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score bags: (ids, scores), ids in order of first appearance, scores relative to the bag threshold."""
        refuse_lost_bags(self, X, bags)
        data = self._rows(X, bags)
        return data.bags.ids, read_scores(self, data.rows, data.bags) - self.bag_threshold_

    @naming_plugins(active_plugins)
    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels), ids in order of first appearance."""
        refuse_lost_bags(self, X, bags)
        data = self._rows(X, bags)
        return data.bags.ids, in_words(read_labels(self, data.rows, data.bags), self.bag_classes_)

    @naming_plugins(active_plugins)
    def predict_bag_proba(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Estimate the probability of each weak label: (ids, (B, C)), ids in order of first appearance.

        Columns are those of `bag_classes_`; of label sets each label has a probability of its own, and of shares they
        are the predicted shares. The logistic curve is one through out-of-fold bag scores, and meets the bag threshold
        at 1/2 (Platt, 1999, without the shift).
        """
        refuse_lost_bags(self, X, bags)
        data = self._rows(X, bags)
        predicted = read_labels(self, data.rows, data.bags)
        scores = read_scores(self, data.rows, data.bags) - self.bag_threshold_
        return data.bags.ids, self.regime_.reading.bag_probabilities(predicted, scores, self.bag_slope_)

    @property
    def regime_(self) -> Regime:
        """What the weak labels of the training data mean: the regime in use, with all its parameters."""
        check_is_fitted(self)
        return regimes_of(self)[0]

    @naming_plugins(active_plugins)
    def score(self, X: Any, y: Any = None, bags: Any = None, sample_weight: Any = None) -> float:
        """Return the regime's first measure on bags, for MIL the bag accuracy; larger is better.

        Args:
            X, y, bags: as in `fit`; bags are needed if the model was fitted on bags.
            sample_weight: as in `fit`. A bag counts as the mean weight of its rows; without weights each counts once.
        """
        return next(iter(self.evaluate(X, y, bags, sample_weight).values()))

    def evaluate(self, X: Any, y: Any = None, bags: Any = None, sample_weight: Any = None) -> dict[str, float]:
        """Compare predictions with the weak labels of other bags by all measures of the regime; see `score`."""
        refuse_lost_bags(self, X, bags)
        regime = self.regime_
        data = check_labelled(X, y, bags, None, sample_weight, reading_of(self, X))
        data = self._known_columns(X, data).with_labels_of(regime)
        weak = regime.check_test(data.weak, data.bags, tuple(self.bag_classes_.tolist()))
        predicted = read_labels(self, data.rows, data.bags)
        scores = read_scores(self, data.rows, data.bags) - self.bag_threshold_
        weights = None if data.weights is None else data.bags.mean(data.weights)
        return measures(regime.reading, predicted, scores, weak, weights)

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

    def explain_bag(self, bag: Any) -> BagExplanation:
        """Say why a training bag is read as it is: its witnesses, its threshold, and the instance that decides.

        Raises:
            DataError: if there is no training bag of this id.
        """
        check_is_fitted(self)
        return explain_bag(self, bag)

    def show(self) -> Picture:
        """Return the first picture of what was found out: it prints, and a notebook shows it as a table."""
        return picture_of(self)

    def _html_repr(self) -> str:
        return picture_above(self, str(super()._html_repr()))

    def _rows(self, X: Any, bags: Any) -> CheckedData:
        check_is_fitted(self)
        return self._known_columns(X, check_unlabelled(X, bags, reading_of(self, X)))

    def _known_columns(self, X: Any, data: CheckedData) -> CheckedData:
        """Refuse rows with other columns than those of training, match checked data by name, and prepare the rows."""
        if is_table(X):
            validate_data(self, X, skip_check_array=True, reset=False)
            return prepared_rows(self, data, warn=True)
        names = getattr(self, "feature_names_in_", None)
        data, _ = data.with_columns_of(None if names is None else names.tolist(), "X")
        if data.rows.shape[1] != self.n_features_in_:
            found, wanted = data.rows.shape[1], self.n_features_in_
            raise DataError(f"X has {found} features, but BlissClassifier is expecting {wanted} features as input.")
        return prepared_rows(self, data, warn=False)

    def _scores(self, rows: Any) -> NDArray[np.float64]:
        return read_instances(self, rows)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is looked up anew: a file holds names of components, not the components."""
        return {key: value for key, value in super().__getstate__().items() if key != "_regimes_in_hand"}

    def __sklearn_tags__(self) -> Any:
        """Declare sparse input, and two classes for the regimes that have no more."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not is_binary(self.regime)
        return tags
