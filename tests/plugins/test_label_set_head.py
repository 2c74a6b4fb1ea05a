"""The bag head of label sets: what networks are taught, how two kinds of scores are weighed, and what a fit does."""

import numpy as np
import pytest
import scipy.sparse as sp

from bliss_framework import BlissClassifier, BlissWarning, load_model, save_model
from bliss_framework.plugin import BagEvidence, Bags, Rows, WeakLabels
from bliss_multiclass_mil.bag_head import label_stack
from bliss_multiclass_mil.bag_head.label_stack import LabelStack, taught_labels

CLASSES = ("negative", "a", "b")


def made(n_bags=30, seed=0):
    """Bags of 2 to 5 rows, in which a row is shifted for each of two labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, n_bags)
    bags = np.repeat(np.arange(n_bags), sizes)
    X, Y = rng.normal(size=(len(bags), 4)), np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[np.arange(n_bags) % 4]
    first = np.flatnonzero(np.diff(bags, prepend=-1))
    X[first, 0] += 4.0 * Y[:, 0]
    X[first + 1, 1] += 4.0 * Y[:, 1]
    return X, Y, bags


def model_with(head, **parameters):
    """A quick model of label sets."""
    regime = {"name": "multiclass-mil", "bag_head": head}
    return BlissClassifier(
        **{"regime": regime, "n_rounds": 6, "n_folds": 2, "relabel_rounds": 0, "random_state": 0, **parameters}
    )


@pytest.fixture(scope="module")
def fits():
    """The same data with each head."""
    X, Y, bags = made()
    return X, Y, bags, {head: model_with(head).fit(X, Y, bags=bags) for head in ("none", "stack", "network")}


class TestWhatIsTaught:
    """The label that is scored best of those that an instance can have."""

    def test_by_hand(self):
        """Of a bag with one label that label or none, whatever another label scores."""
        scores = np.array([[0.0, 1.0, 9.0], [2.0, 1.0, 0.0], [0.0, 1.0, 2.0], [0.0, 5.0, -1.0]])
        evidence = BagEvidence(Rows(np.zeros((4, 1))), Bags.from_ids([0, 0, 1, 2]), (scores,), np.zeros((3, 2)))
        taught = taught_labels(evidence, np.array([[1, 0], [0, 1], [0, 0]]))
        assert taught.tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]

    def test_one_label(self):
        """Scores (n,) above 0 speak for the only label."""
        scores = np.array([1.0, -1.0, 1.0])
        evidence = BagEvidence(Rows(np.zeros((3, 1))), Bags.from_ids([0, 0, 1]), (scores,), np.zeros((2, 1)))
        assert taught_labels(evidence, np.array([[1], [0]])).tolist() == [[1], [0], [0]]


class TestTheHead:
    """What it learns of evidence that is made here."""

    def fitted(self, kind="stack"):
        """Instance scores say nothing here, and the rows all."""
        X, Y, bags = made()
        rng, own = np.random.default_rng(1), Bags.from_ids(bags)
        evidence = BagEvidence(Rows(X), own, (rng.normal(size=(len(X), 3)),), rng.normal(size=Y.shape))
        return evidence, LabelStack(kind).fit(evidence, WeakLabels(Y, CLASSES), np.arange(len(Y)) // 4 % 3)

    def test_what_says_more_weighs_more(self):
        """Random scores of bags count less than networks that see the rows."""
        _, found = self.fitted()
        assert set(found.parts) == {"instances", "network"}
        assert found.parts["network"].std() > 2 * found.parts["instances"].std()

    def test_parts_of_one_bag(self):
        """A bag has the parts that it has among others, and instances have no scores of the head."""
        evidence, found = self.fitted()
        rows, scores = np.flatnonzero(evidence.bags.index == 3), evidence.bag_scores[[3]]
        alone = BagEvidence(Rows(evidence.rows.array[rows]), Bags.from_ids([3] * len(rows)), (), scores)
        whole = found.fitted.parts(evidence)
        for name, said in found.fitted.parts(alone).items():
            assert said[0] == pytest.approx(whole[name][3], abs=1e-5)
        assert found.instance_scores is None
        assert found.fitted.instance_scores(evidence.rows) is None

    @pytest.mark.parametrize("kind", ["stack", "network"])
    def test_wide_rows_have_no_networks(self, monkeypatch, kind):
        """Of rows with very many columns a network would take hours; even alone it gives way to instance scores."""
        monkeypatch.setattr(label_stack, "MOST_NETWORK_COLUMNS", 3)
        evidence, found = self.fitted(kind)
        assert list(found.parts) == list(found.fitted.parts(evidence)) == ["instances"]


class TestAFit:
    """Models whose bags are read by the head, with defaults and with chosen settings."""

    @pytest.mark.parametrize(("head", "kinds"), [("stack", ["instances", "network"]), ("network", ["network"])])
    def test_bags_are_the_sum_of_parts(self, fits, head, kinds):
        """Scores are the parts less the threshold, and labels are what exceeds it."""
        X, _, bags, models = fits
        model = models[head]
        assert list(model.bag_parts_) == kinds
        scores = model.score_bags(X, bags)[1]
        parts = model.head_.parts(X, Bags.from_ids(bags), list(zip(model.members_, [model.regime_], strict=True)))
        assert np.allclose(scores, sum(parts.values()) - model.bag_threshold_)
        assert np.array_equal(model.predict_bags(X, bags)[1], (scores > 0).astype(int))

    @pytest.mark.parametrize("head", ["stack", "network"])
    def test_instances_stay_as_they_are(self, fits, head):
        """Neither inferred labels nor instance scores know of the head."""
        X, _, _, models = fits
        assert np.array_equal(models[head].labels_, models["none"].labels_)
        assert np.array_equal(models[head].decision_function(X), models["none"].decision_function(X))

    def test_a_file_keeps_it(self, fits, tmp_path):
        """A saved model reads bags as before."""
        X, _, bags, models = fits
        save_model(models["stack"], tmp_path / "m.skops")
        again = load_model(tmp_path / "m.skops")
        assert np.array_equal(again.score_bags(X, bags)[1], models["stack"].score_bags(X, bags)[1])

    def test_the_order_of_rows_does_not_matter(self, fits):
        """Shuffled rows give the same bits."""
        X, Y, bags, models = fits
        order = np.random.default_rng(1).permutation(len(bags))
        ids, first = np.unique(bags[order], return_index=True)
        other = model_with("stack").fit(X[order], Y[ids[first.argsort()]], bags=bags[order])
        assert np.array_equal(other.score_bags(X, bags)[1], models["stack"].score_bags(X, bags)[1])

    def test_sparse_rows(self, fits):
        """Sparse rows are read, too."""
        X, Y, bags, _ = fits
        model = model_with("stack").fit(sp.csr_matrix(X), Y, bags=bags)
        assert set(model.bag_parts_) == {"instances", "network"}

    def test_chosen_settings(self):
        """Where settings are chosen the head reads bags as well."""
        X, Y, bags = made()
        grid = {"inherited_share": [0.0, 0.5], "classifier": ["cooperative-softmax"], "class_balance": [0.4]}
        model = model_with("stack", settings="select", grid={**grid, "n_rounds": [6]}).fit(X, Y, bags=bags)
        assert model.bag_parts_["network"].shape == Y.shape

    def test_it_is_explained(self, fits):
        """What each kind of evidence adds is said for each label, and in a sentence for the largest."""
        model = fits[3]["stack"]
        found = model.explain_bag(1)
        expected = {name: dict(zip("12", said[1].tolist(), strict=True)) for name, said in model.bag_parts_.items()}
        assert found.parts == expected
        assert "its largest, comes from:" in found.sentence()

    def test_sets_are_explained_in_their_order(self):
        """A weak label that is a set is shown as a sorted list: its own order is another in every process."""
        X, _, bags = made()
        sets = [({"b", "a"}, {"b"}, set())[bag % 3] for bag in range(30)]
        model = model_with("none").fit(X, sets, bags=bags)
        assert model.explain_bag(0).weak_label == model.explain(0).weak_label == ["a", "b"]

    def test_it_stands_back(self):
        """Bags of one instance, and too few bags, are read from scores alone, with a sentence."""
        X, _, bags = made()
        sets = [(set(), {"a"}, {"b"})[bag % 3] for bag in range(30)]
        with pytest.warns(BlissWarning, match="stands back, because every bag has one instance"):
            model = model_with("stack").fit(X[:30], sets, bags=np.arange(30))
        assert model.head_ is None
        few = bags < 4
        with pytest.warns(BlissWarning, match="stands back, because there are fewer than 5 bags"):
            assert model_with("stack").fit(X[few], sets[:4], bags=bags[few]).head_ is None


def test_binary_mil_has_its_head_without_a_choice():
    """The stack of binary MIL reads bags of a plain fit, too, and what it says of training bags is out of fold."""
    X, Y, bags = made(40)
    y = Y.any(axis=1).astype(int)
    model = BlissClassifier(regime={"name": "mil", "bag_head": "stack"}, n_rounds=6, n_folds=2, random_state=0)
    model.fit(X, y, bags=bags)
    assert set(model.bag_parts_) >= {"instances", "shape", "witnesses"}
    assert np.array_equal(model.out_of_fold_bag_scores_ > 0, model.out_of_fold_bags_ == 1)
    assert ((model.score_bags(X, bags)[1] > 0) == (y == 1)).mean() > 0.8
