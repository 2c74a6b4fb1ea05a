"""How the command line ends: what it says, with which code, and what it leaves to attach."""

import signal
import sys
import warnings
from io import BytesIO, TextIOWrapper
from pathlib import Path

import click
import pytest

from bliss_framework import DataError, __version__
from bliss_framework.compute import processes, signals
from bliss_framework.console import exits, main, streams
from bliss_framework.console.exits import Interrupted, exit_codes
from bliss_framework.console.streams import OutputLost

BUG = """
import sys
from bliss_framework.console.exits import exit_codes

sys.argv = ["bliss", "run", "data[/x].csv"]
with exit_codes() as ending:
    raise RuntimeError("[/x] went wrong")
sys.exit(ending.code)
"""


LEAVING = next(n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.strip() == "raise ending")


@pytest.fixture
def left(here, capsys, monkeypatch):
    """A function that leaves by an exception, and tells the code and the text."""
    monkeypatch.setattr(exits, "_stop_soon", lambda code: None)

    def run(ending):
        with exit_codes() as left_with:
            raise ending
        out, err = capsys.readouterr()
        assert out == ""
        return left_with.code, err

    return run


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        (DataError("Bag 3 is empty."), 1, "Error: Bag 3 is empty.\n"),
        (click.exceptions.Exit(5), 5, ""),
        (
            SystemExit(0),
            1,
            f"Error: The program was ended by sys.exit(0) in {__file__}, line {LEAVING}, before there was a result.\n",
        ),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (click.Abort(), 130, "Interrupted.\n"),
        (Interrupted("To go on: bliss run x --resume"), 130, "To go on: bliss run x --resume\n"),
        (
            OSError(28, "No space left on device", "out/x"),
            1,
            "Error: out/x cannot be used: No space left on device. Free some space, or choose a place that has it.\n",
        ),
        (
            OSError(5, "Input/output error"),
            1,
            "Error: The system refused something: Input/output error. The",
        ),
        (
            PermissionError(13, "Permission denied", "x"),
            1,
            "Error: x cannot be used: Permission denied. Choose a",
        ),
        (OSError("odd"), 1, "Error: The system refused something: odd.\n"),
        (
            MemoryError("Unable to allocate 763. MiB"),
            1,
            "Error: There is not enough memory: Unable to allocate 763. MiB",
        ),
        (OutputLost(9), 1, "Error: Standard output is closed, so nothing can be printed there.\n"),
        (OutputLost(28), 1, "Error: Standard output cannot be written: No space left on device.\n"),
        (OutputLost(32), 1, ""),
    ],
)
def test_codes(left, ending, code, said):
    """Each way to end has its code, and says on standard error what there is to say, in one paragraph."""
    left_with, text = left(ending)
    assert left_with == code
    assert text == said if said.endswith("\n") or not said else text.startswith(said)
    assert text.count("\n") == (text != "")


def test_a_command_that_ends_without_an_error(cli):
    """A command that is done leaves with code 0, and one that only shows something does so too."""
    assert [cli("--version").code, cli("run", "--help").code, cli("plugins", "bandits").code] == [0, 0, 0]


def test_notes_join_the_paragraph(left):
    """What an error learnt on its way up, such as the fold, stands behind its text."""
    error = DataError("It went wrong.")
    error.add_note("(fold 2 of 5)")
    assert left(error) == (1, "Error: It went wrong. (fold 2 of 5)\n")


def test_usage(left):
    """A wrong word on the command line is a usage error."""
    code, said = left(click.UsageError("No such option: --nix[/x]"))
    assert code == 2
    assert "No such option: --nix[/x]" in said


@pytest.mark.parametrize(
    "error",
    [MemoryError(), ImportError("libx.so.1: failed to map segment from shared object"), OSError(12, "Cannot allocate")],
)
def test_lack_of_memory(left, error):
    """Wherever memory runs out, also while a library is loaded, that is said, and nobody has a bug."""
    code, said = left(error)
    assert code == 1
    assert "memory" in said
    assert "bug" not in said


def test_a_bug_of_ours(spawn, here):
    """An unexpected exception leaves a log file with versions, the command and the traceback, and names it."""
    ended = spawn(program=("-c", BUG))
    (log,) = here.glob("bliss-error-*.log")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        f"This is a bug of bliss: RuntimeError: [/x] went wrong\nPlease report it, with the file {log}.\n"
    )
    text = log.read_text(encoding="utf-8")
    first, versions, command = text.splitlines()[:3]
    assert first.startswith(f"bliss_framework {__version__}, Python {sys.version.split()[0]}, ")
    assert all(f"{package} " in versions for package in ("numpy", "scikit-learn", "pluggy", "rich"))
    assert command == "command: ['run', 'data[/x].csv']"
    assert "line 7, in <module>" in text
    assert text.rstrip().endswith("RuntimeError: [/x] went wrong")


def test_a_log_where_the_current_folder_cannot_be_written(left, here, monkeypatch, tmp_path):
    """Where the current folder cannot be written, the log goes to that of temporary files."""
    whole = Path.write_text

    def refuse(self, text, **options):
        if self.parent == here:
            raise PermissionError(13, "Permission denied")
        return whole(self, text, **options)

    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(exits.tempfile, "gettempdir", lambda: str(tmp_path))
    code, said = left(RuntimeError("x"))
    (log,) = tmp_path.glob("bliss-error-*.log")
    assert code == 3
    assert str(log) in said


def test_warnings_are_sentences(here, capsys, monkeypatch):
    """A Python warning is shown without the line of code that it came from."""
    with exit_codes(), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("n_folds was reduced.", stacklevel=1)
    assert capsys.readouterr().err == "Warning: n_folds was reduced.\n"


def test_what_joblib_says_of_ctrl_c_is_left_out(here, capsys):
    """That work was cut short is what the user wanted, and no warning."""
    with exit_codes():
        warnings.warn("7 tasks which were still being processed by the workers have been cancelled.", stacklevel=1)
        warnings.warn("3 tasks have been successfully executed  but not used.", stacklevel=1)
    assert capsys.readouterr().err == ""


def test_ctrl_c_twice_means_once(monkeypatch):
    """A second Ctrl-C within a second does not disturb what the first one began; a later one is another one."""
    now = [50.0]
    monkeypatch.setattr(exits.time, "monotonic", lambda: now[0])
    interrupt = exits.PatientInterrupt()
    with pytest.raises(KeyboardInterrupt):
        interrupt(2, None)
    now[0] += 0.9
    interrupt(2, None)
    now[0] += 0.2
    with pytest.raises(KeyboardInterrupt):
        interrupt(2, None)


def test_ctrl_c_before_anything_began(monkeypatch):
    """Ctrl-C while the console itself is being made ends with the same code, and without a traceback."""

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(exits, "guard_streams", interrupted)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130


def test_memory_that_ran_out_says_what_needs_less(left):
    """The parameters that make a fit smaller are named."""
    said = left(MemoryError())[1]
    assert said.startswith("Error: There is not enough memory. A fit needs less with more folds (n_folds)")
    assert all(word in said for word in ("train_on", "ridge", "n_jobs"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_that_end_a_process(here, capsys, monkeypatch, number, code):
    """Each is an interruption, with the code that shells give it; what the command does in its end is done."""
    monkeypatch.setattr(exits, "_stop_soon", lambda code: None)
    tidied = []
    for one in exits.ENDING_SIGNALS:
        signal.signal(one, signal.SIG_DFL)
    with exit_codes() as ending:
        try:
            signal.raise_signal(number)
        finally:
            tidied.append(True)
    assert (ending.code, tidied, capsys.readouterr().err) == (code, [True], "Interrupted.\n")


def test_nohup(here):
    """A signal that whoever started the command wants ignored stays ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with exit_codes() as ending:
        signal.raise_signal(signal.SIGHUP)
    assert ending.code == 0


@pytest.mark.parametrize(("n_jobs", "ignored_at_start"), [(2, [True]), (1, []), (None, [])])
def test_workers_begin_without_ctrl_c(monkeypatch, n_jobs, ignored_at_start):
    """Worker processes begin while signals are held back, which they inherit; then this process hears them again."""
    heard = []

    class Pool:
        def __init__(self, n_jobs):
            heard.append(signal.pthread_sigmask(signal.SIG_BLOCK, []) >= set(signals.NOT_FOR_WORKERS))

        def __call__(self, tasks):
            assert len(list(tasks)) == 2

    monkeypatch.setattr(processes, "Parallel", Pool)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with processes.workers_of_this_process(n_jobs):
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
    assert heard == ignored_at_start


def test_a_signal_while_workers_begin_is_not_lost():
    """It is heard when they have begun."""
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with signals.signals_kept_from_children():
            signal.raise_signal(signal.SIGTERM)
            assert heard == []
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", b"Z\\xfcrich \\u2713"), ("utf-8", "Zürich ✓".encode())])
def test_text_that_the_encoding_lacks(monkeypatch, encoding, shown):
    """What a stream cannot encode is written as an escape, and ends nothing."""
    stream = TextIOWrapper(BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    streams.guard_streams()
    stream.write("Zürich ✓")
    stream.flush()
    assert stream.buffer.getvalue() == shown
