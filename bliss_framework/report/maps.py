"""Where the instances of bags lie, if the user's file carried coordinates."""

import numpy as np
from numpy.typing import NDArray

from bliss_framework.report.charts import maps_chart
from bliss_framework.report.instances import Instances
from bliss_framework.report.parts import Chart, Part
from bliss_framework.report.weak_bags import BINARY, WeakBags
from bliss_framework.report.witnesses import strength_of

MOST_MAPS = 6


def map_parts(weak: WeakBags, instances: Instances) -> list[Part]:
    """Draw the instances of some bags where they lie, if the user's file carried coordinates."""
    places = instances.places
    if places is None or weak.kind != BINARY or weak.values is None:
        return []
    values, what = strength_of(weak, instances)
    if not what.endswith("(out of fold)"):
        values, what = _signed_confidence(weak, instances), "inferred label and its confidence"
    shown = np.isfinite(places).all(axis=1) & np.isfinite(values)
    strongest = np.array([values[shown & (instances.bags == bag)].max(initial=-np.inf) for bag in weak.ids])
    positive = np.flatnonzero((np.asarray(weak.values) == 1) & np.isfinite(strongest))
    picked = positive[np.argsort(-strongest[positive], kind="stable")][:MOST_MAPS]
    if not len(picked):
        return []
    maps = []
    for b in picked:
        rows = shown & (instances.bags == weak.ids[b])
        maps.append((weak.ids[b], np.column_stack([places[rows], values[rows]])))
    said = ", ".join(f"{name}: {len(points)} instances, largest {points[:, 2].max():.3f}" for name, points in maps)
    return [Chart(f"Maps of {len(maps)} positive bags", maps_chart(maps, what), said, f"Colour: {what}.")]


def _signed_confidence(weak: WeakBags, instances: Instances) -> NDArray[np.float64]:
    """Return confidences (n,), those of instances that were inferred to be negative below 0."""
    return np.where(instances.labels == weak.words[1], instances.confidence, -instances.confidence)
