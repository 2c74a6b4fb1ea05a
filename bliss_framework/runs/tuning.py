"""Settings chosen for one data set from weak labels alone, to be kept in a file."""

import time
from typing import Any

import tomli_w
from attrs import evolve, field, frozen

from bliss_framework.errors import SettingsError
from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.runs.events import RunFinished, RunStarted, Tell
from bliss_framework.runs.folder.atomic import plain
from bliss_framework.runs.folder.start import FORMAT
from bliss_framework.runs.prepared import Prepared
from bliss_framework.runs.settings.records import PARAMETERS, default_of

NO_SETTINGS = ("settings", "grid", "n_members", "n_jobs")


@frozen(eq=False)
class TuneResult:
    """The settings of a grid, best first.

    Attributes:
        document: what `--json` prints.
        toml: an experiment file with the best settings.
    """

    document: dict[str, Any] = field()
    toml: str = field()


def tune(prepared: Prepared, tell: Tell) -> TuneResult:
    """Score all settings of the grid on held-out bags of the whole data set.

    Args:
        prepared: the experiment, with `settings = "select"`; its evaluation is not looked at.
        tell: called with each event, in this process.

    Raises:
        SettingsError, UnknownNameError: the grid has a name or a value that cannot be used, or settings are not to be
            chosen.
    """
    chosen = prepared.settings.bliss["settings"]
    if chosen != "select":
        raise SettingsError(
            f'settings is "{chosen}", so nothing is left to choose in this experiment; prepare it with settings = '
            f'"select".'
        )
    started = time.perf_counter()
    dataset, bags = prepared.problem.dataset, prepared.problem.bags
    model = BlissClassifier(**prepared.settings.bliss)
    model.check_parameters()
    tell(RunStarted(prepared.name, prepared.loaded.origin, bags.n_bags, bags.n_rows, 1))
    ranked = model.rank_settings(dataset.X, dataset.weak, dataset.bags, tell)
    tell(RunFinished(prepared.name, time.perf_counter() - started))
    rows = [{"settings": dict(one.candidate.chosen), "score": one.score} for one in ranked]
    document = {
        "format": FORMAT,
        "data": prepared.data_document(),
        "candidates": rows,
        "seconds": time.perf_counter() - started,
    }
    return TuneResult(plain(document), _as_toml(prepared, dict(ranked[0].candidate.parameters)))


def _as_toml(prepared: Prepared, best: dict[str, Any]) -> str:
    best["random_state"] = prepared.seed
    changed = {
        "settings": "as-given",
        **{
            name: best[name]
            for name in PARAMETERS
            if name not in NO_SETTINGS and best[name] is not None and best[name] != default_of(name)
        },
    }
    own = evolve(prepared, settings=evolve(prepared.settings, bliss=prepared.settings.bliss))
    return tomli_w.dumps({"data": own.document()["data"], "bliss": plain(changed)})
