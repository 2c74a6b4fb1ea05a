"""Data that are checked once: what a fit takes, what an evaluation slices, and columns that are matched by name."""

import numpy as np
import pandas as pd
import pytest
from attrs import evolve

from bliss_framework import BlissClassifier, DataError
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.inputs import check_training, check_unlabelled
from bliss_mil.regime.mil_regime import MilRegime

QUICK = {"n_rounds": 5, "n_folds": 2, "n_neighbors": 5, "random_state": 0}
NAMES = ("tall", "wide")


@pytest.fixture(scope="module")
def data(toy):
    """Checked data with names of columns."""
    X, bags, weak = toy(seed=1, gap=2.0)
    return evolve(check_training(X, weak, bags), columns=NAMES)


@pytest.fixture(scope="module")
def model(data):
    """A model that was fitted to them."""
    return BlissClassifier(**QUICK).fit(data)


def test_a_fit_takes_them_as_they_are(data, model, toy):
    """Labels and scores have the bits of a fit of the same arrays."""
    X, bags, weak = toy(seed=1, gap=2.0)
    other = BlissClassifier(**QUICK).fit(X, weak, bags=bags)
    assert np.array_equal(model.label_means_, other.label_means_, equal_nan=True)
    assert np.array_equal(model.training_scores_, other.training_scores_)
    assert model.feature_names_in_.tolist() == list(NAMES)
    assert not hasattr(other, "feature_names_in_")


def test_checking_them_again_changes_nothing(data):
    """What is checked is returned as it is."""
    assert check_training(data) is data
    assert check_unlabelled(data) is data


def test_a_regime_reads_weak_labels_once(data):
    """A second reading is the first one; without one there are no labels."""
    read = data.read_by(MilRegime())
    assert read.read_by(MilRegime()) is read
    assert read.labels.classes == (0, 1)
    with pytest.raises(DataError, match="have not been read by a regime"):
        _ = data.labels


def test_taking_bags_keeps_rows_and_labels_together(data):
    """Rows, ids, weak labels and carried columns are those of the bags that are kept, in the order of the data."""
    own = evolve(data.read_by(MilRegime()), carried={"row": np.arange(len(data.X))})
    kept = own.take_bags(np.array([3, 1]))
    rows = [row for row, bag in enumerate(own.ids) if bag in own.bags.ids[[1, 3]]]
    assert kept.carried["row"].tolist() == rows
    assert np.array_equal(kept.X, own.X[rows])
    assert kept.ids.tolist() == own.ids[rows].tolist()
    by_id = dict(zip(own.bags.ids.tolist(), own.weak.tolist(), strict=True))
    assert kept.weak.tolist() == [by_id[bag] for bag in kept.bags.ids.tolist()]
    assert kept.labels.values.tolist() == kept.weak.tolist()


class TestColumns:
    def test_another_order_changes_nothing(self, data, model):
        """Columns are brought into the order of training by their names, so scores are the same."""
        swapped = CheckedData(data.X[:, ::-1], data.bags, None, NAMES[::-1])
        assert np.array_equal(model.decision_function(swapped), model.decision_function(data))
        assert np.array_equal(model.score_bags(swapped)[1], model.score_bags(data)[1])

    def test_an_extra_column_is_left_out_and_told(self, data):
        """The note names it."""
        more = CheckedData(np.column_stack([data.X[:, 0], data.X[:, 0], data.X[:, 1]]), data.bags, None, ("a", *NAMES))
        aligned, notes = more.with_columns_of(NAMES, "new.csv")
        assert np.array_equal(aligned.X, np.column_stack([data.X[:, 0], data.X[:, 1]]))
        assert notes == ('new.csv has "a", on which the model was not trained; left out.',)

    def test_a_renamed_column_is_refused(self, data, model):
        """The message names what is missing, what is there instead, and the nearest name."""
        renamed = CheckedData(data.X, data.bags, None, ("tal", "wide"))
        with pytest.raises(DataError, match=r'no column "tall", on which the model was trained\. Did you mean "tal"\?'):
            model.predict(renamed)

    def test_without_names_their_number_counts(self, data, model):
        """Arrays are taken by position, and refused where they have another number of columns."""
        unnamed = CheckedData(data.X, data.bags, None)
        assert np.array_equal(model.predict(unnamed), model.predict(data))
        with pytest.raises(DataError, match="X has 1 features, but BlissClassifier is expecting 2 features"):
            model.predict(CheckedData(data.X[:, :1], data.bags, None))

    def test_data_frames_in_a_list_are_stacked_by_name(self, data):
        """Each bag may have its columns in another order; one without a column is refused by name."""
        frames = [pd.DataFrame(data.X[data.ids == bag], columns=NAMES) for bag in data.bags.ids]
        stacked = check_unlabelled([frames[0], *(frame[list(NAMES[::-1])] for frame in frames[1:])])
        assert np.array_equal(stacked.X, check_unlabelled(frames).X)
        assert stacked.columns == NAMES
        with pytest.raises(DataError, match='bag 1 has no column "wide", which bag 0 has'):
            check_unlabelled([frames[0], frames[1].rename(columns={"wide": "width"})])
        with pytest.raises(DataError, match='bag 1 has the column "deep", which bag 0 has not'):
            check_unlabelled([frames[0], frames[1].assign(deep=1.0)])
