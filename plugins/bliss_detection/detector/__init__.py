"""What picked boxes are good for: a detector is trained on them, measured and drawn."""
