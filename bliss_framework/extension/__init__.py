"""How anything gets in: contracts, hooks, discovery, the plugin manager and the registry."""
