"""How likely weak labels are, given chances of the classes."""
