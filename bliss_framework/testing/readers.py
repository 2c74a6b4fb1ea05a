"""Checks of a reader."""

import tempfile
from pathlib import Path
from typing import Any

from bliss_framework.extension.contracts import Reader
from bliss_framework.kernel.bags import Bags
from bliss_framework.testing.arrays import pickled, refusal
from bliss_framework.testing.checks import Check


def reader_checks(reader: Reader, path: Path | str, **options: Any) -> list[Check]:
    """List the checks of a reader.

    Args:
        reader: the component.
        path: a small file that it reads.
        **options: what it needs to read the file.
    """
    tests = _ReaderChecks(reader, Path(path), options)
    return [
        Check("is-a-reader", tests.is_a_reader),
        Check("sniffs-its-own-file", tests.sniffs),
        Check("sniff-never-raises", tests.sniffs_anything),
        Check("reads", tests.reads),
        Check("same-file-same-data", tests.repeats),
        Check("refuses-a-broken-file", tests.refuses),
        Check("picklable", tests.picklable),
    ]


class _ReaderChecks:
    def __init__(self, reader: Reader, path: Path, options: dict[str, Any]) -> None:
        self.reader, self.path, self.options = reader, path, options

    def is_a_reader(self) -> None:
        assert isinstance(self.reader, Reader), "a reader must be an instance of a subclass of Reader"

    def sniffs(self) -> None:
        assert self.reader.sniff(self.path) is True, f"sniff({self.path.name}) must be True"

    def sniffs_anything(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            odd = Path(folder)
            (odd / "empty").write_bytes(b"")
            (odd / f"noise{self.path.suffix}").write_bytes(bytes(range(256)))
            for path in (odd / "missing", odd, *sorted(odd.iterdir())):
                answer = self.reader.sniff(path)
                assert isinstance(answer, bool), f"sniff must answer with True or False; got {answer!r}"

    def reads(self) -> None:
        data = self.reader.read(self.path, **self.options)
        n_rows = data.X.shape[0]
        assert len(data.bags) == n_rows, f"{len(data.bags)} bag ids for {n_rows} rows"
        if data.weak is not None:
            n_bags = Bags.from_ids(data.bags).n_bags
            assert len(data.weak) == n_bags, f"{len(data.weak)} weak labels for {n_bags} bags"

    def repeats(self) -> None:
        first, second = (self.reader.read(self.path, **self.options).sha256() for _ in range(2))
        assert first == second, "reading the same file twice gives other data"

    def refuses(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            broken = Path(folder) / f"broken{self.path.suffix}"
            broken.write_bytes(b"\x00\x01 nothing of the kind")
            advice = "a broken file was read; raise DataError naming the file"
            said = refusal(lambda: self.reader.read(broken, **self.options), advice)
            assert broken.name in said, f"the error does not name the file: {said}"

    def picklable(self) -> None:
        copy = pickled(self.reader).read(self.path, **self.options)
        assert copy.sha256() == self.reader.read(self.path, **self.options).sha256(), "the copy reads other data"
