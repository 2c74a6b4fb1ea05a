"""From finished runs to one HTML file that needs nothing else."""

import base64
import hashlib
from pathlib import Path

from bliss_framework.report.contents import Section, section_of
from bliss_framework.report.extra import needed
from bliss_framework.report.parts import Chart, Table
from bliss_framework.report.reading import PICTURES, read_runs
from bliss_framework.runs.folder.atomic import write_text
from bliss_framework.version import __version__

TEMPLATE, STYLE, SCRIPT = "page.html.j2", "page.css", "tables.js"
HERE = Path(__file__).parent


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
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_uri"] = _data_uri
    environment.tests["table"] = lambda part: isinstance(part, Table)
    environment.tests["chart"] = lambda part: isinstance(part, Chart)
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in (STYLE, SCRIPT))
    own = {"style": style, "script": script, "policy": policy_for(script), "version": __version__}
    return str(environment.get_template(TEMPLATE).render(sections=sections, **own))


def policy_for(script: str) -> str:
    """Return the content security policy of a page: nothing is loaded, and no script runs but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    allowed = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _data_uri(picture: Path) -> str:
    content = base64.b64encode(picture.read_bytes()).decode("ascii")
    return f"data:{PICTURES[picture.suffix.lower()]};base64,{content}"
