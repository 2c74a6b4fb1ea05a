"""An experiment whose settings and data are checked, and what a run writes down of it."""

import platform
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attrs import field, frozen

from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.extension.naming import is_own
from bliss_framework.extension.registry import Registry
from bliss_framework.runs.data.find import LoadedData
from bliss_framework.runs.evaluation.methods import Method, method_document
from bliss_framework.runs.evaluation.problem import Problem
from bliss_framework.runs.events import RunStarted
from bliss_framework.runs.settings.components import resolved
from bliss_framework.runs.settings.records import COMPONENTS, EvaluationSettings, RunSettings
from bliss_framework.version import __version__

NUMERICAL = ("numpy", "scipy", "scikit-learn")


@frozen(eq=False)
class Prepared:
    """An experiment whose settings and data are checked; nothing has been computed.

    Attributes:
        settings: with every parameter of BLISS filled in.
        loaded: the data and where they come from.
        problem: the data as the regime sees them.
        baselines: to compare with.
        plugins: knows the parameters of components, and who ships them.
        test_path: of the file of the test set, if it is one.
    """

    settings: RunSettings = field()
    loaded: LoadedData = field()
    problem: Problem = field()
    baselines: tuple[Method, ...] = field()
    plugins: Plugins = field()
    test_path: Path | None = field(default=None)

    @property
    def name(self) -> str:
        """What results call this experiment."""
        return self.settings.name or self.problem.dataset.name

    @property
    def seed(self) -> int:
        """The random state of the run."""
        return int(self.settings.bliss["random_state"])

    def document(self) -> dict[str, Any]:
        """Everything that decides the result, for run.toml and result.json, with the defaults of components."""
        settings, registry = self.settings, self.plugins.registry
        source = settings.data.source if self.loaded.path is None else str(self.loaded.path.absolute())
        own = {} if settings.bliss["settings"] == "select" else self._components(registry)
        return {
            **({} if settings.name is None else {"name": settings.name}),
            "data": {"source": source, **settings.data.options, **self._test_data()},
            "bliss": {**settings.bliss, **own},
            "evaluation": _protocol(settings.evaluation),
            "compare": [method_document(method, registry) for method in self.baselines],
        }

    def _test_data(self) -> dict[str, Any]:
        """Return the key `test` of the data, with the whole path of a file."""
        if self.settings.data.test is None or self.test_path is None:
            return {} if self.settings.data.test is None else {"test": self.settings.data.test}
        return {"test": {**self.settings.data.test, "source": str(self.test_path.absolute())}}

    def _components(self, registry: Registry) -> dict[str, Any]:
        """Fill in defaults; where settings are chosen, one that is written down would count as set by the user."""
        bliss = self.settings.bliss
        own = {kind: resolved(kind, bliss[kind], registry) for kind in COMPONENTS}
        own["reward"] = resolved("reward", bliss["reward"] or self.problem.regime.presets.defaults["reward"], registry)
        return own

    @cached_property
    def sha256(self) -> str:
        """The digest of the data."""
        return self.problem.dataset.sha256()

    def data_document(self) -> dict[str, Any]:
        """What result.json says under "data"."""
        dataset, bags = self.problem.dataset, self.problem.bags
        return {
            "name": dataset.name,
            "n_bags": bags.n_bags,
            "n_instances": bags.n_rows,
            "n_features": int(dataset.X.shape[1]),
            "classes": list(self.problem.weak.classes),
            "sha256": self.sha256,
            **({} if self.problem.test is None else {"test": _told(self.problem.test)}),
        }

    def record(self) -> dict[str, Any]:
        """What run.toml notes down: the digest of the data, and the versions that the bits may depend on."""
        test = self.problem.test
        own = {} if test is None else {"test_sha256": test.dataset.sha256()}
        record = record_of(self.sha256, self.plugins)
        return {"data_sha256": record.pop("data_sha256"), **own, **record}


def _told(problem: Problem) -> dict[str, Any]:
    """Say what a test set is."""
    dataset, bags = problem.dataset, problem.bags
    return {"name": dataset.name, "n_bags": bags.n_bags, "n_instances": bags.n_rows, "sha256": dataset.sha256()}


def _protocol(evaluation: EvaluationSettings) -> dict[str, Any]:
    share = {} if evaluation.test_share is None else {"test_share": evaluation.test_share}
    return {"cv": evaluation.cv, "repeats": evaluation.repeats, **share}


def record_of(sha256: str, plugins: Plugins) -> dict[str, Any]:
    """Return what run.toml notes down of a digest of the data and of the plugins that are installed."""
    strangers = {one.distribution: one.version for one in plugins.reports if one.state == "ok"}
    versions = {
        "bliss_framework": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in NUMERICAL},
        **{name: number for name, number in strangers.items() if not is_own(name)},
    }
    return {"data_sha256": sha256, "versions": versions}


def announcement(prepared: Prepared, n_fits: int) -> RunStarted:
    """Return the first event of a run."""
    bags = prepared.problem.bags
    return RunStarted(prepared.name, prepared.loaded.origin, bags.n_bags, bags.n_rows, n_fits)


def fold_notes(prepared: Prepared) -> list[str]:
    """Say so where there are fewer bags than folds."""
    cv, n_bags = prepared.settings.evaluation.cv, prepared.problem.bags.n_bags
    return [f"cv was reduced from {cv} to {n_bags}, the number of bags."] if cv is not None and cv > n_bags else []
