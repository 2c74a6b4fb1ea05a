"""What a fit tells the outside beside the events of label inference."""

from attrs import frozen


@frozen
class SelectionStarted:
    """Settings are about to be chosen: how many there are, the inferences that takes, and how many are averaged."""

    n_candidates: int
    n_inferences: int
    n_members: int


@frozen
class SelectionAdvanced:
    """Some of the inferences of a selection are done."""

    done: int
    total: int
