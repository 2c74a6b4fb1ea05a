"""`bliss report`: a finished run as one HTML file."""

from pathlib import Path

from bliss_framework.console.drawing.screens import open_screen
from bliss_framework.report.page import write_report
from bliss_framework.runs.folder.atomic import to_json


def report_run(run: str, output: str | None, as_json: bool, quiet: bool) -> None:
    """Write the report of the run in a directory."""
    screen = open_screen(quiet, as_json)
    path = write_report(Path(run), None if output is None else Path(output))
    if as_json:
        screen.document(to_json({"format": 1, "file": str(path)}))
        return
    screen.results.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)
