"""EM for any weak label with a likelihood: what the model believes of each row, and the model, in turn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bliss_framework.plugin import Part, Regime, at_least, resolve
from bliss_weak_labels.baselines.row_model import RowModel, minimised, soft_label_loss
from bliss_weak_labels.likelihood.chances import slopes_in_outputs


class WeakLabelEm(RowModel):
    """Softmax regression and the posterior of its classes given the weak labels, in turn.

    It starts from what rows inherit from their weak labels. For sets of labels it is the progressive identification of
    Lv et al. (ICML 2020), for noise forward correction, for pairs the likelihood of Hsu et al. (ICLR 2019). The
    general form is of Chen et al., A general framework for learning from weak supervision, ICML 2024.

    Args:
        regime: whose weak labels these are, a name or a table; in a comparison that of BLISS.
        n_steps: turns.
        width, n_features, ridge, max_iter, scaling, random_state: see `RowModel`.
    """

    allowed = {"n_steps": at_least(1)}  # noqa: RUF012

    def __init__(
        self,
        regime: Any = "partial-labels",
        n_steps: int = 30,
        width: float = 0.5,
        n_features: int = 300,
        ridge: float = 1e-4,
        max_iter: int = 20,
        scaling: str = "standard",
        random_state: Any = None,
    ) -> None:
        super().__init__(width, n_features, ridge, max_iter, scaling, random_state)
        self.regime = regime
        self.n_steps = n_steps

    def regime_of_labels(self) -> Regime:
        """Return the regime that was named."""
        found: Regime = resolve("regime", self.regime)
        return found

    def learn(self, features: NDArray[np.float64], part: Part) -> NDArray[np.float64]:
        """Believe and fit in turn."""
        regime: Any = self.regime_of_labels()
        targets = regime.inherited(part.weak, part.bags)
        weights = np.zeros((features.shape[1], targets.shape[1]))
        for _ in range(self.n_steps):
            weights = minimised(soft_label_loss(targets), features, weights, self.ridge, self.max_iter)
            chances = softmax(features @ weights, axis=1)
            believed = np.clip(chances + slopes_in_outputs(chances, regime.slopes(chances, part)), 0.0, 1.0)
            targets = believed / believed.sum(axis=1, keepdims=True)
        return weights
