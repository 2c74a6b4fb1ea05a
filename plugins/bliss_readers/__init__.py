"""Readers of data files: the native .npz form, and tables as text."""
