"""What a fitted model says of other rows and bags, as the lines of bags.csv and labels.csv."""

from typing import Any

import numpy as np

from bliss_framework.estimator.bliss_classifier import BlissClassifier
from bliss_framework.estimator.checked_data import CheckedData
from bliss_framework.estimator.instance_ranks import ranks_of
from bliss_framework.runs.folder.atomic import plain
from bliss_framework.runs.folder.csv_tables import (
    PROBABILITY,
    bag_probabilities,
    carried_columns,
    in_user_words,
    rank_columns,
)

Lines = list[dict[str, Any]]


def prediction_lines(model: Any, data: CheckedData) -> tuple[Lines, Lines]:
    """Predict bags and instances.

    Args:
        model: fitted; a `BlissClassifier` also says probabilities, and ranks instances within their bag.
        data: rows and bags, in the columns of training, and what is carried beside them.

    Returns:
        A line for each bag, and one for each row, with a key for each column.
    """
    ids, predicted = model.predict_bags(data)
    bags = {"bag": plain(ids), "predicted": in_user_words(model, predicted), "score": plain(model.score_bags(data)[1])}
    rows = {
        "row": list(range(data.bags.n_rows)),
        "bag": plain(data.ids),
        "label": plain(model.predict(data)),
    }
    if isinstance(model, BlissClassifier):
        bags[PROBABILITY] = bag_probabilities(model.predict_bag_proba(data)[1], predicted)
        ranks = ranks_of(model, np.asarray(model.decision_function(data)), data.bags.index)
        rows |= rank_columns(ranks, model.classes_, data.bags.n_rows)
    rows |= carried_columns(data.carried, rows)
    return _lines(bags), _lines(rows)


def _lines(columns: dict[str, Any]) -> Lines:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
