"""The console: commands, tables and progress. The only room that draws."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from bliss_framework.console.app import bliss
        from bliss_framework.console.exits import leave
    except KeyboardInterrupt:
        # Nothing has been started that could be told about.
        raise SystemExit(130) from None
    leave(bliss)
