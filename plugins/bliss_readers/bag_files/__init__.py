"""A file for each bag, and a table of the bags' labels."""
