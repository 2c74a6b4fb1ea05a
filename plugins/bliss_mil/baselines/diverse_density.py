"""Diverse density and EM-DD: a point near to all positive bags and far from all negative instances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, check_settings, validators
from bliss_mil.baselines.noisy_or import (
    likeliest,
    most_likely_cause,
    negative_log_density,
    singletons,
    weighted_distances,
)
from bliss_mil.baselines.target_point import Search, TargetPointClassifier, ascend

MODELS = {"noisy-or": negative_log_density, "most-likely-cause": most_likely_cause}


class DiverseDensity(TargetPointClassifier):
    """Gradient ascent on the diverse density of a target point and the scales of its columns.

    The ascent starts from instances of positive bags; the best maximum on the training bags is kept. A bag is positive
    when the probability of its most positive instance exceeds the threshold of best training accuracy. Source: Maron
    and Lozano-Perez, A framework for multiple-instance learning, NIPS 1998.

    Args:
        model: "noisy-or" (a bag is negative when all its instances are) or "most-likely-cause" (its likeliest
            instance alone counts).
        n_starts: instances to start from, all those of one random positive bag after another; more find better maxima.
        max_iter: L-BFGS iterations from each start.
        n_components: singular components that wide sparse rows are reduced to; see `learn_columns`.
        scaling: see `Scaling`.
        random_state: seed of the choice of starts.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        target_, scales_: (d',) the target point and the scale of each column worked on (those that vary in training,
            after scaling, or singular components). An instance at x is positive with probability
            exp(-mean((scales_ * (x - target_)) ** 2)).
        radius_: the mean in this exponent at which an instance changes sides.
        loss_: negative log diverse density of the training bags.
    """

    def __init__(
        self,
        model: str = "noisy-or",
        n_starts: int = 50,
        max_iter: int = 100,
        n_components: int = 50,
        scaling: str = "auto",
        random_state: Any = None,
        positive_label: Any = None,
    ) -> None:
        self.model = model
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.n_components = n_components
        self.scaling = scaling
        self.random_state = random_state
        self.positive_label = positive_label

    def check(self) -> None:
        """Refuse parameters that are not allowed."""
        check_settings(self, model=validators.one_of(*MODELS))
        super().check()

    def search(self, start: NDArray[np.float64], rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]) -> Search:
        """Climb from one start."""
        return ascend(MODELS[self.model], start, self.max_iter, rows, bags, weak)


class EmDd(TargetPointClassifier):
    """Expectation-maximisation of diverse density.

    The E step picks the likeliest positive instance of each bag, the M step moves target and scales by L-BFGS as if
    the bags held these instances only; they alternate while the likelihood of the bags improves. Source: Zhang and
    Goldman, EM-DD: an improved multiple-instance learning technique, NIPS 2001.

    The figures first published chose among starts by the error on test bags, and are too high (Andrews et al., NIPS
    2002, corrected them: 84.8 % on MUSK1). Here the start is chosen by the likelihood of the training bags alone.

    Args:
        n_starts: instances to start from, all those of one random positive bag after another; more find better maxima.
        n_steps: most E and M steps from each start.
        max_iter: L-BFGS iterations in each M step.
        n_components: singular components that wide sparse rows are reduced to; see `learn_columns`.
        scaling: see `Scaling`.
        random_state: seed of the choice of starts.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        target_, scales_: (d',) the target point and the scale of each column worked on (those that vary in training,
            after scaling, or singular components). An instance at x is positive with probability
            exp(-mean((scales_ * (x - target_)) ** 2)).
        radius_: the mean in this exponent at which an instance changes sides.
        loss_: negative log-likelihood of the training bags, each as positive as its likeliest instance.
    """

    def __init__(
        self,
        n_starts: int = 50,
        n_steps: int = 20,
        max_iter: int = 100,
        n_components: int = 50,
        scaling: str = "auto",
        random_state: Any = None,
        positive_label: Any = None,
    ) -> None:
        self.n_starts = n_starts
        self.n_steps = n_steps
        self.max_iter = max_iter
        self.n_components = n_components
        self.scaling = scaling
        self.random_state = random_state
        self.positive_label = positive_label

    def check(self) -> None:
        """Refuse parameters that are not allowed."""
        check_settings(self, n_steps=validators.at_least(1))
        super().check()

    def search(self, start: NDArray[np.float64], rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any]) -> Search:
        """Alternate E and M steps from one start, and keep the best point on the way."""
        best = (most_likely_cause(start, rows, bags, weak)[0], start)
        alone = singletons(bags.n_bags)
        for _ in range(self.n_steps):
            chosen = likeliest(weighted_distances(rows, *np.split(best[1], 2)), bags)
            _, point = ascend(negative_log_density, best[1], self.max_iter, rows[chosen], alone, weak)
            loss = most_likely_cause(point, rows, bags, weak)[0]
            if loss >= best[0]:
                break
            best = (loss, point)
        return best
