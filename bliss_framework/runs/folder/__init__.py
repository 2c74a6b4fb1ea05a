"""The directory of a run: state while it works, results at its end."""
