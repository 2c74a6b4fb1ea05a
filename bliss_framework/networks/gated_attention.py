"""Gated attention over the instances of a bag, for each label on its own: run in NumPy, trained in torch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from bliss_framework.extension.extras import needed
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.rows import Rows

Weights = dict[str, NDArray[np.float32]]


@frozen
class AttentionTraining:
    """How a network of gated attention is trained.

    Attributes:
        n_epochs: passes over all bags.
        batch_bags: bags in each step of Adam.
        learning_rate: of Adam.
        l2: penalty of squared weights.
        dropout: share of an instance's embedding that is left out in each step.
    """

    n_epochs: int = field()
    batch_bags: int = field()
    learning_rate: float = field()
    l2: float = field()
    dropout: float = field(default=0.0)


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
        purpose: str = "Gated attention needs",
    ) -> "GatedAttention":
        """Descend the cross-entropy of the labels of bags by Adam, from these weights; rows become dense by batches.

        Args:
            rows: (n, d) array or CSR matrix.
            bags: of the rows.
            there: (B, C) 1 where a bag has a label, else 0.
            how: steps and rates.
            rng: shuffles bags, and draws what is left out.
            centre: (d,) what is subtracted from each column in training; the trained network takes rows as they are.
            purpose: who needs torch, see `needed`.

        Raises:
            MissingExtraError: torch is not there.
        """
        torch = needed_torch(purpose)
        # The order of a sum depends on the number of threads, and with it the last bits.
        with threadpool_limits(limits=1):
            tensors = {name: torch.tensor(value, requires_grad=True) for name, value in self.weights.items()}
            adam = torch.optim.Adam(tensors.values(), lr=how.learning_rate, weight_decay=how.l2)
            for own, index, targets in _batches(rows, bags, there, how, rng):
                if centre is not None:
                    own -= centre.astype(np.float32)
                adam.zero_grad()
                kept = _kept((len(own), len(self.weights["embedding_bias"])), how.dropout, rng)
                factors = None if kept is None else torch.from_numpy(kept)
                logits = _bag_logits(
                    torch, tensors, torch.from_numpy(own), torch.from_numpy(index), len(targets), factors
                )
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(targets))
                loss.backward()
                adam.step()
            found = {name: value.detach().numpy().copy() for name, value in tensors.items()}
            if centre is not None:
                found["embedding_bias"] -= centre @ found["embedding"]
            return GatedAttention(found)


def needed_torch(purpose: str) -> Any:
    """Import torch, for `purpose` as in `needed`.

    Raises:
        MissingExtraError: one sentence with the pip command.
    """
    return needed("torch", "torch", purpose)


def _drawn(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.uniform(-1.0, 1.0, shape).astype(np.float32) / np.float32(np.sqrt(shape[0]))


def _kept(shape: tuple[int, int], dropout: float, rng: np.random.Generator) -> NDArray[np.float32] | None:
    """Draw 0 for what is left out of each embedding, and for the rest what keeps its mean as it was."""
    if dropout == 0.0:
        return None
    return (rng.random(shape, dtype=np.float32) >= dropout).astype(np.float32) / np.float32(1.0 - dropout)


def _batches(
    rows: Any, bags: Bags, there: NDArray[Any], how: AttentionTraining, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]]:
    """Yield rows, the bag of each within the batch, and label sets, bags shuffled anew in every epoch."""
    for _ in range(how.n_epochs):
        order = rng.permutation(bags.n_bags)
        for first in range(0, len(order), how.batch_bags):
            chosen = np.sort(order[first : first + how.batch_bags])
            own = bags.rows_of(chosen)
            index = np.searchsorted(chosen, bags.index[own])
            yield Rows(rows).take(own).dense().astype(np.float32), index, there[chosen].astype(np.float32)


def _bag_logits(torch: Any, weights: dict[str, Any], rows: Any, index: Any, n_bags: int, factors: Any) -> Any:
    """Do in torch what `bag_logits` does in NumPy, on embeddings times some factors."""
    embedded = torch.relu(rows @ weights["embedding"] + weights["embedding_bias"])
    if factors is not None:
        embedded = embedded * factors
    gate = torch.tanh(embedded @ weights["tanh_gate"]) * torch.sigmoid(embedded @ weights["sigmoid_gate"])
    attention = gate @ weights["attention"]
    said = embedded @ weights["output"] + weights["output_bias"]
    where = index[:, None].expand_as(attention)
    most = torch.full((n_bags, attention.shape[1]), -torch.inf).scatter_reduce(0, where, attention.detach(), "amax")
    unnormalised = torch.exp(attention - most[index])
    nothing = torch.zeros_like(most)
    return nothing.index_add(0, index, unnormalised * said) / nothing.index_add(0, index, unnormalised)
