"""Why a bag is read as it is: its witnesses, how far it is from the threshold, and the instance that decides."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.errors import DataError
from bliss_framework.estimator.explanation import Explanation, explain, item
from bliss_framework.estimator.fitted_attributes import in_words
from bliss_framework.estimator.instance_ranks import ranks_of
from bliss_framework.extension.naming import near_miss
from bliss_framework.kernel.bags import Bags

MOST_LEFT_OUT = 200  # Instances that are left out one by one, the strongest ones of the bag.


@frozen
class WitnessReport:
    """An instance of a bag: its row, inferred class, rank, score and probability, and of which class these two are."""

    row: int = field()
    class_: Any = field()
    rank: int = field()
    score: float = field()
    probability: float = field()
    score_of: Any = field()


@frozen
class DecidingInstance:
    """The instance without which the bag comes nearest to another label: its row, and what would follow."""

    row: int = field()
    score_without: Any = field()
    predicted_without: Any = field()


@frozen(eq=False)
class BagExplanation:
    """Why a bag is read as it is.

    Attributes:
        bag: its id.
        weak_label: that it was given.
        predicted: the weak label that is read from the scores.
        score: by how much they exceed the bag threshold, negative where they do not; one for each label of sets.
        out_of_fold: whether all scores are of classifiers that were not trained on the bag; else of the model.
        witnesses: its instances, the strongest first.
        strongest: why the first of them got its label.
        decides: the instance that decides; None where there is one instance, or several classifiers are averaged.
        parts: what each kind of evidence of a bag head adds to the score, by name, and of label sets to that of each
            label; None without a head.
    """

    bag: Any = field()
    weak_label: Any = field()
    predicted: Any = field()
    score: Any = field()
    out_of_fold: bool = field()
    witnesses: tuple[WitnessReport, ...] = field()
    strongest: Explanation = field()
    decides: DecidingInstance | None = field()
    parts: Mapping[str, Any] | None = field(default=None)

    def sentence(self) -> str:
        """Say it in a few sentences."""
        by = f"by {'classifiers that were not' if self.out_of_fold else 'the model, which was'} trained on it"
        said = f"Bag {self.bag!r} (weak label {self.weak_label!r}) is read as {self.predicted!r} {by}."
        if isinstance(self.score, float):
            side = "above" if self.score > 0 else "below"
            said += f" Its score is {abs(self.score):.4f} {side} the threshold of bags."
        if self.parts is not None:
            said += _origin(self.parts)
        if self.decides is None:
            return said
        if self.decides.predicted_without == self.predicted:
            return f"{said} No single instance decides: without row {self.decides.row} the label stays what it is."
        return f"{said} Row {self.decides.row} decides: without it the bag would be {self.decides.predicted_without!r}."


def explain_bag(model: Any, bag: Any) -> BagExplanation:
    """Explain one training bag of a fitted `BlissClassifier`.

    Args:
        model: fitted.
        bag: its id; text that spells a number finds that number.

    Raises:
        DataError: there is no such bag.
    """
    place = bag_place(model, bag)
    rows = np.flatnonzero(model.bag_index_ == place)
    out_of_fold = model.out_of_fold_scores_ is not None
    scores = model.out_of_fold_scores_ if out_of_fold else model.training_scores_
    witnesses = _witnesses(model, rows, scores)
    read, predicted, decides = _reading(model, place, scores[rows], rows, [one.row for one in witnesses])
    return BagExplanation(
        item(model.bag_ids_[place]),
        item(model.weak_labels_[place]),
        _weak(model, predicted),
        item(read),
        out_of_fold,
        witnesses,
        explain(model, witnesses[0].row, 0),
        decides,
        _parts(model, place),
    )


def bag_place(model: Any, bag: Any) -> int:
    """Return the position of a training bag.

    Raises:
        DataError: there is none of that name.
    """
    ids = model.bag_ids_.tolist()
    if bag in ids:
        return int(ids.index(bag))
    words = [str(one) for one in ids]
    if str(bag) not in words:
        raise DataError(f"There is no training bag {bag!r}.{near_miss(str(bag), words)}")
    return words.index(str(bag))


def _parts(model: Any, place: int) -> dict[str, Any] | None:
    """Return what each kind of evidence says of a bag: a number, or one for each label."""
    if model.bag_parts_ is None:
        return None
    said = {name: values[place] for name, values in model.bag_parts_.items()}
    if any(np.ndim(values) for values in said.values()):
        labels = [str(item(one)) for one in model.classes_[1:]]
        return {name: dict(zip(labels, values.tolist(), strict=True)) for name, values in said.items()}
    return {name: float(value) for name, value in said.items()}


def _origin(parts: Mapping[str, Any]) -> str:
    """Say where a score comes from; of label sets that of the label with the largest one."""
    whose, values = "its score", dict(parts)
    if any(isinstance(one, Mapping) for one in parts.values()):
        totals: dict[str, float] = {}
        for one in parts.values():
            for label, value in one.items():
                totals[label] = totals.get(label, 0.0) + value
        best = max(totals, key=lambda label: totals[label])
        whose, values = f"the score of {best!r}, its largest,", {name: one[best] for name, one in parts.items()}
    shown = [f"{name} {value:+.4f}" for name, value in sorted(values.items(), key=lambda one: -one[1])]
    return f" Beside the mean bag, {whose} comes from: {', '.join(shown)}."


def _witnesses(model: Any, rows: NDArray[np.intp], scores: NDArray[np.float64]) -> tuple[WitnessReport, ...]:
    ranks = ranks_of(model, scores[rows], np.zeros(len(rows), dtype=np.intp))
    assert ranks is not None
    return tuple(
        WitnessReport(
            int(rows[i]),
            item(model.labels_[rows[i]]),
            int(ranks.ranks[i]),
            float(ranks.scores[i]),
            float(ranks.probabilities[i]),
            item(model.classes_[ranks.classes[i]]),
        )
        for i in np.argsort(ranks.ranks)
    )


def _reading(
    model: Any, place: int, scores: NDArray[np.float64], rows: NDArray[np.intp], ranked: list[int]
) -> tuple[Any, Any, DecidingInstance | None]:
    """Return score and label of a bag, and what follows where one of its strongest instances is left out."""
    reading = model.regime_.reading
    # Bags of shares are read from scores that are cut; all others from scores as the classifier has them.
    own = scores if reading.from_instances else scores + model.instance_threshold_
    places = {row: number for number, row in enumerate(rows.tolist())}
    left_out = [places[row] for row in ranked[:MOST_LEFT_OUT]] if len(rows) > 1 else []
    # The first bag is whole; in each other one an instance is missing.
    kept = np.ones((1 + len(left_out), len(rows)), dtype=bool)
    kept[np.arange(1, len(kept)), left_out] = False
    which, instance = np.nonzero(kept)
    bags = Bags(np.arange(len(kept)), which)
    read = np.asarray(reading.bag_scores(own[instance], bags), dtype=np.float64)
    whole, label, cut = _whole(model, place, read[0])
    labels = np.asarray(reading.bag_labels(own[instance], bags, cut))
    labels = in_words(labels, model.bag_classes_)
    averaged = (len(model.members_) > 1 or model.head_ is not None) and not reading.from_instances
    if not left_out or averaged:
        return whole, labels[0] if label is None else label, None
    most = int(_changes(read[1:] - read[0], whole, reading.from_instances).argmax()) + 1
    decides = DecidingInstance(ranked[most - 1], item(read[most] - cut), _weak(model, labels[most]))
    return whole, labels[0] if label is None else label, decides


def _changes(differences: NDArray[np.float64], whole: Any, of_shares: bool) -> NDArray[np.float64]:
    """Return how much each instance matters: by how much the score of the bag comes nearer to its threshold without it.

    Shares, and scores of several labels, have no side to come from: there it is how much they change.
    """
    if differences.ndim > 1 or of_shares:
        return np.asarray(np.abs(differences).reshape(len(differences), -1).max(axis=1))
    return np.asarray(-np.sign(whole) * differences)


def _whole(model: Any, place: int, read: Any) -> tuple[Any, Any, float]:
    """Return the relative score of a bag, its label where that is known, and the threshold that it was held against."""
    if model.out_of_fold_bag_scores_ is None:
        return read - model.bag_threshold_, None, float(model.bag_threshold_)
    # The threshold of its fold was chosen without it.
    relative = model.out_of_fold_bag_scores_[place]
    return relative, model.out_of_fold_bags_[place], float(np.ravel(read - relative)[0])


def _weak(model: Any, label: Any) -> Any:
    """Write a predicted label set by names where the user gave sets of names."""
    if np.ndim(label) == 0 or model.weak_labels_.ndim > 1 or label.dtype.kind == "f":
        return item(label)
    return np.asarray(model.classes_)[-len(label) :][label == 1].tolist()
