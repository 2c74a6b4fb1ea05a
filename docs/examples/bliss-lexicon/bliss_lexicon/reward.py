"""The reward: another reward, times what a word list says of each text."""

from typing import Any

import numpy as np
from attrs import field, frozen

from bliss_framework.plugin import Fold, Outcome, Reward, RewardFunction, SettingsError, between, positive, resolve


@frozen
class LexiconReward(Reward):
    """Mix a prior on the class of each text into another reward, as the paper's detection prior does with distances.

        R_x(l) = R'_x(l) * ((1 - weight) + weight * P_x(l))
        P_x(1) = h / (h + patience),   P_x(0) = 1 - P_x(1)

    h is the number of words of the list in text x (the sum of its columns), and R' is the reward that is wrapped. The
    prior does not depend on labels, so it is made once for each fold.

    Args:
        columns: the columns of X that count words of the positive class.
        inner: the reward that is wrapped: a name, a table {"name": ..., parameters}, or a `Reward`.
        weight: how much the list counts, from 0 (not at all) to 1.
        patience: how many words make a text as likely positive as not, above 0.
    """

    columns: tuple[int, ...] = field(converter=tuple)
    inner: Any = field(default="mil")
    weight: float = field(default=0.5, validator=between(0.0, 1.0))
    patience: float = field(default=1.0, validator=positive)

    @columns.validator
    def _some(self, attribute: Any, value: tuple[int, ...]) -> None:
        if not value:
            raise SettingsError("columns must name at least one column of X; without words there is no prior.")

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Count the words of each training text once."""
        hits = np.asarray(fold.train.X[:, list(self.columns)].sum(axis=1)).ravel()
        likely = np.maximum(hits, 0.0) / (np.maximum(hits, 0.0) + self.patience)
        return MixedIn(resolve("reward", self.inner).prepare(fold, classifier), likely, self.weight)


class MixedIn(RewardFunction):
    """The reward on one fold, with the prior (n,) of the positive class."""

    def __init__(self, inner: RewardFunction, likely: np.ndarray, weight: float) -> None:
        self._inner, self._likely, self._weight = inner, likely, weight

    def __call__(self, outcome: Outcome) -> np.ndarray:
        """Multiply the inner reward by the mixed prior of the label that was given."""
        positive = outcome.fold.train.space.class_of_label[outcome.assignment] > 0
        prior = np.where(positive, self._likely, 1.0 - self._likely)
        return self._inner(outcome) * (1.0 - self._weight + self._weight * prior)

    def diagnostic(self, outcome: Outcome) -> str | None:
        """Pass on what the inner reward says."""
        return self._inner.diagnostic(outcome)
