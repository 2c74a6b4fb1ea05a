"""The first picture of a fitted model in a notebook: verdict, counts, and the strongest witnesses."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from attrs import field, frozen
from sklearn.utils.validation import check_is_fitted

from bliss_framework.estimator.findings import findings_of
from bliss_framework.kernel.bags import Bags

REFERENCES = {"majority": "the commonest label alone", "constant": "the mean shares for every bag"}
COLUMNS = ("row", "bag", "label", "confidence", "score", "probability")


@frozen
class Picture:
    """What a fitted model found out, as text and as HTML, which a notebook shows by itself.

    Attributes:
        lines: sentences.
        witnesses: the strongest instances, a table of `COLUMNS`.
    """

    lines: tuple[str, ...] = field()
    witnesses: tuple[Mapping[str, Any], ...] = field()

    def __str__(self) -> str:
        return "\n".join([*self.lines, *(_words(one) for one in self.witnesses)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """HTML without scripts and styles of its own: what a bag or a class is called is text."""
        sentences = "".join(f"<p>{escape(line)}</p>" for line in self.lines)
        if not self.witnesses:
            return f"<div>{sentences}</div>"
        keys = [key for key in COLUMNS if key in self.witnesses[0]]
        rows = "".join(_row("td", [_shown(one[key]) for key in keys]) for one in self.witnesses)
        return f"<div>{sentences}<table><thead>{_row('th', keys)}</thead><tbody>{rows}</tbody></table></div>"


def picture_of(model: Any) -> Picture:
    """Draw the first picture of a fitted `BlissClassifier`.

    Raises:
        NotFittedError: it is not fitted.
    """
    check_is_fitted(model)
    bags = Bags(model.bag_ids_, model.bag_index_)
    weak = model.regime_.check_test(model.weak_labels_, bags, tuple(model.bag_classes_.tolist()))
    found = findings_of(model, bags, weak)
    counts = ", ".join(f"{count} x {label}" for label, count in model.inference_["label_counts"].items())
    lines = [f"{bags.n_bags} bags, {bags.n_rows} instances; inferred labels: {counts}"]
    n_undecided = model.inference_["n_undecided"]
    if n_undecided:
        lines[0] += f"; {n_undecided} undecided"
    if "out_of_fold" in found:
        lines.insert(0, _verdict(found["out_of_fold"]))
    witnesses = found.get("witnesses")
    if witnesses is not None:
        lines.append(f"witnesses: {witnesses['n_with_witness']} of {witnesses['n']} {witnesses['of']} have one")
    return Picture(tuple(lines), tuple(() if witnesses is None else witnesses["strongest"]))


def picture_above(model: Any, diagram: str) -> str:
    """Put the first picture of a fitted model above the HTML of scikit-learn; the diagram alone where there is none."""
    if not hasattr(model, "members_"):
        return diagram
    try:
        return picture_of(model)._repr_html_() + diagram
    except Exception:
        # A notebook shows a model whose plugin is gone, too.
        return diagram


def _verdict(found: Mapping[str, Any]) -> str:
    interval, reference = found["interval"], found.get("reference")
    line = f"{found['measure'].replace('_', ' ')} {found['value']:.3f} out of fold on {found['n_bags']} bags"
    if interval["low"] == interval["low"]:  # Not NaN.
        line += f" (95% interval {interval['low']:.3f} to {interval['high']:.3f})"
    return line + (f"; {REFERENCES[reference['name']]}: {reference['value']:.3f}" if reference is not None else "")


def _words(one: Mapping[str, Any]) -> str:
    return "  " + ", ".join(f"{key} {_shown(one[key])}" for key in COLUMNS if key in one)


def _row(tag: str, cells: Sequence[Any]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
