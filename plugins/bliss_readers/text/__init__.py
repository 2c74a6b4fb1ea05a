"""Text files: their lines, a first look at them, and rows of `index:value`."""
