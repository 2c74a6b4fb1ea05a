"""Rows in an .npy file, with their bags and labels in a file beside it."""
