"""Algorithm 1 on one block of whole bags, for all folds and inferences at once.

A program is a generator. It yields sums over its own rows and is sent what the centre makes of those of all blocks:
coefficients of least squares, totals, or rows. Between two such questions it needs nobody, and all that it draws comes
from generators of its own, so it does the same wherever it runs, and when it is run again.

    gram      sum of w x x' over the rows of each group        -> nothing; the centre solves with it from then on
    moments   sum of w x t over the training rows of each fold -> coefficients W of each fold
    totals    what a reward adds up                            -> the total
    gathered  rows that a reward wants of all blocks           -> those of all blocks, one below the other
    slopes    sum of x g over the held-out rows of each fold   -> coefficients V; x V is the effect of the label of x

The last three are what rewards ask (`Total`, `Gathered`, `Effects`), those of all folds and pulls at once.
"""

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.contracts.classifier import SumsForm
from bliss_framework.extension.contracts.reward import Asking, BlockReward, Effects, Gathered, Total
from bliss_framework.kernel.fold_task import prior_of
from bliss_framework.kernel.guards import attributing_errors, checked_rewards
from bliss_framework.kernel.inference import Choice, Inference, InferenceSettings, averaged_arms, diagnosed_rounds
from bliss_framework.kernel.pull import Fold, Outcome, Part, Predictions, outcome_of
from bliss_framework.kernel.result import InferredLabels, conclude
from bliss_framework.kernel.row_view import RowView
from bliss_framework.kernel.rows import Rows
from bliss_framework.rewards.influence import as_columns

OF_TRAINING = ("assignment", "labels", "scores")
OF_HELDOUT = ("heldout_labels", "heldout_scores")
NOTHING = np.zeros(0)

Place: TypeAlias = tuple[int, int]  # A fold, and one of the assignments that are pulled at the same time.


@frozen(eq=False)
class Question:
    """Sums over the rows of a block, of which the centre wants the total over all blocks.

    Attributes:
        kind: "gram", "moments", "slopes" or "totals": what the centre makes of the total; or "gathered".
        sums: an array that adds up.
        rows: of arrays that are put below those of the blocks before; there are as many of them in every block.
        progress: rounds that are done, and the sum and number of rewards in the last of them; None in between.
    """

    kind: str = field()
    sums: NDArray[np.floating] = field()
    rows: tuple[NDArray[Any], ...] = field(default=(), kw_only=True)
    progress: tuple[int, float, int] | None = field(default=None, kw_only=True)


@frozen(eq=False)
class FoldBlock:
    """What of one fold is in a block.

    Attributes:
        train: positions of training rows among those of the block; the last `n_extra` of them have no arms of interest.
        n_extra: rows that confident labels of an earlier pass brought in.
        heldout: positions of held-out rows.
        n_heldout: held-out rows of the fold in all blocks.
        data: the rows of the block; confident labels outside the fold are fixed.
        seed: of the fold in this pass; generators of a block are derived from it.
    """

    train: NDArray[np.intp] = field()
    n_extra: int = field()
    heldout: NDArray[np.intp] = field()
    n_heldout: int = field()
    data: Part = field()
    seed: np.random.SeedSequence = field()


@frozen(eq=False)
class Block:
    """One block of whole bags, and all that its program needs.

    Attributes:
        number: among the blocks of the data.
        rows: the rows of the block.
        groups: of each group of rows that the same folds train on, its rows in this block.
        folds: what of each fold is in it.
        form: the classifier.
        reward: in its form for blocks.
        strategy, regime: of label inference.
        settings: of the inference.
        n_sweeps: draws before the rounds.
    """

    number: int = field()
    rows: Rows | RowView = field()
    groups: tuple[NDArray[np.intp], ...] = field()
    folds: tuple[FoldBlock, ...] = field()
    form: SumsForm = field()
    reward: BlockReward = field()
    strategy: Any = field()
    regime: Any = field()
    settings: InferenceSettings = field()
    n_sweeps: int = field()

    def detached(self) -> "Block":
        """Return the same block without the rows of all others, to be sent somewhere."""
        if not isinstance(self.rows, RowView):
            return self
        own = self.rows.detached()
        return evolve(self, rows=own, folds=tuple(evolve(one, data=evolve(one.data, X=own)) for one in self.folds))


@frozen(eq=False)
class BlockResult:
    """What a program found out about one fold in its block.

    Attributes:
        means, pulls: (n, L) of the training rows, as in `ArmResult`.
        rewards: (n,) of the inferred labels, pulled once more.
        outcome: of that pull, as `outcome_of` has it, but for its parts: a dictionary of its arrays.
        n_extra: the last rows, whose arms are of no interest.
        diagnostics: what the reward said of the pulls that were diagnosed, the same in every block.
    """

    means: NDArray[np.float64] = field()
    pulls: NDArray[np.float64] = field()
    rewards: NDArray[np.float64] = field()
    outcome: dict[str, NDArray[Any]] = field()
    n_extra: int = field()
    diagnostics: tuple[str | None, ...] = field()


Program = Generator[Question, Any, list[BlockResult]]


def program(block: Block) -> Program:
    """Run Algorithm 1 on a block; see above."""
    return _Program(block).run()


class _Program:
    """The state of a program: features, folds and their inferences."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.sums, self.features = block.form.sums, block.form.features(block.rows)
        self.folds = [_Fold(one, block) for one in block.folds]
        self.diagnosed_rounds = diagnosed_rounds(block.settings.n_rounds)
        self.n_columns = 1 if block.folds[0].data.space.n_labels == 2 else block.folds[0].data.space.n_labels

    def run(self) -> Program:
        settings = self.block.settings
        weights = self.block.folds[0].data.weights
        for rows in self.block.groups:
            # One by one: of a thousand columns they have 8 MB each.
            own = None if weights is None else weights[rows]
            yield Question("gram", self.sums.gram(self.features.take(rows), own))
        for _ in range(self.block.n_sweeps):
            forced = settings.n_first_draws is None
            yield from self._pull([fold.drawn(forced) for fold in self.folds], 0)
        for t in range(1, settings.n_rounds + 1, settings.n_parallel):
            rounds = range(t, min(t + settings.n_parallel, settings.n_rounds + 1))
            yield from self._pull([fold.chosen(rounds) for fold in self.folds], rounds[-1])
        return (yield from self._judged())

    def _pull(self, choices: list[list[Choice]], t: int) -> Generator[Question, Any, None]:
        """Pull the same number of assignments in every fold, and count their rewards."""
        outcomes = yield from self._outcomes([[choice.assignment for choice in chosen] for chosen in choices])
        rewards = yield from self._rewards(outcomes, t)
        total, n = 0.0, 0
        for fold, chosen, own in zip(self.folds, choices, rewards, strict=True):
            for choice, values in zip(chosen, own, strict=True):
                choice.inference.add(choice.assignment, values)
                total, n = total + float(values[fold.free].sum()), n + len(fold.free)
        first = choices[0][0].inference
        yield from self._diagnosed(outcomes, t, [one.round for one in choices[0] if one.inference is first])
        yield Question("totals", NOTHING, progress=(t, total, n))

    def _judged(self) -> Program:
        """Pull the inferred labels once more, to say how good they are."""
        n_rounds = self.block.settings.n_rounds
        inferred = [fold.inferred(n_rounds) for fold in self.folds]
        outcomes = yield from self._outcomes([[one.labels] for one in inferred])
        rewards = yield from self._rewards(outcomes, n_rounds)
        return [
            fold.result(own[0], outcome[0]) for fold, own, outcome in zip(self.folds, rewards, outcomes, strict=True)
        ]

    def _outcomes(self, assignments: list[list[NDArray[np.intp]]]) -> Generator[Question, Any, list[list[Outcome]]]:
        """Train on assignments of each fold, and predict."""
        coefficients, alone = yield Question("moments", self._moments(assignments))
        predicted = self._predictions(coefficients, alone)
        return [
            [outcome_of(fold.fold, assignment, one, p) for p, assignment in enumerate(own)]
            for fold, one, own in zip(self.folds, predicted, assignments, strict=True)
        ]

    def _moments(self, assignments: list[list[NDArray[np.intp]]]) -> NDArray[np.float64]:
        """Return sums (K, p + 2, P * S) of weighted targets; the last row counts rows of label 1, or of each label."""
        K, P, S = len(assignments), len(assignments[0]), self.n_columns
        targets = np.zeros((self.block.rows.shape[0], K, P, S), dtype=self.features.dtype)
        counts = np.zeros((K, 1, P, S))
        for k, (fold, own) in enumerate(zip(self.folds, assignments, strict=True)):
            has = np.stack(own).T[:, :, None] == (np.arange(S) if S > 1 else np.array([1]))
            weights = fold.train.weights
            targets[fold.own.train, k] = (2.0 * has - 1.0) * (1.0 if weights is None else weights[:, None, None])
            counts[k, 0] = has.sum(axis=0)
        sums = self.sums.moments(self.features, targets.reshape(len(targets), -1))
        by_fold = np.moveaxis(sums.reshape(-1, K, P * S), 1, 0)
        return np.concatenate([by_fold, counts.reshape(K, 1, P * S)], axis=1)

    def _predictions(self, coefficients: NDArray[Any], alone: NDArray[Any]) -> Iterator[Predictions]:
        """Predict for the training and the held-out rows of each fold.

        Args:
            coefficients: (K, p + 1, P * S).
            alone: (K, P) the label that all training rows of the fold have, or -1.
        """
        K, _, width = coefficients.shape
        S = self.n_columns
        everything = self.sums.outputs(self.features, np.moveaxis(coefficients, 0, 1).reshape(-1, K * width))
        everything = everything.reshape(len(everything), K, width // S, S)
        for k, fold in enumerate(self.folds):
            train, heldout = (np.moveaxis(everything[rows, k], 0, 1) for rows in (fold.own.train, fold.own.heldout))
            for p, label in enumerate(alone[k]):
                if label >= 0:
                    said = 2.0 * label - 1.0 if S == 1 else np.eye(S)[label]
                    train[p], heldout[p] = said, said
            if S == 1:
                yield Predictions.from_scores(train[:, :, 0], heldout[:, :, 0])
            else:
                yield Predictions.from_scores(train, heldout)

    def _rewards(
        self, outcomes: list[list[Outcome]], t: int
    ) -> Generator[Question, Any, list[list[NDArray[np.float64]]]]:
        """Ask the reward for those of each pull."""
        given = yield from self._answered(self.block.reward.rewards, _by_place(outcomes), t, "reward")
        return [
            [checked_rewards(given[k, p], fold.train.n_rows, t) for p in range(len(outcomes[k]))]
            for k, fold in enumerate(self.folds)
        ]

    def _diagnosed(self, outcomes: list[list[Outcome]], t: int, rounds: list[int]) -> Generator[Question, Any, None]:
        """Keep what the reward says of those pulls of the first inference whose rounds are diagnosed."""
        chosen = {
            place: one
            for place, one in _by_place(outcomes).items()
            if place[1] < len(rounds) and rounds[place[1]] in self.diagnosed_rounds
        }
        said = yield from self._answered(self.block.reward.diagnostic, chosen, t, "diagnostic of the reward")
        for (k, _), one in said.items():
            self.folds[k].diagnostics.append(one)

    def _answered(
        self, method: Callable[[Outcome, int], Asking[Any]], outcomes: dict[Place, Outcome], t: int, what: str
    ) -> Generator[Question, Any, dict[Place, Any]]:
        """Run a method of the reward on each outcome, side by side: questions of one kind travel together."""
        found: dict[Place, Any] = {}
        waiting: dict[Place, Any] = {}
        with attributing_errors("reward", what, t):
            asking = {(k, p): _generator(method(one, self.folds[k].n_heldout)) for (k, p), one in outcomes.items()}
        answers: dict[Place, Any] = dict.fromkeys(asking)
        while answers:
            with attributing_errors("reward", what, t):
                for place, answer in answers.items():
                    try:
                        waiting[place] = _question(asking[place].send(answer))
                    except StopIteration as done:
                        found[place] = done.value
            answers = yield from self._answers(waiting)
            for place in answers:
                del waiting[place]
        return found

    def _answers(self, waiting: dict[Place, Any]) -> Generator[Question, Any, dict[Place, Any]]:
        """Ask the questions of the first kind that there is, of as many pulls as ask it; none, if none do."""
        kinds: dict[type, Callable[[dict[Place, Any]], Generator[Question, Any, dict[Place, Any]]]] = {
            Total: self._totals,
            Gathered: self._gathered,
            Effects: self._effects,
        }
        for kind, ask in kinds.items():
            own = {place: one for place, one in waiting.items() if isinstance(one, kind)}
            if own:
                return (yield from ask(own))
        return {}

    def _totals(self, asked: dict[Place, Total]) -> Generator[Question, Any, dict[Place, Any]]:
        values = [np.asarray(one.values) for one in asked.values()]
        total = yield Question("totals", np.concatenate([one.ravel() for one in values]))
        parts = np.split(total, np.cumsum([one.size for one in values])[:-1])
        return {place: part.reshape(one.shape) for place, part, one in zip(asked, parts, values, strict=True)}

    def _gathered(self, asked: dict[Place, Gathered]) -> Generator[Question, Any, dict[Place, Any]]:
        rows = yield Question("gathered", NOTHING, rows=tuple(np.asarray(one.rows) for one in asked.values()))
        return dict(zip(asked, rows, strict=True))

    def _effects(self, asked: dict[Place, Effects]) -> Generator[Question, Any, dict[Place, Any]]:
        """Return the effect of each training label on the held-out bags, along slopes (m, T): (n, T) in each pull."""
        slopes = {place: as_columns(one.slopes) for place, one in asked.items()}
        K, P = len(self.folds), 1 + max(p for _, p in slopes)
        width = max(one.shape[1] for one in slopes.values())
        spread = np.zeros((self.block.rows.shape[0], K, P, width), dtype=self.features.dtype)
        for (k, p), one in slopes.items():
            spread[self.folds[k].own.heldout, k, p, : one.shape[1]] = one
        sums = self.sums.moments(self.features, spread.reshape(len(spread), -1))
        coefficients = yield Question("slopes", np.moveaxis(sums.reshape(-1, K, P * width), 1, 0))
        found = self.sums.outputs(self.features, np.moveaxis(coefficients, 0, 1).reshape(-1, K * P * width))
        found = found.reshape(len(found), K, P, width).astype(np.float64)
        effects = {}
        for (k, p), one in slopes.items():
            fold = self.folds[k]
            weights = 1.0 if fold.train.weights is None else fold.train.weights[:, None]
            effects[k, p] = found[fold.own.train, k, p, : one.shape[1]] * weights
        return effects


def _generator(returned: Any) -> Asking[Any]:
    if isinstance(returned, Generator):
        return returned
    raise TypeError(f"a method of a BlockReward is a generator, with a yield in it; it returned {returned!r}")


def _question(yielded: Any) -> Any:
    if isinstance(yielded, Total | Gathered | Effects):
        return yielded
    raise TypeError(f"a BlockReward yields Total, Gathered or Effects; this one yielded {yielded!r}")


def _by_place(outcomes: list[list[Outcome]]) -> dict[Place, Outcome]:
    return {(k, p): one for k, own in enumerate(outcomes) for p, one in enumerate(own)}


class _Fold:
    """The training and the held-out rows of one fold in a block, and its inferences."""

    def __init__(self, own: FoldBlock, block: Block) -> None:
        self.own, self.regime = own, block.regime
        self.train = own.data.take(own.train)
        self.n_heldout, self.diagnostics = own.n_heldout, list[str | None]()
        n_neighbors = min(block.settings.n_neighbors, own.n_heldout)
        self.fold = Fold(self.train, own.data.take(own.heldout), n_neighbors, block.regime)
        self.constrain = block.regime.constraint()
        prior = prior_of(self.train, block.regime)
        seeds = [_seed_of(own.seed, number, block.number) for number in range(block.settings.n_inferences)]
        self.inferences = [
            Inference(self.train, prior, block.strategy, self.constrain, np.random.default_rng(seed)) for seed in seeds
        ]
        self.free = self.inferences[0].free

    def drawn(self, forced: bool) -> list[Choice]:
        return [Choice(one, 0, one.draw(forced)) for one in self.inferences]

    def chosen(self, rounds: range) -> list[Choice]:
        return [choice for one in self.inferences for choice in one.choose(rounds)]

    def inferred(self, n_rounds: int) -> InferredLabels:
        means, pulls = averaged_arms(self.inferences)
        return conclude(means, pulls, self.train, self.constrain, n_rounds, np.random.default_rng(0))

    def result(self, rewards: NDArray[np.float64], outcome: Outcome) -> BlockResult:
        # The parts of the outcome hold rows, which need not travel.
        arrays = {name: getattr(outcome, name) for name in (*OF_TRAINING, *OF_HELDOUT)}
        means, pulls = averaged_arms(self.inferences)
        return BlockResult(means, pulls, rewards, arrays, self.own.n_extra, tuple(self.diagnostics))


def _seed_of(fold: np.random.SeedSequence, inference: int, block: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(fold.entropy, spawn_key=(*fold.spawn_key, inference, block))
