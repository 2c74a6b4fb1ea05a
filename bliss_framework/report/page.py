"""From finished runs to one HTML file that needs nothing else."""

import base64
from pathlib import Path

from bliss_framework.report.contents import Section, section_of
from bliss_framework.report.extra import needed
from bliss_framework.report.parts import Table
from bliss_framework.report.reading import PICTURES, read_runs
from bliss_framework.runs.folder.atomic import write_text
from bliss_framework.version import __version__

TEMPLATE = "page.html.j2"


def write_report(folder: Path, target: Path | None = None) -> Path:
    """Write the report of a run.

    Args:
        folder: of the run, or of a run with several experiments.
        target: the file to write; None means `report.html` in the folder.

    Returns:
        The file that was written.

    Raises:
        MissingExtraError: the extra `report` is not installed.
        RunError: there is no finished run, or the file cannot be written.
    """
    needed("jinja2")
    runs = read_runs(folder)
    path = folder / "report.html" if target is None else target
    write_text(path, page([section_of(run) for run in runs]))
    return path


def page(sections: list[Section]) -> str:
    """Lay sections out as HTML; all text is escaped.

    Raises:
        MissingExtraError: jinja2 is not there.
    """
    jinja2 = needed("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_uri"] = _data_uri
    environment.tests["table"] = lambda part: isinstance(part, Table)
    return str(environment.get_template(TEMPLATE).render(sections=sections, version=__version__))


def _data_uri(picture: Path) -> str:
    content = base64.b64encode(picture.read_bytes()).decode("ascii")
    return f"data:{PICTURES[picture.suffix.lower()]};base64,{content}"
