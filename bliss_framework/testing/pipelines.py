"""Checks of a pipeline."""

from functools import cached_property
from pathlib import Path
from typing import Any

from bliss_framework.extension.contracts import Pipeline
from bliss_framework.extension.pipeline_report import PipelineReport, check_report
from bliss_framework.testing.checks import Check


def pipeline_checks(pipeline: Pipeline) -> list[Check]:
    """List the checks of a pipeline, small enough to run twice.

    Args:
        pipeline: the component.
    """
    tests = _PipelineChecks(pipeline)
    return [
        Check("is-a-pipeline", tests.is_a_pipeline),
        Check("says-what-its-data-are", tests.data),
        Check("located", tests.located),
        Check("measures-in-0-1-of-every-method", tests.measures),
        Check("files-with-relative-paths", tests.files),
        Check("deterministic-for-one-seed", tests.deterministic),
    ]


class _PipelineChecks:
    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    @cached_property
    def report(self) -> PipelineReport:
        return self.pipeline.run(0, _silent)

    def is_a_pipeline(self) -> None:
        assert isinstance(self.pipeline, Pipeline), "a pipeline must be an instance of a subclass of Pipeline"

    def data(self) -> None:
        first, second = self.pipeline.check(), self.pipeline.check()
        for key in ("name", "sha256"):
            assert isinstance(first.get(key), str), f'check must say "{key}"; it says {first.get(key)!r}'
        assert first == second, "two checks of the same inputs differ"

    def located(self) -> None:
        found = self.pipeline.located(Path("/"))
        assert type(found) is type(self.pipeline), f"located returned {type(found).__name__}"

    def measures(self) -> None:
        check_report(self.report, type(self.pipeline).__name__)

    def files(self) -> None:
        for name, content in self.report.files.items():
            inside = not Path(name).is_absolute() and ".." not in Path(name).parts
            assert inside, f"the file {name!r} would lie outside the run directory"
            assert isinstance(content, str | bytes), f"the file {name!r} is {type(content).__name__}"

    def deterministic(self) -> None:
        first, second = (
            [(m.name, m.measures) for m in r.methods] for r in (self.report, self.pipeline.run(0, _silent))
        )
        assert first == second, "one seed, two results"


def _silent(stage: str) -> Any:
    """Take no note of a stage."""
