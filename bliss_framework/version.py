"""The version, where every room may read it without importing the others."""

__version__ = "0.1.0"
