"""tests.csv of a finished run, made again where it was lost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bliss_framework.errors import RunError
from bliss_framework.runs.evaluation.fits import run_fits
from bliss_framework.runs.evaluation.measures import evaluation_of, main_measure
from bliss_framework.runs.evaluation.methods import Method
from bliss_framework.runs.evaluation.plan import plan_fits
from bliss_framework.runs.evaluation.tests_table import TESTS, tests_csv
from bliss_framework.runs.folder.start import Start
from bliss_framework.runs.prepared import Prepared


def tests_again(
    prepared: Prepared, methods: Sequence[Method], begun: Start, folder: Path, known: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Fit and test all methods once more, and return tests.csv by its name.

    Args:
        prepared: the experiment.
        methods: all that were tested.
        begun: the run that goes on.
        folder: of the run, for the message.
        known: the evaluation of each method, as result.json has it.

    Raises:
        RunError: the figures are no longer those of the result, for instance because libraries have changed since.
    """
    problem, evaluation = prepared.problem, prepared.settings.evaluation
    fits = plan_fits(problem, methods, evaluation, prepared.seed)
    pieces = run_fits(problem, fits, prepared.n_jobs, begun.checkpoint, begun.tell)
    measure = main_measure(next(iter(known.values())))
    for method in methods:
        now = evaluation_of(problem, method.name, pieces, evaluation)[measure]["runs"]
        if now != known.get(method.name, {}).get(measure, {}).get("runs"):
            raise RunError(
                f"{folder} lacks {TESTS}, which cannot be made again: what {method.name} says of the tested bags today "
                f"differs from result.json, maybe because a library has changed. Run it anew with another --output."
            )
    return {TESTS: tests_csv(problem, pieces)}
