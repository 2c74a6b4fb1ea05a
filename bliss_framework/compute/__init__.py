"""Where work runs: processes of this machine, or a cluster."""
