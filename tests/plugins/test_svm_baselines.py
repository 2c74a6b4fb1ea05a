"""MIL baselines of the SVM family against the same thing done by hand."""

import math
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import define
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC, LinearSVC

from bliss_framework import Bags, Scaling, SettingsError, load_model, save_model
from bliss_framework.kernel import rows as kernel_rows
from bliss_framework.plugin import Rows, in_own_order
from bliss_framework.testing import baseline_checks
from bliss_mil import hooks
from bliss_mil.baselines import bag_kernels, row_kernels
from bliss_mil.baselines.bag_kernels import MinMaxSvm, SetKernelSvm
from bliss_mil.baselines.imputation import InstanceLabels, Witnesses, alternate, solve
from bliss_mil.baselines.mi_graph import MiGraphSvm
from bliss_mil.baselines.mi_svm import MiSvm, MiSvmBag
from bliss_mil.baselines.miles import Miles, similarities, similarity_width

IMPUTING = [MiSvm(), MiSvmBag(), MiSvm(kernel="linear"), MiSvmBag(kernel="linear", n_starts=3, random_state=0)]
WHOLE = [SetKernelSvm(), MinMaxSvm(), Miles(random_state=0), MiGraphSvm()]
BASELINES = [*IMPUTING, *WHOLE]
each_baseline = pytest.mark.parametrize("baseline", BASELINES, ids=str)
each_imputing = pytest.mark.parametrize("baseline", IMPUTING, ids=str)


def by_bag(X, bags):
    return [X[bags == name] for name in dict.fromkeys(bags.tolist())]


def overlapping(toy, seed):
    """Bags that overlap, with their rows interleaved: labels and witnesses change a few times before they settle."""
    X, bags, weak = toy(seed=seed, n_pos=12, n_neg=12, size=5, gap=2.0)
    rows = np.random.default_rng(1).permutation(len(X))
    return X[rows], bags[rows], weak


@pytest.fixture
def hard(toy):
    """The bags of one seed."""
    return overlapping(toy, 3)


# mi-SVM


def mi_svm_by_loop(X, bags, weak, **settings):
    positive = np.array([weak[name] == 1 for name in bags])
    labels = positive.copy()
    while True:
        svc = SVC(**settings, tol=1e-6).fit(X, labels)
        scores = svc.decision_function(X)
        found = positive & (scores > 0)
        for name in weak:
            if weak[name] == 1 and not found[bags == name].any():
                found[np.flatnonzero(bags == name)[scores[bags == name].argmax()]] = True
        if (found == labels).all():
            return svc, labels
        labels = found


@pytest.mark.parametrize("settings", [{"C": 1.0}, {"C": 0.5, "gamma": 0.7}, {"C": 1.0, "kernel": "linear"}], ids=str)
def test_mi_svm_is_an_svm_and_labels_by_turns(hard, settings):
    """The labels and scores of a plain loop over scikit-learn's SVC on rows; "scale" is its own rule for gamma."""
    X, bags, weak = hard
    svc, labels = mi_svm_by_loop(X, bags, weak, **settings)
    model = MiSvm(scaling="none", **settings).fit(X, weak, bags=bags)
    assert model.n_iter_ > 2
    assert model.labels_.tolist() == labels.astype(int).tolist()
    assert np.allclose(model.decision_function(X + 0.1), svc.decision_function(X + 0.1), atol=0.01)


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
def test_every_positive_bag_keeps_a_positive(hard, C):
    """Even where the SVM calls all instances negative; negative bags have none."""
    X, bags, weak = hard
    labels = MiSvm(C=C).fit(X, weak, bags=bags).labels_
    assert all(labels[bags == name].max() == weak[name] for name in weak)


def test_labels_follow_the_sign_and_the_most_positive_instance():
    """Bag 0: by sign, and 0 is no positive; bag 1: the least negative one; bag 2 is negative whatever its scores."""
    problem = InstanceLabels(None, Bags.from_ids([0, 1, 0, 1, 2, 0]), np.array([1, 1, 0]))
    found = problem.improve(np.array([0.5, -2.0, 0.0, -1.0, 3.0, -0.1]))
    assert found.tolist() == [True, False, False, True, False, False]


def test_guessed_labels_are_the_callers_classes(hard):
    """In the caller's words."""
    X, bags, weak = hard
    named = {name: "sick" if value else "well" for name, value in weak.items()}
    labels = MiSvm(positive_label="sick").fit(X, named, bags=bags).labels_
    assert set(labels.tolist()) == {"sick", "well"}
    assert (labels == "sick").tolist() == (MiSvm().fit(X, weak, bags=bags).labels_ == 1).tolist()


# MI-SVM


def mi_svm_bag_by_loop(X, bags, weak, **settings):
    positives = [np.flatnonzero(bags == name) for name in weak if weak[name] == 1]
    negatives = X[[weak[name] == 0 for name in bags]]
    witnesses, rows = None, [X[members].mean(axis=0) for members in positives]
    while True:
        labels = [1] * len(rows) + [0] * len(negatives)
        svc = SVC(**settings, tol=1e-6).fit(np.vstack([rows, negatives]), labels)
        found = [members[svc.decision_function(X[members]).argmax()] for members in positives]
        if found == witnesses:
            return svc, witnesses
        witnesses, rows = found, X[found]


@pytest.mark.parametrize(
    # Where mean rows cannot be told from negative ones all scores are equal, and witnesses are drawn by rounding.
    ("settings", "seed"),
    [({"C": 1.0}, 3), ({"C": 5.0, "gamma": 0.7}, 3), ({"C": 1.0, "kernel": "linear"}, 6)],
    ids=str,
)
def test_mi_svm_bag_is_an_svm_and_witnesses_by_turns(toy, settings, seed):
    """The witnesses and scores of a plain loop over scikit-learn's SVC that starts with mean rows."""
    X, bags, weak = overlapping(toy, seed)
    gamma = {"gamma": 1 / (X.shape[1] * X.var()), **settings}
    svc, witnesses = mi_svm_bag_by_loop(X, bags, {name: weak[name] for name in dict.fromkeys(bags)}, **gamma)
    model = MiSvmBag(scaling="none", **settings).fit(X, weak, bags=bags)
    assert model.n_iter_ > 2
    assert model.witnesses_.tolist() == witnesses
    assert np.allclose(model.decision_function(X + 0.1), svc.decision_function(X + 0.1), atol=0.01)


def test_witnesses_start_as_mean_rows():
    """Points are the instances and one mean row for each positive bag, and the first guess is those."""
    X = np.array([[0.0, 1.0], [4.0, 5.0], [2.0, 3.0], [9.0, 9.0]])
    problem = Witnesses(X, Bags.from_ids(["p", "n", "p", "q"]), np.array([1, 0, 1]))
    chosen, positive = problem.training(problem.start())
    assert problem.points[chosen].tolist() == [[1.0, 2.0], [9.0, 9.0], [4.0, 5.0]]
    assert positive.tolist() == [True, True, False]
    assert problem.improve(np.array([1.0, 9.0, 2.0, -5.0, 0.0, 0.0])).tolist() == [2, 3]


# Both


@each_imputing
def test_objective_is_that_of_a_primal_svm(baseline, hard):
    """|w|^2 / 2 + C hinge, with w written out for a linear kernel on what was guessed."""
    X, bags, weak = hard
    model = clone(baseline).set_params(kernel="linear", scaling="none", C=0.7).fit(X, weak, bags=bags)
    w = model.dual_coef_ @ model.support_rows_
    signs = np.where([weak[name] for name in bags], 1.0, -1.0)
    if isinstance(model, MiSvm):
        chosen, signs = np.arange(len(X)), np.where(model.labels_, 1.0, -1.0)
    else:
        chosen = np.concatenate([model.witnesses_, np.flatnonzero(signs < 0)])
    hinge = np.maximum(0.0, 1.0 - signs[chosen] * (X[chosen] @ w + model.intercept_)).sum()
    assert model.objective_ == pytest.approx(w @ w / 2 + 0.7 * hinge)


@pytest.mark.parametrize("baseline", [MiSvm(C=1.0), MiSvmBag(C=1.0)], ids=str)
def test_more_starts_never_raise_the_objective(baseline, toy):
    """The start of the paper is the first of them; on this data a random one is better."""
    X, bags, weak = toy(seed=1, n_pos=12, n_neg=12, size=5, gap=2.0)
    objectives = [
        clone(baseline).set_params(n_starts=n, random_state=0).fit(X, weak, bags=bags).objective_ for n in (1, 2, 8)
    ]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[2] < objectives[0]


IDENTITY = partial(solve, K=np.eye(4), C=1.0, tol=1e-3)


@define
class Script:
    """A problem whose guesses were written beforehand; each is a number."""

    improved: list

    def training(self, guess):
        return np.arange(4), np.array([True, True, False, False])

    def improve(self, scores):
        return np.array([self.improved.pop(0)])


@pytest.mark.parametrize(
    ("improved", "n_iter", "last"), [([0], 1, 0), ([1, 1], 2, 1), ([1, 2, 3, 1, 9], 4, 3), ([1, 0], 2, 1)]
)
def test_guesses_end_when_one_comes_back(improved, n_iter, last):
    """A guess that repeats itself, or one from three rounds before; the SVM is that of the last new guess."""
    found = alternate(Script(improved), IDENTITY, np.array([0]), max_iter=50)
    assert (found.n_iter, found.guess.tolist()) == (n_iter, [last])


def test_guesses_that_do_not_settle_are_reported():
    """The warning names the limit; the SVM belongs to the guess that is kept."""
    with pytest.warns(ConvergenceWarning, match="max_iter = 3"):
        found = alternate(Script([1, 2, 3]), IDENTITY, np.array([0]), max_iter=3)
    assert (found.n_iter, found.guess.tolist()) == (3, [2])


def test_instances_are_scored_in_blocks(hard, monkeypatch):
    """Scores do not depend on how many kernel values fit in one block."""
    X, bags, weak = hard
    model = MiSvm().fit(X, weak, bags=bags)
    expected = model.decision_function(X)
    monkeypatch.setattr(kernel_rows, "BLOCK", 100)
    assert np.allclose(model.decision_function(X), expected)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_gamma_of_rows_that_are_all_alike_is_1(form):
    """Their variance is rounding only; other rows have 1 / (d var), sparse or not."""
    assert np.full((7, 3), 0.1).var() > 0
    assert row_kernels.rbf_gamma(form(np.full((7, 3), 0.1)), "scale") == 1.0
    X = np.random.default_rng(0).poisson(1.0, size=(30, 4)).astype(float)
    assert row_kernels.rbf_gamma(form(X), "scale") == pytest.approx(1 / (4 * np.mean((X - X.mean()) ** 2)))


# Set kernel


def set_kernel_by_loops(A, B, gamma, p):
    def total(S, T):
        return sum(math.exp(-gamma * sum((s - t) ** 2)) ** p for s in S for t in T)

    return [[total(S, T) / math.sqrt(total(S, S) * total(T, T)) for T in B] for S in A]


@pytest.mark.parametrize(("block", "p"), [(4_000_000, 1), (37, 1), (37, 3)])
def test_set_kernel_svm_is_an_svm_on_summed_kernels(hard, monkeypatch, block, p):
    """Bags of several sizes; two loops over instances inside two over bags, whatever the size of blocks."""
    monkeypatch.setattr(kernel_rows, "BLOCK", block)
    X, bags, weak = (part[:-23] if isinstance(part, np.ndarray) else part for part in hard)
    parts, y = by_bag(X, bags), [weak[name] for name in dict.fromkeys(bags.tolist())]
    svc = SVC(C=10.0, kernel="precomputed", tol=1e-6).fit(set_kernel_by_loops(parts, parts, 0.3, p), y)
    model = SetKernelSvm(C=10.0, gamma=0.3, power=p, scaling="none").fit(X, y, bags=bags)
    new = [part + 0.2 for part in parts[:7]]
    expected = svc.decision_function(set_kernel_by_loops(new, parts, 0.3, p))
    assert np.allclose(model.score_bags(new)[1], expected, atol=0.02)
    alone = svc.decision_function(set_kernel_by_loops([[x] for x in X[:5]], parts, 0.3, p))
    assert np.allclose(model.decision_function(X[:5]), alone, atol=0.02)


def test_norms_of_bags_are_those_of_the_kernel():
    """The root of the summed kernel of a bag with itself, also for bags of one."""
    rows, index = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    found = bag_kernels.self_norms(rows, index, 0.5)
    assert np.allclose(found, [math.sqrt(2 + 2 * math.exp(-0.5)), 1.0])


# Minima and maxima


def test_min_max_svm_is_an_svm_on_minima_and_maxima(hard):
    """The columns of both side by side for each bag, and SVC's own gamma on them."""
    X, bags, weak = hard
    parts, y = by_bag(X, bags), [weak[name] for name in dict.fromkeys(bags.tolist())]
    svc = SVC(C=3.0, tol=1e-6).fit([np.r_[part.min(axis=0), part.max(axis=0)] for part in parts], y)
    model = MinMaxSvm(C=3.0, scaling="none").fit(X, y, bags=bags)
    expected = svc.decision_function([np.r_[part.min(axis=0), part.max(axis=0)] + 0.1 for part in parts])
    assert np.allclose(model.score_bags(X + 0.1, bags)[1], expected, atol=0.01)
    assert np.allclose(model.decision_function(X), svc.decision_function(np.hstack([X, X])), atol=0.01)


@pytest.mark.parametrize("density", [0.0, 0.1, 0.5, 1.0])
def test_zeros_that_are_not_stored_are_values(density):
    """Minima and maxima of sparse rows are those of the dense ones, with signs mixed, and stay sparse."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < density)
    bags = Bags.from_ids(rng.integers(0, 12, size=40))
    found = Rows(sp.csr_matrix(X)).bag_extremes(bags).array
    expected = [np.r_[X[bags.index == j].min(axis=0), X[bags.index == j].max(axis=0)] for j in range(bags.n_bags)]
    assert sp.issparse(found)
    assert np.array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)


# MILES


def similarities_by_loop(parts, instances, sigma):
    return np.array(
        [[max(math.exp(-(((x - c) / sigma) ** 2).sum()) for x in part) for c in instances] for part in parts]
    )


@pytest.mark.parametrize("block", [4_000_000, 300])
def test_miles_embeds_bags_by_their_nearest_instances(hard, monkeypatch, block):
    """The largest similarity to each instance, whatever the size of blocks."""
    monkeypatch.setattr(kernel_rows, "BLOCK", block)
    X, bags, _ = hard
    order = np.argsort(Bags.from_ids(bags).index, kind="stable")
    found = similarities(X[order], Bags.from_ids(bags).index[order], X[:9], 1.5)
    assert np.allclose(found, similarities_by_loop(by_bag(X, bags), X[:9], 1.5))


def test_miles_weighs_similarities_by_an_l1_svm(hard):
    """Scores are those of the picked instances, and the objective is that of liblinear on the looped embedding."""
    X, bags, weak = hard
    parts, y = by_bag(X, bags), np.array([weak[name] for name in dict.fromkeys(bags.tolist())])
    model = Miles(C=2.0, scaling="none", random_state=0).fit(X, y, bags=bags)
    embedded = similarities_by_loop(parts, X, model.sigma_)
    svc = LinearSVC(penalty="l1", C=2.0, dual=False, tol=1e-3, max_iter=100_000, random_state=1).fit(embedded, y)

    def objective(weights, intercept, scores):
        loss = np.maximum(0.0, 1.0 - np.where(y == 1, 1.0, -1.0) * scores) ** 2
        return np.abs(weights).sum() + abs(intercept) + 2.0 * loss.sum()

    scores = similarities_by_loop(parts, model.instances_, model.sigma_) @ model.weights_ + model.intercept_
    assert 0 < len(model.weights_) < len(X) / 2
    assert np.allclose(model.score_bags(X, bags)[1], scores)
    expected = objective(svc.coef_[0], svc.intercept_[0], svc.decision_function(embedded))
    assert objective(model.weights_, model.intercept_, scores) == pytest.approx(expected, rel=0.01)
    alone = similarities_by_loop([[x] for x in X[:4]], model.instances_, model.sigma_)
    assert np.allclose(model.decision_function(X[:4]), alone @ model.weights_ + model.intercept_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_default_width_is_the_root_mean_squared_distance(form):
    """Over all pairs of rows, a row with itself included; a number stays itself."""
    X = np.random.default_rng(0).poisson(1.0, size=(30, 4)).astype(float)
    assert similarity_width(form(X), "scale") == pytest.approx(math.sqrt((cdist(X, X) ** 2).mean()))
    assert similarity_width(form(X), "scale") ** 2 == pytest.approx((pdist(X) ** 2).mean() * 29 / 30)
    assert similarity_width(form(X), 3) == 3.0


def test_miles_without_a_picked_instance_has_one_score(toy):
    """With little C all weights are 0."""
    X, bags, weak = toy()
    model = Miles(C=1e-6, random_state=0).fit(X, weak, bags=bags)
    assert len(model.weights_) == 0
    assert model.score_bags(X, bags)[1].tolist() == [model.intercept_] * len(weak)


# Order of rows


def test_rows_have_an_order_of_their_own(hard):
    """Whatever the caller's order, the same rows, bags and labels come out, and the way back."""
    X, bags, weak = hard
    y = np.array([weak[name] for name in dict.fromkeys(bags.tolist())])
    rows, grouped, labels, order = in_own_order(X, Bags.from_ids(bags), y)
    shuffled = np.random.default_rng(5).permutation(len(X))
    again = np.array([weak[name] for name in dict.fromkeys(bags[shuffled].tolist())])
    other = in_own_order(sp.csr_matrix(X[shuffled]), Bags.from_ids(bags[shuffled]), again)
    assert np.array_equal(rows, other[0].toarray())
    assert grouped.ids[grouped.index].tolist() == other[1].ids[other[1].index].tolist() == bags[order].tolist()
    assert labels.tolist() == other[2].tolist() == [weak[name] for name in grouped.ids]
    assert np.array_equal(X[order], rows)
    assert (np.diff(grouped.index) >= 0).all()


# All of them


@each_baseline
def test_conformance(baseline):
    """Each passes the kit that plugin authors run."""
    for check in baseline_checks(baseline):
        check()


@each_baseline
def test_parameters_are_stored_and_cloned(baseline):
    """Constructors only store; a fitted model has no parameter changed."""
    assert clone(baseline).get_params() == baseline.get_params()
    assert type(baseline)(**baseline.get_params()).get_params() == baseline.get_params()


@each_baseline
def test_fit_does_not_depend_on_the_order_of_rows(baseline, hard):
    """Shuffled training rows give the same model, and what was guessed follows its row."""
    X, bags, weak = hard
    rows = np.random.default_rng(0).permutation(len(X))
    one = clone(baseline).fit(X, weak, bags=bags)
    other = clone(baseline).fit(X[rows], weak, bags=bags[rows])
    assert np.allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)
    if isinstance(one, MiSvm):
        assert one.labels_[rows].tolist() == other.labels_.tolist()
    if isinstance(one, MiSvmBag):
        assert sorted(one.witnesses_) == sorted(rows[other.witnesses_])


@each_baseline
def test_sparse_rows_give_the_scores_of_dense_rows(baseline, hard):
    """Unscaled sparse rows are the same data; what is kept of them stays sparse."""
    X, bags, weak = hard
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = clone(baseline).set_params(scaling="none")
    dense = clone(model).fit(X, weak, bags=bags)
    model.fit(sp.csr_matrix(X), weak, bags=bags)
    assert np.allclose(model.score_bags(sp.coo_array(X), bags)[1], dense.score_bags(X, bags)[1], atol=1e-4)
    assert np.allclose(model.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-4)
    assert all(sp.issparse(getattr(model, name, sp.csr_matrix(X))) for name in ("support_rows_", "instances_"))


@each_baseline
def test_rows_are_scaled(baseline, hard):
    """Scaling inside a baseline is the scaling of its rows beforehand."""
    X, bags, weak = hard
    X = X * [1.0, 1000.0] + [50.0, 0.0]
    scaling = Scaling("standard").fit(X)
    model = clone(baseline).set_params(scaling="standard").fit(X, weak, bags=bags)
    same = clone(baseline).set_params(scaling="none").fit(scaling.transform(X), weak, bags=bags)
    assert np.allclose(model.score_bags(X, bags)[1], same.score_bags(scaling.transform(X), bags)[1])


@each_baseline
def test_easy_bags_are_learnt(baseline, toy):
    """Bags with an instance far away are told from the others, in new data too."""
    X, bags, weak = toy(n_pos=20, n_neg=20, gap=6.0)
    new, new_bags, expected = toy(seed=1, n_pos=20, n_neg=20, gap=6.0)
    found = clone(baseline).fit(X, weak, bags=bags).predict_bags(new, new_bags)
    assert np.mean(found[1] == [expected[name] for name in found[0]]) >= 0.9


@each_baseline
def test_bags_of_one_are_ordinary_rows(baseline, toy):
    """Where every bag holds one instance, its score is that of its instance."""
    X, _, _ = toy(gap=0.0)
    weak = (X[:, 0] > 0).astype(int)
    model = clone(baseline).fit(X, weak)
    assert np.allclose(model.score_bags(X)[1], model.decision_function(X))
    assert np.mean(model.predict(X) == weak) > 0.8


@each_baseline
@pytest.mark.parametrize("odd", [0, 1])
def test_one_bag_of_a_class_is_enough(baseline, toy, odd):
    """All bags positive but one, or negative but one."""
    X, bags, weak = toy()
    weak = dict.fromkeys(weak, 1 - odd) | {"b3": odd}
    scores = clone(baseline).fit(X, weak, bags=bags).score_bags(X, bags)[1]
    assert np.isfinite(scores).all()


@each_baseline
def test_duplicates_and_constant_columns_are_harmless(baseline, toy):
    """Rows that come twice, a bag that comes with both labels, and columns in which nothing varies."""
    X, bags, weak = toy()
    X = np.column_stack([X, np.full(len(X), 0.1), np.zeros(len(X))])
    twin = X[bags == "b0"]
    X, bags = np.vstack([X, X, twin]), np.r_[bags, bags, ["twin"] * len(twin)]
    model = clone(baseline).fit(X, {**weak, "twin": 0}, bags=bags)
    scores = dict(zip(*model.score_bags(X, bags), strict=True))
    assert np.isfinite(list(scores.values())).all()
    assert scores["twin"] == pytest.approx(scores["b0"])


@each_baseline
@pytest.mark.parametrize("scaling", ["none", "auto"])
def test_rows_that_are_all_alike_have_one_score(baseline, scaling):
    """Nothing can be learnt, and nothing is divided by 0."""
    X, bags = np.full((8, 3), 0.1), np.repeat(range(4), 2)
    scores = clone(baseline).set_params(scaling=scaling).fit(X, [1, 0, 1, 0], bags=bags).score_bags(X, bags)[1]
    assert np.isfinite(scores).all()
    assert np.allclose(scores, scores[0])


@each_baseline
def test_list_of_bags_has_a_score_for_each_instance(baseline, hard):
    """Instances in a list of bags are scored one by one, in order."""
    X, bags, weak = hard
    parts = by_bag(X, bags)
    model = clone(baseline).fit(X, weak, bags=bags)
    assert np.allclose(model.decision_function(parts), model.decision_function(np.vstack(parts)))


@each_baseline
def test_unfitted_baseline_says_so(baseline, toy):
    """scikit-learn's own error."""
    with pytest.raises(NotFittedError):
        clone(baseline).score_bags(toy()[0])


@each_baseline
def test_fitted_baseline_survives_a_file(baseline, hard, tmp_path):
    """What was saved scores as before, without trusting any further type."""
    X, bags, weak = hard
    model = clone(baseline).fit(X, weak, bags=bags)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert np.array_equal(loaded.score_bags(X, bags)[1], model.score_bags(X, bags)[1])


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        (MiSvm(C=0), "C must be a finite number above 0; got 0"),
        (MiSvmBag(kernel="poly"), "kernel must be one of 'rbf', 'linear'; got 'poly'"),
        (MiSvm(gamma="auto"), "gamma must be .*'scale' or a finite number above 0.*'auto'"),
        (MiSvm(gamma=-1.0), "gamma must be"),
        (MiSvm(n_starts=0), "n_starts must be an integer, at least 1; got 0"),
        (MiSvmBag(max_iter=2.5), "max_iter must be an integer, at least 1; got 2.5"),
        (SetKernelSvm(C=float("nan")), "C must be"),
        (SetKernelSvm(gamma=None), "gamma must be"),
        (SetKernelSvm(power=0.5), "power must be an integer"),
        (MinMaxSvm(C="1"), "C must be"),
        (MinMaxSvm(gamma=0), "gamma must be"),
        (Miles(sigma="auto"), "sigma must be"),
        (Miles(max_iter=0), "max_iter must be"),
        (Miles(scaling="z"), "scaling must be one of"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(baseline, words, toy):
    """By name, value and what is allowed, before anything is learnt."""
    X, bags, weak = toy()
    with pytest.raises(SettingsError, match=words):
        baseline.fit(X, weak, bags=bags)


def test_plugin_offers_them():
    """Under the names of the literature."""
    registered = {component.name: component.factory for component in hooks.bliss_baselines()}
    assert registered["mi-svm"] is MiSvm
    assert registered["mi-svm-bag"] is MiSvmBag
    assert registered["set-kernel-svm"] is SetKernelSvm
    assert registered["min-max-svm"] is MinMaxSvm
    assert registered["miles"] is Miles
