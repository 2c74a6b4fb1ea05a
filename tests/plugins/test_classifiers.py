"""The classifiers of label inference against brute force and against scikit-learn."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    Ridge as RidgeRegression,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics.pairwise import rbf_kernel as sk_rbf
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bliss_classifiers.estimators import GramSvc, KernelLeastSquares
from bliss_classifiers.kernels import linear_kernel, precision, rbf_gamma, rbf_kernel
from bliss_classifiers.least_squares import LeastSquares
from bliss_classifiers.ridge import KernelRidge, Ridge
from bliss_classifiers.sklearn_adapter import Logistic, SklearnClassifier
from bliss_classifiers.smoother import MIRRORED, inverse_of
from bliss_classifiers.svm import LinearSvm, RbfSvm
from bliss_framework import (
    Bags,
    BlissWarning,
    DataError,
    LabelSpace,
    Part,
    PluginError,
    SettingsError,
    UnknownNameError,
    WeakLabels,
    fit_labels,
    label_scores,
)
from bliss_framework.plugin import Landmarks, Rows

PROPERTY = settings(max_examples=60, deadline=None)

BUILT_IN = [
    KernelRidge(),
    KernelRidge(ridge=0.3, width=2.0),
    KernelRidge(n_landmarks=12),
    Ridge(),
    RbfSvm(),
    RbfSvm(n_landmarks=12),
    LinearSvm(C=0.5),
    LinearSvm(solver="liblinear"),
    Logistic(),
]
SMOOTHERS = [KernelRidge(ridge=0.7, width=0.5), Ridge(ridge=2.0)]
SKLEARN = [
    SVC(),
    LinearSVC(),
    LogisticRegression(),
    SGDClassifier(),
    Perceptron(),
    RidgeClassifier(),
    GaussianProcessClassifier(),
    GradientBoostingClassifier(n_estimators=2),
    RandomForestClassifier(5),
    DecisionTreeClassifier(max_depth=2),
    KNeighborsClassifier(3),
    GaussianNB(),
    NearestCentroid(),
    QuadraticDiscriminantAnalysis(reg_param=0.5),
    MLPClassifier((3,), max_iter=5),
    OneVsOneClassifier(LinearSVC()),
    make_pipeline(StandardScaler(), SVC()),
]


def part(n, n_labels=2, seed=0, weights=None, d=3):
    """Make n rows of normal numbers, two in a bag, every label a candidate."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    bags = Bags.from_ids(np.arange(n) // 2)
    space = LabelSpace(np.ones((n, n_labels), dtype=bool), np.arange(n_labels))
    return Part(X, bags, WeakLabels(np.zeros(bags.n_bags), tuple(range(n_labels))), space, weights)


def to_sparse(one):
    return Part(sp.csr_matrix(one.X), one.bags, one.weak, one.space, one.weights)


def draws(n, n_pulls, n_labels=2, seed=1):
    """Draw assignments in which every label is there."""
    assignments = np.random.default_rng(seed).integers(0, n_labels, size=(n_pulls, n))
    assignments[:, :n_labels] = np.arange(n_labels)
    return assignments


def pulled(classifier, train, heldout, assignments, weights=None, seed=5):
    return classifier.prepare(train, heldout, np.random.default_rng(seed)).pull(assignments, weights)


def brute_kernel(A, B, gamma):
    """The kernel one pair of rows at a time; linear where gamma is None."""
    if gamma is None:
        return np.array([[float(np.dot(a, b)) for b in B] for a in A])
    return np.array([[np.exp(-gamma * sum((x - y) ** 2 for x, y in zip(a, b, strict=True))) for b in B] for a in A])


def brute_ridge(train, heldout, targets, ridge, gamma, weights):
    """Minimise sum_i w_i (f(x_i) - t_i)^2 + ridge a' K a by its normal equations K W K a + ridge K a = K W t."""
    K = brute_kernel(train, train, gamma) + 1.0
    W = np.diag(weights)
    coefficients = np.linalg.lstsq(K @ W @ K + ridge * K, K @ W @ targets, rcond=None)[0]
    return (brute_kernel(heldout, train, gamma) + 1.0) @ coefficients


def total_variance(X):
    return sum(np.var(column) for column in X.T)


# Kernels


def test_rbf_gamma_scale_is_one_over_d_on_standardised_rows():
    """On columns of deviation 1 the "scale" width is scikit-learn's gamma="scale"."""
    X = StandardScaler().fit_transform(part(40, d=7).X)
    assert np.isclose(rbf_gamma(X, "scale"), 1 / 7)
    assert np.isclose(rbf_gamma(X, 2.5), 2.5 / 7)


@PROPERTY
@given(st.floats(1e-9, 1e9), st.floats(-1e3, 1e3))
def test_rbf_gamma_is_half_the_mean_squared_distance(scale, shift):
    """Gamma is 1 over half the mean squared distance of all pairs of rows, at any scale and place of the data."""
    X = scale * (part(8).X + shift)
    pairs = np.mean([((a - b) ** 2).sum() for a in X for b in X])
    assert np.isclose(rbf_gamma(X, "scale"), 1 / (pairs / 2), rtol=1e-6)


def test_rbf_gamma_of_equal_rows_is_finite():
    """Rows that are all alike have no distances; gamma is then the width itself."""
    assert rbf_gamma(np.full((5, 2), 0.1), "scale") == 1.0
    assert rbf_gamma(sp.csr_matrix((5, 2)), 3.0) == 3.0


def test_kernels_agree_with_their_formulas_dense_and_sparse():
    """Both kernels equal their formula pair by pair, and sparse rows give a dense matrix of the same numbers."""
    A, B = part(6).X, part(4, seed=9).X
    for kernel, gamma in ((linear_kernel, ()), (rbf_kernel, (0.4,))):
        expected = brute_kernel(A, B, *(gamma or (None,)))
        for form in (np.asarray, sp.csr_matrix):
            found = kernel(form(A), form(B), *gamma)
            assert isinstance(found, np.ndarray)
            assert np.allclose(found, expected, atol=1e-5)


# Ridge and kernel ridge


@pytest.mark.parametrize("weighted", ["none", "part", "pull"])
@pytest.mark.parametrize("classifier", SMOOTHERS, ids=repr)
def test_ridge_pull_solves_the_weighted_normal_equations(classifier, weighted):
    """A pull minimises the weighted squared error with a ridge penalty, with weights of the part or of the pull."""
    own = np.random.default_rng(2).uniform(0.2, 3.0, size=20)
    weights = np.ones(20) if weighted == "none" else own
    train, heldout = part(20, weights=own if weighted == "part" else None), part(14, seed=3)
    assignments = draws(20, 3)
    found = pulled(classifier, train, heldout, assignments, np.tile(own, (3, 1)) if weighted == "pull" else None)
    gamma = 0.5 / total_variance(train.X) if isinstance(classifier, KernelRidge) else None
    for p, assignment in enumerate(assignments):
        targets = np.where(assignment == 1, 1.0, -1.0)
        for rows, scores in ((train.X, found.train_scores), (heldout.X, found.heldout_scores)):
            expected = brute_ridge(train.X, rows, targets, classifier.ridge, gamma, weights)
            assert np.allclose(scores[p, :, 0], expected, atol=1e-5)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("classifier", [*SMOOTHERS, RbfSvm(C=2.0), LinearSvm(), Logistic(C=3.0)], ids=repr)
def test_pull_equals_the_final_estimator(classifier, n_labels):
    """A pull on an assignment scores rows as the estimator of the same name does when it is fitted on it."""
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=20)
    train, heldout = part(20, n_labels, weights=weights), part(14, n_labels, seed=3)
    (assignment,) = draws(20, 1, n_labels)
    found = pulled(classifier, train, heldout, assignment[None])
    fitted = classifier.estimator(0).fit(train.X, assignment, sample_weight=weights)
    expected = fitted.decision_function(heldout.X).reshape(14, -1)
    assert np.allclose(found.heldout_scores[0], expected, atol=1e-5)
    assert (found.heldout_labels[0] == fitted.predict(heldout.X)).all()


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("classifier", SMOOTHERS, ids=repr)
def test_smoother_times_targets_are_held_out_outputs(classifier, n_labels):
    """`smoother` is the matrix that turns targets of -1 and 1 into held-out outputs."""
    train, heldout = part(20, n_labels), part(14, n_labels, seed=3)
    prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
    (assignment,) = draws(20, 1, n_labels)
    labels = [1] if n_labels == 2 else range(n_labels)
    targets = np.stack([np.where(assignment == label, 1.0, -1.0) for label in labels], axis=1)
    assert prepared.smoother.shape == (14, 20)
    assert np.allclose(prepared.smoother @ targets, prepared.pull(assignment[None], None).heldout_scores[0], atol=1e-5)


@pytest.mark.parametrize("weights", ["none", "part", "pull"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_landmarks_solve_the_normal_equations_of_their_features(n_labels, weights):
    """A pull with landmarks is ridge regression on their features, which scikit-learn solves, with any weights."""
    own = np.random.default_rng(2).uniform(0.2, 3.0, size=40)
    train, heldout = part(40, n_labels, weights=own if weights == "part" else None), part(14, n_labels, seed=3)
    assignments = draws(40, 2, n_labels)
    classifier = KernelRidge(ridge=0.7, width=0.5, n_landmarks=15)
    found = pulled(classifier, train, heldout, assignments, np.tile(own, (2, 1)) if weights == "pull" else None)
    gamma = 0.5 / total_variance(train.X)
    landmarks = Landmarks.drawn(train.rows, 15, gamma, np.random.default_rng(5), train.weights)
    # The constant is a feature like others, whose coefficient is penalised, too.
    features, others = (np.c_[landmarks.of(one.X), np.ones(one.n_rows)] for one in (train, heldout))
    labels = [1] if n_labels == 2 else range(n_labels)
    for p, assignment in enumerate(assignments):
        targets = np.stack([np.where(assignment == label, 1.0, -1.0) for label in labels], axis=1)
        model = RidgeRegression(alpha=0.7, fit_intercept=False, solver="cholesky")
        model.fit(features, targets, None if weights == "none" else own)
        assert np.allclose(found.heldout_scores[p], model.predict(others).reshape(14, -1), atol=1e-4)


def test_as_many_landmarks_as_rows_are_the_kernel_itself():
    """Where there are no more rows than landmarks nothing is approximated, and nothing drawn."""
    train, heldout = part(20), part(14, seed=3)
    exact = pulled(KernelRidge(), train, heldout, draws(20, 2))
    assert np.array_equal(
        pulled(KernelRidge(n_landmarks=20), train, heldout, draws(20, 2)).heldout_scores, exact.heldout_scores
    )


def test_enough_landmarks_are_near_the_kernel():
    """With a smooth kernel, landmarks of a third of the rows change outputs by a hundredth, and no label."""
    train, heldout = part(120), part(60, seed=3)
    assignments = np.array([(train.X[:, 0] > 0).astype(np.intp)])
    exact = pulled(KernelRidge(width=0.3), train, heldout, assignments).heldout_scores
    near = pulled(KernelRidge(width=0.3, n_landmarks=40), train, heldout, assignments).heldout_scores
    assert np.abs(near - exact).max() < 0.01


@pytest.mark.parametrize("classifier", [Ridge(ridge=2.0), KernelRidge(n_landmarks=12)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_operators_are_the_transposed_of_themselves(classifier, weighted):
    """The effects of slopes are the transposed of what targets do, as a matrix of all unit targets shows."""
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=40) if weighted else None
    prepared = classifier.prepare(part(40, weights=weights), part(14, seed=3), np.random.default_rng(0))
    operator, slopes = prepared.smoother, np.random.default_rng(1).normal(size=(14, 2))
    matrix = operator @ np.eye(40)
    assert np.allclose(operator.rmatmat(slopes), matrix.T @ slopes, atol=1e-5)
    assert np.allclose(operator.rmatvec(slopes[:, 0]), matrix.T @ slopes[:, 0], atol=1e-5)


@pytest.mark.parametrize("shape", [(40, 3), (20, 30)], ids=["by sums", "by inner products"])
@pytest.mark.parametrize("sparse", [False, True])
def test_linear_least_squares_keep_a_number_for_each_column(shape, sparse):
    """However it is solved, the estimator of `ridge` is affine, with the coefficients of ridge regression."""
    X = np.random.default_rng(0).normal(size=shape)
    y = (X[:, 0] > 0).astype(int)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, shape[0]).round(0)
    model = Ridge(ridge=0.5).estimator(0).fit(sp.csr_matrix(X) if sparse else X, y, weights)
    with_one = np.c_[X, np.ones(shape[0])]
    expected = RidgeRegression(alpha=0.5, fit_intercept=False).fit(with_one, 2.0 * y - 1, weights).coef_
    assert np.allclose(np.append(model.coef_[:, 0], model.intercept_), expected, atol=1e-6)
    assert np.allclose(model.decision_function(X), with_one @ expected)


@pytest.mark.parametrize("estimator", [LeastSquares(ridge=0.5), LeastSquares(n_landmarks=30)], ids=repr)
def test_sums_of_parts_fit_what_all_rows_do(estimator):
    """Sums that are made of three parts of the rows and added up fit the model of the rows themselves."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], 90)
    weights = np.random.default_rng(2).uniform(0.5, 2, 90)
    begun = estimator.begun(Rows(X), weights)
    parts = [np.arange(first, 90, 3) for first in range(3)]
    sums = sum(begun.sums(Rows(X[rows]), shares[rows], weights[rows]) for rows in parts)
    expected = clone(estimator).fit_shares(X, shares, weights).decision_function(X)
    assert np.allclose(begun.solved(sums, 3).decision_function(X), expected, atol=1e-4)


def test_sums_are_not_made_where_they_would_not_fit():
    """Rows with more columns than rows, and sparse rows of very many columns, are fitted as a whole."""
    assert LeastSquares().begun(Rows(np.ones((20, 30))), None) is None
    assert LeastSquares().begun(Rows(sp.csr_matrix((9000, 50_000))), None) is None


def test_liblinear_and_libsvm_agree_on_what_is_easy():
    """On two far clouds both solvers of `svm-linear`, and `svm-rbf` with and without landmarks, label rows alike."""
    X = np.random.default_rng(0).normal(size=(80, 3)) + 6.0 * (np.arange(80) % 2)[:, None]
    for classifier in (LinearSvm(), LinearSvm(solver="liblinear"), RbfSvm(), RbfSvm(n_landmarks=20)):
        assert (classifier.estimator(0).fit(X, np.arange(80) % 2).predict(X) == np.arange(80) % 2).all()


def test_ridge_is_linear_in_the_features():
    """The held-out outputs of `ridge` are an affine function of the rows."""
    train, heldout = part(20), part(14, seed=3)
    outputs = pulled(Ridge(), train, heldout, draws(20, 1)).heldout_scores[0, :, 0]
    design = np.c_[heldout.X, np.ones(14)]
    assert np.allclose(design @ np.linalg.lstsq(design, outputs, rcond=None)[0], outputs, atol=1e-5)


# All classifiers


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classifier", BUILT_IN, ids=repr)
def test_batch_equals_one_pull_at_a_time(classifier, weighted, n_labels):
    """Pulling five assignments at once gives what pulling each of them alone gives."""
    train, heldout, assignments = part(20, n_labels), part(14, n_labels, seed=3), draws(20, 5, n_labels)
    weights = np.random.default_rng(4).uniform(0.5, 2.0, size=(5, 20)) if weighted else None
    prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
    batch = prepared.pull(assignments, weights)
    for p in range(5):
        alone = prepared.pull(assignments[p : p + 1], None if weights is None else weights[p : p + 1])
        assert np.allclose(batch.train_scores[p], alone.train_scores[0], atol=1e-5)
        assert np.allclose(batch.heldout_scores[p], alone.heldout_scores[0], atol=1e-5)
        assert (batch.heldout_labels[p] == alone.heldout_labels[0]).all()


@pytest.mark.parametrize("classifier", BUILT_IN, ids=repr)
def test_sparse_rows_give_the_scores_of_dense_rows(classifier):
    """CSR rows and the same rows dense give the same scores."""
    train, heldout, assignments = part(20), part(14, seed=3), draws(20, 2)
    dense = pulled(classifier, train, heldout, assignments)
    sparse = pulled(classifier, to_sparse(train), to_sparse(heldout), assignments)
    assert np.allclose(dense.heldout_scores, sparse.heldout_scores, atol=1e-4)


@pytest.mark.parametrize(("n_labels", "width"), [(2, 1), (3, 3), (4, 4)])
@pytest.mark.parametrize("classifier", [*BUILT_IN, *(SklearnClassifier(one) for one in SKLEARN)], ids=repr)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_predictions_follow_the_scores(classifier, n_labels, width):
    """Two labels have one decision value, positive for label 1; more labels have a column each, the largest wins."""
    train, heldout = part(48, n_labels), part(14, n_labels, seed=3)
    found = pulled(classifier, train, heldout, draws(48, 2, n_labels))
    for labels, scores, n in (
        (found.train_labels, found.train_scores, 48),
        (found.heldout_labels, found.heldout_scores, 14),
    ):
        assert scores.shape == (2, n, width)
        assert np.isfinite(scores).all()
        assert (labels == ((scores[:, :, 0] > 0) if width == 1 else scores.argmax(axis=2))).all()


@pytest.mark.parametrize("classifier", [*BUILT_IN, *(SklearnClassifier(one) for one in SKLEARN)], ids=repr)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_label_that_an_assignment_misses_is_not_predicted(classifier):
    """With three labels, an assignment of two of them never predicts the third, which scores below both."""
    train, heldout = part(24, 3), part(14, 3, seed=3)
    for missing in range(3):
        used = [label for label in range(3) if label != missing]
        assignment = np.array(used)[draws(24, 1)[0]]
        found = pulled(classifier, train, heldout, assignment[None])
        for labels, scores in (
            (found.train_labels, found.train_scores),
            (found.heldout_labels, found.heldout_scores),
        ):
            assert not (labels == missing).any()
            assert (scores[0, :, missing] < scores[0][:, used].max(axis=1)).all()


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("classifier", [*BUILT_IN, *(SklearnClassifier(one) for one in SKLEARN)], ids=repr)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_assignment_of_one_label_predicts_it_everywhere(classifier, n_labels):
    """An assignment with one label only never reaches a classifier that would refuse it; its neighbours are pulled."""
    train, heldout = part(20, n_labels), part(14, n_labels, seed=3)
    normal = draws(20, 1, n_labels)[0]
    for label in range(n_labels):
        found = pulled(classifier, train, heldout, np.stack([np.full(20, label), normal]))
        assert (found.train_labels[0] == label).all()
        assert (found.heldout_labels[0] == label).all()
        assert np.allclose(
            found.train_scores[1], pulled(classifier, train, heldout, normal[None]).train_scores[0], atol=1e-5
        )


@pytest.mark.parametrize("classifier", [one for one in BUILT_IN if not getattr(one, "n_landmarks", 0)], ids=repr)
def test_weights_of_the_pull_replace_those_of_the_part(classifier):
    """Weights of one everywhere undo the weights of the training part, which count where a pull has none."""
    weights = np.random.default_rng(4).uniform(0.1, 9.0, size=20)
    heldout, assignments = part(14, seed=3), draws(20, 1)
    plain = pulled(classifier, part(20), heldout, assignments).heldout_scores
    undone = pulled(classifier, part(20, weights=weights), heldout, assignments, np.ones((1, 20))).heldout_scores
    counted = pulled(classifier, part(20, weights=weights), heldout, assignments).heldout_scores
    assert np.allclose(undone, plain, atol=1e-5)
    assert not np.allclose(counted, plain)


WARM = SGDClassifier(warm_start=True, max_iter=3, tol=None)


@pytest.mark.parametrize(
    "classifier", [*BUILT_IN, *(SklearnClassifier(one) for one in (RandomForestClassifier(3), WARM))], ids=repr
)
def test_pulls_do_not_depend_on_earlier_pulls(classifier):
    """The same assignment, pulled again after others, gives the same bits: no state is kept."""
    train, heldout, assignments = part(20), part(14, seed=3), draws(20, 4)
    prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
    first = prepared.pull(assignments[:1], None).heldout_scores.copy()
    prepared.pull(assignments[1:], None)
    assert (prepared.pull(assignments[:1], None).heldout_scores == first).all()


# SVM


@pytest.mark.parametrize("n_labels", [2, 3])
def test_svm_pulls_equal_scikit_learns_svc(n_labels):
    """The precomputed Gram matrix gives the decision values of SVC on the rows, weights included."""
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=24)
    train, heldout = part(24, n_labels, weights=weights), part(14, n_labels, seed=3)
    (assignment,) = draws(24, 1, n_labels)
    gamma = 1.5 / total_variance(train.X)
    for ours, theirs in (
        (RbfSvm(C=2.0, width=1.5), SVC(C=2.0, gamma=gamma)),
        (LinearSvm(C=2.0), SVC(C=2.0, kernel="linear")),
    ):
        expected = theirs.fit(train.X, assignment, sample_weight=weights).decision_function(heldout.X)
        found = pulled(ours, train, heldout, assignment[None]).heldout_scores[0]
        # libsvm stops at a tolerance of 1e-3, and not at the same point for both.
        assert np.allclose(found, expected.reshape(14, -1), atol=2e-3)


@pytest.mark.parametrize(
    "estimator", [GramSvc(kernel="rbf"), GramSvc(kernel="linear"), KernelLeastSquares()], ids=["rbf", "linear", "ridge"]
)
def test_final_estimators_take_sparse_rows(estimator):
    """Dense and sparse rows give the same decision values, and the fitted rows stay sparse."""
    X, y, new = part(30).X, draws(30, 1)[0], part(14, seed=3).X
    dense = clone(estimator).fit(X, y)
    sparse = clone(estimator).fit(sp.csr_matrix(X), y)
    assert sp.issparse(sparse.X_fit_)
    assert np.allclose(dense.decision_function(new), sparse.decision_function(sp.csr_matrix(new)), atol=1e-4)


def test_kernel_least_squares_leaves_out_rows_of_weight_zero():
    """A row of weight 0 has no coefficient, and a row of weight 2 half the ridge."""
    X, y = part(20).X, draws(20, 1)[0]
    weights = np.r_[0.0, 2.0, np.ones(18)]
    model = KernelLeastSquares(ridge=0.5).fit(X, y, sample_weight=weights)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    kernel = np.exp(-distances / (distances.mean() / 2)) + 1.0
    solved = np.linalg.solve(kernel[1:, 1:] + np.diag(0.5 / weights[1:]), 2.0 * y[1:] - 1.0)
    # A large ridge is solved in single precision.
    assert np.allclose(model.decision_function(X), kernel[:, 1:] @ solved, atol=1e-5)
    with pytest.raises(ValueError, match="sample_weight is zero"):
        KernelLeastSquares().fit(X, y, sample_weight=np.zeros(20))


# The adapter


# NearestCentroid's own decision values and predictions disagree; ours follow the values.
@pytest.mark.parametrize("estimator", [one for one in SKLEARN if not isinstance(one, NearestCentroid)], ids=repr)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_adapter_predicts_as_the_classifier_itself(estimator):
    """A pull through the adapter predicts what the classifier predicts when it is fitted by hand with the same seed."""
    train, heldout = part(24), part(14, seed=3)
    (assignment,) = draws(24, 1)
    random = [name for name, value in estimator.get_params().items() if name.endswith("random_state")]
    adapter = SklearnClassifier(estimator, **dict.fromkeys(random, 7))
    found = pulled(adapter, train, heldout, assignment[None])
    expected = adapter.estimator(0).fit(train.X, assignment).predict(heldout.X)
    assert (found.heldout_labels[0] == expected).all()


def test_scores_of_a_classifier_without_decision_function_are_differences_of_probability():
    """Where there is no decision value, p(1) - p(0) is one."""
    train, heldout, assignments = part(24), part(14, seed=3), draws(24, 1)
    found = pulled(SklearnClassifier(GaussianNB()), train, heldout, assignments)
    expected = GaussianNB().fit(train.X, assignments[0]).predict_proba(heldout.X)
    assert np.allclose(found.heldout_scores[0, :, 0], expected[:, 1] - expected[:, 0])


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    """A classifier with no scores at all: label 1 where the first feature is above 0."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_classifier_that_only_predicts_scores_by_its_prediction():
    """A classifier with neither decision values nor probabilities scores 1 for what it predicts and -1 for the rest."""
    heldout = part(14, seed=3)
    found = pulled(SklearnClassifier(OnlyPredicts()), part(24), heldout, draws(24, 1))
    assert (found.heldout_scores[0, :, 0] == np.where(heldout.X[:, 0] > 0, 1.0, -1.0)).all()


def test_weights_reach_only_classifiers_that_take_them():
    """Instance weights change a classifier that takes them; that another one takes none is said once."""
    weights = np.random.default_rng(4).uniform(0.01, 9.0, size=24)
    heldout, assignments = part(14, seed=3), draws(24, 1)
    for estimator, differs in ((GaussianNB(), True), (KNeighborsClassifier(3), False)):
        adapter = SklearnClassifier(estimator)
        plain = pulled(adapter, part(24), heldout, assignments).heldout_scores
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            weighted = pulled(adapter, part(24, weights=weights), heldout, assignments).heldout_scores
        assert np.allclose(plain, weighted) != differs
        said = [str(one.message) for one in caught]
        assert [one.startswith("The classifier KNeighborsClassifier takes no sample_weight") for one in said] == (
            [] if differs else [True]
        )


class Spy(GaussianNB):
    """Writes down the parameters of each classifier that is fitted."""

    seen: ClassVar[list] = []

    def __init__(self, n_jobs=None, random_state=None):
        super().__init__()
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.seen.append((self.n_jobs, self.random_state))
        return super().fit(X, y, sample_weight)


def test_inner_workers_are_one_and_the_random_state_is_fixed():
    """Inside label inference n_jobs is 1, and all pulls of a fold share a seed drawn from the fold's generator."""
    Spy.seen.clear()
    own = make_pipeline(StandardScaler(), Spy(n_jobs=-1))
    pulled(SklearnClassifier(own), part(20), part(14), draws(20, 3), seed=5)
    first = list(Spy.seen)
    pulled(SklearnClassifier(own), part(20), part(14), draws(20, 3), seed=6)
    assert {jobs for jobs, _ in Spy.seen} == {1}
    assert len(set(first)) == 1
    assert first[0][1] is not None
    assert Spy.seen[-1] != first[0]
    assert own.get_params()["spy__n_jobs"] == -1
    assert own.get_params()["spy__random_state"] is None


def test_random_state_of_the_user_is_kept():
    """A random state that the user chose is not replaced, neither in pulls nor in the end."""
    Spy.seen.clear()
    adapter = SklearnClassifier(Spy(n_jobs=2, random_state=42))
    pulled(adapter, part(20), part(14), draws(20, 1))
    assert Spy.seen == [(1, 42)]
    assert adapter.estimator(7).random_state == 42
    assert SklearnClassifier(Spy()).estimator(7).random_state == 7


def test_number_of_workers_that_is_not_set_stays_unset():
    """Some classifiers warn of any n_jobs at all, so one that is None stays None (and means one worker)."""
    pulled(SklearnClassifier(LogisticRegression()), part(20), part(14), draws(20, 1))
    Spy.seen.clear()
    pulled(SklearnClassifier(Spy()), part(20), part(14), draws(20, 1))
    assert Spy.seen[0][0] is None


def test_object_of_the_user_is_never_fitted():
    """The adapter works on clones."""
    own = LogisticRegression()
    adapter = SklearnClassifier(own, C=3.0)
    pulled(adapter, part(20), part(14), draws(20, 1))
    assert not hasattr(own, "classes_")
    assert own.C == 1.0
    assert adapter.estimator(0) is not adapter.estimator(0)
    assert adapter.estimator(0).C == 3.0


class Breaks(OnlyPredicts):
    """A classifier that fails, or whose scores are not numbers."""

    def __init__(self, how="fit"):
        self.how = how

    def fit(self, X, y):
        if self.how == "fit":
            raise ValueError("kernel trouble")
        return super().fit(X, y)

    def decision_function(self, X):
        return np.full(len(X), np.nan)


def test_errors_of_the_classifier_are_not_swallowed():
    """An error of `fit` comes through unchanged; scores that are not finite are refused with the class's name."""
    with pytest.raises(ValueError, match="kernel trouble"):
        pulled(SklearnClassifier(Breaks("fit")), part(20), part(14), draws(20, 1))
    with pytest.raises(DataError, match="Breaks returned NaN"):
        pulled(SklearnClassifier(Breaks("scores")), part(20), part(14), draws(20, 1))


class Stranger:
    """A classifier that only looks like scikit-learn's: no base class, no tags."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **parameters):
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_classifier_without_tags_is_taken_at_its_word():
    """A class with fit, predict, get_params and set_params will do."""
    found = pulled(SklearnClassifier(Stranger()), part(20), part(14), draws(20, 1))
    assert (found.heldout_labels == 0).all()


def test_import_path_takes_parameters_also_those_it_needs():
    """A path with parameters makes the object that the constructor would make."""
    assert (
        SklearnClassifier("sklearn.svm.SVC", C=2.0).estimator(0).get_params() == SVC(C=2.0, random_state=0).get_params()
    )
    voters = [("a", SVC()), ("b", GaussianNB())]
    assert isinstance(
        SklearnClassifier("sklearn.ensemble.VotingClassifier", estimators=voters).estimator(0), VotingClassifier
    )


@pytest.mark.parametrize(
    ("estimator", "parameters", "error", "words"),
    [
        ("sklearn.svm.SVCC", {}, UnknownNameError, ("sklearn.svm.SVCC", "cannot be imported")),
        ("sklearn.swm.SVC", {}, UnknownNameError, ("sklearn.swm.SVC", "cannot be imported")),
        ("numpy.linalg.norm", {}, SettingsError, ("numpy.linalg.norm", "no scikit-learn classifier", "predict")),
        ("sklearn.preprocessing.StandardScaler", {}, SettingsError, ("StandardScaler", "predict")),
        ("sklearn.ensemble.VotingClassifier", {}, SettingsError, ("VotingClassifier", "'estimators'")),
        (SVC, {}, SettingsError, ("class SVC", "SVC()")),
        (RidgeRegression(), {}, SettingsError, ("Ridge()", "regressor")),
        (KMeans(), {}, SettingsError, ("KMeans()", "clusterer")),
        (SVC(), {"CC": 2}, SettingsError, ("SVC", "'CC'", "'C'")),
        (3, {}, SettingsError, ("3", "no scikit-learn classifier")),
    ],
)
def test_what_is_no_classifier_is_refused(estimator, parameters, error, words):
    """The message names what was given and what is needed."""
    with pytest.raises(error) as caught:
        SklearnClassifier(estimator, **parameters)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_parameters_that_are_no_positive_numbers_are_refused(wrong):
    """Every strength and width is a finite number above 0; the message names the parameter and the value."""
    for make, name in (
        (KernelRidge, "ridge"),
        (KernelRidge, "width"),
        (Ridge, "ridge"),
        (RbfSvm, "C"),
        (Logistic, "C"),
    ):
        with pytest.raises(SettingsError, match=f"{name} must be") as caught:
            make(**{name: wrong})
        assert repr(wrong) in str(caught.value)


# Soft labels


def shares_of(n, n_classes, seed=5):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=n)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_copies_of_rows_with_weights(weighted, n_classes):
    """Each row once for each class, weighted by its share, gives scikit-learn's kernel ridge the same function."""
    X, new = part(12).X, part(7, seed=3).X
    shares = shares_of(12, n_classes)
    weights = np.random.default_rng(6).uniform(0.2, 3.0, size=12) if weighted else np.ones(12)
    model = KernelLeastSquares(ridge=0.7, width=0.5).fit_shares(X, shares, weights if weighted else None)
    gamma = 0.5 / X.var(axis=0).sum()

    def kernel(A, B):
        # The constant is one more direction, which is penalised like the others.
        return sk_rbf(A, B, gamma=gamma) + 1.0

    copies = np.repeat(X, n_classes, axis=0)
    columns = []
    for label in range(n_classes):
        targets = np.tile(np.where(np.arange(n_classes) == label, 1.0, -1.0), 12)
        counted = (shares * weights[:, None]).ravel()
        ridge = SklearnKernelRidge(alpha=0.7, kernel="precomputed").fit(kernel(copies, copies), targets, counted)
        columns.append(ridge.predict(kernel(new, copies)))
    expected = columns[1] if n_classes == 2 else np.stack(columns, axis=1)
    assert np.allclose(model.decision_function(new), expected, atol=1e-4)
    assert model.classes_.tolist() == list(range(n_classes))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("ridge", [0.5, 1e-3])  # Of single and of double precision.
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_fit_says_what_fits_without_each_fold_would(weighted, n_classes, ridge, sparse):
    """Scores out of fold are those of scikit-learn's kernel ridge without the rows of the fold, of the same width."""
    X, shares = part(30).X, shares_of(30, n_classes)
    weights = np.random.default_rng(6).uniform(0.2, 3.0, size=30) if weighted else None
    folds = np.array([2, 0, 1, 1, 0, 2, 1, 2, 0, 1] * 3)
    model = KernelLeastSquares(ridge=ridge, width=0.5)
    found = model.fit_leaving_out(sp.csr_matrix(X) if sparse else X, shares, weights, folds)
    kernel = sk_rbf(X, gamma=0.5 / X.var(axis=0).sum()) + 1.0
    expected = np.empty((30, n_classes))
    for fold in range(3):
        own, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        counted = None if weights is None else weights[others]
        ridges = SklearnKernelRidge(alpha=ridge, kernel="precomputed")
        ridges.fit(kernel[np.ix_(others, others)], 2.0 * shares[others] - 1.0, counted)
        expected[own] = ridges.predict(kernel[np.ix_(own, others)])
    assert np.allclose(found, expected[:, 1] if n_classes == 2 else expected, atol=1e-4)
    plain = KernelLeastSquares(ridge=ridge, width=0.5).fit_shares(X, shares, weights)
    assert np.allclose(model.decision_function(X), plain.decision_function(X))


def test_rows_without_weight_and_many_rows_are_left_out_fit_by_fit(monkeypatch):
    """One inverse serves no row that has no coefficient, and many rows go to several processes."""
    X, shares, folds = part(12).X, shares_of(12, 2), np.arange(12) % 3
    model = KernelLeastSquares()
    assert model.fit_leaving_out(X, shares, np.arange(12.0), folds) is None
    monkeypatch.setattr("bliss_classifiers.estimators.LEFT_OUT_AT_ONCE", 11)
    assert model.fit_leaving_out(X, shares, None, folds) is None
    assert not hasattr(model, "classes_")


def test_certain_shares_are_labels():
    """Shares of 0 and 1 give the fit on labels, also where only one class has any."""
    X, labels = part(12).X, draws(12, 1)[0]
    for classifier in SMOOTHERS:
        soft = classifier.estimator(0).fit_shares(X, np.eye(2)[labels])
        assert np.allclose(soft.decision_function(X), classifier.estimator(0).fit(X, labels).decision_function(X))
        assert (classifier.estimator(0).fit_shares(X, np.eye(2)[np.ones(12, dtype=int)]).predict(X) == 1).all()


def test_sparse_shares():
    """Sparse rows learn shares as dense ones do."""
    X, shares = part(12).X, shares_of(12, 2)
    for classifier in SMOOTHERS:
        dense, sparse = (classifier.estimator(0).fit_shares(rows, shares) for rows in (X, sp.csr_matrix(X)))
        assert np.allclose(dense.decision_function(X), sparse.decision_function(sp.csr_matrix(X)), atol=1e-5)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, MIRRORED - 1, MIRRORED, MIRRORED + 1, 2 * MIRRORED + 3])
def test_an_inverse_is_whole_and_symmetric(n, lower):
    """Times its matrix it is the identity, whichever half was factorised and however many blocks it is filled in."""
    drawn = np.random.default_rng(0).normal(size=(n, n))
    matrix = drawn @ drawn.T / n + np.eye(n)
    found = inverse_of((np.linalg.cholesky(matrix) if lower else np.linalg.cholesky(matrix).T, lower))
    assert np.allclose(found @ matrix, np.eye(n), atol=1e-9)
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("classifier", SMOOTHERS, ids=repr)
def test_response_is_the_smoother_times_targets(classifier):
    """Any real targets, several at once: solving for them is multiplying with the smoother, in every weighting."""
    heldout, targets = part(14, seed=3), np.random.default_rng(1).normal(size=(20, 3))
    for weights in (None, np.random.default_rng(2).uniform(0.5, 2.0, size=20)):
        prepared = classifier.prepare(part(20, weights=weights), heldout, np.random.default_rng(0))
        before = prepared.respond(targets)
        assert before.shape == (14, 3)
        assert np.allclose(before, prepared.smoother @ targets, atol=1e-5)


@pytest.mark.parametrize("classifier", SMOOTHERS, ids=repr)
def test_response_to_shares_is_the_final_estimator(classifier):
    """Soft labels 2 s - 1 bring the held-out outputs of the estimator that learnt the shares."""
    weights = np.random.default_rng(2).uniform(0.5, 2.0, size=20)
    train, heldout, shares = part(20, weights=weights), part(14, seed=3), shares_of(20, 2)
    prepared = classifier.prepare(train, heldout, np.random.default_rng(0))
    fitted = classifier.estimator(0).fit_shares(train.X, shares, weights)
    response = prepared.respond(2 * shares[:, 1:] - 1)
    assert np.allclose(response[:, 0], fitted.decision_function(heldout.X), atol=1e-4)


@pytest.mark.parametrize("classifier", [RbfSvm(), LinearSvm(), Logistic()], ids=repr)
def test_classifiers_that_are_not_linear_have_no_response(classifier):
    """An SVM says so with None, and its estimator takes no shares."""
    prepared = classifier.prepare(part(20), part(14, seed=3), np.random.default_rng(0))
    assert prepared.respond(np.zeros((20, 1))) is None
    assert not hasattr(classifier.estimator(0), "fit_shares")


@pytest.mark.parametrize(
    ("ridge", "dtype"), [(1.0, "float32"), (0.01, "float32"), (0.009, "float64"), (1e-6, "float64")]
)
def test_small_ridges_need_double_precision(ridge, dtype):
    """From 0.01 on kernel ridge computes in single precision, which the condition allows; below that in double."""
    prepared = KernelRidge(ridge=ridge).prepare(part(20), part(14, seed=3), np.random.default_rng(0))
    assert prepared.smoother.dtype == dtype
    assert prepared.respond(np.ones((20, 1))).dtype == dtype
    assert prepared.pull(draws(20, 1), None).heldout_scores.dtype == dtype
    assert np.dtype(precision(ridge)) == dtype


@pytest.mark.parametrize(("ridge", "slack"), [(1.0, 1e-4), (0.01, 1e-2), (1e-6, 1e-5)])
def test_precision_is_enough_on_many_rows(ridge, slack):
    """On 300 rows held-out outputs, which are about 1, are those of the exact solution but for little."""
    train, heldout = part(300), part(14, seed=3)
    targets = np.where(train.X[:, 0] > 0, 1.0, -1.0)
    gamma = 2.0 / total_variance(train.X)
    solved = np.linalg.solve(brute_kernel(train.X, train.X, gamma) + 1.0 + ridge * np.eye(300), targets)
    exact = (brute_kernel(heldout.X, train.X, gamma) + 1.0) @ solved
    prepared = KernelRidge(ridge=ridge, width=2.0).prepare(train, heldout, np.random.default_rng(0))
    assert np.abs(prepared.respond(targets[:, None])[:, 0] - exact).max() < slack


@pytest.mark.parametrize("kernel", [linear_kernel, lambda X, Z: rbf_kernel(X, Z, 0.5)])
def test_kernels_of_single_precision_rows_are_computed_in_double(kernel):
    """Rows of single precision have the kernel of the same numbers in double, to the last bit."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=(4, 3)).astype(np.float32)
    assert np.array_equal(kernel(X, Z), kernel(X.astype(float), Z.astype(float)))
    assert rbf_gamma(X, "scale") == rbf_gamma(X.astype(float), "scale")


# Classifiers that give labels back in another order or type, or need several instances of each


class GivesBack(ClassifierMixin, BaseEstimator):
    """Logistic regression whose `classes_` are not those that scikit-learn's own would be."""

    def __init__(self, how="text", proba=True):
        self.how = how
        self.proba = proba

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        own = self.model_.classes_
        ways = {"text": own.astype(str), "floats": own.astype(float), "reversed": own[::-1], "list": own.tolist()}
        self.classes_ = ways.get(self.how, np.array(["a", "b", "c"])[: len(own)])
        return self

    def predict(self, X):
        return self.model_.predict(X).astype(str if self.how == "text" else float)

    def __getattr__(self, name):
        if name == "predict_proba" and self.__dict__.get("proba"):
            return lambda X: self.model_.predict_proba(X)[:, :: -1 if self.how == "reversed" else 1]
        raise AttributeError(name)


@pytest.mark.parametrize("labels", [[0, 1], [1, 3], [0, 1, 2], [0, 2, 5]])
@pytest.mark.parametrize("proba", [True, False])
@pytest.mark.parametrize("how", ["text", "floats", "reversed", "list"])
def test_scores_are_in_the_order_of_the_labels(labels, proba, how):
    """Whatever `classes_` look like, the columns of scores belong to the labels that were trained on."""
    rng = np.random.default_rng(0)
    labels = np.array(labels)
    y = labels[rng.integers(len(labels), size=60)]
    X = rng.normal(size=(60, 6)) + 4.0 * np.eye(6)[y]
    fitted, present = fit_labels(GivesBack(how, proba), X, y)
    scores = label_scores(fitted, X, present)
    columns = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    assert present.tolist() == labels.tolist()
    assert (labels[columns.argmax(axis=1)] == LogisticRegression().fit(X, y).predict(X)).all()


@pytest.mark.parametrize("proba", [True, False])
def test_other_labels_are_refused(proba):
    """Labels that the classifier was never given are refused with its name and both lists."""
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    fitted, present = fit_labels(GivesBack("letters", proba), X, y)
    with pytest.raises(DataError, match=r"GivesBack .*0.*1.*classes_ are 'a', 'b'"):
        label_scores(fitted, X, present)


@pytest.mark.filterwarnings("ignore::bliss_framework.BlissWarning")
@pytest.mark.parametrize("role", ["classifier", "final_classifier"])
def test_whole_fits_with_labels_that_come_back_otherwise(role, toy, bliss):
    """Labels that were inferred and predicted are those of scikit-learn's own classifier."""
    X, bags, weak = toy(gap=6.0)
    plain, *others = (
        bliss(**{role: GivesBack(how)}, n_inferences=1).fit(X, weak, bags=bags)
        for how in ("list", "text", "floats", "reversed")
    )
    for found in others:
        assert (found.labels_ == plain.labels_).all()
        assert (found.predict(X) == plain.predict(X)).all()
    assert (plain.predict(X) == (np.arange(48) % 4 == 0) * (np.arange(48) < 24)).mean() > 0.9


NEED_SEVERAL = [
    CalibratedClassifierCV(LogisticRegression(), cv=5),
    QuadraticDiscriminantAnalysis(),
    MLPClassifier((3,), early_stopping=True, max_iter=5),
    SGDClassifier(early_stopping=True),
    HistGradientBoostingClassifier(early_stopping=True, max_iter=3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:The least populated")
@pytest.mark.parametrize("estimator", NEED_SEVERAL, ids=lambda one: type(one).__name__)
def test_an_assignment_that_gives_a_class_one_member(estimator):
    """Where a label is too rare for the classifier, the prediction is the other label everywhere, as without it."""
    train, heldout = part(24), part(14, seed=3)
    rare = np.zeros((1, 24), dtype=np.intp)
    rare[0, 5] = 1
    with pytest.raises(ValueError, match=r"member|sample|example|full rank"):
        clone(estimator).fit(train.X, rare[0])
    predicted = pulled(SklearnClassifier(estimator), train, heldout, rare)
    none = pulled(SklearnClassifier(estimator), train, heldout, np.zeros((1, 24), dtype=np.intp))
    assert (predicted.heldout_scores == none.heldout_scores).all()
    assert (predicted.heldout_labels == 0).all()


def test_a_rare_label_of_three_is_left_out():
    """The other labels are learnt as if no instance had the rare one, whose score is below all others."""
    X = np.random.default_rng(0).normal(size=(21, 2))
    y = np.repeat([0, 1, 2], [10, 10, 1])
    fitted, present = fit_labels(QuadraticDiscriminantAnalysis(), X, y)
    plain = QuadraticDiscriminantAnalysis().fit(X[:20], y[:20])
    assert present.tolist() == [0, 1]
    assert np.allclose(label_scores(fitted, X, present), plain.decision_function(X))


def test_an_error_that_is_not_about_rare_labels():
    """An error that every assignment would raise is raised, and never taken for a rare label."""
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.repeat([0, 1], [11, 1])
    with pytest.raises(ValueError, match="n_neighbors"):
        fit_labels(make_pipeline(KNeighborsClassifier(n_neighbors=0)), X, y)


@pytest.mark.filterwarnings("ignore:Label inference collapsed")
@pytest.mark.parametrize(
    "estimator",
    [KNeighborsClassifier(3), LinearDiscriminantAnalysis(), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=lambda one: type(one).__name__,
)
def test_weights_that_a_classifier_does_not_take(estimator, toy, bliss):
    """Where confidence_weights is asked for and has no effect, one sentence names the classifier; else none does."""
    X, bags, weak = toy()
    name, few = type(estimator).__name__, {"n_rounds": 2, "n_inferences": 1}

    def said(**parameters):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bliss(**few, **parameters).fit(X, weak, bags=bags)
        return [one for one in caught if "sample_weight" in str(one.message)]

    (warning,) = said(final_classifier=estimator, confidence_weights=True)
    assert str(warning.message).startswith(f"The final classifier {name} takes no sample_weight")
    assert warning.category is BlissWarning
    assert said(final_classifier=estimator) == []
    assert said(final_classifier=estimator, confidence_weights=False) == []
    assert said(final_classifier=LogisticRegression(), confidence_weights=True) == []
    weighted = {"name": "mil", "weights": "bag"}
    sizes = toy(size=5)
    with pytest.warns(BlissWarning, match=f"The classifier {name} takes no sample_weight"):
        bliss(**few, classifier=estimator, regime=weighted, class_balance=0.5).fit(sizes[0], sizes[2], bags=sizes[1])


@pytest.mark.filterwarnings("ignore:Label inference collapsed", "ignore:The least populated")
def test_a_class_that_is_too_rare_for_the_final_classifier(toy, bliss):
    """Where a class was inferred of too few instances, the final classifier never predicts it, and that is said."""
    X, bags, weak = toy(n_pos=2, n_neg=8, gap=8.0)
    final = CalibratedClassifierCV(LogisticRegression(), cv=10)
    with pytest.warns(BlissWarning, match="CalibratedClassifierCV cannot learn from so few instances .* of class 1"):
        model = bliss(final_classifier=final, n_folds=2).fit(X, weak, bags=bags)
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("seed", range(40))
def test_what_rounding_leaves_of_a_lost_ridge_is_never_solved(seed):
    """Where the rows are so far from zero that their products hold no digit of the ridge, no draw of them is lucky."""
    X = np.random.default_rng(seed).normal(size=(60, 4)) + 1e8
    with pytest.raises(DataError, match=r"the ridge of 0\.001 is lost"):
        LeastSquares(ridge=1e-3).fit(X, np.arange(60) % 2)


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
@pytest.mark.parametrize("shift", [1e9, 1e12])
def test_a_ridge_that_is_lost_beside_huge_rows_is_said(shift, toy, bliss):
    """Unscaled rows far from zero leave least squares nothing to solve: the message says what to do, in a fit too."""
    X, bags, weak = toy()
    with pytest.raises(DataError, match=r"least squares cannot be solved\. Scale the rows"):
        LeastSquares(ridge=1e-3).fit(X + shift, [weak[name] for name in bags])
    with pytest.raises((DataError, PluginError), match="least squares cannot be solved"):
        bliss(classifier={"name": "ridge", "ridge": 1e-3}, scaling="none").fit(X + shift, weak, bags=bags)
    shifted = bliss(classifier={"name": "ridge", "ridge": 1e-3}).fit(X + shift, weak, bags=bags)
    assert np.isfinite(shifted.training_scores_).all()
