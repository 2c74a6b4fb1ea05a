"""The pages that show what comes out are followed line by line; numbers may differ in their last digits."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from bliss_framework.console import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (
    "index.md",
    "tutorial/drug-activity.md",
    "tutorial/passages.md",
    "tutorial/slides.md",
    "tutorial/aggregated-outcomes.md",
    "tutorial/objects.md",
)
NEEDS = {"tutorial/objects.md": "cv2"}
SLOW = "--cv 10"  # Such a command shows nothing, and takes as long as all others.


def words_of(text):
    """Return the words of a text, numbers all alike."""
    return " ".join(re.sub(r"\d+(\.\d+)?", "N", text).split())


@pytest.mark.filterwarnings("ignore::bliss_framework.errors.BlissWarning")
@pytest.mark.parametrize("name", PAGES)
def test_page_shows_what_comes_out(name, tmp_path, monkeypatch, capsys):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="This page needs the extra 'detection'.")
    monkeypatch.chdir(tmp_path)
    namespace, out = {"__name__": "page"}, ""
    for kind, block in re.findall(r"```(python|console|text)\n(.*?)```", (DOCS / name).read_text(), re.DOTALL):
        if kind == "python":
            exec(compile(block, name, "exec"), namespace)
            out = capsys.readouterr().out or out
        elif kind == "text":
            for part in block.split("\n...\n"):
                assert words_of(part) in words_of(out)
        elif block.startswith("bliss ") and SLOW not in block:
            monkeypatch.setattr(sys, "argv", shlex.split(block))
            with pytest.raises(SystemExit) as ended:
                main()
            out = capsys.readouterr().out
            assert ended.value.code == 0
