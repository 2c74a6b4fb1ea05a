"""`bliss report`: a finished run as one HTML file."""

from pathlib import Path

import rich_click as click


@click.command("report")
@click.argument("run")
@click.option("--output", metavar="FILE", help="The HTML file to write. [default: report.html in RUN]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def report_command(run: str, output: str | None, as_json: bool, quiet: bool) -> None:
    """Write one self-contained HTML file about a finished run or comparison.

    RUN is its directory, or that of a file with several experiments. Needs the extra `report`.
    """
    from bliss_framework.console.drawing.screens import open_screen
    from bliss_framework.report.page import write_report
    from bliss_framework.runs.folder.atomic import to_json

    screen = open_screen(quiet, as_json)
    path = write_report(Path(run), None if output is None else Path(output))
    if as_json:
        screen.document(to_json({"format": 1, "file": str(path)}))
        return
    screen.results.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)
