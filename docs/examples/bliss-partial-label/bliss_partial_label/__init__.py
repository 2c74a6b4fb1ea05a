"""Partial labels: each instance comes with a set of possible labels, one of which is right."""
