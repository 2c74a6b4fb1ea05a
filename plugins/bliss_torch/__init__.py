"""Least squares and the cooperative softmax on a torch device."""
