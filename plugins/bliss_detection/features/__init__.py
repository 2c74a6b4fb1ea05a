"""Features of boxes: made once for a whole set, reduced, and kept on disk."""
