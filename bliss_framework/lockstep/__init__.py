"""All folds of a pass at once, over blocks of whole bags: what travels between blocks are sums, and rows to compare."""
