"""What a pipeline reports: the measures of each of its methods, files for the run directory, notes."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from bliss_framework.errors import PluginError

Measures = Mapping[str, float | Mapping[str, float]]


@frozen(eq=False)
class MethodReport:
    """What one method of a pipeline reached in one repeat.

    Attributes:
        name: of the method.
        measures: numbers in [0, 1], larger is better, by name; or a mapping of such numbers, by class for instance.
        seconds: what it took.
        ceiling: whether it was told what weak labels do not say, so that no other method is expected to reach it.
    """

    name: str = field()
    measures: Measures = field()
    seconds: float = field(default=0.0)
    ceiling: bool = field(default=False)


@frozen(eq=False)
class PipelineReport:
    """What one repeat of a pipeline found out.

    Attributes:
        methods: all with the same measures. The first one is what the pipeline is for; the others stand beside it.
        files: text or bytes by their path in the run directory; kept of the first repeat.
        details: anything else that result.json should say under "inference"; kept of the first repeat.
        notes: sentences that a reader should know.
    """

    methods: tuple[MethodReport, ...] = field()
    files: Mapping[str, str | bytes] = field(factory=dict)
    details: Mapping[str, Any] = field(factory=dict)
    notes: tuple[str, ...] = field(default=())


def check_report(report: Any, name: str) -> None:
    """Refuse what a pipeline must not return.

    Raises:
        PluginError: naming the pipeline, and what was found.
    """
    sound = isinstance(report, PipelineReport) and report.methods
    if not sound or not all(isinstance(one, MethodReport) and one.measures for one in report.methods):
        raise PluginError(f'The pipeline "{name}" must return a PipelineReport with at least one method and measure.')
    names = [set(one.measures) for one in report.methods]
    if any(one != names[0] for one in names):
        raise PluginError(f'The pipeline "{name}" has methods with different measures; all need the same ones.')
    for one in report.methods:
        for measure, value in one.measures.items():
            for number in value.values() if isinstance(value, Mapping) else (value,):
                if not 0 <= number <= 1:
                    raise PluginError(
                        f'The pipeline "{name}": {measure} of {one.name} is {number!r}; allowed is a number in [0, 1].'
                    )
