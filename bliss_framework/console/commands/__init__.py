"""The commands: a file for each, with its name."""
