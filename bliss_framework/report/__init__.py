"""One HTML file that tells a run: `bliss report`."""
