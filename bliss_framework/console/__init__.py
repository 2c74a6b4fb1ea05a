"""The console: commands, tables and progress. The only room that draws."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    from bliss_framework.console.app import bliss
    from bliss_framework.console.exits import leave

    leave(bliss)
