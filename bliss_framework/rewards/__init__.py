"""Public building blocks for rewards: what built-in and third-party plugins share."""
