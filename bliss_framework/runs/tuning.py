"""Settings chosen for one data set from weak labels alone, to be kept in a file."""

import time
from pathlib import Path
from typing import Any

import tomli_w
from attrs import field, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.configure import FitConfig
from bliss_framework.estimator.findings import kind_of_bags
from bliss_framework.estimator.instance_threshold import instance_threshold
from bliss_framework.estimator.memory_estimate import Work
from bliss_framework.estimator.selection import Trial
from bliss_framework.runs.events import RunFinished, RunStarted, Tell
from bliss_framework.runs.folder.atomic import plain
from bliss_framework.runs.folder.start import FORMAT
from bliss_framework.runs.forecast import foretell
from bliss_framework.runs.prepared import Prepared


@frozen(eq=False)
class TuneResult:
    """The settings of a grid, best first.

    Attributes:
        document: what `--json` prints.
        toml: an experiment file with the best settings.
    """

    document: dict[str, Any] = field()
    toml: str = field()


def tune(prepared: Prepared, tell: Tell, folder: Path | None = None) -> TuneResult:
    """Score all settings of the grid on held-out bags of the whole data set.

    Args:
        prepared: the experiment, with `settings = "select"`; its evaluation is not looked at.
        tell: called with each event, in this process.
        folder: into which the experiment file goes, so that it names data by the way from there; None for whole paths.

    Raises:
        SettingsError, UnknownNameError: the grid has a name or a value that cannot be used, or settings are not to be
            chosen.
    """
    if not prepared.config.candidates:
        raise SettingsError(
            'Nothing is left to choose in this experiment: its settings are not "select"; prepare it with settings = '
            '"select".'
        )
    started = time.perf_counter()
    bags = prepared.problem.bags
    tell(RunStarted(prepared.name, prepared.loaded.origin, bags.n_bags, bags.n_rows, 1))
    foretell(prepared, Work(final=False), tell)
    ranked = prepared.model().rank_configured(prepared.problem.data, prepared.config, tell)
    tell(RunFinished(prepared.name, time.perf_counter() - started))
    rows = [{"settings": dict(one.config.chosen), "score": one.score} for one in ranked]
    document = {
        "format": FORMAT,
        "data": prepared.data_document(),
        "candidates": rows,
        **_kind(prepared, ranked[0]),
        "seconds": time.perf_counter() - started,
    }
    return TuneResult(plain(document), _as_toml(prepared, ranked[0].config, folder))


def _kind(prepared: Prepared, best: Trial) -> dict[str, Any]:
    """Say what bags look like by the scores of the best candidate."""
    problem, regime = prepared.problem, best.config.regime
    cut = 0.0
    if not regime.reading.from_instances:
        cut = instance_threshold(best.config, best.scores, problem.bags, problem.weak, None)
    kind = kind_of_bags(regime, problem.bags, problem.weak, best.scores - cut, problem.data.rows.is_sparse)
    return {} if kind is None else {"kind": kind}


def _as_toml(prepared: Prepared, best: FitConfig, folder: Path | None) -> str:
    """Write an experiment file in which every parameter is given, so that it means the same in another version."""
    values = {name: value for name, value in best.values.items() if value is not None}
    data = prepared.document(folder)["data"]
    return tomli_w.dumps({"data": data, "bliss": plain({**values, "random_state": prepared.seed})})
