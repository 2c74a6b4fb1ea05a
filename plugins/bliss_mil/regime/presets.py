"""What binary MIL advises: one setting for all data, and the values from which settings are chosen."""

from bliss_framework.plugin import BinaryReading, Case, Kind, Presets, When

# Training on all folds but one is better where it is quick. The reward is `mil-marginal`, because a label in a large
# held-out set seldom moves the reward of the paper.
FEW = BinaryReading.few_witnesses
# Measured in docs/results/mil.md, which says how.
KINDS = (
    Kind(
        "those with few witnesses",
        "On six data sets of this kind, chosen settings (--settings select) were right on 80.0 % of the test bags, the "
        "same without inferred labels on 77.4 %, mi-graph-svm on 76.6 % and an attention network on 77.4 %, in "
        "one repeat. Without a choice the bag head (--set regime.bag_head=stack) was right on 75.2 % of four of them, "
        "and defaults on 72.4 %.",
        witnesses_at_most=FEW,
    ),
    Kind(
        "texts of several passages",
        "On seven data sets of this kind, chosen settings (--settings select) were right on 85.6 % of the test bags, "
        "the same without inferred labels on 84.6 %, and the best method that looks at whole bags (miles) on 84.6 %.",
        When(sparse=True),
        witnesses_above=FEW,
    ),
    Kind(
        "MUSK1 and Elephant, where many instances say a little each",
        "On four data sets of this kind, chosen settings (--settings select) were right on 83.3 % of the test bags, "
        "the same without inferred labels on 82.7 %, and min-max-svm, which looks at whole bags, on 83.4 %: for labels "
        "of bags it is as good, and faster. Without a choice the bag head (--set regime.bag_head=stack) has 82.3 %, "
        "and defaults 79.3 %. Label inference is for labels of instances.",
        witnesses_above=FEW,
    ),
)

PRESETS = Presets(
    defaults={
        "reward": "mil-marginal",
        "n_folds": 3,
        "train_on": "rest",
        "n_rounds": 60,
        "n_inferences": 1,
        "classifier": {"name": "kernel-ridge", "width": 1.0},
        "final_classifier": "same",
        "inherited_share": "out-of-fold",
        "instance_threshold": "out-of-fold",
        "regime.weights": "instance",
        "regime.bag_score": "max-mean",
    },
    grid={
        "reward": ("mil-marginal",),
        "n_folds": (3,),
        "train_on": ("one",),
        "n_rounds": (60,),
        "n_inferences": (1,),
        "final_classifier": ("same", "svm-linear"),
        "scaling": ("auto", "standard"),
        "classifier.width": (0.5, 2.0),
        "inherited_share": (0.0, 0.5, 1.0),
        "regime.weights": ("instance",),
        "regime.bag_score": ("max", "mean", "max-mean"),
        "regime.bag_head": ("stack",),
    },
    paper={"reward": "mil"},
    baselines=("inherited-label-svm", "bag-mean-svm"),
    cases=(
        # Of many instances a small fold is enough, and much faster.
        Case(
            When(rows_above=5000),
            defaults={"n_folds": 10, "train_on": "one"},
            grid={"n_folds": (10,), "scaling": ("auto",)},
        ),
        # Of sparse rows LIBLINEAR is many times faster than a machine on inner products, and as good.
        Case(When(sparse=True), grid={"final_classifier": ("same", {"name": "svm-linear", "solver": "liblinear"})}),
        # Where a few bags hold most instances, every bag counts alike.
        Case(When(unevenness_above=2.0), defaults={"regime.weights": "bag"}, grid={"regime.weights": ("bag",)}),
    ),
    kinds=KINDS,
)
