"""The data of a run: named data sets and files."""
