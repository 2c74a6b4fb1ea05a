"""The cooperative softmax: its objective and gradient, the descent, pulls with a warm start, the scikit-learn face."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from bliss_framework import Bags, BlissClassifier, LabelSpace, Part, SettingsError, WeakLabels, load_model, save_model
from bliss_framework.testing import classifier_checks
from bliss_multiclass_mil.classifier.cooperative_softmax import CooperativeSoftmax
from bliss_multiclass_mil.classifier.descent import State, descend
from bliss_multiclass_mil.classifier.estimator import CooperativeSoftmaxClassifier
from bliss_multiclass_mil.classifier.objective import Groups, Objective, SoftObjective, loss_and_slope, outputs_of
from bliss_multiclass_mil.classifier.random_features import LENGTH, RandomFeatures

PROPERTY = settings(max_examples=40, deadline=None)
GROUPINGS = [(0, 1, 2), (0, 0, 1, 2), (0, 1, 0, 1, 0), (0, 0)]


def problem(class_of_label, n=11, d=3, p=2, seed=0):
    """Random rows, assignments, weights with sum 1, and coefficients."""
    rng = np.random.default_rng(seed)
    n_labels = len(class_of_label)
    weights = rng.uniform(0.2, 2.0, (p, n))
    labels = rng.integers(0, n_labels, (p, n))
    objective = Objective(
        rng.normal(size=(n, d)),
        labels,
        weights / weights.sum(1, keepdims=True),
        Groups.from_classes(class_of_label),
        0.3,
    )
    return objective, rng.normal(size=(p, n_labels, d + 1))


def by_formula(objective, W, class_of_label):
    """The paper's formula, one instance after the other, plus the penalty."""
    total = objective.l2 / 2 * float((W[:, :-1] ** 2).sum())
    for x, label, weight in zip(objective.rows, objective.labels[0], objective.weights[0], strict=True):
        z = [float(w[:-1] @ x + w[-1]) for w in W]
        others = [
            max(math.exp(z[j]) for j, cls in enumerate(class_of_label) if cls == group)
            for group in set(class_of_label) - {class_of_label[label]}
        ]
        total -= weight * math.log(math.exp(z[label]) / (math.exp(z[label]) + sum(others)))
    return total


@pytest.mark.parametrize("class_of_label", GROUPINGS)
class TestObjective:
    def test_value_by_the_formula_of_the_paper(self, class_of_label):
        """The value is the weighted mean of -log s_l(x), against the largest label of each other group."""
        objective, W = problem(class_of_label, p=1)
        assert objective(W)[0] == pytest.approx([by_formula(objective, W[0], class_of_label)])

    def test_gradient_by_finite_differences(self, class_of_label):
        """The gradient is the slope of the value."""
        objective, W = problem(class_of_label, p=1)
        found = objective(W)[1].ravel()
        slopes = approx_fprime(W.ravel(), lambda w: objective(w.reshape(W.shape))[0][0], 1e-7)
        assert found == pytest.approx(slopes, abs=2e-6)

    def test_assignments_do_not_see_each_other(self, class_of_label):
        """P assignments at once have the values and gradients that each has alone."""
        objective, W = problem(class_of_label, p=3)
        values, gradients = objective(W)
        for p in range(3):
            rows = slice(p, p + 1)
            alone = Objective(objective.rows, objective.labels[rows], objective.weights[rows], objective.groups, 0.3)
            value, gradient = alone(W[rows])
            assert values[rows] == pytest.approx(value)
            assert gradients[rows] == pytest.approx(gradient)

    def test_kinds_of_rows(self, class_of_label, tmp_path):
        """Sparse, single-precision and memory-mapped rows give the same value and gradient."""
        objective, W = problem(class_of_label)
        expected = objective(W)
        np.save(tmp_path / "rows.npy", objective.rows)
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        for rows, slack in (
            (sp.csr_matrix(objective.rows), 1e-12),
            (mapped, 0.0),
            (objective.rows.astype(np.float32), 1e-5),
            (sp.csr_matrix(objective.rows, dtype=np.float32), 1e-5),
        ):
            found = Objective(rows, objective.labels, objective.weights.astype(rows.dtype), objective.groups, 0.3)(W)
            assert found[0] == pytest.approx(expected[0], rel=max(slack, 1e-15), abs=slack)
            assert found[1] == pytest.approx(expected[1], rel=max(slack, 1e-15), abs=slack)
            assert outputs_of(rows, W).dtype == rows.dtype


@pytest.mark.parametrize("class_of_label", GROUPINGS)
def test_soft_objective_counts_copies(class_of_label):
    """The objective of soft labels is that of copies of the rows, one for each label, in any grouping."""
    objective, W = problem(class_of_label, p=1)
    n_labels, n = len(class_of_label), len(objective.rows)
    shares = np.random.default_rng(3).dirichlet(np.ones(n_labels), n).T / n
    soft = SoftObjective(objective.rows, shares, objective.groups, 0.3)(W)
    copies = np.tile(objective.rows, (n_labels, 1)), np.repeat(np.arange(n_labels), n)[None], shares.reshape(1, -1)
    hard = Objective(*copies, objective.groups, 0.3)(W)
    assert soft[0] == pytest.approx(hard[0])
    assert soft[1] == pytest.approx(hard[1])


def test_labels_of_a_group_do_not_compete():
    """However large another negative label is, it takes nothing from the one that was given."""
    groups = Groups.from_classes([0, 0, 1])
    one = lambda z: loss_and_slope(np.array([[[z[0]], [z[1]], [z[2]]]]), np.array([[0]]), np.ones((1, 1)), groups)  # noqa: E731
    (low, slope), (high, _) = one([1.0, -5.0, 0.0]), one([1.0, 50.0, 0.0])
    assert low == high == pytest.approx(math.log(1 + math.exp(-1.0)))
    assert slope[0, 1] == 0


def test_large_outputs_do_not_overflow():
    """The logarithm is taken without leaving floating point."""
    z = np.array([[[1000.0], [-1000.0], [0.0]]])
    losses, slope = loss_and_slope(z, np.array([[1]]), np.ones((1, 1)), Groups.from_classes([0, 1, 2]))
    assert losses == pytest.approx([2000.0])
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("alone", [True, False])
def test_no_slope_is_subnormal(alone):
    """Outputs a hundred apart give slopes of 0, not numbers that make products slow; what counts is not touched."""
    groups = Groups.from_classes([0, 1, 2] if alone else [0, 0, 1])
    rows, shares = np.array([[100.0], [1.0]], dtype=np.float32), np.array([[0.5, 0.5], [0, 0], [0, 0]], np.float32)
    W = np.array([[[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]]])
    value, _ = SoftObjective(rows, shares, groups, 0.0)(W)
    # In the first row the others are nothing; in the second exp(1/2) and 1, or only 1 of the other group, meet exp(1).
    others = math.exp(0.5) + 1 if alone else 1
    assert value == pytest.approx([0.5 * math.log1p(others / math.e)], rel=1e-5)
    _, slope = loss_and_slope(outputs_of(rows, W), np.zeros((1, 2), np.intp), shares[:1], groups)
    assert slope[0, 2, 0] == 0
    assert (np.abs(slope[slope != 0]) > np.finfo(np.float32).tiny).all()


class TestDescent:
    def quadratics(self, p=3, d=6):
        rng = np.random.default_rng(0)
        roots = rng.normal(size=(p, d, d))
        A, b = roots @ roots.transpose(0, 2, 1) + np.eye(d), rng.normal(size=(p, d))

        def function(x):
            products = np.einsum("pij,pj->pi", A, x)
            return 0.5 * (x * products).sum(1) - (b * x).sum(1), products - b

        return function, np.linalg.solve(A, b[:, :, None])[:, :, 0]

    def test_finds_minima(self):
        """Several quadratic functions side by side come to their own minima."""
        function, minima = self.quadratics()
        state, steps = descend(function, State.at(np.zeros((3, 6))), 200, 0.1, 1e-9)
        assert state.point == pytest.approx(minima, abs=1e-7)
        assert steps < 100

    def test_problems_do_not_see_each_other(self):
        """A problem takes the same steps beside others as alone."""
        function, _ = self.quadratics()
        together, _ = descend(function, State.at(np.zeros((3, 6))), 5, 0.1, 0.0)

        def second(x):
            values, gradients = function(np.repeat(x, 3, axis=0))
            return values[1:2], gradients[1:2]

        alone, _ = descend(second, State.at(np.zeros((1, 6))), 5, 0.1, 0.0)
        assert alone.point[0] == pytest.approx(together.point[1], rel=1e-9)

    def test_values_never_rise(self):
        """Each further step leaves no problem worse."""
        function, _ = self.quadratics()
        values = [function(descend(function, State.at(np.ones((3, 6))), n, 5.0, 0.0)[0].point)[0] for n in range(8)]
        assert (np.diff(values, axis=0) <= 1e-12).all()

    def test_memory_is_put_back(self):
        """Problems taken out and put back keep their points and their memory; the others are as they were."""
        function, _ = self.quadratics()
        state, _ = descend(function, State.at(np.zeros((3, 6))), 3, 0.1, 0.0)
        back = state.put(np.array([0, 2]), state.take(np.array([0, 2])))
        for name in ("point", "steps", "changes"):
            assert np.array_equal(getattr(back, name), getattr(state, name))


class TestRandomFeatures:
    def test_products_are_kernels(self):
        """Products of features come near exp(-gamma |x - z|^2), and gamma is in units of the spread of the rows."""
        rows = np.random.default_rng(0).normal(size=(30, 4))
        features = RandomFeatures.drawn(rows, 20000, 0.5, np.random.default_rng(1)).of(rows)
        distances = ((rows[:, None] - rows[None]) ** 2).sum(-1)
        gamma = 0.5 / (distances.mean() / 2)
        assert features @ features.T / LENGTH**2 == pytest.approx(np.exp(-gamma * distances), abs=0.05)

    def test_sparse_rows(self):
        """Sparse rows have the same features."""
        rows = np.random.default_rng(0).normal(size=(5, 4))
        features = RandomFeatures.drawn(rows, 7, 0.5, np.random.default_rng(1))
        sparse = RandomFeatures.drawn(sp.csr_matrix(rows), 7, 0.5, np.random.default_rng(1))
        assert sparse.of(sp.csr_matrix(rows)) == pytest.approx(features.of(rows))


def part(X, class_of_label=(0, 1, 2)):
    space = LabelSpace(np.ones((X.shape[0], len(class_of_label)), dtype=bool), np.array(class_of_label))
    return Part(X, Bags.from_ids(np.arange(X.shape[0])), WeakLabels(np.zeros(X.shape[0]), (0, 1, 2)), space)


def prepared(classifier, seed=0, class_of_label=(0, 1, 2)):
    rng = np.random.default_rng(seed)
    return classifier.prepare(part(rng.normal(size=(40, 3)), class_of_label), part(rng.normal(size=(15, 3))), rng)


@pytest.mark.parametrize(
    "classifier",
    [CooperativeSoftmax(), CooperativeSoftmax(n_features=50), CooperativeSoftmax(precision="float64")],
    ids=repr,
)
def test_conformance(classifier):
    """The classifier passes the kit, linear and with random features."""
    for check in classifier_checks(classifier):
        check()


class TestPulls:
    def assignments(self, p, seed=1):
        return np.random.default_rng(seed).integers(0, 3, (p, 40))

    def test_pulls_come_to_the_minimum(self):
        """Pulled again and again, an assignment gets the coefficients of the whole minimisation."""
        classifier = CooperativeSoftmax(precision="float64", l2=0.01)
        puller, assignment = prepared(classifier), self.assignments(1)
        for _ in range(15):
            found = puller.pull(assignment, None)
        X = np.random.default_rng(0).normal(size=(40, 3))
        objective = Objective(X, assignment, np.full((1, 40), 1 / 40), Groups.from_classes([0, 1, 2]), 0.01)
        best = minimize(lambda w: objective(w.reshape(1, 3, 4))[0][0], np.zeros(12), options={"gtol": 1e-7}).x
        expected = outputs_of(X, best.reshape(1, 3, 4))[0].T
        # Adding the same number to all outputs changes nothing.
        centred = lambda z: z - z.mean(axis=1, keepdims=True)  # noqa: E731
        assert centred(found.train_scores[0]) == pytest.approx(centred(expected), abs=1e-3)

    def test_a_pull_goes_on_from_the_last_one(self):
        """The second pull of an assignment fits it better than the first."""
        puller, assignment = prepared(CooperativeSoftmax(n_steps=2)), self.assignments(1)
        objective = Objective(
            np.eye(3), assignment[:, :3], np.ones((1, 3)), Groups.from_classes([0, 1, 2]), 0.0
        )  # only its groups are used
        losses = []
        for _ in range(2):
            scores = puller.pull(assignment, None).train_scores
            losses.append(
                loss_and_slope(np.moveaxis(scores, 2, 1), assignment, np.full((1, 40), 1 / 40), objective.groups)[0][0]
            )
        assert losses[1] < losses[0]

    def test_parallel_inferences_have_their_own_start(self):
        """Each position of a batch goes its own way, as if it were pulled alone."""
        batches = [self.assignments(3, seed) for seed in range(4)]
        together = prepared(CooperativeSoftmax(precision="float64"))
        alone = [prepared(CooperativeSoftmax(precision="float64")) for _ in range(3)]
        for batch in batches:
            found = together.pull(batch, None)
            for p, one in enumerate(alone):
                assert one.pull(batch[p : p + 1], None).heldout_scores[0] == pytest.approx(
                    found.heldout_scores[p], abs=1e-6
                )

    def test_more_positions_follow_the_old_ones(self):
        """From two inferences to two times three parallel pulls, each pull starts where its own inference stopped."""
        settings_ = CooperativeSoftmax(precision="float64", n_steps=1)
        puller, own = prepared(settings_), [prepared(settings_) for _ in range(2)]
        first, then = self.assignments(2), self.assignments(6, 2)
        puller.pull(first, None)
        found = puller.pull(then, None).heldout_scores
        for i, one in enumerate(own):
            one.pull(first[i : i + 1], None)
            expected = one.pull(then[3 * i : 3 * i + 3], None).heldout_scores
            assert found[3 * i : 3 * i + 3] == pytest.approx(expected, abs=1e-9)

    def test_one_label_teaches_nothing(self):
        """A pull with one label predicts it everywhere and leaves the start of the next pull as it was."""
        puller, other = (prepared(CooperativeSoftmax()) for _ in range(2))
        assignment = self.assignments(1)
        for one in (puller, other):
            one.pull(assignment, None)
        found = puller.pull(np.full((1, 40), 2), None)
        assert (found.heldout_labels == 2).all()
        assert (found.train_labels == 2).all()
        assert np.array_equal(puller.pull(assignment, None).heldout_scores, other.pull(assignment, None).heldout_scores)

    def test_weights_of_the_training_part(self):
        """Weights given with a pull replace those of the training part; weights alike are no weights."""
        assignment = self.assignments(1)
        plain = prepared(CooperativeSoftmax()).pull(assignment, None)
        alike = prepared(CooperativeSoftmax()).pull(assignment, np.full((1, 40), 3.0))
        assert alike.heldout_scores == pytest.approx(plain.heldout_scores, abs=1e-5)
        heavy = prepared(CooperativeSoftmax(n_steps=30)).pull(assignment, np.where(assignment == 1, 1.0, 1e-4))
        assert (heavy.heldout_labels == 1).all()

    def test_negative_labels_share_the_negatives(self):
        """Two modes of one class get a label each, where one linear label cannot tell them from what lies between."""
        X = np.concatenate([np.random.default_rng(0).normal(m, 0.3, (40, 1)) for m in (-3.0, 0.0, 3.0)])
        truth = np.repeat([0, 2, 1], 40)
        puller = CooperativeSoftmax(n_steps=50).prepare(
            part(X, (0, 0, 1)), part(X, (0, 0, 1)), np.random.default_rng(0)
        )
        assert (puller.pull(truth[None], None).heldout_labels[0] == truth).mean() > 0.97

    @pytest.mark.parametrize(
        ("name", "value"),
        [("l2", -1), ("n_steps", 0), ("n_features", -1), ("width", 0), ("max_iter", 0), ("precision", "float16")],
    )
    def test_parameters(self, name, value):
        """Parameters that cannot be used are refused by name."""
        with pytest.raises(SettingsError, match=name):
            CooperativeSoftmax(**{name: value})


class TestEstimator:
    def rows(self, n=120, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, n)
        return rng.normal(size=(n, 4)) + np.eye(3, 4)[y], np.array(["ant", "bee", "cow"])[y]

    @pytest.mark.parametrize("weighted", [False, True])
    def test_singletons_are_the_ordinary_softmax(self, weighted):
        """With one class in each group the model is scikit-learn's multinomial logistic regression."""
        X, y = self.rows()
        w = np.random.default_rng(1).uniform(0.1, 3.0, len(X)) if weighted else np.ones(len(X))
        own = CooperativeSoftmaxClassifier(l2=0.02, tol=1e-8, max_iter=500).fit(X, y, w)
        other = LogisticRegression(C=1 / (0.02 * w.sum()), tol=1e-10, max_iter=2000).fit(X, y, w)
        assert own.predict_proba(X) == pytest.approx(other.predict_proba(X), abs=1e-4)
        assert own.coef_ - own.coef_.mean(axis=0) == pytest.approx(other.coef_, abs=1e-3)

    def test_soft_labels_are_copies(self):
        """A row with shares of classes counts as one copy of it for each class, weighted by the share."""
        X, _ = self.rows(40)
        rng = np.random.default_rng(2)
        shares, w = rng.dirichlet(np.ones(3), 40), rng.uniform(0.5, 2.0, 40)
        options = {"l2": 0.02, "tol": 1e-8, "max_iter": 500}
        soft = CooperativeSoftmaxClassifier(**options).fit_shares(X, shares, w)
        copies = np.tile(X, (3, 1)), np.repeat([0, 1, 2], 40), (shares * w[:, None]).T.ravel()
        hard = CooperativeSoftmaxClassifier(**options).fit(*copies)
        assert soft.predict_proba(X) == pytest.approx(hard.predict_proba(X), abs=1e-4)

    def test_certain_soft_labels_are_labels(self):
        """Shares of 0 and 1 are labels, whatever the rows."""
        X, y = self.rows(60)
        codes = np.unique(y, return_inverse=True)[1]
        for rows in (X, sp.csr_matrix(X)):
            soft = CooperativeSoftmaxClassifier(tol=1e-8).fit_shares(rows, np.eye(3)[codes])
            hard = CooperativeSoftmaxClassifier(tol=1e-8).fit(rows, codes)
            assert soft.coef_ == pytest.approx(hard.coef_, abs=1e-4)

    def test_probabilities(self):
        """Probabilities sum to 1; classes of a group share that of the group, which competes with other groups."""
        X, y = self.rows()
        model = CooperativeSoftmaxClassifier(groups=[["ant", "cow"]]).fit(X, y)
        found, z = model.predict_proba(X), model.decision_function(X)
        assert found.sum(axis=1) == pytest.approx(np.ones(len(X)))
        best = np.maximum(z[:, 0], z[:, 2])
        assert found[:, 1] == pytest.approx(1 / (1 + np.exp(best - z[:, 1])))
        assert found[:, 0] / found[:, 2] == pytest.approx(np.exp(z[:, 0] - z[:, 2]))

    def test_groups_that_are_none(self):
        """Groups hold classes of y, each in one group at most, and are no text."""
        X, y = self.rows()
        for groups in ([["ant", "yak"]], [["ant"], ["ant", "bee"]], ["ant"]):
            with pytest.raises(SettingsError, match="groups must be lists of classes"):
                CooperativeSoftmaxClassifier(groups=groups).fit(X, y)

    @pytest.mark.parametrize("n_features", [0, 200])
    def test_one_seed_one_result(self, n_features):
        """The same seed gives the same bits, and random features bend the border where a line cannot."""
        X = np.random.default_rng(0).normal(size=(300, 2))
        y = (X**2).sum(axis=1) > 1.4
        fits = [CooperativeSoftmaxClassifier(n_features=n_features, random_state=3).fit(X, y) for _ in range(2)]
        assert np.array_equal(fits[0].coef_, fits[1].coef_)
        accuracy = fits[0].score(X, y)
        assert accuracy > 0.95 if n_features else accuracy < 0.8

    def test_a_fitted_model_is_saved(self, tmp_path):
        """A model with this final classifier is written and read without pickle."""
        rows, bags = self.rows(60)[0], np.repeat(np.arange(15), 4)
        sets = np.empty(15, dtype=object)
        sets[:] = [frozenset("ab"[: i % 3]) for i in range(15)]
        model = BlissClassifier(
            "multiclass-mil", "cooperative-softmax", n_rounds=3, n_folds=2, final_classifier="same", random_state=0
        ).fit(rows, sets, bags)
        save_model(model, tmp_path / "model.skops")
        assert np.array_equal(
            load_model(tmp_path / "model.skops").decision_function(rows), model.decision_function(rows)
        )


WEIGHT_CHECKS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
EXPECTED = dict.fromkeys(WEIGHT_CHECKS, "the descent ends within tol, and the check asks for 1e-7")


@parametrize_with_checks(
    [CooperativeSoftmaxClassifier(), CooperativeSoftmaxClassifier(n_features=100, random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_check_passes(estimator, check):
    """Every check of scikit-learn passes, but for those listed with a reason."""
    check(estimator)


@given(st.integers(0, 10**6), st.sampled_from(GROUPINGS))
@PROPERTY
def test_the_objective_is_convex(seed, class_of_label):
    """Between two points the objective lies below the chord: maxima inside the logarithm keep it convex."""
    objective, one = problem(class_of_label, p=1, seed=seed)
    other = np.random.default_rng(seed + 1).normal(size=one.shape)
    ends = objective(one)[0] + objective(other)[0]
    assert objective((one + other) / 2)[0] <= ends / 2 + 1e-9
