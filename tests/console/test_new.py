"""`bliss new` asks a person what it needs, and asks nobody where nobody is."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

ANSWERS = {"What does it do": "Rewards quiet labels", "Who is the author": "A. N. Author", "Which licence": "MIT"}


def on_terminal(command: list[str], cwd: Path, answers: dict[str, str]) -> str:
    """Run a command on a terminal of its own, answer its questions, and return all that was shown."""
    keyboard, other_end = pty.openpty()
    process = subprocess.Popen(command, cwd=cwd, stdin=other_end, stdout=other_end, stderr=other_end)
    os.close(other_end)
    shown, waiting, ends = "", dict(answers), time.monotonic() + 60
    while time.monotonic() < ends:
        if not select.select([keyboard], [], [], 0.1)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            shown += os.read(keyboard, 4096).decode()
        except OSError:
            break
        for question in [question for question in waiting if question in shown]:
            os.write(keyboard, f"{waiting.pop(question)}\n".encode())
    process.wait(timeout=10)
    os.close(keyboard)
    assert process.returncode == 0, shown
    assert not waiting, f"was not asked: {list(waiting)}"
    return shown


def test_a_person_is_asked(tmp_path: Path) -> None:
    """Summary, author and licence are asked on a terminal, and the answers are in the files."""
    on_terminal([sys.executable, "-m", "bliss_framework", "new", "reward", "quiet-reward"], tmp_path, ANSWERS)
    project = (tmp_path / "quiet-reward" / "pyproject.toml").read_text()
    assert 'description = "Rewards quiet labels"' in project
    assert 'license = "MIT"' in project
    assert "A. N. Author" in (tmp_path / "quiet-reward" / "LICENSE").read_text()


def test_what_is_given_is_not_asked(tmp_path: Path) -> None:
    """Options answer their questions; the others are still asked."""
    command = [sys.executable, "-m", "bliss_framework", "new", "reward", "quiet-reward", "--licence", "none"]
    rest = {question: answer for question, answer in ANSWERS.items() if question != "Which licence"}
    shown = on_terminal([*command, "--author", "Somebody"], tmp_path, {"What does it do": rest["What does it do"]})
    assert "Who is the author" not in shown
    assert "Which licence" not in shown
    assert not (tmp_path / "quiet-reward" / "LICENSE").exists()


def test_nobody_is_asked_without_a_terminal(tmp_path: Path) -> None:
    """In a script the defaults are taken, and every file that was written is named on standard error."""
    command = [sys.executable, "-m", "bliss_framework", "new", "reader", "my-reader"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "my-reader/pyproject.toml" in done.stderr
    assert len(done.stdout.splitlines()) == 3
