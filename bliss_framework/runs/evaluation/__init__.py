"""The evaluation of a run: methods, folds, fits and measures."""
