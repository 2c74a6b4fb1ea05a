"""What a run found out, in sentences: witnesses, an honest estimate, and whether methods differ beyond noise."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from bliss_framework.estimator.picture import REFERENCES
from bliss_framework.estimator.uncertainty import words_of_test
from bliss_framework.report.wording import is_percent, measure_name, shown_value
from bliss_framework.runs.folder.csv_tables import carried_of

OWN = "bliss"
_NUMBER = re.compile(r"[+-]?\d*\.?\d+(e[+-]?\d+)?")


def finding_lines(document: Mapping[str, Any]) -> list[str]:
    """Say who the witnesses are, and where there is no evaluation how good the model is out of fold."""
    found = document.get("findings", {})
    lines = _witness_lines(found["witnesses"]) if "witnesses" in found else []
    if "out_of_fold" in found and "repeats" not in document.get("evaluation", {}):
        lines.append(_estimate(found["out_of_fold"]))
    return lines


def _witness_lines(witnesses: Mapping[str, Any]) -> list[str]:
    line = f"witnesses: {witnesses['n_with_witness']} of {witnesses['n']} {witnesses['of']} have one"
    strongest = [f"  {_witness(one)}" for one in witnesses["strongest"]]
    return [f"{line}; the strongest:", *strongest] if strongest else [line]


def _witness(one: Mapping[str, Any]) -> str:
    who = instance_words({"row": one["row"], **one["carried"]})
    sure = f"probability {one['probability']:.2f}" if "probability" in one else f"confidence {one['confidence']:.2f}"
    return f"{who} of bag {one['bag']}, label {one['label']}, {sure}"


def _estimate(found: Mapping[str, Any]) -> str:
    measure = found["measure"]
    value = shown_value(measure, {"mean": found["value"], "sd": 0.0, "runs": [found["value"]]})
    line = f"out of fold: {measure_name(measure)} {value}"
    interval = interval_words(measure, found["interval"])
    sure = f"95% interval {interval}, " if interval != "-" else ""
    line += f" ({sure}{found['n_bags']} bags)"
    if "reference" in found:
        reference = found["reference"]
        own = shown_value(measure, {"mean": reference["value"], "sd": 0.0, "runs": [reference["value"]]})
        line += f"; {REFERENCES[reference['name']]}: {own}"
    return (
        f"{line}. Each bag is scored by a final classifier that was not trained on it, but labels were inferred with "
        f"all bags; --cv 10 leaves bags out of both."
    )


def kind_words(kind: Mapping[str, Any]) -> str:
    """Say what bags look like, and what was measured on such bags.

    >>> kind_words({"like": "haystacks", "advice": "Look closely.", "witness_share": 0.07})
    'Your bags look like haystacks (7 % of the instances of positive bags score as positive). Look closely.'
    """
    share = kind.get("witness_share")
    seen = "" if share is None else f" ({100 * share:.0f} % of the instances of positive bags score as positive)"
    return f"Your bags look like {kind['like']}{seen}. {kind['advice']}"


def interval_words(measure: str, interval: Mapping[str, Any] | None) -> str:
    """Write both ends of an interval; a dash where there is none.

    >>> interval_words("bag_accuracy", {"low": 0.774, "high": 0.916})
    '77.4 to 91.6'
    """
    if interval is None or interval["low"] is None or interval["high"] is None:
        return "-"
    factor, digits = (100, 1) if is_percent(measure) else (1, 3)
    return f"{factor * interval['low']:.{digits}f} to {factor * interval['high']:.{digits}f}"


def comparison_lines(evaluation: Mapping[str, Any]) -> list[RenderableType]:
    """Say which of two methods is better, if that is beyond noise; nothing where nothing is compared."""
    found = evaluation.get("comparison")
    if found is None:
        return []
    better, other = (_called(found[which]) for which in ("better", "other"))
    test = words_of_test(found)
    if found["winner"] is None:
        return [Text(f"No difference beyond noise between {better} and {other}: {test}.")]
    measure = measure_name(found["measure"])
    return [Text(f"{better} is better than {other} in {measure}, beyond noise: {test}.")]


def _called(method: str) -> str:
    return "BLISS" if method == OWN else method


def next_words(folder: Path) -> str:
    """Say what may be typed next about a finished run.

    >>> next_words(Path("my run"))
    "next: bliss report 'my run', bliss explain 'my run' BAG, bliss predict 'my run' NEW.csv"
    """
    place = shlex.quote(str(folder))
    return f"next: bliss report {place}, bliss explain {place} BAG, bliss predict {place} NEW.csv"


def instance_words(line: Mapping[str, Any], most: int = 3) -> str:
    """Say which instance a line of labels.csv is of: by what is carried beside it, and by its row.

    >>> instance_words({"row": 4, "bag": "b", "shape": "188_1+1"}), instance_words({"row": 4, "x": 512})
    ('188_1+1 (row 4)', 'x 512 (row 4)')
    """
    carried = [_carried(name, value) for name, value in list(carried_of(line).items())[:most] if value != ""]
    return f"{', '.join(carried)} (row {line['row']})" if carried else f"row {line['row']}"


def _carried(name: str, value: Any) -> str:
    """Write what is carried; of a number one has to know what it is of."""
    return f"{name} {value}" if _NUMBER.fullmatch(str(value)) else str(value)
