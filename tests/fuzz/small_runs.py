"""Short runs of every kind, each in a forked child of one warm process, for the scripts that disturb them."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SHORT = "--n-rounds 3 --n-inferences 1 --n-folds 2"
# Of each kind what is typed; OUT is the directory or the file of its results.
KINDS = {
    "run": f"run toy.csv {SHORT} --cv 2 --output OUT",
    "jobs": f"run toy.csv {SHORT} --cv 2 --n-jobs 2 --output OUT",
    "compare": f"compare toy.csv {SHORT} --cv 2 --methods bliss,bag-mean-svm --output OUT",
    "select": f"run toy.csv {SHORT} --settings select --output OUT",
    "tune": f"tune toy.csv {SHORT} --output OUT.toml",
    "experiments": "run two.toml --output OUT",
    "llp": f"run breast-cancer-llp {SHORT} --classifier ridge --output OUT",
    "multi-class": f"run digits-multiclass {SHORT} --classifier ridge --final-classifier ridge --output OUT",
    "detection": "run shapes-detection --set pipeline.n_train=12 --set pipeline.n_test=6 --set pipeline.n_rounds=2 "
    '--set pipeline.n_passes=1 --set pipeline.methods=["bliss","whole-image"] --output OUT',
}
# The same on clusters of this machine; they need their extras, and start slowly.
CLUSTERS = {
    engine: f"run toy.csv {SHORT} --cv 2 --n-jobs 2 --engine {engine} --output OUT" for engine in ("dask", "ray")
}
TWO = """
[data]
source = "toy.csv"
[bliss]
n_rounds = 3
n_inferences = 1
n_folds = 2
[[experiment]]
name = "first"
[[experiment]]
name = "second"
bliss = {n_neighbors = 6}
"""
SECONDS = 300  # That an undisturbed run may take on a busy machine.
MARK = "BLISS_FUZZ_CHILD"  # In the environment of all that a child starts, whatever session it makes for itself.
PATIENCE = 10  # Seconds in which everything of a process that was killed has to be gone.


def write_data(folder: Path) -> None:
    """Write twelve bags of four rows, of which the first in a positive bag stands out, and two experiments on them."""
    rng = np.random.default_rng(0)
    lines = ["bag,label,a,b"]
    for bag in range(12):
        for row in range(4):
            a, b = rng.normal(size=2)
            lines.append(f"b{bag},{int(bag < 6)},{a + 4.0 * (bag < 6 and row == 0)},{b}")
    (folder / "toy.csv").write_text("\n".join(lines) + "\n")
    (folder / "two.toml").write_text(TWO)


def warm() -> None:
    """Import what runs need, so that a child begins to work at once."""
    import matplotlib.pyplot
    import skops.io  # noqa: F401

    import bliss_framework.console.app
    import bliss_framework.console.exits
    import bliss_framework.runs.comparison
    import bliss_framework.runs.pipeline_run
    import bliss_framework.runs.tuning  # noqa: F401
    from bliss_framework.extension.loading.plugins import load_plugins

    load_plugins()
    matplotlib.use("agg")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder for a with block; children leave by this process's exit functions, so it has none."""
    place = Path(tempfile.mkdtemp(prefix="bliss-fuzz-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def words_of(kind: str, output: str, resume: bool = False) -> list[str]:
    """Return what is typed for a kind of run."""
    words = (KINDS | CLUSTERS)[kind].replace("OUT", output).split()
    return [*words, "--resume"] if resume and kind != "tune" else words


def start(words: Sequence[str], folder: Path, prepare: Callable[[], None] = lambda: None) -> int:
    """Run a command in a child with a session of its own; what it prints goes to `stdout` and `stderr` in the folder.

    Args:
        words: of the command.
        folder: the current folder of the child.
        prepare: called in the child before the command.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        try:
            os.setsid()
            os.environ[MARK] = str(os.getpid())
            # A shell that starts this in the background ignores some signals for all that it starts.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.chdir(folder)
            for descriptor, name in ((1, "stdout"), (2, "stderr")):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
            warnings.simplefilter("default")
            sys.argv = ["bliss", *words]
            from bliss_framework.console import main

            prepare()
        except KeyboardInterrupt:
            os._exit(130)  # The command has not begun.
        try:
            main()
        except SystemExit as left:
            code = int(left.code or 0)
        with contextlib.suppress(BaseException):
            # In this order an interpreter ends.
            threading._shutdown()
            atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int, seconds: float = SECONDS) -> int | None:
    """Wait for a child, and return its exit code, minus the signal that killed it, or None where it hangs."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def left_behind(child: int) -> list[str]:
    """Name processes and shared memory of a child that are still there after ten seconds."""
    last = time.monotonic() + PATIENCE
    while (found := sorted({*processes(child), *marked(child), *shared_memory(child)})) and time.monotonic() < last:
        time.sleep(0.05)
    return found


def processes(session: int) -> list[str]:
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


def marked(child: int) -> list[str]:
    """List the processes that a child started, as those of clusters, which have sessions of their own."""
    mark = f"{MARK}={child}\0".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in environment.read_bytes():
                found.append((environment.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:80])
    return found


def shared_memory(child: int) -> list[str]:
    """List what joblib put into memory or temporary folders for a process."""
    places = (Path("/dev/shm"), Path(tempfile.gettempdir()))
    return [str(one) for place in places for one in place.glob(f"joblib_memmapping_folder_{child}_*")]


def differences(expected: Path, found: Path) -> list[str]:
    """Say in which files two results differ: bytes of tables and records, JSON but for seconds, what models say."""
    if expected.suffix == ".toml":
        return [] if found.exists() and expected.read_bytes() == found.read_bytes() else [found.name]
    wrong = [f"left: {one.relative_to(found)}" for one in found.rglob(".*")]
    names = {one.relative_to(expected) for one in expected.rglob("*") if one.is_file()}
    others = {one.relative_to(found) for one in found.rglob("*") if one.is_file()}
    wrong += [f"only once: {name}" for name in sorted(names ^ others) if not name.name.startswith(".")]
    return wrong + [str(name) for name in sorted(names & others) if not _same(expected / name, found / name)]


def _same(one: Path, other: Path) -> bool:
    if one.name == "events.jsonl":
        return all(isinstance(json.loads(line), dict) for line in other.read_text().splitlines())
    if one.name == "result.json":
        return without_seconds(json.loads(one.read_text())) == without_seconds(json.loads(other.read_text()))
    if one.name == "model.skops":
        return said_by(one) == said_by(other)
    if one.name == "run.toml":
        # The directories have other names, and nothing else may differ.
        return one.read_text() == other.read_text()
    return one.read_bytes() == other.read_bytes()


def without_seconds(value: Any) -> Any:
    """Leave out what two runs need not share."""
    if isinstance(value, dict):
        return {key: without_seconds(item) for key, item in value.items() if key != "seconds"}
    return [without_seconds(item) for item in value] if isinstance(value, list) else value


def said_by(path: Path) -> list[bytes]:
    """Return the bits of what a model knows of its training data, and of what it says of random rows."""
    from bliss_framework import load_model

    model = load_model(path)
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    X = np.random.default_rng(0).normal(size=(20, model.n_features_in_))
    said = [model.labels_, model.label_means_, model.confidence_, model.predict(X), model.decision_function(X)]
    return [np.asarray(one).tobytes() for one in said]
