"""Take away, replace and rename each part of each JSON file that bliss reads back, and count how its commands end.

    python tests/fuzz/each_part.py

What `damaged_files.py` does at random is done here in every place once: of the results of a run, a comparison and a
pipeline, read by `report` and by `--resume`, and of the pieces of state of each, with their digests made right again.
Allowed is what is allowed there. The exit code is 1 where anything else happened.
"""

import argparse
import copy
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from damaged_files import Case, _import_everything, command, copied, problem, warm, write_runs

OTHERS = (None, "x", -1.5)
NAMES = ("runs", "x")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each part; of a list those to its first element, as the others are like it."""
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value))[:1]
    for key, one in inner:
        yield (*at, key)
        if isinstance(one, dict | list):
            yield from places(one, (*at, key))


def damaged(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield every document that differs in one place, with words about the place."""
    for at in places(document):
        for other in (..., *OTHERS):
            yield f"{at} is {other!r}", changed(document, at, other)
        if isinstance(at[-1], str):
            for name in NAMES:
                yield f"{at} is called {name}", changed(document, at, ..., name)


def changed(document: Any, at: tuple[Any, ...], other: Any, name: str | None = None) -> Any:
    """Return a copy in which a part is another one, has another name, or is gone where `other` is Ellipsis."""
    copied_one = copy.deepcopy(document)
    inside = copied_one
    for key in at[:-1]:
        inside = inside[key]
    if name is not None:
        inside[name] = inside.pop(at[-1])
    elif other is ...:
        del inside[at[-1]]
    else:
        inside[at[-1]] = other
    return copied_one


def files_of(case: Case) -> Iterator[tuple[str, bytes]]:
    """Yield the damaged contents of the file of a case, and what was done to each."""
    whole = json.loads((case.folder / case.file).read_bytes())
    if "sha256" not in whole:
        yield from ((what, json.dumps(one).encode()) for what, one in damaged(whole))
        return
    for what, piece in damaged(whole["piece"]):
        content = json.dumps(piece, ensure_ascii=False)
        stored = {**whole, "sha256": hashlib.sha256(content.encode()).hexdigest(), "piece": piece}
        yield what, json.dumps(stored, ensure_ascii=False).encode()


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="kinds of files whose name holds this word, such as report")
    given = parser.parse_args()
    os.environ |= {"XDG_DATA_HOME": "/nonexistent", "BLISS_DATA": "", "BLISS_BLOCK_PLUGINS": "", "MPLBACKEND": "agg"}
    import bliss_framework.console.app  # noqa: F401  Warm: children need not import it.

    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="bliss-parts-") as name:
        folder = Path(name) / "runs"
        folder.mkdir()
        _import_everything()
        cases = [
            one for one in write_runs(folder, quick=False) if one.file.endswith(".json") and given.only in one.kind
        ]
        warm(cases)
        n = 0
        for case in cases:
            for what, content in files_of(case):
                with tempfile.TemporaryDirectory(prefix="bliss-part-") as scratch:
                    place = copied(case, Path(scratch))
                    (place / case.file).unlink()
                    (place / case.file).write_bytes(content)
                    wrong = problem(command(place, case.words))
                    shutil.rmtree(place, ignore_errors=True)
                n += 1
                if wrong is not None:
                    found[f"{case.kind}: {case.file}: {wrong}"] += 1
                    sys.stdout.write(f"{case.kind}: {case.file}: {what}: {wrong}\n")
                    sys.stdout.flush()
            sys.stdout.write(f"{case.kind} {case.file}: {n} files so far, {found.total()} problems\n")
            sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
