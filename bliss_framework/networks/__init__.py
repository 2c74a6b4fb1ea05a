"""Small networks that baselines and heads are made of, run and trained in NumPy."""
