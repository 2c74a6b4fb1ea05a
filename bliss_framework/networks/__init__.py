"""Small networks that baselines and heads are made of: run in NumPy, trained in torch."""
