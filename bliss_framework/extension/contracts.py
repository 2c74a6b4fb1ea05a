"""The contracts of plugins: abstract Classifier, Reward, Strategy, Regime, Reader, Pipeline, Baseline, and Component.

Every class here is abstract; implement the abstract methods and leave the others unless you need them. Wrap a component
to change it, do not subclass one. `bliss_framework.testing` checks an implementation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.extension.dataset import WeakDataset
from bliss_framework.extension.pipelines import PipelineReport
from bliss_framework.kernel.arms import ArmStatistics
from bliss_framework.kernel.bags import Bags
from bliss_framework.kernel.inference import Constrain
from bliss_framework.kernel.labels import LabelSpace, WeakLabels, class_codes
from bliss_framework.kernel.pull import Fold, Outcome, Part, Predictions

KINDS = ("classifier", "reward", "strategy", "regime", "reader", "dataset", "baseline", "pipeline")


@frozen
class Component:
    """Something that a plugin offers under a name.

    Attributes:
        name: lower case with hyphens; what users type.
        factory: a class or function whose keyword arguments are the component's parameters.
        summary: one line for `bliss plugins`.
        details: for data sets: "source", "size" and "licence", shown by `bliss datasets`.
    """

    name: str = field()
    factory: Callable[..., Any] = field()
    summary: str = field(default="")
    details: Mapping[str, str] = field(factory=dict)


class Strategy(ABC):
    """Turns arm statistics into an upper bound of the mean reward of each arm."""

    @abstractmethod
    def bounds(self, arms: ArmStatistics, round: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the upper bound of each arm.

        Args:
            arms: pulls T, reward sums s and means of n instances x L labels. An arm that was never pulled, or that is
                no candidate, may get any number: it is overruled afterwards.
            round: t >= 1.
            rng: the inference's generator, for randomised strategies.

        Returns:
            (n, L) float64, no NaN.
        """


class RewardFunction(ABC):
    """A reward that is prepared for one fold."""

    @abstractmethod
    def __call__(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the reward of the label of each training instance.

        Args:
            outcome: the assignment, what the classifier trained on it predicts, and the fold.

        Returns:
            (n,) numbers in [0, 1].
        """

    def complaint(self, outcome: Outcome) -> str | None:
        """Say in one sentence with a remedy why this outcome cannot tell labels apart, or return None."""
        return None


class Reward(RewardFunction):
    """How well a label assignment meets the weak labels: a regime is a reward function."""

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Do once for a fold all that does not depend on labels; by default nothing.

        Args:
            fold: training part, held-out set and k.
            classifier: the prepared classifier; its `smoother` may be of use.
        """
        return self


class PreparedClassifier(ABC):
    """A classifier that is prepared for one fold.

    Attributes:
        smoother: (m, n) matrix M where held-out outputs are M @ targets, for classifiers that are linear in their
            labels; None for all others.
    """

    smoother: NDArray[np.floating] | None = None

    @abstractmethod
    def pull(self, assignments: NDArray[np.intp], weights: NDArray[np.float64] | None) -> Predictions:
        """Train on each of P label assignments and predict.

        Args:
            assignments: (P, n) labels of the training instances. A row may hold one label only; the prediction is
                then that label for every instance.
            weights: (P, n) instance weights that replace those of the training part, or None.
        """

    def respond(self, targets: NDArray[np.floating]) -> NDArray[np.floating] | None:
        """Return held-out outputs (m, T) for any real targets (n, T), where the classifier is linear in its labels.

        Between -1 (not this label) and 1 a target is a soft label. None means that it is not linear.
        """
        return None if self.smoother is None else self.smoother @ targets


class Classifier(ABC):
    """Any ordinary classifier: pulled many times on a fold, and fitted once in the end."""

    @abstractmethod
    def prepare(self, train: Part, heldout: Part, rng: np.random.Generator) -> PreparedClassifier:
        """Do once for a fold all that does not depend on labels (a Gram matrix, a factorisation).

        Args:
            train: rows to train on, with `weights` where instances do not count alike.
            heldout: rows to predict as well.
            rng: for classifiers that draw random numbers.
        """

    @abstractmethod
    def estimator(self, random_state: int) -> Any:
        """Return a fresh scikit-learn classifier with the same parameters, for the fit after inference."""


class Regime(ABC):
    """What weak labels mean: which labels an instance may take, and how instances make a bag.

    Attributes:
        default_reward: the component name of the reward that is used where the user names none.
        default_baselines: component names of the simple baselines that every evaluation stands beside.
        binary: whether there are never more than two classes.
        bag_parameters: parameters of the regime that matter for bags only, and not for label inference; settings that
            differ in them alone share one inference.
        bags_of_instances: whether bags are read from the joint instance scores of all final classifiers, as where the
            weak label counts predicted classes, rather than from averages of their bag scores.
        control_settings: parameters of the control without a bandit that differ from those of BLISS, such as a final
            classifier that learns from shares where that is what instances inherit.
    """

    default_reward: ClassVar[str]
    default_baselines: ClassVar[tuple[str, ...]] = ()
    binary: ClassVar[bool] = False
    bag_parameters: ClassVar[tuple[str, ...]] = ()
    bags_of_instances: ClassVar[bool] = False
    control_settings: ClassVar[Mapping[str, Any]] = {}

    @abstractmethod
    def check(self, weak: NDArray[Any], bags: Bags) -> WeakLabels:
        """Check the weak labels before long work starts.

        Args:
            weak: (B,) or (B, ...) one entry for each bag, as the user gave them.
            bags: their bags; error messages name bag ids.

        Raises:
            DataError: naming the bag, what was found and what is allowed.
        """

    @abstractmethod
    def label_space(self, weak: WeakLabels, bags: Bags) -> LabelSpace:
        """Return the candidate labels of each instance."""

    @abstractmethod
    def strata(self, weak: WeakLabels) -> NDArray[np.intp]:
        """Return (B,) small integers: each fold gets its share of every stratum."""

    @abstractmethod
    def bag_scores(self, scores: NDArray[np.float64], bags: Bags) -> NDArray[np.float64]:
        """Turn instance scores, (n,) for two classes or (n, C), into bag scores (B,) or (B, C)."""

    @abstractmethod
    def bag_labels(self, scores: NDArray[np.float64], bags: Bags, threshold: float) -> NDArray[Any]:
        """Predict the weak label of each bag (B, ...) from instance scores."""

    @abstractmethod
    def weak_score(self, outcome: Outcome) -> Mapping[str, float]:
        """Score how well held-out predictions meet the weak labels; larger is better, 1 is perfect."""

    @abstractmethod
    def evaluate(self, predicted: NDArray[Any], scores: NDArray[np.float64], weak: WeakLabels) -> Mapping[str, float]:
        """Compare predicted weak labels and bag scores with the true weak labels of bags that were not trained on.

        The first measure is the main one. One with a slash in its name, such as average_precision/cat, is a detail that
        result.json holds and tables leave out.
        """

    def check_test(self, weak: NDArray[Any], bags: Bags, classes: tuple[Any, ...]) -> WeakLabels:
        """Check weak labels of test bags, of which some classes may be missing.

        By default a weak label is one of the classes of training, or a row of a matrix that is taken as it is.

        Args:
            weak: (B,) or (B, ...) as the user gave them.
            bags: their bags.
            classes: as `check` returned them in training.

        Raises:
            DataError: for a weak label that was not there in training.
        """
        values = weak if weak.ndim > 1 or weak.dtype == object else class_codes(weak, classes)
        return WeakLabels(values, classes)

    def bag_threshold(self, bag_scores: NDArray[np.float64], weak: WeakLabels) -> float:
        """Choose the bag threshold on out-of-fold bag scores; 0 by default."""
        return 0.0

    def instance_threshold(
        self, scores: NDArray[np.float64], bags: Bags, weak: WeakLabels, classes: NDArray[np.intp] | None
    ) -> float:
        """Choose the score above which an instance is of class 1, on out-of-fold scores.

        The settings ask for it with `instance_threshold`, and with "auto" where scores learnt what instances inherit:
        what a bag says of all its instances shifts them, so 0 is not the border between classes. By default as many
        instances lie above the threshold as were inferred to be of class 1, and it is 0 where none were inferred.

        Args:
            scores: (n,) out-of-fold scores of two classes.
            bags: of the n instances.
            weak: their weak labels.
            classes: (n,) inferred classes, or None while settings are chosen.
        """
        return 0.0 if classes is None else float(np.quantile(scores, 1.0 - classes.mean()))

    def labels_of_bag_scores(self, bag_scores: NDArray[np.float64], threshold: float) -> NDArray[Any]:
        """Predict weak labels (B, ...) from bag scores that several final classifiers share.

        By default a bag is read as one instance that scores so.

        Args:
            bag_scores: (B,) or (B, C), averages of what `bag_scores` returned.
            threshold: the bag threshold.
        """
        n_bags = len(bag_scores)
        return self.bag_labels(bag_scores, Bags(np.arange(n_bags), np.arange(n_bags)), threshold)

    def selection_score(self, bag_scores: NDArray[np.float64], predicted: NDArray[Any], weak: WeakLabels) -> float:
        """Say how good out-of-fold predictions of bags are, when settings are chosen; the first measure by default.

        Args:
            bag_scores: (B,) or (B, C), positive where they exceed the bag threshold.
            predicted: (B, ...) weak labels.
            weak: the true weak labels.

        Returns:
            A number; larger is better.
        """
        return float(next(iter(self.evaluate(predicted, bag_scores, weak).values())))

    def defaults(self, bags: Bags, sparse: bool) -> Mapping[str, Any]:
        """Return values for parameters that the user left alone, where this regime wants others than `BlissClassifier`.

        Args:
            bags: of the training data.
            sparse: whether their rows are sparse.

        Returns:
            A value by parameter of `BlissClassifier`, or by "component.parameter"; nothing by default.
        """
        return {}

    def default_grid(self, bags: Bags, sparse: bool) -> Mapping[str, Sequence[Any]]:
        """Return the values from which `settings="select"` chooses.

        Args:
            bags: of the training data.
            sparse: whether their rows are sparse.

        Returns:
            Values by parameter of `BlissClassifier`, or by "component.parameter".
        """
        return {"inherited_share": (0.0, 0.5, 1.0)}

    def inherited(self, weak: WeakLabels, bags: Bags) -> NDArray[np.float64]:
        """Return what the bag alone says of its instances: shares (n, C) of the classes, each row summing to 1.

        The control without a bandit trains on them. By default every class that is a candidate is as likely as any.
        """
        return self.label_space(weak, bags).class_shares()

    def draw_prior(self, part: Part) -> NDArray[np.float64] | None:
        """Return the chances (n, L) of the first draws; None draws a class, then one of its labels, uniformly."""
        return None

    def constraint(self) -> Constrain | None:
        """Return a function (bounds (n, L), part) -> assignment (n,); None takes the best label of each instance."""
        return None

    def instance_weights(self, bags: Bags, weak: WeakLabels) -> NDArray[np.float64] | None:
        """Return positive weights (n,) of the instances; None where all count alike."""
        return None


class Reader(ABC):
    """Reads one file format."""

    @abstractmethod
    def sniff(self, path: Path) -> bool:
        """Say whether this reader can read the file, from its name and first bytes; fast, and never raises."""

    @abstractmethod
    def read(self, path: Path, **options: Any) -> WeakDataset:
        """Read the file.

        Raises:
            DataError: naming the file, the place in it, what was found and what is allowed.
        """


class Pipeline(ABC):
    """An experiment of several stages, such as images to boxes to a detector, that is more than one fit of BLISS.

    Its parameters are those of its factory. `bliss run NAME` runs it with its defaults, a table `[pipeline]` with the
    name in an experiment file with others. Run directory, repeats, seeds and result.json stay with the host.
    """

    def located(self, folder: Path) -> "Pipeline":
        """Return the same pipeline with its relative paths starting from a folder; by default it has none.

        Args:
            folder: that of the experiment file.
        """
        return self

    @abstractmethod
    def check(self) -> Mapping[str, Any]:
        """Check inputs before long work starts, and say what they are.

        Returns:
            What result.json says under "data": at least "name", and "sha256", a digest of all inputs.

        Raises:
            BlissError: naming what cannot be used.
        """

    @abstractmethod
    def run(self, seed: int, say: Callable[[str], None]) -> PipelineReport:
        """Run all stages once; the same seed gives the same measures.

        Args:
            seed: at least 0, another one in each repeat.
            say: is told of each stage in a few words.
        """


class Baseline(Protocol):
    """A scikit-learn style estimator with the same faces as BlissClassifier; no base class is needed."""

    def fit(self, X: Any, y: Any, bags: Any = None) -> Any:
        """Learn from weak labels."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each instance."""

    def predict_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the weak label of each bag: (ids, labels)."""

    def score_bags(self, X: Any, bags: Any = None) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Score each bag, threshold at 0: (ids, scores)."""


class Observer(Protocol):
    """Listens to the events of a run."""

    def notify(self, event: Any) -> None:
        """Take note of one event; called in the process that started the run."""
