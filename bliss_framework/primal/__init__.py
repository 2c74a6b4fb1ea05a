"""Least squares in as many unknowns as there are features: sums over blocks of rows, and features of kernels."""
