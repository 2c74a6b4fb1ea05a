"""The hooks: the only list of what a plugin may do.

Every hook takes what it needs and may be implemented by any plugin, any number of times. There is no `firstresult` and
no `historic` hook. Hooks are called one plugin at a time, so that one that raises costs only itself.
"""

from collections.abc import Iterable
from typing import Any

from bliss_framework.extension.contracts import Component, Observer
from bliss_framework.extension.markers import hookspec


@hookspec
def bliss_classifiers() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the classifiers that this plugin registers.

    Called once when the plugins are loaded. Each component's factory returns a `Classifier`. Since 0.1.

        @hookimpl
        def bliss_classifiers():
            return [Component("my-classifier", MyClassifier, "One line about it")]
    """


@hookspec
def bliss_rewards() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the rewards that this plugin registers.

    Called once when the plugins are loaded. Each component's factory returns a `Reward`. Since 0.1.
    """


@hookspec
def bliss_strategies() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the bandit strategies that this plugin registers.

    Called once when the plugins are loaded. Each component's factory returns a `Strategy`. Since 0.1.
    """


@hookspec
def bliss_regimes() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the regimes that this plugin registers.

    Called once when the plugins are loaded. Each component's factory returns a `Regime`. Since 0.1.
    """


@hookspec
def bliss_readers() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the file readers that this plugin registers.

    Called once when the plugins are loaded. Each component's factory returns a `Reader`. Since 0.1.
    """


@hookspec
def bliss_datasets() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the data sets that this plugin carries or generates.

    Called once when the plugins are loaded; nothing may be loaded before the factory is called. Each component's
    factory returns a `WeakDataset`, and its `details` hold "source", "size" and "licence". One with a parameter
    `data_dirs` is told the folders in which a run looks for data. Since 0.1.
    """


@hookspec
def bliss_baselines() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the baselines that this plugin registers.

    Called once when the plugins are loaded. Each component's factory returns a `Baseline`. Since 0.1.
    """


@hookspec
def bliss_pipelines() -> Iterable[Component]:  # type: ignore[empty-body]
    """Return the pipelines that this plugin registers: experiments of several stages.

    Called once when the plugins are loaded. Each component's factory returns a `Pipeline`. Since 0.1.
    """


@hookspec
def bliss_observers(run: Any) -> Iterable[Observer]:  # type: ignore[empty-body]
    """Return observers of the events of a run.

    Called once before a run starts. An observer that raises is dropped with a warning. Since 0.1.

    Args:
        run: the resolved settings of the run, a `RunSettings` record.
    """
