"""The console: commands, tables and progress. The only room that draws."""

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from bliss_framework.console.exits import exit_codes
    except KeyboardInterrupt:
        # Nothing has been started that could be told about.
        raise SystemExit(130) from None
    with exit_codes() as ending:
        from bliss_framework.console.app import bliss

        ending.code = bliss(standalone_mode=False) or 0
    sys.exit(ending.code)
