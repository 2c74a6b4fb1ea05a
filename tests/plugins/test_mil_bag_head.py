"""The bag head of MIL: its kernels beside their formulas, its stack, and what it does to a fit."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from bliss_framework import BlissClassifier, BlissError, BlissWarning, load_model, save_model
from bliss_framework.estimator.ensemble import instance_scores
from bliss_framework.networks import taught_networks as taught_networks_module
from bliss_framework.networks.taught_networks import TAUGHT_WEIGHTS
from bliss_framework.plugin import (
    AttentionTraining,
    BagEvidence,
    Bags,
    GatedAttention,
    Rows,
    Scaling,
    WeakLabels,
    stack_weights,
    taught_networks,
)
from bliss_mil.bag_head import bag_kernels, kernel_stack
from bliss_mil.bag_head.bag_kernels import compared, learnt
from bliss_mil.bag_head.kernel_stack import KernelStack
from bliss_mil.bag_head.pair_sums import graph_weights
from bliss_mil.bag_head.witnesses import has_few_witnesses, taught_shares

QUICK = {
    "n_rounds": [6],
    "n_folds": [2],
    "scaling": ["auto", "standard-unit"],
    "inherited_share": [0.0, 0.5],
    "regime.bag_score": ["max", "mean"],
}


def with_head(head):
    """A model whose settings are chosen, with a bag head."""
    return BlissClassifier(random_state=0, settings="select", grid=QUICK, regime={"name": "mil", "bag_head": head})


def made(n_bags=24, seed=0, sparse=False):
    """Bags of 1 to 6 rows, of which half have one row shifted."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, n_bags)
    sizes[:2] = 4
    bags = np.repeat(np.arange(n_bags), sizes)
    X = rng.normal(size=(len(bags), 4))
    y = np.arange(n_bags) % 2
    X[np.flatnonzero(np.diff(bags, prepend=-1))] += 3.0 * y[:, None]
    return sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0)) if sparse else X, y, bags


def evidence_of(X, bags, seed=0, views=2):
    """Evidence with random instance scores and one bag score."""
    rng = np.random.default_rng(seed)
    own = Bags.from_ids(bags)
    scores = tuple(rng.normal(size=len(bags)) for _ in range(views))
    return BagEvidence(Rows(X), own, scores, rng.normal(size=own.n_bags))


def by_formula(evidence):
    """Both kernels between training bags, pair of bags by pair of bags, as the module's text has them."""
    X = evidence.rows.array
    X = X.toarray() if sp.issparse(X) else X
    index, n_bags = evidence.bags.index, evidence.bags.n_bags
    of = [np.flatnonzero(index == bag) for bag in range(n_bags)]
    v = X.var(axis=0).sum()
    k = np.exp(-0.5 * cdist(X, X) ** 2 / v)

    def rbf(vectors, unit=None):
        unit = np.var(vectors, axis=0).sum() if unit is None else unit
        return np.exp(-0.5 * cdist(vectors, vectors) ** 2 / unit)

    def normalised(w):
        sums = np.array([[w[a] @ k[np.ix_(a, b)] @ w[b] for b in of] for a in of])
        return sums / np.sqrt(np.outer(np.diag(sums), np.diag(sums)))

    extremes = np.array([np.concatenate([X[a].min(axis=0), X[a].max(axis=0)]) for a in of])
    near = np.array([k[a].max(axis=0) for a in of])
    graph = np.empty(len(X))
    for a in of:
        distances = cdist(X[a], X[a])
        graph[a] = 1.0 / (distances <= distances.mean() + 1e-9).sum(axis=1)
    whole = (rbf(extremes) + normalised(np.ones(len(X))) + rbf(near) + normalised(graph)) / 4
    said = []
    for u in evidence.instance_scores:
        p = np.concatenate([np.exp(2 * u[a]) / np.exp(2 * u[a]).sum() for a in of])
        centres = np.array([p[a] @ X[a] for a in of])
        q = np.array(
            [
                [u[a].max(), u[a].mean(), np.log(np.exp(2 * u[a]).mean()) / 2, u[a].min(), np.sort(u[a])[-2:].mean()]
                for a in of
            ]
        )
        said.append(2 * normalised(p) + 2 * rbf(centres) + 4 * rbf((q - q.mean(axis=0)) / q.std(axis=0), 5.0))
    return whole, (4 * whole + np.mean(said, axis=0)) / 12


@pytest.fixture(scope="module")
def fitted():
    """Models of the same data with and without the head."""
    X, y, bags = made(40)
    fits = {head: with_head(head).fit(X, y, bags=bags) for head in ("none", "stack")}
    return X, y, bags, fits


class TestKernels:
    """Kernels between whole bags."""

    @pytest.mark.parametrize("sparse", [False, True])
    def test_they_are_their_formulas(self, sparse):
        """Kernels in blocks are those that are written down, pair by pair."""
        X, _, bags = made(sparse=sparse)
        evidence = evidence_of(X, bags)
        _, grams = learnt(evidence)
        whole, informed = by_formula(evidence)
        assert np.allclose(grams.whole, whole, atol=1e-9)
        assert np.allclose(grams.informed, informed, atol=1e-9)

    @pytest.mark.parametrize("most_exact", [0, 10_000])
    def test_training_bags_that_come_again(self, monkeypatch, most_exact):
        """Bags that are compared later have the kernels that they had in training, exactly and by landmarks."""
        monkeypatch.setattr(bag_kernels, "MOST_EXACT", most_exact)
        X, _, bags = made()
        evidence = evidence_of(X, bags)
        kernels, grams = learnt(evidence)
        again = compared(kernels, evidence)
        assert np.allclose(again.whole, grams.whole)
        assert np.allclose(again.informed, grams.informed)

    def test_landmarks_that_are_all_rows(self, monkeypatch):
        """Where every row is a landmark, sums by landmarks are exact but for single precision."""
        X, _, bags = made()
        evidence = evidence_of(X, bags)
        exact = learnt(evidence)[1]
        monkeypatch.setattr(bag_kernels, "MOST_EXACT", 0)
        near = learnt(evidence)[1]
        assert np.allclose(near.whole, exact.whole, atol=1e-3)
        assert np.allclose(near.informed, exact.informed, atol=1e-3)

    def test_like_instances_count_as_one(self):
        """Three equal instances and a far one: the three share a weight of one."""
        X = np.array([[0.0], [0.0], [0.0], [9.0]])
        assert graph_weights(X, Bags.from_ids([7] * 4), 0.01) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])

    def test_rows_that_do_not_vary(self):
        """Kernels of constant rows and scores are finite."""
        X, _, bags = made()
        evidence = BagEvidence(Rows(np.ones_like(X)), Bags.from_ids(bags), (np.zeros(len(X)),), np.zeros(24))
        grams = learnt(evidence)[1]
        assert np.isfinite(grams.whole).all()
        assert np.isfinite(grams.informed).all()


class TestStack:
    """Weights of several bag scores."""

    def test_the_weights_are_the_best(self):
        """Another optimiser, of the loss as it is written down, comes to the same weights."""
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 60)
        scores = rng.normal(size=(60, 3)) + np.outer(2 * y - 1, [1.0, 0.3, -0.5])
        scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)

        def loss(values):
            w, b = np.exp(values[:3]), values[3]
            return np.log1p(np.exp(-(2 * y - 1) * (scores @ w + b))).sum() + 3 * ((w - 1 / 3) ** 2).sum()

        best = minimize(
            loss, np.append(np.log(np.full(3, 1 / 3)), 0.0), method="Nelder-Mead", options={"maxiter": 9000}
        )
        assert stack_weights(scores, y) == pytest.approx(np.exp(best.x[:3]), abs=2e-3)

    def test_what_misleads_counts_for_nothing(self):
        """A score that points the other way has the weight 0, and none is below."""
        y = np.arange(40) % 2
        weights = stack_weights(np.stack([2.0 * y - 1, 1 - 2.0 * y], axis=1), y)
        assert weights[0] > 0.5
        assert weights[1] == 0.0

    def test_scores_of_training_bags_are_out_of_fold(self):
        """What an SVM says of a training bag is what one says that was trained on the other folds."""
        X, y, bags = made()
        evidence, folds = evidence_of(X, bags), np.arange(24) // 2 % 3
        found = KernelStack("whole").fit(evidence, WeakLabels(y, (0, 1)), folds)
        fitted, parts = found.fitted, found.parts
        assert found.instance_scores is None
        rows = Rows(Scaling("clipped").fit(X).transform(X))
        gram = by_formula(evolve(evidence, rows=rows))[0]
        svm = SVC(C=kernel_stack.C, kernel="precomputed").fit(gram[np.ix_(folds != 1, folds != 1)], y[folds != 1])
        own = svm.decision_function(gram[np.ix_(folds == 1, folds != 1)])
        assert np.allclose((parts["shape"][folds == 1]) / fitted.weights[0] + fitted.means[0], own, atol=1e-3)


class TestFit:
    """What the head does to a fit."""

    def test_inferred_labels_do_not_change(self, fitted):
        """Inferred labels are the same with and without a head, and bags are read otherwise."""
        fits = fitted[3]
        assert np.array_equal(fits["none"].labels_, fits["stack"].labels_)
        assert not np.array_equal(fits["none"].out_of_fold_bag_scores_, fits["stack"].out_of_fold_bag_scores_)

    def test_instances_are_scored_by_what_was_inferred(self, fitted):
        """Instance scores are averages over classifiers of no inherited share, whichever read bags best."""
        X, y, bags, fits = fitted
        model = fits["stack"]
        alone = with_head("none").set_params(grid={**QUICK, "inherited_share": [0.0], "regime.bag_score": ["max"]})
        alone = alone.set_params(n_members=2).fit(X, y, bags=bags)
        shift = model.decision_function(X) - alone.decision_function(X)
        assert np.allclose(shift, shift[0])  # The thresholds may differ: the fits have other settings to choose from.

    def test_a_model_from_a_file(self, fitted, tmp_path):
        """A saved model says the same of bags, and what each kind of evidence adds."""
        X, _, bags, fits = fitted
        save_model(fits["stack"], tmp_path / "m.skops")
        again = load_model(tmp_path / "m.skops")
        assert np.array_equal(again.score_bags(X, bags)[1], fits["stack"].score_bags(X, bags)[1])
        assert again.explain_bag(3).parts == fits["stack"].explain_bag(3).parts

    def test_parts_add_up(self, fitted):
        """What the kinds of evidence say of two bags of one fold differs as their scores do."""
        model = fitted[3]["stack"]
        total = np.sum(list(model.bag_parts_.values()), axis=0)
        cuts = np.round(total - model.out_of_fold_bag_scores_, 9)
        assert len(np.unique(cuts)) <= 5  # One threshold for each fold.
        assert "instances +" in model.explain_bag(1).sentence() or "instances -" in model.explain_bag(1).sentence()

    def test_the_order_of_rows_changes_nothing(self, fitted):
        """Rows that come in another order lead to the same bits."""
        X, y, bags, fits = fitted
        order = np.random.default_rng(1).permutation(len(bags))
        ids = np.unique(bags[order], return_index=True)
        first = ids[0][np.argsort(ids[1])]
        model = BlissClassifier(
            random_state=0, settings="select", grid=QUICK, regime={"name": "mil", "bag_head": "stack"}
        )
        model.fit(X[order], y[first], bags=bags[order])
        assert np.array_equal(model.score_bags(X, bags)[1], fits["stack"].score_bags(X, bags)[1])

    def test_the_control_without_a_bandit(self):
        """Where nothing is inferred, the head sees what instances inherit, in all scalings that were tried."""
        X, y, bags = made(40)
        model = with_head("stack").set_params(inherited_share=1.0, n_members=1).fit(X, y, bags=bags)
        assert model.inference_["n_pulls"] == 0
        assert {one.scaling.mode for view in model.head_.views for one in view} == {"auto", "standard-unit"}
        assert set(model.bag_parts_) == {"instances", "shape", "witnesses"}

    @pytest.mark.parametrize("head", ["whole", "informed", "network"])
    def test_single_heads(self, head):
        """One SVM, or a network, alone reads bags, and has one kind of evidence."""
        X, y, bags = made(40)
        model = with_head(head)
        assert model.fit(X, y, bags=bags).score(X, y, bags) > 0.8
        assert list(model.bag_parts_) == [{"whole": "shape", "informed": "witnesses"}.get(head, head)]


@pytest.fixture(scope="module")
def few():
    """Bags of 16 rows, of which half have one row far away, and a model of them whose settings were chosen."""
    rng = np.random.default_rng(3)
    X, y, bags = rng.normal(size=(480, 4)), np.arange(30) % 2, np.repeat(np.arange(30), 16)
    X[::16] += 4.0 * y[:, None]
    return X, y, bags, with_head("stack").fit(X, y, bags=bags)


class TestNetwork:
    """A network reads bags, too, where witnesses are few."""

    def test_it_is_one_kind_of_evidence(self, few):
        """It stands beside the three others, and reads bags that it has not seen."""
        _, _, _, model = few
        assert list(model.bag_parts_) == ["instances", "shape", "witnesses", "network"]
        rng = np.random.default_rng(4)
        X, y, bags = rng.normal(size=(480, 4)), np.arange(30) % 2, np.repeat(np.arange(30), 16)
        X[::16] += 4.0 * y[:, None]
        rows = Scaling("clipped").fit(few[0]).transform(X)
        said = model.head_.fitted.networks.bag_scores(rows, Bags.from_ids(bags)).mean(axis=0)[:, 0]
        assert ((said > 0) == y).mean() > 0.8
        assert "network +" in model.explain_bag(1).sentence() or "network -" in model.explain_bag(1).sentence()

    def test_instances_are_scored_by_both(self, few):
        """An instance's score is the mean of those of final classifiers and of the network, in their deviations."""
        X, _, _, model = few
        own = instance_scores(model.head_.views[0], X)
        said = model.head_.fitted.networks.instance_scores(Scaling("clipped").fit(X).transform(X))
        network = said.mean(axis=0)[:, 0]
        expected = (own / model.head_.units[0] + network / model.head_.own_unit) / 2 - model.instance_threshold_
        assert np.allclose(model.decision_function(X), expected, atol=1e-6)
        assert 0.5 < np.std(network) / model.head_.own_unit < 2.0
        first, second = model.decision_function(X[:100]), model.decision_function(X[100:])
        assert np.allclose(np.concatenate([first, second]), expected, atol=1e-6)
        witness = np.zeros(len(X), dtype=bool)
        witness[::16] = np.arange(30) % 2
        assert roc_auc_score(witness, model.out_of_fold_scores_) > 0.9

    def test_order_and_file(self, few, tmp_path):
        """Neither the order of rows nor a file changes a bit."""
        X, y, bags, model = few
        order = np.random.default_rng(1).permutation(len(bags))
        first = np.unique(bags[order], return_index=True)[1].argsort()
        other = with_head("stack").fit(X[order], y[first], bags=bags[order])
        scores = model.score_bags(X, bags)[1]
        assert np.array_equal(other.score_bags(X, bags)[1], scores)
        assert np.array_equal(other.decision_function(X), model.decision_function(X))
        save_model(model, tmp_path / "m.skops")
        assert np.array_equal(load_model(tmp_path / "m.skops").score_bags(X, bags)[1], scores)

    @pytest.mark.parametrize("unit", [0.0, -1.0, np.nan, np.ones(2)])
    def test_a_damaged_unit_is_refused(self, few, tmp_path, unit):
        """A file whose unit is no number above 0 is no model."""
        model = deepcopy(few[3])
        model.head_.own_unit = unit
        save_model(model, tmp_path / "m.skops")
        with pytest.raises(BlissError, match="the unit of a bag head"):
            load_model(tmp_path / "m.skops")

    def test_scores_of_training_bags_are_out_of_fold(self):
        """What it says of a training bag is what one says that was trained on the other folds, made here."""
        X, y, bags = made()
        folds, evidence = np.arange(24) // 2 % 3, evidence_of(X, bags)
        shares = taught_shares(evidence.instance_scores[0], (y == 1)[bags])
        found = taught_networks(X, evidence.bags, y[:, None], shares[:, None], folds)
        for chosen, told in ((folds != 1, folds == 1), (folds >= 0, None)):
            rows = chosen[bags]
            first = GatedAttention.drawn(4, 1, 128, 64, np.random.default_rng(0))
            labels, centre = y[chosen, None], X[rows].mean(axis=0)
            own, others = Bags.from_ids(bags[rows]), []
            for weight in TAUGHT_WEIGHTS:
                how = AttentionTraining(60, 16, learning_rate=1e-3, l2=1e-3, dropout=0.25, taught_weight=weight)
                rng = np.random.default_rng(1)
                others.append(first.trained(X[rows], own, labels, how, rng, centre, shares[rows, None]))
            if told is None:
                for other, weights in zip(others, found.networks.weights, strict=True):
                    assert np.allclose(other.weights["output"], weights["output"], atol=1e-4)
                continue
            rows = told[bags]
            own = Bags.from_ids(bags[rows])
            for other, of_bags, of_rows in zip(others, found.bag_scores, found.instance_scores, strict=True):
                assert np.allclose(of_bags[told], other.bag_logits(X[rows], own), atol=1e-3)
                assert np.allclose(of_rows[rows], other.instance_logits(X[rows])[0], atol=1e-3)

    def test_what_instances_are_taught(self):
        """Nothing in negative bags, little where scores say nothing, and most of a witness that scores tell."""
        rng = np.random.default_rng(0)
        inherit = np.arange(400) % 2 == 1
        shares = taught_shares(rng.normal(size=400), inherit)
        assert shares.max() < 0.4
        told = rng.normal(size=400)
        told[1:40:2] += 8.0
        shares = taught_shares(told, inherit)
        assert (shares[~inherit] == 0).all()
        assert shares[1:40:2].min() > 0.5
        assert np.median(shares[41::2]) < 0.1

    @pytest.mark.parametrize(("shift", "n_shifted", "few"), [(6.0, 2, True), (6.0, 8, False)])
    def test_few_witnesses(self, shift, n_shifted, few):
        """Two rows of twelve are few, eight are not."""
        scores, y = np.random.default_rng(0).normal(size=(40, 12)), np.arange(40) % 2
        scores[y == 1, :n_shifted] += shift
        bags = Bags.from_ids(np.repeat(np.arange(40), 12))
        assert has_few_witnesses(scores.ravel(), bags, WeakLabels(y, (0, 1))) == few

    def test_wide_rows_have_none(self, monkeypatch, few):
        """Of rows with very many columns a network would take hours, so the stack goes without it."""
        X, y, bags, _ = few
        monkeypatch.setattr(kernel_stack, "MOST_NETWORK_COLUMNS", 3)
        assert "network" not in with_head("stack").fit(X, y, bags=bags).bag_parts_

    def test_many_rows_take_fewer_epochs(self, monkeypatch):
        """Twice as many rows as are few take half the epochs."""
        epochs, plain = [], GatedAttention.trained

        def counting(self, rows, bags, there, how, *rest):
            epochs.append(how.n_epochs)
            return plain(self, rows, bags, there, how, *rest)

        monkeypatch.setattr(GatedAttention, "trained", counting)
        X, y, bags = made()
        evidence = evidence_of(X, bags)
        monkeypatch.setattr(taught_networks_module, "MANY_ROWS", len(X) // 2)
        taught_networks(X, evidence.bags, y[:, None], np.zeros((len(X), 1)), np.arange(24) % 3)
        assert len(epochs) == 4 * len(TAUGHT_WEIGHTS)
        assert all(abs(one - 30) <= 1 for one in epochs)


class TestItStandsBack:
    """Training bags that the head cannot learn from."""

    @pytest.mark.parametrize(
        ("sizes", "folds", "most_rows", "said"),
        [
            ([1] * 8, [0, 1] * 4, 100, "every bag has one instance"),
            ([2] * 8, [0, 0, 1, 1] * 2, 10, "there are 16 rows, and it takes at most 10"),
            ([2] * 8, [0, 0, 1, 1, 1, 1, 1, 1], 100, None),
            ([2] * 8, [0] * 4 + [1] * 4, 100, "without one of the folds all bags are of one class"),
        ],
    )
    def test_it_says_why(self, monkeypatch, sizes, folds, most_rows, said):
        """Bags of one, many rows, and folds that hold all bags of a class are refused in words."""
        monkeypatch.setattr(kernel_stack, "MOST_ROWS", most_rows)
        y = np.arange(8) // 4 if said and "class" in said else np.arange(8) % 2
        bags = Bags.from_ids(np.repeat(np.arange(8), sizes))
        assert KernelStack().refusal(bags, WeakLabels(y, (0, 1)), np.array(folds)) == said

    def test_the_fit_goes_on(self):
        """Where it stands back, one warning says so, and bags are read as without it."""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
        scores = []
        for head in ("none", "stack"):
            model = with_head(head)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                scores.append(model.fit(X, y, bags=np.arange(40)).score_bags(X, np.arange(40))[1])
            said = [one for one in caught if "bag head stands back" in str(one.message)]
            assert len(said) == (head == "stack")
            assert all(issubclass(one.category, BlissWarning) for one in said)
        assert np.array_equal(*scores)

    def test_very_wide_sparse_rows(self):
        """Rows of 50,000 columns are never made dense."""
        X = sp.random(120, 50_000, density=1e-3, format="csr", random_state=0)
        bags, y = np.repeat(np.arange(30), 4), np.arange(30) % 2
        model = BlissClassifier(
            random_state=0, settings="select", grid=QUICK, regime={"name": "mil", "bag_head": "stack"}
        )
        assert np.isfinite(model.fit(X, y, bags=bags).score_bags(X, bags)[1]).all()
