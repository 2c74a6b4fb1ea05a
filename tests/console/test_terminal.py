"""The command line on a terminal, and Ctrl-C in the middle of work."""

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from bliss_framework.runs.folder.checkpoint import FORMAT

pty = pytest.importorskip("pty", reason="a terminal needs a system that has them")

ON_TERMINAL = """
import fcntl, runpy, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C reaches the processes of whom this is the terminal.
sys.argv = ["bliss", *sys.argv[1:]]
runpy.run_module("bliss_framework", run_name="__main__")
"""
BUSY = """
import sys, time
from joblib import Parallel, delayed
from bliss_framework.compute.processes import workers_of_this_process
from bliss_framework.console.exits import exit_codes

def command():
    with workers_of_this_process(2):
        results = Parallel(n_jobs=2, return_as="generator")(delayed(time.sleep)(3600 * i) for i in range(4))
        next(results)
        print("the first result", flush=True)
        time.sleep(3600)

with exit_codes() as ending:
    command()
sys.exit(ending.code)
"""
LONG = ("--cv", "4", "--repeats", "3", "--n-rounds", "200", "--n-inferences", "1", "--n-folds", "2", "--output", "out")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SHOW, HIDE = "\x1b[?25h", "\x1b[?25l"


class Terminal:
    """A command that runs on a terminal of its own."""

    def __init__(self, *words: str, width: int = 100, **environ: str) -> None:
        import fcntl
        import struct
        import termios

        self.keyboard, other_end = pty.openpty()
        fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", ON_TERMINAL, *words],
            env={**os.environ, "TERM": "xterm-256color", **environ},
            stdin=other_end,
            stdout=other_end,
            stderr=other_end,
            start_new_session=True,
        )
        os.close(other_end)
        self.shown = ""

    def watch(self, until=lambda: False, seconds: float = 60.0) -> str:
        """Read the screen until the command ends, or something else happens."""
        began = time.monotonic()
        while not until() and time.monotonic() - began < seconds:
            if not select.select([self.keyboard], [], [], 0.05)[0]:
                if self.process.poll() is not None:
                    break
                continue
            try:
                data = os.read(self.keyboard, 65536)
            except OSError:  # Linux says so where the other end is closed.
                break
            if not data:
                break
            self.shown += data.decode("utf-8", "replace")
        return self.shown

    def end(self, seconds: float = 10.0) -> int:
        """Read on until the command has ended, and return its exit code."""
        self.watch(lambda: self.process.poll() is not None, seconds)
        code = self.process.wait(timeout=seconds)
        self.watch(seconds=1.0)
        os.close(self.keyboard)
        return code


def running(session: int) -> list[str]:
    """List the processes of a session that are still at work."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(") ")
        except OSError:
            continue
        state, _, _, its_session = rest.split()[:4]
        if its_session == str(session) and state not in "ZX":
            found.append(name)
    return found


class TestBars:
    def test_a_run(self, here, table):
        """Bars show rounds, mean reward and fits while the run goes on, and are gone in the end; the cursor is back."""
        table("run[old].csv")
        words = ("run", "run[old].csv", "--n-rounds", "200", "--n-folds", "3", "--cv", "2")
        terminal = Terminal(*words)
        shown = terminal.watch()
        assert terminal.end() == 0
        plain = COLOUR.sub("", shown)
        assert "run[old] (run[old].csv): 12 bags, 48 instances, 9 fits" in plain
        assert re.search(r"fold \d/3 +\S+ round +\d+/200 reward 0\.\d{3}", plain)
        assert re.search(r"fit \d/9", plain)
        assert shown.rindex(SHOW) > shown.rindex(HIDE)
        assert "results: bliss-runs/run-old-" in plain
        assert COLOUR.search(shown)

    def test_no_colour(self, here, table):
        """NO_COLOR leaves out colours, in tables and in help texts; bold is none."""
        table()
        terminal = Terminal("plugins", NO_COLOR="1")
        shown = terminal.watch()
        assert terminal.end() == 0
        assert "bliss-framework" in shown
        assert [
            code for code in COLOUR.findall(shown) if re.search(r"[;\[](3[0-7]|9[0-7]|38|4[0-7]|48)[;m]", code)
        ] == []

    def test_a_reward_with_bars_of_its_own(self, here, table, install):
        """A plugin that opens its own live display does not break the run."""
        source = """
from bliss_framework import Component, Reward, hookimpl
from rich.progress import track

class Tracked(Reward):
    def __call__(self, outcome):
        return [0.5 for _ in track(outcome.assignment, description="mine")]

@hookimpl
def bliss_rewards():
    return [Component("tracked", Tracked)]
"""
        install("bliss-tracked", "tracked = tracked_hooks", {"tracked_hooks": source})
        table()
        terminal = Terminal("run", "toy.csv", "--reward", "tracked", "--n-rounds", "2", "--n-folds", "3")
        shown = terminal.watch()
        assert terminal.end() == 0
        assert "LiveError" not in shown
        assert "results: bliss-runs/toy-" in COLOUR.sub("", shown)


def none_left(session: int) -> bool:
    """Wait for the helpers of a session, of which the last goes when it sees that it is no longer needed."""
    began = time.monotonic()
    while running(session) and time.monotonic() - began < 10:
        time.sleep(0.05)
    return running(session) == []


class TestInterrupt:
    def check(self, code, said, session, here):
        """See that an interrupted run ended well, then type what it says, and see it finish."""
        assert code == 130
        assert "Traceback" not in said
        assert "Warning" not in said
        assert none_left(session)
        kept = sorted(path.name for path in (here / "out" / "state").glob("*.json"))
        assert kept
        assert all(json.loads((here / "out" / "state" / name).read_text())["format"] == FORMAT for name in kept)
        assert list((here / "out").rglob("*.part")) == []
        command = said.rpartition("To go on: bliss ")[2].split("\n")[0].strip()
        assert "--resume" in command
        again = subprocess.run(
            [sys.executable, "-m", "bliss_framework", *shlex.split(command)], capture_output=True, text=True, timeout=60
        )
        assert again.returncode == 0, again.stderr
        assert json.loads((here / "out" / "result.json").read_text())["evaluation"]["repeats"] == 3
        assert not (here / "out" / "state").exists()

    def test_ctrl_c_on_a_terminal(self, here, table):
        """With one job: exit 130 within ten seconds however often it is typed, and what the message says goes on."""
        table(n_pos=20, n_neg=20)
        terminal = Terminal("run", "toy.csv", *LONG, width=200)
        terminal.watch(lambda: any((here / "out" / "state").glob("bliss-*.json")))
        for _ in range(3):
            os.write(terminal.keyboard, b"\x03")
            time.sleep(0.03)
        code = terminal.end(10.0)
        shown = COLOUR.sub("", terminal.shown).replace("\r", "")
        assert terminal.shown.rindex(SHOW) > terminal.shown.rindex(HIDE)
        self.check(code, shown, terminal.process.pid, here)

    def test_signal_with_two_jobs(self, here, table):
        """With two jobs, and the signal sent to all processes as a terminal does: the same, and no worker is left."""
        table(n_pos=20, n_neg=20)
        command = [sys.executable, "-m", "bliss_framework", "run", "toy.csv", *LONG, "--n-jobs", "2"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            began = time.monotonic()
            while not any((here / "out" / "state").glob("bliss-*.json")) and time.monotonic() - began < 60:
                time.sleep(0.05)
            assert process.poll() is None
            os.killpg(process.pid, signal.SIGINT)
            try:
                _, said = process.communicate(timeout=10)
            finally:
                process.kill()
        self.check(process.returncode, said, process.pid, here)

    def test_workers_that_are_busy(self, here):
        """Workers in the middle of a task that takes an hour are stopped, and show no traceback of their own."""
        command = [sys.executable, "-c", BUSY]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            assert process.stdout.readline() == "the first result\n"
            os.killpg(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=10)
        assert (process.returncode, said) == (130, "Interrupted.\n")
        assert none_left(process.pid)

    def test_what_is_left_behind_is_tidied_up_without_a_word(self, here):
        """A process that ends before its workers leaves semaphores, which are nothing to a reader of a terminal."""
        stopped = (
            "import os; from bliss_framework.compute.processes import workers_of_this_process\n"
            "with workers_of_this_process(2): os._exit(130)"
        )
        done = subprocess.run([sys.executable, "-c", stopped], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (130, "")

    @pytest.mark.parametrize(
        ("name", "everybody", "code"), [("KILL", False, -9), ("TERM", False, 143), ("HUP", True, 129)]
    )
    def test_workers_end_with_their_parent(self, here, name, everybody, code):
        """However a command with two processes ends, soon no process and no shared memory of it is left."""
        command = [
            sys.executable,
            "-m",
            "bliss_framework",
            "run",
            "musk1",
            *LONG,
            "--n-rounds",
            "3000",
            "--n-jobs",
            "2",
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            began = time.monotonic()
            while not shared_memory(process.pid) and time.monotonic() - began < 60:
                time.sleep(0.05)
            assert shared_memory(process.pid)
            (os.killpg if everybody else os.kill)(process.pid, getattr(signal, f"SIG{name}"))
            try:
                _, said = process.communicate(timeout=20)
            finally:
                process.kill()
        assert process.returncode == code
        assert said.count("Interrupted") == (name != "KILL")
        assert none_left(process.pid)
        assert shared_memory(process.pid) == []


def shared_memory(pid: int) -> list[Path]:
    """List what joblib has put into memory or temporary folders for a process."""
    places = (Path("/dev/shm"), Path(tempfile.gettempdir()))
    return [one for place in places for one in place.glob(f"joblib_memmapping_folder_{pid}_*")]
