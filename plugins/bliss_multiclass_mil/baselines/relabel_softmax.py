"""The control without a bandit: a cooperative softmax that relabels what it learns, then across folds as BLISS does."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bliss_framework.plugin import (
    BagKFold,
    Bags,
    Part,
    Scaling,
    at_least,
    balance_weights,
    between,
    check_bags,
    check_settings,
    check_training,
    class_array,
    draw_labels,
    refuse_lost_bags,
    relabelled_across_folds,
    too_few_to_relabel,
)
from bliss_multiclass_mil.classifier.cooperative_softmax import CooperativeSoftmax
from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime
from bliss_multiclass_mil.regime.relabelling import relabelled


class RelabelSoftmax(ClassifierMixin, BaseEstimator):
    """What BLISS would be with no bandit: same classifier, same random start, same class weights, same final fit.

    Instances start with random candidate labels. Then the softmax takes a few steps from where it stopped, and each
    instance takes the candidate with the largest output, until labels repeat; as mi-SVM does (Andrews et al., 2002).

    Args:
        n_folds: parts of whole bags that are relabelled on their own, as in the cross-fit; 1 takes all bags together.
        n_rounds: most rounds, each as dear as a pull; 0 leaves the random start.
        relabel_rounds: most rounds of relabelling across folds after that, as many as BLISS has by default; 0 for none.
        class_balance: exponent of the class weights, see `BlissClassifier`.
        every_label: whether each label of a bag keeps the instance that fits it best; otherwise it may lose all.
        n_negative: see `MultiClassMilRegime`, as for negative_label, separator and label_names.
        l2: see `CooperativeSoftmax`, as for n_steps, n_features, width, max_iter and precision.
        n_steps: of L-BFGS in each round.
        n_features: random Fourier features; 0 keeps the rows.
        width: of their kernel.
        max_iter: of the fit after relabelling.
        precision: of rows and products.
        scaling: see `Scaling`.
        negative_label: what instances without a label are called.
        separator: in label sets that are text.
        label_names: all labels.
        random_state: of the start, the folds and the features.

    Attributes:
        classes_: the negative class, then the C labels.
        labels_: (n,) the label of each training instance in the end.
        n_rounds_: rounds of each fold.
        n_relabel_rounds_: rounds across folds.
    """

    def __init__(
        self,
        n_folds: int = 1,
        n_rounds: int = 60,
        relabel_rounds: int = 30,
        class_balance: float = 0.5,
        every_label: bool = True,
        n_negative: int = 1,
        l2: float = 1e-4,
        n_steps: int = 10,
        n_features: int = 0,
        width: float = 0.25,
        max_iter: int = 100,
        precision: str = "float32",
        scaling: str = "auto",
        negative_label: Any = "negative",
        separator: str = ";",
        label_names: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_folds = n_folds
        self.n_rounds = n_rounds
        self.relabel_rounds = relabel_rounds
        self.class_balance = class_balance
        self.every_label = every_label
        self.n_negative = n_negative
        self.l2 = l2
        self.n_steps = n_steps
        self.n_features = n_features
        self.width = width
        self.max_iter = max_iter
        self.precision = precision
        self.scaling = scaling
        self.negative_label = negative_label
        self.separator = separator
        self.label_names = label_names
        self.random_state = random_state

    def fit(self, X: Any, y: Any, bags: Any = None) -> "RelabelSoftmax":
        """Learn from label sets: X (n, d), y one label set for each bag or row, bags (n,) ids."""
        self._check()
        regime, softmax = self._regime(), self._softmax()
        given = check_training(X, y, bags)
        weak = regime.check(given.weak, given.bags)
        self.scaling_ = Scaling(self.scaling).fit(given.X)
        rows = self.scaling_.transform(given.X)
        data = Part(rows, given.bags, weak, regime.label_space(weak, given.bags))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        labels, self.n_rounds_ = np.empty(data.n_rows, dtype=np.intp), []
        for fold, own in enumerate(self._folds(data, regime.strata(weak), seed)):
            labels[own], n_rounds = self._settled(data.take(own), softmax, np.random.default_rng([seed, fold]))
            self.n_rounds_.append(n_rounds)
        classes = data.space.class_of_label[self._across_folds(data, softmax, labels, seed)]
        self.classes_ = class_array(weak.classes)
        self.labels_ = self.classes_[classes]
        self.has_bags_ = data.bags.n_bags < data.bags.n_rows
        # Shares of 0 and 1 are labels, and a class that is left without an instance keeps its column.
        self.final_ = softmax.estimator(seed).fit_shares(rows, np.eye(len(self.classes_))[classes])
        return self

    def _settled(
        self, part: Part, softmax: CooperativeSoftmax, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], int]:
        """Train and relabel in turn: the labels (n,) of a part, and the rounds that it took."""
        # Nothing is held out, but the classifier predicts what it is given.
        prepared = softmax.prepare(part, part.take(np.arange(1)), rng)
        labels = draw_labels(part.space.draw_weights(), rng)
        n_rounds = 0
        for n_rounds in range(1, self.n_rounds + 1):  # noqa: B007 - how far it came is told
            weights = balance_weights(labels[None], part.space, self.class_balance, None)
            scores = prepared.pull(labels[None], weights).train_scores[0]
            changed = relabelled(scores, part, self.every_label)
            if np.array_equal(changed, labels):
                break
            labels = changed
        return labels, n_rounds

    def _across_folds(
        self, data: Part, softmax: CooperativeSoftmax, labels: NDArray[np.intp], seed: int
    ) -> NDArray[np.intp]:
        """Go on as BLISS does after inference: each bag is relabelled by a softmax that has not seen it."""
        self.n_relabel_rounds_ = 0
        if self.relabel_rounds == 0:
            return labels
        short = too_few_to_relabel(data.bags)
        if short is not None:
            warnings.warn(short, UserWarning, stacklevel=3)
        regime = self._regime()
        rounds = relabelled_across_folds(
            softmax,
            data,
            regime.strata(data.weak),
            labels,
            regime.constraint(),
            self.relabel_rounds,
            self.class_balance,
            seed,
        )
        self.n_relabel_rounds_ = rounds.n_rounds
        return rounds.labels

    def _folds(self, data: Part, strata: NDArray[np.intp], seed: int) -> Iterator[NDArray[np.intp]]:
        if self.n_folds == 1:
            yield np.arange(data.n_rows)
            return
        dealt = BagKFold(self.n_folds, random_state=seed).split(data.X, strata, groups=data.bags.index)
        yield from (own for _, own in dealt)

    def _regime(self) -> MultiClassMilRegime:
        assignments = "every-label" if self.every_label else "free"
        return MultiClassMilRegime(
            self.negative_label, self.n_negative, self.separator, self.label_names, assignments=assignments
        )

    def _softmax(self) -> CooperativeSoftmax:
        return CooperativeSoftmax(
            l2=self.l2,
            n_steps=self.n_steps,
            n_features=self.n_features,
            width=self.width,
            max_iter=self.max_iter,
            precision=self.precision,
        )

    def _check(self) -> None:
        check_settings(
            self,
            n_folds=at_least(1),
            n_rounds=at_least(0),
            relabel_rounds=at_least(0),
            class_balance=between(0.0, 10.0),
        )

    def _scores(self, X: Any, bags: Any = None) -> tuple[NDArray[np.float64], Bags]:
        check_is_fitted(self)
        rows, grouped = check_bags(X, bags)
        return self.final_.decision_function(self.scaling_.transform(rows)), grouped

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score instances: (n,) for one label, else (n, C + 1)."""
        return self._scores(X)[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag for each label, as the regime does: (ids, (B, C))."""
        refuse_lost_bags(self, X, bags)
        scores, grouped = self._scores(X, bags)
        return grouped.ids, self._regime().reading.bag_scores(scores, grouped)

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the label set of each bag: (ids, (B, C) of 0 and 1)."""
        refuse_lost_bags(self, X, bags)
        scores, grouped = self._scores(X, bags)
        return grouped.ids, self._regime().reading.bag_labels(scores, grouped, 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
