"""Whatever code of a plugin raises is the plugin's error and has its name on it; the run ends with 1 and no result."""

import pytest

HOSTILE = '''
import asyncio, os
from bliss_framework.plugin import Component, PipelineReport, PreparedClassifier, Pipeline, Reader, hookimpl
from bliss_bandits.cucb import Cucb
from bliss_classifiers.ridge import KernelRidge
from bliss_mil.baselines.simple_svms import BagMeanSvm
from bliss_mil.regime.mil_regime import MilRegime
from bliss_mil.rewards.paper_reward import MilReward

WHERE, DEED = os.environ["EVIL_WHERE"].split("."), os.environ["EVIL_DEED"]


def deed(self=None, *given, **named):
    exec(DEED)


def breaking(kind, base):
    """A class of which one method does the deed."""
    if WHERE[0] != kind:
        return base
    return type(f"Evil{base.__name__}", (base,), {WHERE[1]: deed})


class Delegate:
    """What is like another object, but for one method."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return deed if name == WHERE[1] else getattr(self.inner, name)


class EvilPrepared(PreparedClassifier):
    def __init__(self, inner):
        self.inner = inner

    def pull(self, assignments, weights):
        return deed() if WHERE[1] == "pull" else self.inner.pull(assignments, weights)

    def respond(self, targets):
        return deed() if WHERE[1] == "respond" else self.inner.respond(targets)


class Preparing(KernelRidge):
    def prepare(self, train, heldout, rng):
        inner = super().prepare(train, heldout, rng)
        return EvilPrepared(inner) if WHERE[0] == "prepared" else inner


class Reading(MilRegime):
    @property
    def reading(self):
        inner = super().reading
        return breaking("reading", type(inner))() if WHERE[0] == "reading" else inner

    def constraint(self):
        return deed if WHERE[0] == "constrain" else super().constraint()


class EvilPipeline(Pipeline):
    def check(self):
        return deed() if WHERE[1] == "check" else {"name": "evil", "sha256": "0" * 64}

    def run(self, seed, say):
        return deed()


class EvilReader(Reader):
    def sniff(self, path):
        return deed() if WHERE[1] == "sniff" else path.suffix == ".evil"

    read = deed


class Watching:
    notify = deed


@hookimpl
def bliss_rewards():
    return [Component("evil", breaking("reward", MilReward))]

@hookimpl
def bliss_strategies():
    return [Component("evil", breaking("strategy", Cucb))]

@hookimpl
def bliss_classifiers():
    return [Component("evil", breaking("classifier", Preparing))]

@hookimpl
def bliss_regimes():
    return [Component("evil", breaking("regime", Reading))]

@hookimpl
def bliss_baselines():
    return [Component("evil", breaking("baseline", BagMeanSvm))]

@hookimpl
def bliss_readers():
    return [Component("evil", EvilReader)] if WHERE[0] == "reader" else []

@hookimpl
def bliss_datasets():
    return [Component("evil", deed)] if WHERE[0] == "dataset" else []

@hookimpl
def bliss_pipelines():
    return [Component("evil", EvilPipeline)] if WHERE[0] == "pipeline" else []

@hookimpl
def bliss_observers(run):
    return [Watching()] if WHERE[0] == "observer" else []
'''
QUICK = ("--n-rounds", "4", "--n-folds", "3", "--n-inferences", "1", "--quiet", "--output", "out")
RAISED = {
    "raise ZeroDivisionError('not mine')": "ZeroDivisionError",
    "raise SystemExit(0)": "SystemExit",
    "raise asyncio.CancelledError": "CancelledError",
}
PLACES = (
    *(f"reward.{one}" for one in ("__init__", "prepare", "__call__")),
    "strategy.bounds",
    *(f"classifier.{one}" for one in ("prepare", "estimator", "memory")),
    "prepared.pull",
    *(f"regime.{one}" for one in ("check", "label_space", "strata", "inherited", "draw_prior", "constraint")),
    "constrain.it",
    *(f"reading.{one}" for one in ("bag_scores", "bag_labels", "weak_score", "evaluate", "bag_threshold")),
    *(f"baseline.{one}" for one in ("fit", "predict_bags")),
    "reader.read",
    "dataset.it",
    *(f"pipeline.{one}" for one in ("check", "run")),
)


@pytest.fixture
def hostile(install, monkeypatch):
    """A function that installs a plugin that does something in one place."""

    def at(place, deed):
        monkeypatch.setenv("EVIL_WHERE", place)
        monkeypatch.setenv("EVIL_DEED", deed)
        install("bliss-evil", "evil = evil_hooks", {"evil_hooks": HOSTILE})

    return at


def words_for(place, here):
    """Return a command that comes by a place."""
    kind = place.partition(".")[0]
    if kind == "baseline":
        return ["compare", "toy.csv", *QUICK, "--cv", "2", "--methods", "evil"]
    if kind == "reader":
        (here / "toy.evil").write_text("evil")
        return ["run", "toy.evil", *QUICK]
    if kind in ("dataset", "pipeline"):
        return ["run", "evil", "--quiet", "--output", "out"]
    kind = {"constrain": "regime", "reading": "regime", "prepared": "classifier"}.get(kind, kind)
    return ["run", "toy.csv", *QUICK, "--cv", "2", f"--{kind}", "evil"]


ORDINARY, EXIT, CANCELLED = RAISED
# What is no ordinary exception takes the same way everywhere, so a few places are enough for the third.
CASES = [*((place, deed) for place in PLACES for deed in (ORDINARY, EXIT)), *((one, CANCELLED) for one in PLACES[::6])]


@pytest.mark.parametrize(("place", "deed"), CASES)
def test_what_a_component_raises(cli, table, here, hostile, place, deed):
    """One sentence names distribution, version and what was raised, and nothing looks like a result."""
    table()
    hostile(place, deed)
    ended = cli(*words_for(place, here))
    assert ended.code == 1, ended
    assert "bliss-evil 1.0" in ended.err
    assert RAISED[deed] in ended.err
    assert "bug of bliss" not in ended.err
    assert not (here / "out" / "result.json").exists()


@pytest.mark.parametrize("place", ["reward.__call__", "classifier.prepare", "reading.evaluate"])
def test_in_another_process(spawn, table, here, hostile, place):
    """Workers say it as well."""
    table()
    hostile(place, "raise SystemExit(0)")
    ended = spawn(*words_for(place, here), "--n-jobs", "2")
    assert (ended.code, "bliss-evil 1.0" in ended.err, "SystemExit" in ended.err) == (1, True, True), ended


def test_label_inference_says_where(cli, table, here, hostile):
    """Component, round, fold and pass are named."""
    table()
    hostile("prepared.pull", "raise ZeroDivisionError('not mine')")
    assert cli(*words_for("prepared.pull", here)).err.startswith(
        'Error: Label inference stopped by classifier "evil" (plugin "evil" from bliss-evil 1.0): the classifier '
        "raised ZeroDivisionError in round 0: not mine (fold 1 of 3, pass 1)"
    )


def test_elsewhere_the_place_in_the_code_is_said(cli, table, here, hostile):
    """Function, file and line are named, for whoever mends it."""
    table()
    hostile("regime.check", "raise ZeroDivisionError('not mine')")
    assert cli(*words_for("regime.check", here)).err.startswith(
        'Error: Regime "evil" of plugin "evil" from bliss-evil 1.0 broke in deed (evil_hooks.py, line 14): '
        "ZeroDivisionError: not mine. Tell the authors of bliss-evil."
    )


@pytest.mark.parametrize(
    ("place", "answer", "said"),
    [
        ("prepared.pull", "pass", "the classifier returned None in round 0; it must return Predictions"),
        ("strategy.bounds", "pass", "the strategy returned None in round 1; it must return real numbers"),
        ("reward.__call__", "given[0].assignment[:] = 0", "assignment destination is read-only"),
        ("reward.__call__", "given[0].fold.heldout.weak.values[:] = 0", "assignment destination is read-only"),
        ("strategy.bounds", "given[0].pulls[:] = 0", "assignment destination is read-only"),
        ("constrain.it", "given[0].space.candidates[:] = True", "assignment destination is read-only"),
    ],
)
def test_what_a_component_must_not_do(cli, table, here, hostile, place, answer, said):
    """Answers of another kind, and writing into what all share, are errors of the component."""
    table()
    hostile(place, answer)
    ended = cli(*words_for(place, here))
    assert (ended.code, said in ended.err, "bliss-evil 1.0" in ended.err) == (1, True, True), ended


@pytest.mark.parametrize("deed", RAISED)
def test_an_observer_is_dropped(cli, table, hostile, deed):
    """A run goes on without an observer that raises, and says whose it was."""
    table()
    hostile("observer.notify", deed)
    ended = cli("run", "toy.csv", *(word for word in QUICK if word != "--quiet"))
    assert ended.code == 0
    said = f'an observer of plugin "evil" from bliss-evil 1.0 was dropped, it raised {RAISED[deed]}'
    assert said in " ".join(ended.err.split())


def test_what_is_left_behind(cli, table, here, hostile):
    """What a component does to numpy's treatment of errors and to global seeds ends with the fit."""
    import random

    import numpy as np

    table()
    hostile(
        "prepared.pull", "import numpy, random; numpy.seterr(all='raise'); numpy.random.seed(3); random.seed(3); 1 / 0"
    )
    before = (np.geterr(), np.random.get_state()[1].tolist(), random.getstate())  # noqa: NPY002
    assert cli(*words_for("prepared.pull", here)).code == 1
    after = (np.geterr(), np.random.get_state()[1].tolist(), random.getstate())  # noqa: NPY002
    assert after == before


@pytest.mark.parametrize("deed", RAISED)
def test_a_reader_that_cannot_say_whether_it_takes_a_file(cli, table, hostile, deed):
    """It does not take the file from those that can."""
    table()
    hostile("reader.sniff", deed)
    ended = cli("run", "toy.csv", *(word for word in QUICK if word != "--quiet"))
    assert ended.code == 0
    assert f'the reader "evil" was passed over: {RAISED[deed]}' in " ".join(ended.err.split())
