"""Ready bag readings for regimes to pick from: what built-in and third-party plugins share."""
