"""The console: commands, tables and progress. The only room that draws."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = _ended()
    except KeyboardInterrupt:
        # Before anything was started that could be told about, or again while it was told.
        code = INTERRUPTED
    sys.exit(code)


def _ended() -> int:
    from bliss_framework.console.exits import exit_codes

    with exit_codes() as ending:
        from bliss_framework.console.app import bliss

        ending.code = bliss(standalone_mode=False) or 0
    return ending.code
