"""The native .npz archive."""
