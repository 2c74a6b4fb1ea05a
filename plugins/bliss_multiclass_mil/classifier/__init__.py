"""The cooperative softmax."""
