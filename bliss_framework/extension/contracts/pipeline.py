"""The contract of pipelines, experiments of several stages."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bliss_framework.extension.pipeline_report import PipelineReport


class Pipeline(ABC):
    """An experiment of several stages, such as images to boxes to a detector, that is more than one fit of BLISS.

    Its parameters are those of its factory. `bliss run NAME` runs it with its defaults, a table `[pipeline]` with the
    name in an experiment file with others. Run directory, repeats, seeds and result.json stay with the host.
    """

    def located(self, folder: Path) -> "Pipeline":
        """Return the same pipeline with its relative paths starting from a folder; by default it has none.

        Args:
            folder: that of the experiment file.
        """
        return self

    @abstractmethod
    def check(self) -> Mapping[str, Any]:
        """Check inputs before long work starts, and say what they are.

        Returns:
            What result.json says under "data": at least "name", and "sha256", a digest of all inputs.

        Raises:
            BlissError: naming what cannot be used.
        """

    @abstractmethod
    def run(self, seed: int, say: Callable[[str], None]) -> PipelineReport:
        """Run all stages once; the same seed gives the same measures.

        Args:
            seed: at least 0, another one in each repeat.
            say: is told of each stage in a few words.
        """
