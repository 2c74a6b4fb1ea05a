"""What this plugin registers."""

from bliss_detection.inference.balanced_ridge import BalancedRidge
from bliss_detection.inference.detection_prior import DetectionPrior
from bliss_detection.pipeline import Detection, ShapesDetection
from bliss_framework.plugin import Component, hookimpl


@hookimpl
def bliss_rewards() -> list[Component]:
    """Register the paper's prior for detection, which wraps any reward."""
    summary = "Any reward times DistGap: positives have their like in positive bags only (the paper)"
    return [Component("detection-prior", DetectionPrior, summary)]


@hookimpl
def bliss_classifiers() -> list[Component]:
    """Register a classifier for bags with very many instances."""
    summary = "Class-balanced least squares; cost and memory grow with features, not with the square of instances"
    saved = ("bliss_detection.inference.balanced_ridge.BalancedLeastSquares",)
    return [Component("balanced-ridge", BalancedRidge, summary, saved_types=saved)]


@hookimpl
def bliss_pipelines() -> list[Component]:
    """Register detection from image-level labels, on your own images and on generated ones."""
    detection = "Boxes from image-level labels in a VOC folder, a detector, average precision (the paper)"
    return [
        Component("detection", Detection, detection),
        Component("shapes-detection", ShapesDetection, "The same on generated scenes: no data, model or OpenCV needed"),
    ]
