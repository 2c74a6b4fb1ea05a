"""Let each file operation of real runs fail once, as on a full disk, and see that nothing is lost.

    python tests/fuzz/full_disk.py --kinds run,compare

Every operation that changes something below the directory of a run (open, mkdir, rename, link, remove, rmdir) is
refused in a run of its own, once by itself and once with all that follow, for "no space left" and other errors; and the
limit on the size of a file is set to sizes between nothing and that of the largest file. A run must end with code 1 and
a sentence, or with code 0 where the operation did not matter, and `--resume` must end with the bits of an undisturbed
run.
"""

import argparse
import errno
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from small_runs import KINDS, differences, ended, scratch, start, warm, words_of, write_data

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EACCES)
CHANGES = {"os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
N_SIZES = 12
SHORTEST = 1000  # Bytes: what the run says has to fit.


class Refusal:
    """An audit hook that refuses one file operation in a folder, or all from that one on.

    Attributes:
        n_seen: operations so far.
    """

    def __init__(self, folder: Path, first: int | None, number: int, lasting: bool) -> None:
        self.folder, self.first, self.number, self.lasting = str(folder), first, number, lasting
        self.n_seen = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Look at an operation before it is done."""
        if not self._is_one(event, arguments):
            return
        self.n_seen += 1
        refused = self.first is not None and (self.n_seen >= self.first if self.lasting else self.n_seen == self.first)
        # A disk that is full lets go of files.
        if refused and not (self.lasting and event in ("os.remove", "os.rmdir")):
            raise OSError(self.number, os.strerror(self.number), str(arguments[0]))

    def _is_one(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = arguments
            wanted = isinstance(path, str | bytes) and bool(flags & WRITING)
        else:
            wanted, path = event in CHANGES, arguments[0] if arguments else ""
        if not wanted or not isinstance(path, str | bytes | os.PathLike):
            return False
        return os.path.abspath(os.fsdecode(path)).startswith(self.folder)


def count(kind: str, folder: Path) -> tuple[Path, int, int]:
    """Run a kind undisturbed, and return its results, how many file operations it has, and its largest file's size."""
    folder.mkdir()
    write_data(folder)
    refusal = Refusal(folder / "out", None, 0, False)

    def watch() -> None:
        sys.addaudithook(refusal)
        import atexit

        atexit.register(lambda: Path("n").write_text(str(refusal.n_seen)))

    code = ended(start(words_of(kind, "out"), folder, watch))
    if code != 0:
        raise SystemExit(f"{kind} does not run: {(folder / 'stderr').read_text()}")
    results = folder / ("out.toml" if kind == "tune" else "out")
    sizes = [one.stat().st_size for one in (results.rglob("*") if results.is_dir() else [results]) if one.is_file()]
    return results, int((folder / "n").read_text()), max(sizes)


def disturbed(kind: str, folder: Path, expected: Path, prepare: Callable[[], None]) -> tuple[int | None, list[str]]:
    """Run a kind with a fault, then go on with it, and return the first code and what was wrong."""
    folder.mkdir()
    write_data(folder)
    code = ended(start(words_of(kind, "out"), folder, prepare))
    said = (folder / "stderr").read_text(errors="replace")
    wrong = [] if code in (0, 1) else [f"code {code}: {said[-300:]}"]
    if code == 1 and ("Error: " not in said or "bug of bliss" in said or "Traceback" in said):
        wrong.append(f"it says: {said[-300:]}")
    results = folder / expected.name
    if kind != "tune" or not results.exists():
        code_after = ended(start(words_of(kind, "out", resume=True), folder))
        if code_after != 0:
            return code, [*wrong, f"resumed: code {code_after}, {(folder / 'stderr').read_text()[-300:]}"]
    return code, wrong + differences(expected, results)


def main() -> int:
    """Disturb runs, and return 1 if one of them lost something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--step", type=int, default=1, help="Take every STEP-th operation.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Begin no case after that.")
    options = parser.parse_args()
    warm()
    began, codes, n_wrong = time.monotonic(), Counter[str](), 0
    with scratch() as place:
        for kind in options.kinds.split(","):
            expected, n_operations, largest = count(kind, place / f"whole-{kind}")
            cases: list[tuple[str, Callable[[Path], Callable[[], None]]]] = []
            for first in range(1, n_operations + 1, options.step):
                number = ERRORS[first % len(ERRORS)]
                for lasting in (False, True):
                    named = f"operation {first} of {n_operations}{' and all after it' if lasting else ''}, {number}"
                    cases.append((named, _refusing(first, number if not lasting else errno.ENOSPC, lasting)))
            sizes = np.unique(np.geomspace(SHORTEST, largest, N_SIZES // options.step + 1).astype(int)).tolist()
            cases += [(f"files of {size} bytes at most", _limiting(int(size))) for size in sizes]
            for position, (named, prepare) in enumerate(cases):
                if time.monotonic() - began > options.seconds:
                    break
                folder = place / f"{kind}-{position}"
                code, wrong = disturbed(kind, folder, expected, prepare(folder))
                codes[f"{kind}: {code}"] += 1
                if wrong:
                    n_wrong += 1
                    print(f"{kind}, {named}: {'; '.join(wrong)}", flush=True)
    print(f"{codes.total()} runs, by code {dict(codes)}; wrong {n_wrong}")
    return int(n_wrong > 0)


def _refusing(first: int, number: int, lasting: bool) -> Callable[[Path], Callable[[], None]]:
    return lambda folder: lambda: sys.addaudithook(Refusal(folder / "out", first, number, lasting))


def _limiting(size: int) -> Callable[[Path], Callable[[], None]]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return lambda folder: limit


if __name__ == "__main__":
    sys.exit(main())
