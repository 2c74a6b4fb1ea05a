"""From entry points to a registry: discovery, admission, isolation and reports."""
