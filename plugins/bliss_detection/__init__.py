"""Weakly supervised object detection: boxes from image-level labels, by label inference on box proposals."""
