"""EM-DD: diverse density by turns with a guess which instance of each bag is responsible for its label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, validators
from bliss_mil.noisy_or import likeliest, most_likely_cause, negative_log_density, singletons, weighted_distances
from bliss_mil.settings_checks import check_settings
from bliss_mil.target_point import Search, TargetPointClassifier, ascend


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
