"""Pictures of bags that were not trained on: ranks, mistakes and scores of two classes, label sets, shares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from bliss_framework.estimator.uncertainty import interval_of_area, interval_of_share
from bliss_framework.readings.ranking import average_precision, roc_auc
from bliss_framework.report.charts import Frame, Line, bars_chart, histogram, lines_chart, scatter
from bliss_framework.report.parts import Cell, Chart, Part, Remark, Table, percent
from bliss_framework.report.reading import FinishedRun
from bliss_framework.report.tested import in_columns
from bliss_framework.report.weak_bags import BINARY, LABEL_SETS, SHARES, WeakBags
from bliss_framework.runs.evaluation.tests_table import MethodTests

MOST_LINES = 6
UNIT = (0.0, 1.0)


@frozen(eq=False)
class Ranked:
    """Bags of two classes with scores that were made without them."""

    name: str = field()
    positive: NDArray[np.bool_] = field()
    scores: NDArray[np.float64] = field()

    @property
    def has_both(self) -> bool:
        """Whether there are bags of both classes, so that they can be ranked."""
        return bool(self.positive.any() and not self.positive.all())


def tested_parts(run: FinishedRun, weak: WeakBags) -> list[Part]:
    """Lay out what was said of bags that were not trained on, as the kind of their weak labels asks for."""
    first = [one.of_repeat(1) for one in run.tests]
    repeats = int(run.tests[0].repeat.max()) if run.tests else 1
    where = "bags that were not trained on" + (f" (repeat 1 of {repeats})" if repeats > 1 else "")
    if weak.kind == BINARY:
        return _of_binary(run, weak, first, where)
    own = next(iter(first), None)
    if own is None or own.truth.ndim != 2:
        return _without_tests(weak)
    return _of_sets(own, weak, where) if weak.kind == LABEL_SETS else _of_shares(own.truth, own.predicted, weak, where)


def ranks_of(weak: WeakBags) -> str:
    """Say in half a sentence how well bags are ranked out of fold; nothing where the run does not know."""
    if weak.kind != BINARY or weak.out_of_fold is None or weak.values is None:
        return ""
    ranked = Ranked("", weak.values == 1, weak.out_of_fold)
    if not ranked.has_both:
        return ""
    area = roc_auc(ranked.positive.astype(np.intp), ranked.scores)
    n = int(ranked.positive.sum())
    ends = interval_of_area(area, n, len(ranked.positive) - n)
    return (
        f"final classifiers that were not trained on a bag rank positive bags above others with an area under the ROC "
        f"curve of {area:.3f} ({ends.low:.3f} to {ends.high:.3f}; 0.5 is a guess)"
    )


def _without_tests(weak: WeakBags) -> list[Part]:
    """Show shares of the bags that were trained on, and say so; of label sets nothing honest can be shown."""
    if weak.kind == SHARES and weak.predicted is not None:
        where = "the bags that the model was TRAINED on, which flatters it"
        return _of_shares(np.asarray(weak.values), weak.predicted, weak, where)
    if weak.kind == LABEL_SETS:
        return [Remark("Tests", "Nothing was tested on bags that were not trained on; --cv 10 adds it.")]
    return []


def _of_binary(run: FinishedRun, weak: WeakBags, tests: Sequence[MethodTests], where: str) -> list[Part]:
    usable = [one for one in tests if _is_binary(one)]
    ranked = [Ranked(one.name, one.truth == 1, one.scores) for one in usable]
    if not ranked and weak.out_of_fold is not None:
        ranked = [Ranked("final classifier", np.asarray(weak.values) == 1, weak.out_of_fold)]
        where = "bags, by classifiers that were not trained on them (out of fold)"
    ranked = [one for one in ranked if one.has_both]
    if not ranked:
        return [Remark("Ranks, mistakes and scores of bags", _LACKING)]
    parts: list[Part] = [_curves(ranked[:MOST_LINES], where)]
    if usable:
        parts.append(_confusion(usable[0], weak, where))
    return [*parts, _scores(ranked[0], weak, where)]


def _is_binary(tests: MethodTests) -> bool:
    """Whether these are tests of two classes, which a table that somebody else wrote need not be."""
    both = (tests.truth, tests.predicted)
    return tests.scores.ndim == 1 and all(one.ndim == 1 and np.isin(one, (0, 1)).all() for one in both)


_LACKING = (
    "They are not shown: the run keeps no scores of bags that were not trained on, and scores of training bags would "
    "flatter the model. --cv 10 adds them."
)


def _curves(ranked: Sequence[Ranked], where: str) -> Chart:
    roc: list[Line] = []
    precision: list[Line] = []
    said = []
    for one in ranked:
        truth = one.positive.astype(np.intp)
        false, true, _ = roc_curve(truth, one.scores)
        precisions, recalls, _ = precision_recall_curve(truth, one.scores)
        area, average = roc_auc(truth, one.scores), average_precision(truth, one.scores)
        said.append(f"{one.name}: area {area:.3f}, average precision {average:.3f}")
        roc.append((said[-1], false, true))
        precision.append((said[-1], recalls, precisions))
    panels = [
        (Frame("false positive rate", "true positive rate", UNIT, UNIT, diagonal=True), roc),
        (Frame("recall", "precision", UNIT, UNIT), precision),
    ]
    share = float(ranked[0].positive.mean())
    note = f"Scores of all folds are ranked together. A guess has area 0.5 and precision {share:.2f}."
    return Chart(f"ROC and precision-recall, {where}", lines_chart(panels), "; ".join(said), note)


def _confusion(tests: MethodTests, weak: WeakBags, where: str) -> Table:
    words, truth, predicted = weak.words, tests.truth.astype(np.intp), tests.predicted.astype(np.intp)
    counts = np.zeros((len(words), len(words)), dtype=np.intp)
    np.add.at(counts, (truth, predicted), 1)
    rows = tuple(
        (Cell(f"weak label {word}"), *(_counted(n, own.sum()) for n in own))
        for word, own in zip(words, counts, strict=True)
    )
    columns = ("", *(f"predicted {word}" for word in words))
    return Table(f"Right and wrong of {tests.name}, {where}", columns, rows)


def _counted(n: int, total: int) -> Cell:
    share = n / total if total else 0.0
    return Cell(f"{n} ({percent(share)})", level=share)


def _scores(ranked: Ranked, weak: WeakBags, where: str) -> Chart:
    negative, positive = weak.words
    groups = {
        f"weak label {negative}": ranked.scores[~ranked.positive].tolist(),
        f"weak label {positive}": ranked.scores[ranked.positive].tolist(),
    }
    middles = ", ".join(f"{name}: {len(of)} bags, median {np.median(of):.3g}" for name, of in groups.items())
    frame = Frame("probability" if weak.out_of_fold is not None and not weak.tested else "score of the bag", "bags")
    return Chart(f"Scores by class of {ranked.name}, {where}", histogram(groups, frame, 24), middles)


def _of_sets(tests: MethodTests, weak: WeakBags, where: str) -> list[Part]:
    truth, predicted = tests.truth, tests.predicted
    if truth.shape != predicted.shape or truth.shape[1] != len(weak.words):
        return []
    found, missed = (truth * predicted).sum(axis=0), (truth * (1 - predicted)).sum(axis=0)
    wrong = ((1 - truth) * predicted).sum(axis=0)
    stacks: Mapping[str, Any] = {"found": found, "missed": missed, "claimed, but not there": wrong}
    values = ", ".join(
        f"{name}: {int(a)} found, {int(b)} missed, {int(c)} wrong"
        for name, a, b, c in zip(weak.words, found, missed, wrong, strict=True)
    )
    frame = Frame("bags", x_ends=(0.0, float((found + missed + wrong).max())))
    chart = Chart(f"Labels of {tests.name}, {where}", bars_chart(weak.words, stacks, frame), values)
    rows = tuple(
        (Cell(name), *(_share_of(a, a + other) for a, other in ((f, m), (f, w))))
        for name, f, m, w in zip(weak.words, found, missed, wrong, strict=True)
    )
    note = (
        "In brackets: the 95 % interval. Recall: of the bags that have the label; precision: of those said to have it."
    )
    return [chart, Table(f"Each label of {tests.name}, {where}", ("label", "recall", "precision"), rows, note)]


def _share_of(right: float, n: float) -> Cell:
    if n == 0:
        return Cell("-")
    ends = interval_of_share(right, int(n))
    return Cell(f"{percent(right / n)} ({percent(ends.low)} to {percent(ends.high)}), {int(right)} of {int(n)}")


def _of_shares(truth: NDArray[Any], predicted: NDArray[Any], weak: WeakBags, where: str) -> list[Part]:
    given, said = in_columns(np.asarray(truth)), in_columns(np.asarray(predicted))
    if given.shape != said.shape or given.shape[1] != len(weak.words):
        return []
    kept = range(1, 2) if len(weak.words) == 2 else range(len(weak.words))  # Of two shares one says both.
    groups = {f"share of {weak.words[c]}": (given[:, c], said[:, c]) for c in kept}
    apart = [f"{weak.words[c]} {np.abs(given[:, c] - said[:, c]).mean():.3f}" for c in kept]
    frame = Frame("share that is given", "share that is predicted", UNIT, UNIT, diagonal=True)
    values = f"mean distance of {len(given)} bags: {', '.join(apart)}"
    chart = Chart(f"Shares, {where}", scatter(groups, frame), values, "On the dotted line both are the same.")
    totals = [given.mean(axis=0), said.mean(axis=0), np.abs(given - said).mean(axis=0)]
    rows = tuple(
        (Cell(word), *(Cell(percent(total[c]), level=float(total[c])) for total in totals))
        for c, word in enumerate(weak.words)
    )
    return [chart, Table(f"Classes, {where}", ("class", "mean share given", "predicted", "mean distance"), rows)]
