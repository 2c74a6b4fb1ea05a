"""One regime a file: how its weak labels are written, and how likely they are."""
