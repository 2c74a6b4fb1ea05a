"""The settings of a run: records, options and experiment files."""
