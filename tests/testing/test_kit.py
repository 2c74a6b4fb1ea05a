"""The conformance kit: what keeps its contract passes, and each kind of breach fails the check that is named for it."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve, frozen

from bliss_framework import (
    Classifier,
    DataError,
    PluginError,
    PreparedClassifier,
    Reader,
    Reward,
    Strategy,
    WeakDataset,
    neighbourhood,
)
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.plugin import BlockReward, Total
from bliss_framework.testing import (
    Check,
    check_reader,
    check_reward,
    classifier_checks,
    mil_example,
    regime_checks,
    reward_checks,
    strategy_checks,
    verify,
)
from bliss_framework.testing.installed import check_installed

pytest_plugins = ["bliss_framework.testing.fixtures"]
MUSK1 = Path(__file__).parents[2] / "plugins" / "bliss_mil" / "datasets" / "musk1.npz"
REGISTRY = default_plugins().registry


def failing(checks: list[Check]) -> set[str]:
    """Return the names of the checks that fail."""
    names = set()
    for check in checks:
        try:
            check()
        except (AssertionError, PluginError, TypeError, ValueError, IndexError, AttributeError):
            names.add(check.name)
    return names


@frozen
class Good(Reward):
    """The share of near held-out instances with the weak label 1, where the label was learnt."""

    def __call__(self, outcome):
        positive = outcome.fold.heldout.bags.spread(outcome.fold.heldout.weak.values == 1)
        return np.where(outcome.assignment == outcome.labels, neighbourhood(outcome).mean(positive), 0.0)


@frozen
class Doubled(Good):
    def __call__(self, outcome):
        return 2.0 * Good.__call__(self, outcome)


@frozen
class Short(Good):
    def __call__(self, outcome):
        return Good.__call__(self, outcome)[1:]


CALLS = iter(range(10**9))


@frozen
class Moody(Good):
    def __call__(self, outcome):
        return Good.__call__(self, outcome) * (next(CALLS) % 2)


@frozen
class Greedy(Good):
    def __call__(self, outcome):
        outcome.assignment[:] = outcome.labels
        return Good.__call__(self, outcome)


@frozen
class FirstCounts(Good):
    def __call__(self, outcome):
        return Good.__call__(self, outcome) * np.linspace(0, 1, len(outcome.assignment))


@frozen
class FirstHeldout(Good):
    def __call__(self, outcome):
        return np.full(len(outcome.assignment), float(outcome.heldout_labels[0]))


@frozen
class ByName(Good):
    def __call__(self, outcome):
        named = any("other" in str(name) for name in outcome.fold.heldout.bags.ids)
        return np.full(len(outcome.assignment), float(named))


@frozen
class NeedsTwo(Good):
    def __call__(self, outcome):
        if len(outcome.assignment) < 2:
            raise ValueError("too few")
        return Good.__call__(self, outcome)


@frozen
class NeedsTwoBags(Good):
    def __call__(self, outcome):
        if outcome.fold.heldout.bags.n_bags < 2:
            raise ValueError("too few")
        return Good.__call__(self, outcome)


class MeanOfBlock(BlockReward):
    def rewards(self, outcome, n_heldout):
        positive = outcome.fold.heldout.bags.spread(outcome.fold.heldout.weak.values == 1)
        yield Total(np.array([positive.sum()]))
        return np.where(outcome.assignment == outcome.labels, neighbourhood(outcome).mean(positive), 0.0)


@frozen
class BlockByBlock(Good):
    def in_blocks(self):
        return MeanOfBlock()


@frozen
class Mumbling(Good):
    def diagnostic(self, outcome):
        return 7


def test_a_good_reward_passes():
    """A reward that keeps its contract passes every check."""
    check_reward(Good())


@pytest.mark.parametrize(
    ("reward", "check"),
    [
        (Doubled(), "one-number-in-0-1-for-each-instance"),
        (Short(), "one-number-in-0-1-for-each-instance"),
        (Moody(), "deterministic"),
        (Greedy(), "changes-no-input"),
        (FirstCounts(), "order-of-training-instances"),
        (FirstHeldout(), "order-of-held-out-instances"),
        (ByName(), "names-of-bags"),
        (NeedsTwo(), "one-training-instance"),
        (NeedsTwoBags(), "one-held-out-bag"),
        (Mumbling(), "diagnostic"),
        (BlockByBlock(), "the-same-in-blocks"),
        (Good, "is-a-reward"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__),
)
def test_a_breach_fails_its_check(reward, check):
    """Each way to break the contract of a reward fails the check that is named for it."""
    assert check in failing(reward_checks(reward))


def test_a_class_inside_a_function_is_not_picklable():
    """Worker processes need classes that they can import."""

    @frozen
    class Local(Good):
        pass

    assert failing(reward_checks(Local())) == {"picklable"}


@frozen
class Plain(Strategy):
    def bounds(self, arms, round, rng):
        return arms.means


@frozen
class LogLog(Strategy):
    def bounds(self, arms, round, rng):
        with np.errstate(all="ignore"):
            return arms.means + np.sqrt(np.log(np.log(round)) / arms.pulls)


@frozen
class Pessimist(Strategy):
    def bounds(self, arms, round, rng):
        return arms.means - 1.0 / arms.pulls


@frozen
class OwnDice(Strategy):
    def bounds(self, arms, round, rng):
        return arms.means + np.random.default_rng().random(arms.means.shape)


@frozen
class Counting(Strategy):
    def bounds(self, arms, round, rng):
        arms.pulls[:] += 1
        return arms.means + 1.0


@pytest.mark.parametrize(
    ("strategy", "checks"),
    [
        (Plain(), set()),
        (LogLog(), {"first-round"}),
        (Pessimist(), {"not-below-the-mean", "fewer-pulls-are-no-lower"}),
        (OwnDice(), {"deterministic-for-one-seed"}),
        (Counting(), {"changes-no-input"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_breaches_of_strategies(strategy, checks):
    """A strategy that breaks its contract fails the checks that are named for the breach."""
    found = failing(strategy_checks(strategy))
    assert checks <= found
    assert checks or not found


@frozen
class Wrapping(Classifier):
    """Breaks one thing about another classifier."""

    breach: str

    def prepare(self, train, heldout, rng):
        inner = REGISTRY.create("classifier", "ridge").prepare(train, heldout, rng)
        return Broken(inner, self.breach)

    def estimator(self, random_state):
        return REGISTRY.create("classifier", "ridge").estimator(random_state)

    def memory(self, size):
        wrong = {"constant memory": 1000, "memory in words": "much"}
        return wrong.get(self.breach, super().memory(size))


class Broken(PreparedClassifier):
    def __init__(self, inner, breach):
        self.inner, self.breach = inner, breach

    def pull(self, assignments, weights):
        if self.breach == "weights" and weights is not None:
            raise TypeError("no weights")
        if self.breach == "one-label" and (assignments == assignments[:, :1]).all():
            raise ValueError("one class")
        found = self.inner.pull(assignments[:1] if self.breach == "batch" else assignments, weights)
        if self.breach == "labels":
            return evolve(found, heldout_labels=1 - found.heldout_labels)
        if self.breach == "noise":
            noise = np.random.default_rng().normal(size=found.heldout_scores.shape) * 1e-3
            return evolve(found, heldout_scores=found.heldout_scores + noise)
        return found


@pytest.mark.parametrize(
    ("breach", "check"),
    [
        ("weights", "instance-weights"),
        ("one-label", "one-label-assignments"),
        ("batch", "shapes-and-labels"),
        ("labels", "shapes-and-labels"),
        ("noise", "deterministic-for-one-seed"),
        ("constant memory", "memory"),
        ("memory in words", "memory"),
    ],
)
def test_breaches_of_classifiers(breach, check):
    """A classifier that breaks its contract fails the check that is named for the breach."""
    assert check in failing(classifier_checks(Wrapping(breach)))


def test_regimes_that_accept_a_missing_weak_label_fail(monkeypatch):
    """A regime must refuse a bag without weak label and name it."""
    example = mil_example()
    regime_class = type(example.regime)
    original = regime_class.check

    def lenient(self, weak, bags):
        return original(self, np.array([0 if value is None else value for value in weak]), bags)

    monkeypatch.setattr(regime_class, "check", lenient)
    assert failing(regime_checks(example)) == {"missing-weak-label"}


@frozen
class Careless(Reader):
    """Reads anything as two bags."""

    def sniff(self, path):
        return path.read_bytes() != b"never"

    def read(self, path, **options):
        return WeakDataset("careless", np.zeros((2, 1)), np.array(["a", "b"]), np.array([0, 1]))


def test_breaches_of_readers():
    """A reader that raises in sniff, or reads a broken file, fails both checks and no other."""
    with pytest.raises(AssertionError, match="fails 2 of 7 checks") as raised:
        check_reader(Careless(), MUSK1)
    assert "sniff-never-raises" in str(raised.value)
    assert "refuses-a-broken-file" in str(raised.value)
    check_reader(Careless(), MUSK1, {"sniff-never-raises": "reads the file", "refuses-a-broken-file": "there are none"})


def test_expected_failures_stay_true():
    """A declared failure that passes, and a declaration of no check, are failures themselves."""
    fine, broken = Check("fine", lambda: None), Check("broken", lambda: (_ for _ in ()).throw(DataError("no")))
    verify("it", [fine, broken], {"broken": "known"})
    with pytest.raises(AssertionError, match=r"broken: DataError: no"):
        verify("it", [fine, broken])
    with pytest.raises(AssertionError, match=r"fine: passes, but is declared"):
        verify("it", [fine, broken], {"broken": "known", "fine": "not so"})
    with pytest.raises(AssertionError, match=r'there is no check "missing"'):
        verify("it", [fine], {"missing": "why"})


def test_a_class_declares_its_own_failures():
    """What a class says of itself holds wherever it is checked, and stays true as well."""

    class Own:
        expected_failures = {"broken": "known"}  # noqa: RUF012 - as an author would write it

    fine, broken = Check("fine", lambda: None), Check("broken", lambda: (_ for _ in ()).throw(SystemExit(0)))
    verify(Own(), [fine, broken])
    with pytest.raises(AssertionError, match=r"broken: SystemExit: 0"):
        verify("it", [fine, broken])
    with pytest.raises(AssertionError, match=r"broken: passes, but is declared"):
        verify(Own(), [Check("broken", lambda: None)])


def plugin_of(kind, name):
    return REGISTRY.registration(kind, name).plugin


def test_everything_installed_passes():
    """All built-in components pass the kit; those that need to be told something are skipped with the reason."""
    verdicts = {(one.kind, one.name): one for one in check_installed(REGISTRY) if one.plugin in BUILTIN}
    assert [one for one in verdicts.values() if one.state == "failed"] == []
    # Weak labels that are no bags' have tests of their own, which run the kit on data of every kind.
    skipped = {key for key, one in verdicts.items() if one.state == "skipped" and one.plugin != "weak_labels"}
    assert skipped == {
        ("classifier", "sklearn"),
        *(("dataset", name) for name in REGISTRY.names("dataset") if plugin_of("dataset", name) != "weak_labels"),
        *(("reader", name) for name in REGISTRY.names("reader")),
        *(("pipeline", name) for name in REGISTRY.names("pipeline")),
        # Their own tests run the kit on data of their regimes.
        ("regime", "llp"),
        ("regime", "multiclass-mil"),
        ("reward", "llp"),
        ("reward", "llp-marginal"),
        ("reward", "multiclass-mil"),
        ("baseline", "one-vs-rest-mi-svm"),
        ("baseline", "one-vs-rest-bag-mean-svm"),
        ("baseline", "relabel-softmax"),
        ("baseline", "label-set-attention"),
        *NEED_TORCH,
    }
    check_reader(REGISTRY.create("reader", "npz"), MUSK1)


# Without the extra they say which one they need, and are skipped with that reason.
TORCH = {("classifier", "torch-ridge"), ("classifier", "torch-softmax"), ("reward", "torch-mil-marginal")}
NEED_TORCH = set() if find_spec("torch") else TORCH
BUILTIN = {
    registration.plugin for registration in REGISTRY.registrations if registration.distribution == "bliss-framework"
}


def test_a_csv_reader_passes(tmp_path):
    """The built-in CSV reader passes the kit on a small table."""
    table = tmp_path / "bags.csv"
    table.write_text("bag,label,f1\na,1,0.5\nb,0,1.5\na,1,2.5\n")
    check_reader(REGISTRY.create("reader", "csv"), table)


def test_host_has_only_the_named_plugins(bliss_host):
    """The fixture gives a host with the named plugins, and all others blocked."""
    plugins = bliss_host("mil")
    assert plugins.registry.names("regime") == ("collective-mil", "mil", "two-condition-mil")
    assert plugins.registry.names("strategy") == ()
    with pytest.raises(AssertionError, match="no such plugin"):
        bliss_host("mill")
    assert "BLISS_BLOCK_PLUGINS" not in os.environ or "mil" not in os.environ["BLISS_BLOCK_PLUGINS"]
