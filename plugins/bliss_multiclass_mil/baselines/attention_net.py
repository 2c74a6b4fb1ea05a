"""Gated attention over the instances of a bag, for each label on its own: run in NumPy, trained in torch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from bliss_framework.plugin import Bags, Rows, needed

Weights = dict[str, NDArray[np.float32]]


@frozen
class Training:
    """How a network is trained.

    Attributes:
        n_epochs: passes over all bags.
        batch_bags: bags in each step of Adam.
        learning_rate: of Adam.
        l2: penalty of squared weights.
    """

    n_epochs: int = field()
    batch_bags: int = field()
    learning_rate: float = field()
    l2: float = field()


def needed_torch() -> Any:
    """Import torch.

    Raises:
        MissingExtraError: one sentence with the pip command.
    """
    return needed("torch", "torch", "label-set-attention needs")


def initial_weights(
    n_columns: int, n_labels: int, n_hidden: int, n_attention: int, rng: np.random.Generator
) -> Weights:
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
    return weights


def _drawn(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.uniform(-1.0, 1.0, shape).astype(np.float32) / np.float32(np.sqrt(shape[0]))


def instance_logits(weights: Weights, rows: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return what each instance says for each label, (n, C), and the logits of its attention, (n, C)."""
    embedded = np.maximum(np.asarray(rows @ weights["embedding"]) + weights["embedding_bias"], 0.0)
    gate = np.tanh(embedded @ weights["tanh_gate"]) * expit(embedded @ weights["sigmoid_gate"])
    return embedded @ weights["output"] + weights["output_bias"], gate @ weights["attention"]


def bag_logits(weights: Weights, rows: Any, bags: Bags) -> NDArray[np.float64]:
    """Return the logit of each label for each bag, (B, C): what its instances say, weighted by attention.

    The attention of a label sums to one over a bag, and outputs are linear in embeddings, so the output of the pooled
    embedding is the pooled output.
    """
    said, attention = instance_logits(weights, rows)
    unnormalised = np.exp(attention - bags.spread(np.asarray(bags.max(attention))))
    return np.asarray(bags.sum(unnormalised * said) / bags.sum(unnormalised), dtype=np.float64)


def trained(
    weights: Weights, rows: Any, bags: Bags, there: NDArray[np.int8], how: Training, rng: np.random.Generator
) -> Weights:
    """Descend the cross-entropy of label sets by Adam.

    Args:
        weights: to start from.
        rows: (n, d), dense or sparse.
        bags: of the rows.
        there: (B, C) 1 where a bag has a label.
        how: steps and rates.
        rng: shuffles bags.

    Raises:
        MissingExtraError: torch is not there.
    """
    torch = needed_torch()
    # The order of a sum depends on the number of threads, and with it the last bits.
    with threadpool_limits(limits=1):
        tensors = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
        adam = torch.optim.Adam(tensors.values(), lr=how.learning_rate, weight_decay=how.l2)
        for own, index, targets in _batches(rows, bags, there, how, rng):
            adam.zero_grad()
            logits = _bag_logits(torch, tensors, torch.from_numpy(own), torch.from_numpy(index), len(targets))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(targets))
            loss.backward()
            adam.step()
        return {name: value.detach().numpy().copy() for name, value in tensors.items()}


def _batches(
    rows: Any, bags: Bags, there: NDArray[np.int8], how: Training, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]]:
    """Yield rows, the bag of each within the batch, and label sets, bags shuffled anew in every epoch."""
    for _ in range(how.n_epochs):
        order = rng.permutation(bags.n_bags)
        for first in range(0, len(order), how.batch_bags):
            chosen = np.sort(order[first : first + how.batch_bags])
            own = bags.rows_of(chosen)
            index = np.searchsorted(chosen, bags.index[own])
            yield np.asarray(Rows(rows).take(own).dense(), dtype=np.float32), index, there[chosen].astype(np.float32)


def _bag_logits(torch: Any, weights: dict[str, Any], rows: Any, index: Any, n_bags: int) -> Any:
    """Do in torch what `bag_logits` does in NumPy."""
    embedded = torch.relu(rows @ weights["embedding"] + weights["embedding_bias"])
    gate = torch.tanh(embedded @ weights["tanh_gate"]) * torch.sigmoid(embedded @ weights["sigmoid_gate"])
    attention = gate @ weights["attention"]
    said = embedded @ weights["output"] + weights["output_bias"]
    where = index[:, None].expand_as(attention)
    most = torch.full((n_bags, attention.shape[1]), -torch.inf).scatter_reduce(0, where, attention.detach(), "amax")
    unnormalised = torch.exp(attention - most[index])
    nothing = torch.zeros_like(most)
    return nothing.index_add(0, index, unnormalised * said) / nothing.index_add(0, index, unnormalised)
