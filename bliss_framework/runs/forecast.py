"""What a run will take: refused where that is more memory than there is, and told where it is much."""

from collections.abc import Sequence

from bliss_framework.estimator.memory_estimate import Work, check_memory
from bliss_framework.estimator.time_estimate import estimate_seconds
from bliss_framework.runs.evaluation.methods import CONTROL, OWN
from bliss_framework.runs.evaluation.plan import Fit
from bliss_framework.runs.events import RunEstimated, Tell
from bliss_framework.runs.prepared import Prepared

MUCH = 10**9  # Bytes from which on a run says what it will take.
LONG = 60.0  # Seconds.
MEASURED_FROM = 20_000  # Rows of all fits from which on time is measured: fewer take no minute.


def foretell(prepared: Prepared, work: Work, tell: Tell) -> None:
    """Hold the memory of a run against what is there, and tell what a large or a long one will take.

    Args:
        prepared: the experiment.
        work: what is to be done.
        tell: called with an event, where the run is large or long.

    Raises:
        MemoryNeededError: before any work, with a setting that fits where there is one.
    """
    config, data, jobs = prepared.config, prepared.ready, prepared.n_jobs
    needed = check_memory(config, data, lambda: prepared.plugins.registry, jobs, config.given.get("max_memory"), work)
    n_rows = data.bags.n_rows
    many = n_rows * (1 + work.fits + len(config.candidates)) >= MEASURED_FROM
    seconds = estimate_seconds(config, data, jobs, work) if many else None
    if needed.total >= MUCH or (seconds or 0.0) >= LONG:
        tell(RunEstimated(n_rows, data.bags.n_bags, needed.total, seconds))


def work_of(prepared: Prepared, fits: Sequence[Fit], inference: bool) -> Work:
    """Say what a run does with its data.

    Args:
        prepared: the experiment.
        fits: of its evaluation.
        inference: whether labels of all rows are inferred, and a classifier is trained on them.
    """
    # The control infers nothing, so it costs little where BLISS itself is fitted as often.
    own = max(sum(fit.method.name == name for fit in fits) for name in (OWN, CONTROL))
    evaluation = prepared.settings.evaluation
    held = 0.0 if prepared.problem.test is not None else evaluation.test_share or 1.0 / (evaluation.cv or 1)
    return Work(inference, inference, own, 1.0 - held if own else 1.0)
