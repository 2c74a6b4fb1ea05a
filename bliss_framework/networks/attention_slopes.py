"""Gated attention with its slopes, for one batch of bags: the equations, and how the loss changes with each weight.

    h_i = max(0, x_i E + e) f_i              embedding of an instance, times factors that leave some of it out
    a_i = (tanh(h_i T) * sigma(h_i S)) A     the logit of its attention for each label
    s_i = h_i O + o                          what it says for each label
    l_b = sum_i w_i s_i                      logit of a bag, w the softmax of a over its instances

    loss = 1/BC (sum_bc L(l_bc, y_bc) + v sum_ic L(s_ic, t_ic)),    L(z, y) = log(1 + exp(z)) - y z

with what instances are taught, t, where something is. Source of the network: Ilse, Tomczak and Welling, Attention-based
deep multiple instance learning, ICML 2018; the slopes are the chain rule.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import expit

Weights = dict[str, NDArray[np.float32]]


@frozen(eq=False)
class AttentionBatch:
    """Some bags that the network learns from in one step; arrays are of single precision.

    Attributes:
        rows: (m, d) array or CSR matrix, those of a bag beside each other.
        starts: (B,) the first row of each bag.
        index: (m,) the bag of each row.
        there: (B, C) the share in which a bag has a label: 1, 0, or between.
        taught: (m, C) the same of instances; None where nothing is known of them.
    """

    rows: Any = field()
    starts: NDArray[np.intp] = field()
    index: NDArray[np.intp] = field()
    there: NDArray[np.float32] = field()
    taught: NDArray[np.float32] | None = field(default=None)


@frozen(eq=False)
class _Forward:
    """What a network computes on its way from rows to logits; names as in the equations above."""

    h: NDArray[Any] = field()
    tanh: NDArray[Any] = field()
    sigmoid: NDArray[Any] = field()
    w: NDArray[Any] = field()
    s: NDArray[Any] = field()
    logits: NDArray[Any] = field()


def slopes(
    weights: Weights,
    batch: AttentionBatch,
    centre: NDArray[np.float32] | None,
    factors: NDArray[np.float32] | None,
    taught_weight: float,
) -> Weights:
    """Return the slope of the loss in each weight.

    Args:
        weights: by name, see `GatedAttention`.
        batch: what is learnt from.
        centre: (d,) what is subtracted from each row, or None.
        factors: (m, H) of embeddings, or None.
        taught_weight: v.
    """
    found = _forward(weights, batch, centre, factors)
    scale = np.float32(1.0 / batch.there.size)
    of_logits = ((expit(found.logits) - batch.there) * scale)[batch.index]
    of_s = found.w * of_logits
    of_a = of_s * (found.s - found.logits[batch.index])
    if batch.taught is not None:
        of_s += np.float32(taught_weight) * scale * (expit(found.s) - batch.taught)
    gate = found.tanh * found.sigmoid
    of_gate = of_a @ weights["attention"].T
    of_tanh = of_gate * found.sigmoid * (1 - found.tanh**2)
    of_sigmoid = of_gate * gate * (1 - found.sigmoid)
    of_h = of_s @ weights["output"].T + of_tanh @ weights["tanh_gate"].T + of_sigmoid @ weights["sigmoid_gate"].T
    of_h = np.where(found.h > 0, of_h if factors is None else of_h * factors, np.float32(0.0))
    of_bias = of_h.sum(axis=0)
    of_embedding = np.asarray(batch.rows.T @ of_h)
    return {
        "embedding": of_embedding if centre is None else of_embedding - np.outer(centre, of_bias),
        "embedding_bias": of_bias,
        "tanh_gate": found.h.T @ of_tanh,
        "sigmoid_gate": found.h.T @ of_sigmoid,
        "attention": gate.T @ of_a,
        "output": found.h.T @ of_s,
        "output_bias": of_s.sum(axis=0),
    }


def _forward(
    weights: Weights, batch: AttentionBatch, centre: NDArray[np.float32] | None, factors: NDArray[np.float32] | None
) -> _Forward:
    bias = weights["embedding_bias"] if centre is None else weights["embedding_bias"] - centre @ weights["embedding"]
    h = np.maximum(np.asarray(batch.rows @ weights["embedding"]) + bias, 0)
    h = h if factors is None else h * factors
    tanh, sigmoid = np.tanh(h @ weights["tanh_gate"]), expit(h @ weights["sigmoid_gate"])
    a, s = (tanh * sigmoid) @ weights["attention"], h @ weights["output"] + weights["output_bias"]
    w = np.exp(a - np.maximum.reduceat(a, batch.starts, axis=0)[batch.index])
    w /= np.add.reduceat(w, batch.starts, axis=0)[batch.index]
    return _Forward(h, tanh, sigmoid, w, s, np.add.reduceat(w * s, batch.starts, axis=0))


class Adam:
    """Steps against slopes, of a size that each weight's own slopes choose.

    Source: Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, Algorithm 1, with its constants. The
    penalty of squared weights is part of the slope.

    Args:
        weights: arrays by name; they are changed in place.
        learning_rate: alpha.
        l2: the penalty is l2 / 2 times the sum of squares.
    """

    MEAN, SQUARES, NOTHING = 0.9, 0.999, 1e-8

    def __init__(self, weights: Weights, learning_rate: float, l2: float) -> None:
        self.weights, self.learning_rate, self.l2 = weights, learning_rate, np.float32(l2)
        self.means = {name: np.zeros_like(value) for name, value in weights.items()}
        self.squares = {name: np.zeros_like(value) for name, value in weights.items()}
        self.n_steps = 0

    def step(self, slopes_now: Weights) -> None:
        """Move all weights by one step."""
        self.n_steps += 1
        rate = np.float32(self.learning_rate / (1 - self.MEAN**self.n_steps))
        shrunk = np.float32((1 - self.SQUARES**self.n_steps) ** -0.5)
        for name, weight in self.weights.items():
            slope = slopes_now[name] + self.l2 * weight
            mean, square = self.means[name], self.squares[name]
            mean += np.float32(1 - self.MEAN) * (slope - mean)
            square += np.float32(1 - self.SQUARES) * (slope * slope - square)
            weight -= rate * mean / (np.sqrt(square) * shrunk + np.float32(self.NOTHING))
