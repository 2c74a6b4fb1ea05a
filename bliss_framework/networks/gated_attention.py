"""Gated attention over the instances of a bag, for each label on its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows
from bliss_framework.networks.attention_slopes import Adam, AttentionBatch, Weights, slopes


@frozen
class AttentionTraining:
    """How a network of gated attention is trained.

    Attributes:
        n_epochs: passes over all bags.
        batch_bags: bags in each step of Adam.
        learning_rate: of Adam.
        l2: penalty of squared weights.
        dropout: share of an instance's embedding that is left out in each step.
        taught_weight: of what an instance is taught, where a label of a bag counts 1.
    """

    n_epochs: int = field()
    batch_bags: int = field()
    learning_rate: float = field()
    l2: float = field()
    dropout: float = field(default=0.0)
    taught_weight: float = field(default=1.0)


@frozen(eq=False)
class GatedAttention:
    """A network that says for each label whether a bag has it.

    An instance is embedded by one layer. Each label has weights over the instances of a bag, which sum to one, and the
    bag's logit is the weighted mean of what its instances say. With one label it is the network of the paper. Source:
    Ilse, Tomczak and Welling, Attention-based deep multiple instance learning, ICML 2018, with its gate.

    Attributes:
        weights: arrays of single precision by name: "embedding" (d, H), "embedding_bias" (H,), "tanh_gate" and
            "sigmoid_gate" (H, A), "attention" (A, C), "output" (H, C), "output_bias" (C,).

    >>> network = GatedAttention.drawn(3, n_labels=1, n_hidden=4, n_attention=2, rng=np.random.default_rng(0))
    >>> network.bag_logits(np.eye(3), Bags.from_ids(["a", "b", "a"])).shape
    (2, 1)
    """

    weights: Weights = field()

    @classmethod
    def drawn(
        cls, n_columns: int, n_labels: int, n_hidden: int, n_attention: int, rng: np.random.Generator
    ) -> "GatedAttention":
        """Draw the weights that training starts from, uniform within 1 over the root of the number of inputs.

        Args:
            n_columns: d.
            n_labels: C.
            n_hidden: H, the size of an instance's embedding.
            n_attention: A, the size of both gates.
            rng: draws.
        """
        shapes = {
            "embedding": (n_columns, n_hidden),
            "tanh_gate": (n_hidden, n_attention),
            "sigmoid_gate": (n_hidden, n_attention),
            "attention": (n_attention, n_labels),
            "output": (n_hidden, n_labels),
        }
        weights = {name: _drawn(shape, rng) for name, shape in shapes.items()}
        weights["embedding_bias"] = np.zeros(n_hidden, dtype=np.float32)
        weights["output_bias"] = np.zeros(n_labels, dtype=np.float32)
        return cls(weights)

    def instance_logits(self, rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what each instance says for each label, (n, C), and the logits of its attention, (n, C).

        Args:
            rows: (n, d) array or CSR matrix.
        """
        weights = self.weights
        embedded = np.maximum(np.asarray(rows @ weights["embedding"]) + weights["embedding_bias"], 0.0)
        gate = np.tanh(embedded @ weights["tanh_gate"]) * expit(embedded @ weights["sigmoid_gate"])
        return embedded @ weights["output"] + weights["output_bias"], gate @ weights["attention"]

    def bag_logits(self, rows: Any, bags: Bags) -> NDArray[np.float64]:
        """Return the logit of each label for each bag, (B, C): what its instances say, weighted by attention.

        The attention of a label sums to one over a bag, and outputs are linear in embeddings, so the output of the
        pooled embedding is the pooled output.
        """
        said, attention = self.instance_logits(rows)
        unnormalised = np.exp(attention - bags.spread(np.asarray(bags.max(attention))))
        return np.asarray(bags.sum(unnormalised * said) / bags.sum(unnormalised), dtype=np.float64)

    def trained(
        self,
        rows: Any,
        bags: Bags,
        there: NDArray[Any],
        how: AttentionTraining,
        rng: np.random.Generator,
        centre: NDArray[Any] | None = None,
        taught: NDArray[Any] | None = None,
    ) -> "GatedAttention":
        """Descend the cross-entropy of the labels of bags, and of instances that are taught some, from these weights.

        Args:
            rows: (n, d) array or CSR matrix.
            bags: of the rows.
            there: (B, C) 1 where a bag has a label, else 0.
            how: steps and rates.
            rng: shuffles bags, and draws what is left out.
            centre: (d,) what is subtracted from each column in training; the trained network takes rows as they are.
            taught: (n, C) the share in which an instance has a label, from 0 to 1.
        """
        weights = {name: value.copy() for name, value in self.weights.items()}
        adam, size = Adam(weights, how.learning_rate, how.l2), len(weights["embedding_bias"])
        centre = None if centre is None else centre.astype(np.float32)
        # The order of a sum depends on the number of threads, and with it the last bits.
        with threadpool_limits(limits=1):
            for batch in _batches(rows, bags, there, taught, how, rng):
                factors = _kept((len(batch.index), size), how.dropout, rng)
                adam.step(slopes(weights, batch, centre, factors, how.taught_weight))
        if centre is not None:
            weights["embedding_bias"] -= centre @ weights["embedding"]
        return GatedAttention(weights)


def _drawn(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.uniform(-1.0, 1.0, shape).astype(np.float32) / np.float32(np.sqrt(shape[0]))


def _kept(shape: tuple[int, int], dropout: float, rng: np.random.Generator) -> NDArray[np.float32] | None:
    """Draw 0 for what is left out of each embedding, and for the rest what keeps its mean as it was."""
    if dropout == 0.0:
        return None
    return (rng.random(shape, dtype=np.float32) >= dropout).astype(np.float32) / np.float32(1.0 - dropout)


def _batches(
    rows: Any,
    bags: Bags,
    there: NDArray[Any],
    taught: NDArray[Any] | None,
    how: AttentionTraining,
    rng: np.random.Generator,
) -> Iterator[AttentionBatch]:
    """Yield some bags at a time, shuffled anew in every epoch."""
    order = np.argsort(bags.index, kind="stable")
    own, ends = Rows(rows).take(order).array.astype(np.float32), np.cumsum(bags.sizes)
    labels, told = there.astype(np.float32), None if taught is None else taught[order].astype(np.float32)
    for _ in range(how.n_epochs):
        shuffled = rng.permutation(bags.n_bags)
        for first in range(0, len(shuffled), how.batch_bags):
            chosen = np.sort(shuffled[first : first + how.batch_bags])
            sizes = bags.sizes[chosen]
            starts, index = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(chosen)), sizes)
            places = np.arange(sizes.sum()) + (ends[chosen] - sizes - starts)[index]
            yield AttentionBatch(own[places], starts, index, labels[chosen], None if told is None else told[places])
