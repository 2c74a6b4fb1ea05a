"""Classifiers: SVMs, kernel ridge and ridge, logistic regression, and any scikit-learn classifier."""
