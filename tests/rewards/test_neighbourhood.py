"""N(x) of every training instance, in one decision value or along the output of its predicted label."""

import numpy as np
import pytest

from bliss_framework import neighbourhood


def test_neighbours_in_the_decision_value(make_part, make_outcome):
    """With one decision value x looks at the held-out instances whose values are nearest to its own."""
    heldout = make_part([1, 1, 1, 1])
    outcome = make_outcome(make_part([1, 1]), [0, 1], [0, 1], [-1.0, 2.0], heldout, [0, 0, 1, 1], [-3, -1.2, 1.9, 3], 2)
    near = neighbourhood(outcome)
    # N(-1.0) = {-1.2, -3.0} (distances 0.2 and 2.0, against 2.9 and 4.0), N(2.0) = {1.9, 3.0}.
    assert near.mean(np.array([8.0, 4.0, 2.0, 1.0])) == pytest.approx([6.0, 1.5])


def test_neighbours_along_the_output_of_the_predicted_label(make_part, make_outcome):
    """With one output for each label x looks along the column of the label predicted for it."""
    part = make_part([1, 1], class_of_label=(0, 1, 2))
    heldout = make_part([1, 1, 1], class_of_label=(0, 1, 2))
    columns = [[0.0, 5.0, 1.0], [4.0, 5.5, 9.0], [1.0, 0.0, 8.0]]
    scores = [[0.2, 0.0, 0.0], [0.0, 0.0, 8.4]]
    outcome = make_outcome(part, [0, 2], [0, 2], scores, heldout, [1, 2, 2], columns, 1)
    # Row 0 in column 0: values 0, 4, 1 around 0.2 -> the first. Row 1 in column 2: 1, 9, 8 around 8.4 -> the last.
    assert neighbourhood(outcome).mean(np.array([7.0, 5.0, 3.0])).tolist() == [7.0, 3.0]


def test_weights_of_the_heldout_set_count(make_part, make_outcome):
    """Instance weights of the held-out set weigh the neighbours: (1*0 + 3*1) / 4."""
    heldout = make_part([1, 1], weights=np.array([1.0, 3.0]))
    outcome = make_outcome(make_part([1]), [0], [0], [0.0], heldout, [0, 0], [-1.0, 1.0], 2)
    assert neighbourhood(outcome).mean(np.array([False, True])).tolist() == [0.75]
