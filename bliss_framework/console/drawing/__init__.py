"""Tables, progress and notes."""
