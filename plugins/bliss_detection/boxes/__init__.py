"""Boxes: their geometry, and where they are proposed."""
