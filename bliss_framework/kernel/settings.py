"""The settings of a label inference, checked when the record is made."""

from attrs import field, frozen

from bliss_framework.validators import at_least, between, one_of, optional


@frozen
class InferenceSettings:
    """How labels are inferred, whatever the regime.

    Attributes:
        n_rounds: N of Algorithm 1, rounds after the initial sweep.
        n_folds: K, folds of whole bags.
        train_on: "one" trains on each fold in turn and holds out the others (the paper); "rest" holds out each fold in
            turn, and averages the K - 1 inferences of a bag.
        n_inferences: inferences of each fold with other random draws, whose means are averaged.
        n_passes: passes of the bootstrapping procedure; 1 means none.
        pass_share: the share of instances outside the fold, most confident first, that join a later pass.
        n_parallel: P, assignments that are chosen before any of them is pulled.
        n_neighbors: k of the neighbourhood N(x).
        n_first_draws: None for the paper's initial sweep; or that many draws from the regime's prior, after which
            arms that were never pulled come first.
        class_balance: b, instances are weighted by (n / count of their class)^b in every pull; 0 means no weights.
    """

    n_rounds: int = field(default=100, validator=at_least(1))
    n_folds: int = field(default=5, validator=at_least(2))
    train_on: str = field(default="one", validator=one_of("one", "rest"))
    n_inferences: int = field(default=1, validator=at_least(1))
    n_passes: int = field(default=1, validator=at_least(1))
    pass_share: float = field(default=0.2, validator=between(0.0, 1.0))
    n_parallel: int = field(default=1, validator=at_least(1))
    n_neighbors: int = field(default=10, validator=at_least(1))
    n_first_draws: int | None = field(default=None, validator=optional(at_least(1)))
    class_balance: float = field(default=0.0, validator=between(0.0, 10.0))
