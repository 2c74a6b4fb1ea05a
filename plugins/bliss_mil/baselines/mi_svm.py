"""mi-SVM and MI-SVM: support vector machines that guess instance labels, or witnesses, from the labels of bags."""

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bliss_framework.plugin import Bags, check_settings, in_own_order, kernel_blocks, validators
from bliss_mil.baselines.bag_classifier import InstanceScorer
from bliss_mil.baselines.imputation import Imputed, InstanceLabels, Problem, Witnesses, alternate, most_positive, solve
from bliss_mil.baselines.row_kernels import TOLERANCE, kernel_matrix, positive_or_scale, rbf_gamma


class ImputingSvm(InstanceScorer):
    """What mi-SVM and MI-SVM share: an SVM and a guess in turn, from one start or several, on one Gram matrix."""

    def __init__(
        self,
        C: float = 10.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        n_starts: int = 1,
        max_iter: int = 50,
        scaling: str = "auto",
        random_state: Any = None,
        positive_label: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.scaling = scaling
        self.random_state = random_state
        self.positive_label = positive_label

    def fit(self, X: Any, y: Any, bags: Any = None) -> "ImputingSvm":
        """Learn from weak labels: X (n, d), y one label for each bag or row, bags (n,) ids."""
        self._check()
        given, given_bags, given_weak = self.learn(X, y, bags)
        rows, grouped, weak, order = in_own_order(given, given_bags, given_weak)
        self.gamma_ = rbf_gamma(rows, self.gamma)
        problem = self.problem(rows, grouped, weak)
        found = self._best(problem)
        self.support_rows_ = problem.points[found.svm.support]
        self.dual_coef_, self.intercept_ = found.svm.coefficients, found.svm.intercept
        self.objective_, self.n_iter_ = found.svm.objective, found.n_iter
        self.remember(found, order, given_bags, given_weak)
        return self

    @abstractmethod
    def problem(self, rows: Any, bags: Bags, weak: NDArray[Any]) -> Problem:
        """Say what is guessed."""

    @abstractmethod
    def remember(self, found: Imputed, order: NDArray[np.intp], bags: Bags, weak: NDArray[Any]) -> None:
        """Keep what was guessed, in the caller's order; `order` (n,) is the caller's row of each row."""

    def score_rows(self, rows: Any) -> NDArray[np.float64]:
        """Score scaled rows (n, d): (n,), positive above 0."""
        scores = np.empty(rows.shape[0])
        for block in kernel_blocks(rows.shape[0], len(self.dual_coef_)):
            scores[block] = kernel_matrix(rows[block], self.support_rows_, self.kernel, self.gamma_) @ self.dual_coef_
        return scores + self.intercept_

    def _check(self) -> None:
        check_settings(
            self,
            C=validators.positive,
            kernel=validators.one_of("rbf", "linear"),
            gamma=positive_or_scale,
            n_starts=validators.at_least(1),
            max_iter=validators.at_least(1),
        )

    def _best(self, problem: Problem) -> Imputed:
        K = kernel_matrix(problem.points, problem.points, self.kernel, self.gamma_)
        random = check_random_state(self.random_state)
        starts = [problem.start()]
        # The best guess for random scores is a random guess that keeps to the rules.
        starts += [problem.improve(random.uniform(-1, 1, len(K))) for _ in range(self.n_starts - 1)]
        train = partial(solve, K=K, C=self.C, tol=TOLERANCE[self.kernel])
        ends = [alternate(problem, train, start, self.max_iter) for start in starts]
        return min(ends, key=lambda found: found.svm.objective)


class MiSvm(ImputingSvm):
    """mi-SVM: an SVM on instances, and labels for the instances of positive bags, in turn.

    Instances of positive bags start positive. Then each takes the sign of its score, but a positive bag without a
    positive keeps its most positive instance, until labels repeat. A bag is as positive as its most positive instance.
    Source: Andrews, Tsochantaridis and Hofmann, Support vector machines for multiple-instance learning, NIPS 2002
    (proceedings of 2003), figure 2. The Gram matrix takes 8 n^2 bytes.

    Args:
        C: inverse strength of regularisation.
        kernel: "rbf" or "linear".
        gamma: of exp(-gamma |x - z|^2) between scaled rows; "scale" is 1 / (d var), as in scikit-learn's `SVC`.
        n_starts: starts, the paper's and then random ones; the smallest objective wins.
        max_iter: most SVMs trained from each start.
        scaling: see `Scaling`.
        random_state: seed of the random starts.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        labels_: (n,) the labels guessed for training instances, in the caller's order.
        objective_: |w|^2 / 2 + C times the sum of hinge losses.
        n_iter_: SVMs trained from the start that won.
    """

    def problem(self, rows: Any, bags: Bags, weak: NDArray[Any]) -> Problem:
        """Guess a label for each instance."""
        return InstanceLabels(rows, bags, weak)

    def remember(self, found: Imputed, order: NDArray[np.intp], bags: Bags, weak: NDArray[Any]) -> None:
        """Keep the labels guessed."""
        self.labels_ = np.empty(len(order), dtype=self.classes_.dtype)
        self.labels_[order] = self.classes_[found.guess.astype(int)]


class MiSvmBag(ImputingSvm):
    """MI-SVM: an SVM, and one witness of each positive bag that it is trained on, in turn.

    All instances of negative bags are negative. The mean row of a positive bag starts as its witness; then its most
    positive instance is, until witnesses repeat. A bag is as positive as its most positive instance. Source: Andrews,
    Tsochantaridis and Hofmann, Support vector machines for multiple-instance learning, NIPS 2002 (proceedings of 2003),
    figure 3. The Gram matrix takes 8 n^2 bytes.

    Args:
        C: inverse strength of regularisation.
        kernel: "rbf" or "linear".
        gamma: of exp(-gamma |x - z|^2) between scaled rows; "scale" is 1 / (d var), as in scikit-learn's `SVC`.
        n_starts: starts, the paper's and then random ones; the smallest objective wins.
        max_iter: most SVMs trained from each start.
        scaling: see `Scaling`.
        random_state: seed of the random starts.
        positive_label: which weak label means positive, where it is not plain.

    Attributes:
        witnesses_: (P,) the training row that is the most positive of each positive bag, in order of the bags.
        objective_: |w|^2 / 2 + C times the sum of hinge losses of witnesses and negative instances.
        n_iter_: SVMs trained from the start that won.
    """

    def problem(self, rows: Any, bags: Bags, weak: NDArray[Any]) -> Problem:
        """Guess a witness for each positive bag."""
        return Witnesses(rows, bags, weak)

    def remember(self, found: Imputed, order: NDArray[np.intp], bags: Bags, weak: NDArray[Any]) -> None:
        """Keep the witnesses."""
        scores = np.empty(len(order))
        scores[order] = found.svm.scores[: len(order)]
        self.witnesses_ = most_positive(scores, bags)[weak == 1]
