"""Kill real runs at random moments, resume them, and compare the bits of their results with those of undisturbed runs.

    python tests/fuzz/kills.py --n 300 --seed 0

Signals go to the process of the command, or to all of its session as a terminal and a batch system do; "pipe" closes
both standard streams in the middle of work. `--kinds dask,ray` does it to runs on clusters of this machine. Of each
case a line is printed if something is wrong, and the counts last.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from small_runs import KINDS, differences, ended, left_behind, scratch, start, warm, words_of, write_data

WAYS = ("KILL", "TERM", "INT", "HUP", "TERM all", "HUP all", "INT all", "pipe")
# With which codes a command may end that was disturbed so, unless it was done already.
CODES = {"KILL": -9, "TERM": 143, "INT": 130, "HUP": 129}
AGAIN = 0.3  # The share of resumed runs that are killed once more.


class Case:
    """One run that is disturbed, and resumed until it is done."""

    def __init__(
        self, kind: str, way: str, folder: Path, expected: Path, took: float, rng: np.random.Generator
    ) -> None:
        self.kind, self.way, self.folder, self.expected, self.took, self.rng = kind, way, folder, expected, took, rng
        self.output = "out.toml" if kind == "tune" else "out"
        self.wrong: list[str] = []
        self.n_killed = 0

    def run(self) -> None:
        """Disturb, resume, compare."""
        self.disturb(resume=False)
        if self.rng.random() < AGAIN:
            self.disturb(resume=True)
        if self.kind == "tune" and (self.folder / self.output).exists():
            # There is nothing to resume where the file is there, and it must be whole.
            self.wrong += differences(self.expected, self.folder / self.output)
            return
        child = start(words_of(self.kind, "out", resume=True), self.folder)
        code = ended(child)
        if code != 0:
            self.wrong.append(f"resumed: code {code}, {self.said()}")
            return
        self.wrong += differences(self.expected, self.folder / self.output)

    def disturb(self, resume: bool) -> None:
        """Start the run, and disturb it at a random moment."""
        if self.kind == "tune" and (self.folder / self.output).exists():
            return
        reading = None
        if self.way == "pipe":
            reading, writing = os.pipe()
            child = start(words_of(self.kind, "out", resume), self.folder, lambda: _to_pipe(writing, reading))
            os.close(writing)
        else:
            child = start(words_of(self.kind, "out", resume), self.folder)
        time.sleep(self.rng.uniform(0.0, 1.05 * self.took))
        if reading is not None:
            os.close(reading)
        else:
            name, _, everybody = self.way.partition(" ")
            number = getattr(signal, f"SIG{name}")
            with suppress(ProcessLookupError):
                (os.killpg if everybody else os.kill)(child, number)
        code = ended(child)
        self.judge(code, left_behind(child))

    def judge(self, code: int | None, left: list[str]) -> None:
        """See how the disturbed run ended."""
        allowed = (0, 1) if self.way == "pipe" else (0, CODES[self.way.partition(" ")[0]])
        early = -getattr(signal, f"SIG{self.way.partition(' ')[0]}", 0)  # Before the command could say how it hears.
        if code not in (*allowed, early):
            self.wrong.append(f"code {code}, {self.said()}")
        if code == 1 and not (self.folder / self.output).exists():
            self.wrong.append("a broken pipe has stopped the work")
        self.n_killed += code != 0
        self.wrong += [f"still there: {one}" for one in left]

    def said(self) -> str:
        """Return the last words of the run."""
        return (self.folder / "stderr").read_text(errors="replace")[-300:]


def _to_pipe(writing: int, reading: int) -> None:
    os.close(reading)
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    os.close(writing)


def undisturbed(kind: str, folder: Path) -> tuple[Path, float]:
    """Run a kind once, and return its results and the seconds that it took."""
    folder.mkdir()
    write_data(folder)
    began = time.monotonic()
    code = ended(start(words_of(kind, "out"), folder))
    if code != 0:
        raise SystemExit(f"{kind} does not run: {(folder / 'stderr').read_text()}")
    return folder / ("out.toml" if kind == "tune" else "out"), time.monotonic() - began


def main() -> int:
    """Disturb runs, and return 1 if one of them lost something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Begin no case after that.")
    options = parser.parse_args()
    warm()
    rng = np.random.default_rng(options.seed)
    kinds, ways = options.kinds.split(","), options.ways.split(",")
    began, n_killed, n_wrong, n_cases = time.monotonic(), Counter[str](), 0, Counter[str]()
    with scratch() as place:
        expected = {kind: undisturbed(kind, place / f"whole-{kind}") for kind in kinds}
        for number in range(options.n):
            if time.monotonic() - began > options.seconds:
                break
            kind, way = kinds[number % len(kinds)], str(rng.choice(ways))
            folder = place / f"case-{number}"
            folder.mkdir()
            write_data(folder)
            case = Case(kind, way, folder, *expected[kind], rng)
            case.run()
            n_cases[way] += 1
            n_killed[way] += case.n_killed
            if case.wrong:
                n_wrong += 1
                print(f"case {number}, {kind}, {way}: {'; '.join(case.wrong)}", flush=True)
    print(f"{sum(n_cases.values())} runs {dict(n_cases)}; stopped {dict(n_killed)}; wrong {n_wrong}")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
