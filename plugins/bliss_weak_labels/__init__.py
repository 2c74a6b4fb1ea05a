"""Weak labels of many kinds: sets, noise, missing ones, annotators, pairs, comparisons, confidences and counts."""
