"""Pairwise supervision: pairs of instances that are known to agree or to differ, and a few known classes."""
