"""Gated attention over the instances of a bag."""

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework.plugin import AttentionTraining, Bags, GatedAttention


@pytest.fixture
def network():
    return GatedAttention.drawn(n_columns=3, n_labels=2, n_hidden=5, n_attention=4, rng=np.random.default_rng(1))


def test_first_weights(network):
    """Weights are within one over the root of the number of inputs; biases are zero."""
    sizes = {"embedding": 3, "tanh_gate": 5, "sigmoid_gate": 5, "attention": 4, "output": 5}
    for name, n_inputs in sizes.items():
        assert len(network.weights[name]) == n_inputs
        assert 0 < np.abs(network.weights[name]).max() <= n_inputs**-0.5
    assert not network.weights["embedding_bias"].any()
    assert not network.weights["output_bias"].any()


def pooled_output(weights, rows, label, factors=1.0):
    """The paper's equations: attention of embeddings, the pooled embedding, its output."""
    h = np.maximum(rows @ weights["embedding"] + weights["embedding_bias"], 0) * factors
    score = [
        weights["attention"][:, label]
        @ (np.tanh(weights["tanh_gate"].T @ one) / (1 + np.exp(-weights["sigmoid_gate"].T @ one)))
        for one in h
    ]
    attention = np.exp(score) / np.sum(np.exp(score))
    pooled = sum(a * one for a, one in zip(attention, h, strict=True))
    return pooled @ weights["output"][:, label] + weights["output_bias"][label]


def test_one_bag_by_hand(network):
    """The logit of a bag is the output of its pooled embedding, computed here from the paper's equations."""
    rows = np.random.default_rng(2).normal(size=(4, 3))
    found = network.bag_logits(rows, Bags.from_ids([7, 7, 7, 7]))
    assert found.shape == (1, 2)
    assert found[0] == pytest.approx([pooled_output(network.weights, rows, label) for label in range(2)], rel=1e-5)


def test_a_bag_of_one(network):
    """An instance alone in its bag has all the attention, so the bag says what it says."""
    rows = np.random.default_rng(3).normal(size=(6, 3))
    np.testing.assert_allclose(
        network.bag_logits(rows, Bags.from_ids(np.arange(6))), network.instance_logits(rows)[0], rtol=1e-5
    )


def test_large_attention_does_not_overflow(network):
    """Attention that differs by thousands between instances gives finite logits."""
    network.weights["attention"] *= 1e4
    rows = np.random.default_rng(4).normal(size=(6, 3))
    assert np.isfinite(network.bag_logits(rows, Bags.from_ids([0, 0, 0, 1, 1, 1]))).all()


class TestTraining:
    """Bags of five rows; the sum of a column of the first row of each bag decides its label."""

    @pytest.fixture
    def data(self):
        rng = np.random.default_rng(5)
        rows = rng.normal(size=(100, 3))
        return rows, Bags.from_ids(np.repeat(np.arange(20), 5)), (rows[::5, :2] > 0).astype(np.int8)

    @staticmethod
    def how(**changed):
        return AttentionTraining(**{"n_epochs": 3, "batch_bags": 8, "learning_rate": 0.01, "l2": 1e-3, **changed})

    @pytest.mark.parametrize("is_taught", [False, True], ids=["bags", "bags and instances"])
    def test_one_step_goes_down_the_slope(self, network, data, is_taught):
        """The first step of Adam moves each weight by the rate, against the slope of the loss, by differences here."""
        rows, bags, there = data

        def loss(weights):
            logits = GatedAttention(weights).bag_logits(rows, bags)
            of_bags = np.mean(np.logaddexp(0, np.where(there, -logits, logits)))
            said, _ = GatedAttention(weights).instance_logits(rows)
            return of_bags + 0.7 / 40 * np.sum(np.logaddexp(0, said) - taught * said) if is_taught else of_bags

        how = self.how(n_epochs=1, batch_bags=20, learning_rate=1e-3, l2=0.0, taught_weight=0.7)
        taught = np.random.default_rng(1).random((100, 2)) if is_taught else None
        found = network.trained(rows, bags, there, how, np.random.default_rng(0), taught=taught).weights
        doubled = {name: value.astype(np.float64) for name, value in network.weights.items()}
        for name, value in doubled.items():
            for place in np.ndindex(value.shape):
                higher, lower = ({**doubled, name: value.copy()} for _ in range(2))
                higher[name][place] += 1e-5
                lower[name][place] -= 1e-5
                slope = (loss(higher) - loss(lower)) / 2e-5
                if abs(slope) > 1e-4:
                    step = found[name][place] - value[place]
                    assert step == pytest.approx(-np.sign(slope) * 1e-3, rel=0.01)

    def test_penalty_shrinks_weights(self, network, data):
        """With a large penalty all weights end smaller than without one."""
        ends = [network.trained(*data, self.how(n_epochs=40, l2=l2), np.random.default_rng(0)) for l2 in (0.0, 1.0)]
        free, held = (sum(np.square(value).sum() for value in one.weights.values()) for one in ends)
        assert held < free / 10

    def test_sparse_rows(self, network, data):
        """Sparse rows give the weights of dense ones, centred or not."""
        rows, bags, there = data
        rows = np.where(np.abs(rows) < 0.5, 0.0, rows)
        for centre in (None, rows.mean(axis=0)):
            dense, sparse = (
                network.trained(one, bags, there, self.how(), np.random.default_rng(0), centre).weights
                for one in (rows, sp.csr_matrix(rows))
            )
            for name in dense:
                np.testing.assert_allclose(sparse[name], dense[name], atol=1e-4)

    def test_centre_is_for_training_only(self, network, data):
        """Training on rows less a centre, and on rows that were centred beforehand, says the same of either's rows."""
        rows, bags, there = data
        centre = np.array([0.5, -2.0, 0.25])
        one = network.trained(rows, bags, there, self.how(), np.random.default_rng(0), centre)
        other = network.trained(rows - centre, bags, there, self.how(), np.random.default_rng(0))
        np.testing.assert_allclose(one.bag_logits(rows, bags), other.bag_logits(rows - centre, bags), atol=1e-4)
        assert np.abs(one.weights["embedding_bias"] - other.weights["embedding_bias"]).max() > 0.01

    def test_dropout_is_drawn_by_the_seed(self, network, data):
        """The same seed gives the same bits; another seed, or none left out, others."""
        found = []
        for dropout, seed in ((0.5, 0), (0.5, 0), (0.5, 1), (0.0, 0)):
            how = self.how(dropout=dropout, batch_bags=20)
            found.append(network.trained(*data, how, np.random.default_rng(seed)).weights["embedding"])
        np.testing.assert_array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])
        assert not np.array_equal(found[0], found[3])

    @pytest.mark.parametrize(("share", "step"), [(0.70, -1e-3), (0.76, 1e-3)])
    def test_dropout_keeps_the_mean(self, data, share, step):
        """A bag whose logit is 1 has it with half of the embedding left out: the bias moves from 0.73 to the share."""
        rows, bags, _ = data
        weights = GatedAttention.drawn(3, 1, 20_000, 2, np.random.default_rng(2)).weights
        weights["embedding"][:], weights["embedding_bias"][:], weights["output"][:] = 0.0, 1.0, 1 / 20_000
        how = self.how(n_epochs=1, batch_bags=20, learning_rate=1e-3, l2=0.0, dropout=0.5)
        found = GatedAttention(weights).trained(rows, bags, np.full((20, 1), share), how, np.random.default_rng(0))
        assert found.weights["output_bias"][0] == pytest.approx(step)

    def test_order_of_rows(self, network, data):
        """Rows of bags that lie apart are learnt from like those that lie beside each other."""
        rows, bags, there = data
        taught, order = np.abs(rows[:, :2]) / 5, np.random.default_rng(3).permutation(100)
        one = network.trained(rows, bags, there, self.how(), np.random.default_rng(0), taught=taught)
        apart = Bags(bags.ids, bags.index[order])
        other = network.trained(rows[order], apart, there, self.how(), np.random.default_rng(0), taught=taught[order])
        for name, value in one.weights.items():
            np.testing.assert_allclose(other.weights[name], value, atol=1e-4)

    def test_what_instances_are_taught(self, network, data):
        """With bags that all say a half, instances learn what they are taught."""
        rows, bags, _ = data
        taught = (rows[:, :2] > 0).astype(float)
        how = self.how(n_epochs=60, taught_weight=1.0)
        found = network.trained(rows, bags, np.full((20, 2), 0.5), how, np.random.default_rng(0), taught=taught)
        assert np.mean((found.instance_logits(rows)[0] > 0) == taught) > 0.9

    def test_the_same_as_torch(self, network, data):
        """Fifteen steps end where those of torch's own slopes and its own Adam do."""
        torch = pytest.importorskip("torch", reason="needs the extra torch")
        rows, bags, there = data
        how = self.how(n_epochs=15, batch_bags=20)
        found = network.trained(rows, bags, there, how, np.random.default_rng(0)).weights
        weights = {name: torch.tensor(value, requires_grad=True) for name, value in network.weights.items()}
        adam = torch.optim.Adam(weights.values(), lr=how.learning_rate, weight_decay=how.l2)
        inputs, labels = torch.tensor(rows, dtype=torch.float32), torch.tensor(there, dtype=torch.float32)
        for _ in range(how.n_epochs):
            adam.zero_grad()
            h = torch.relu(inputs @ weights["embedding"] + weights["embedding_bias"])
            gate = torch.tanh(h @ weights["tanh_gate"]) * torch.sigmoid(h @ weights["sigmoid_gate"])
            attention = torch.softmax((gate @ weights["attention"]).reshape(20, 5, 2), dim=1)
            said = (h @ weights["output"] + weights["output_bias"]).reshape(20, 5, 2)
            logits = (attention * said).sum(dim=1)
            torch.nn.functional.binary_cross_entropy_with_logits(logits, labels).backward()
            adam.step()
        for name, value in found.items():
            np.testing.assert_allclose(value, weights[name].detach().numpy(), atol=1e-4)
