"""The report in a real browser: it fits each screen, its tables work, and nothing from outside runs."""

import base64
import hashlib
import json
import re
import shutil
import subprocess

import pytest

from bliss_framework.report.page import write_report

pytest.importorskip("jinja2", reason="needs the extra report")
pytest.importorskip("matplotlib", reason="needs the extra report")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser is installed: none of {', '.join(NAMES)}")

# What a reader does: sorts by the second column, searches, and asks for all lines of the next table.
READER = """
const said = {};
const tables = [...document.querySelectorAll("table.data")];
const named = (title) => tables.find((t) => t.closest(".scroll").previousElementSibling.previousElementSibling
  .textContent.startsWith(title));
const shown = (table) => [...table.tBodies[0].rows].filter((row) => row.getClientRects().length);
const witnesses = named("Witnesses"), bags = named("Bags that the model");
said.before = shown(bags).length;
const tools = bags.closest(".scroll").previousElementSibling;
tools.querySelector("button").click();
said.all = shown(bags).length;
const row = witnesses.tHead.rows[0].cells[3];
row.querySelector("button").click();
said.sort = row.getAttribute("aria-sort");
said.first = shown(witnesses)[0].cells[3].textContent;
row.querySelector("button").click();
said.last = shown(witnesses)[0].cells[3].textContent;
const search = witnesses.closest(".scroll").previousElementSibling.querySelector("input");
search.value = "TILE 9";
search.dispatchEvent(new Event("input"));
said.found = shown(witnesses).map((one) => one.cells[4].textContent);
const page = getComputedStyle(document.documentElement);
said.paper = page.backgroundColor;
said.ink = getComputedStyle(document.querySelector("figure svg text")).fill;
said.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const reached = [...document.querySelectorAll("a, button, input, summary, [tabindex]")];
said.reached = reached.every((one) => one.tabIndex >= 0);
said.named = [...document.querySelectorAll("figure")].every((one) => /[0-9]/.test(one.getAttribute("aria-label")));
said.alien = document.querySelectorAll("img[onerror]").length + (window.alien ? 1 : 0);
document.title = JSON.stringify(said);
"""
# What a stranger's text might bring, if it were not escaped: a script, a handler, a picture and a font from elsewhere.
ALIEN = (
    "<script>window.alien = true</script><img src=x onload='window.alien = true' onerror='window.alien = true'>"
    "<img src='http://127.0.0.1:9/a.png'><link rel=stylesheet href='http://127.0.0.1:9/a.css'>"
)


def opened(page, tmp_path, *options):
    """Open a page, and return what the reader found, and the messages of the browser."""
    done = subprocess.run(
        [BROWSER, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", *options, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL).group(1)
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(title.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")), messages


def with_reader(text):
    """Let one more script run in a page: the reader's, by its digest."""
    digest = base64.b64encode(hashlib.sha256(READER.encode()).digest()).decode()
    assert text.count("script-src ") == 1
    return text.replace("script-src ", f"script-src &#39;sha256-{digest}&#39; ").replace(
        "</body>", f"<script>{READER}</script></body>"
    )


@pytest.fixture(scope="module")
def report(binary_run):
    """The text of the report of a run whose names are hostile."""
    return write_report(binary_run()).read_text(encoding="utf-8")


def test_a_phone(report, tmp_path):
    """On 500 pixels nothing is cut, tables sort, search and open, all is reached by keyboard, and nobody complains."""
    page = tmp_path / "report.html"
    page.write_text(with_reader(report), encoding="utf-8")
    said, messages = opened(page, tmp_path, "--window-size=500,900")
    assert messages == []
    assert (said["before"], said["all"]) == (25, 40)
    assert (said["sort"], said["first"], said["last"]) == ("ascending", "9", "117")
    assert said["found"] == ["tile 99", "tile 93", "tile 9"]  # Still from the last row down.
    assert said["wide"] <= 0
    assert said["reached"]
    assert said["named"]
    assert said["alien"] == 0
    assert (said["paper"], said["ink"]) == ("rgb(255, 255, 255)", "rgb(28, 31, 37)")


def test_the_dark_and_a_stranger(report, tmp_path):
    """On a dark screen paper and ink change places; a page into which a stranger's tags came runs and loads nothing."""
    page = tmp_path / "report.html"
    page.write_text(with_reader(report.replace("<main>", f"<main>{ALIEN}")), encoding="utf-8")
    said, messages = opened(page, tmp_path, "--window-size=1000,900", "--blink-settings=preferredColorScheme=0")
    assert (said["paper"], said["ink"]) == ("rgb(20, 23, 28)", "rgb(230, 232, 236)")
    assert said["alien"] == 1  # The picture is there, and nothing ran.
    assert sum("Content Security Policy" in message for message in messages) >= 4
