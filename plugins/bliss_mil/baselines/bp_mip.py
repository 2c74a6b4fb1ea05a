"""BP-MIP: a neural network that learns of each bag through the instance with the largest output."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import check_random_state

from bliss_framework.plugin import Bags, check_settings, validators
from bliss_mil.baselines.bag_classifier import InstanceScorer
from bliss_mil.baselines.imputation import most_positive
from bliss_mil.baselines.settled_rows import settled
from bliss_mil.baselines.working_columns import learn_columns, on_columns


class BpMip(InstanceScorer):
    """One hidden layer of sigmoid units, and the squared error of each bag's largest output.

    The error of a bag is (largest output of its instances - target)^2 / 2, with target 1 for positive and 0 for
    negative bags, and is propagated back through the instance with that output. The score is the output less 1/2; a bag
    is as positive as its most positive instance. Source: Zhou and Zhang, Neural networks for multi-instance learning,
    Nanjing University 2002. The paper steps down the gradient of one bag after the other; here L-BFGS goes down that of
    all bags, from several random starts, and the smallest error is kept. Settings were chosen on six sets that are not
    those of the paper's table.

    Args:
        n_hidden: hidden units.
        n_starts: random starts.
        max_iter: steps of L-BFGS from each start; few of them keep the network from learning bags by heart.
        l2: penalty of squared weights, beside the mean error of a bag; 0 is the paper.
        n_components: singular components that wide sparse rows are reduced to; see `learn_columns`.
        scaling: see `Scaling`.
        random_state: seed of the first weights.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        hidden_: (d' + 1, H) weights of the hidden units, their biases last, for the columns worked on (those that vary
            in training, after scaling, or singular components).
        output_: (H + 1,) weights of the output unit, its bias last.
        loss_: mean error of the training bags plus the penalty.
    """

    def __init__(
        self,
        n_hidden: int = 10,
        n_starts: int = 3,
        max_iter: int = 200,
        l2: float = 1e-4,
        n_components: int = 50,
        scaling: str = "auto",
        random_state: Any = None,
        positive_label: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.l2 = l2
        self.n_components = n_components
        self.scaling = scaling
        self.random_state = random_state
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "BpMip":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        counts = ("n_hidden", "n_starts", "max_iter", "n_components")
        check_settings(self, **dict.fromkeys(counts, validators.at_least(1)), l2=validators.between(0.0, 1e6))
        scaled, given, labels = self.learn(X, y, bags)
        self.kept_, self.projection_ = learn_columns(scaled, self.n_components)
        rows, grouped, weak = settled(on_columns(scaled, self.kept_, self.projection_), given, labels)
        random = check_random_state(self.random_state)
        data = (rows, grouped, weak, self.l2)
        ends = [self._descend(first_weights(rows.shape[1], self.n_hidden, random), data) for _ in range(self.n_starts)]
        self.loss_, best = min(ends, key=lambda end: end[0])
        self.hidden_, self.output_ = layers(best, rows.shape[1])
        return self

    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d) by their output less 1/2: (n,)."""
        dense = on_columns(rows, self.kept_, self.projection_)
        return np.asarray(expit(activations(dense, self.hidden_, self.output_)[1]) - 0.5)

    def _descend(self, start: NDArray[np.float64], data: tuple[Any, ...]) -> tuple[float, NDArray[np.float64]]:
        options = {"maxiter": self.max_iter}
        found = minimize(bag_error, start, args=data, jac=True, method="L-BFGS-B", options=options)
        return float(found.fun), found.x


def first_weights(d: int, n_hidden: int, random: np.random.RandomState) -> NDArray[np.float64]:
    """Draw the weights of both layers, so small that no unit is saturated: a flat array for `layers`."""
    hidden = random.uniform(-1, 1, (d + 1, n_hidden)) / np.sqrt(d + 1)
    output = random.uniform(-1, 1, n_hidden + 1) / np.sqrt(n_hidden + 1)
    return np.concatenate([hidden.ravel(), output])


def layers(point: NDArray[np.float64], d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut flat weights into those of hidden units (d + 1, H) and of the output unit (H + 1,), biases last."""
    n_hidden = (len(point) - 1) // (d + 2)
    return point[: -n_hidden - 1].reshape(d + 1, n_hidden), point[-n_hidden - 1 :]


def activations(
    rows: NDArray[np.float64], hidden: NDArray[np.float64], output: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what hidden units put out (n, H), and what goes into the output unit (n,)."""
    units = expit(rows @ hidden[:-1] + hidden[-1])
    return units, units @ output[:-1] + output[-1]


def bag_error(
    point: NDArray[np.float64], rows: NDArray[np.float64], bags: Bags, weak: NDArray[Any], l2: float
) -> tuple[float, NDArray[np.float64]]:
    """Mean over bags of (largest output - target)^2 / 2, plus l2 times the squared weights, and its gradient.

    Args:
        point: flat weights, see `layers`; biases have no penalty.
        rows: (n, d).
        bags: B bags of n rows.
        weak: (B,) targets, 1 for positive and 0 for negative bags.
        l2: strength of the penalty.
    """
    hidden, output = layers(point, rows.shape[1])
    units, logits = activations(rows, hidden, output)
    witnesses = most_positive(logits, bags)
    own, found = units[witnesses], expit(logits[witnesses])
    errors = found - weak
    back = errors * found * (1.0 - found) / bags.n_bags
    back_hidden = back[:, None] * output[:-1] * own * (1.0 - own)
    penalised = np.concatenate([np.vstack([hidden[:-1], np.zeros_like(hidden[-1])]).ravel(), output[:-1], [0.0]])
    by_hidden = np.vstack([rows[witnesses].T @ back_hidden, back_hidden.sum(axis=0)])
    gradient = np.concatenate([by_hidden.ravel(), back @ own, [back.sum()]]) + 2.0 * l2 * penalised
    return float(np.mean(errors**2) / 2.0 + l2 * (penalised @ penalised)), gradient
