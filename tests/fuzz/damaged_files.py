"""Damage files of every kind that bliss reads, give them to its console, and count how it ends.

    python tests/fuzz/damaged_files.py --n 20000

Data files of every reader, and all that the product reads back: run.toml, result.json, labels.csv, bags.csv, state,
model.skops, experiment files. Each is damaged by flipped bits, cuts, splices, other numbers, other types; the checks of
archives (CRC, digests) are made right again, so that damage goes deeper than they do. A command then runs in a forked
child of this warm process, with limits of memory and time. Allowed are the exit codes 0, 1 and 2, one paragraph,
nothing that calls the file "a bug" or blames an author, less than 1 GB, and no file outside of the folder.
The exit code is 1 where anything else happened; what did is kept in a folder that the last line names.
"""

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # A forked child has no threads.

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

MEGABYTE = 2**20
MOST_MEMORY = 1024  # MiB that a command may take, the interpreter and its libraries among them.
MOST_SECONDS = 20  # Of the processor; the clock may show ten times as much where a machine has other work.
Mutate = Callable[[bytes, random.Random], bytes]

NUMBERS = ("0", "-1", "1e308", "nan", "inf", "-1e-320", "2147483648", "9223372036854775808", "9" * 400, "7" * 5000, "")
VALUES: tuple[Any, ...] = (
    None,
    True,
    [],
    {},
    "",
    "x",
    "\ud800",
    "=1+1",
    -1,
    0,
    10**9,
    10**25,
    1e308,
    -0.5,
    float("nan"),
    [[1]],
    {"a": 1},
    ["x"] * 3,
)
LITERALS = (
    "true",
    "[]",
    "{}",
    '"x"',
    '""',
    "-1",
    "0",
    "1e308",
    "nan",
    "9" * 30,
    "1979-05-27",
    "[" * 900 + "]" * 900,
    '"a\\u0000b"',
)
SHAPES = ((0,), (2**31,), (2**40,), (1, 2**33), (3, 3), (), (-1,), (2**20, 2**20))
DTYPES = ("<f8", "<i8", "|u1", "<U4", "<U100000000", "|O", "<f2", "<c16", "|b1", "<M8[s]")


class Case(NamedTuple):
    """A file of a folder, the words of the command that reads it, and ways to damage it."""

    kind: str
    folder: Path
    file: str
    words: tuple[str, ...]
    mutations: tuple[Mutate, ...]


class Ended(NamedTuple):
    """How a command ended: exit code, signal, text on both streams, megabytes, seconds, files left outside."""

    code: int
    signal: int
    text: str
    memory: int
    seconds: float


# --- damage -----------------------------------------------------------------------------------------------------------


def flip(data: bytes, rng: random.Random) -> bytes:
    """Flip one to eight bits."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> bytes:
    """Cut the end off, or a piece out."""
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:start] if rng.random() < 0.5 else data[:start] + data[end:]


def splice(data: bytes, rng: random.Random) -> bytes:
    """Put a piece, or noise, in another place."""
    start, end, at = (rng.randrange(len(data) + 1) for _ in range(3))
    piece = data[min(start, end) : max(start, end)] if rng.random() < 0.6 else rng.randbytes(rng.randint(1, 64))
    return data[:at] + piece + data[at + (len(piece) if rng.random() < 0.5 else 0) :]


def renumber(data: bytes, rng: random.Random) -> bytes:
    """Replace a number that is written in digits."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data))
    if not found:
        return flip(data, rng)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS).encode() + data[one.end() :]


def reword(data: bytes, rng: random.Random) -> bytes:
    """Replace a line, a cell or a word by another one of the file, or by something strange."""
    found = list(re.finditer(rb"[^\s,:=\"|]+", data))
    if not found:
        return flip(data, rng)
    one, other = rng.choice(found), rng.choice(found)
    strange = [
        other[0],
        b"",
        b"\0",
        b"\xff\xfe",
        b'"',
        b"x" * 300_000,
        "\u202e\u2028".encode(),
        b"?",
        b"=cmd|' /C'!A0",
        b"\x1b[2J",
    ]
    return data[: one.start()] + rng.choice(strange) + data[one.end() :]


def relit(data: bytes, rng: random.Random) -> bytes:
    """Replace the value of a TOML key, or add keys."""
    found = list(re.finditer(rb"(?m)= *(.+)$", data))
    if not found or rng.random() < 0.1:
        return data + rng.choice(
            [b"\na" + b".a" * 100_000 + b" = 1\n", b"\n[[experiment]]\n", b"\n[record]\nversions = 3\n"]
        )
    one = rng.choice(found)
    return data[: one.start(1)] + rng.choice(LITERALS).encode() + data[one.end(1) :]


def restructure(data: bytes, rng: random.Random) -> bytes:
    """Change a JSON document in one place: another value, a key less, a list that is longer; flip bits of others."""
    try:
        document = json.loads(data)
    except ValueError:
        return flip(data, rng)
    return json.dumps(_restructured(document, rng)).encode("utf-8", "surrogatepass")


def _restructured(document: Any, rng: random.Random) -> Any:
    places = list(_places(document))
    if not places:
        return rng.choice(VALUES)
    holder, key = rng.choice(places)
    what = rng.random()
    if what < 0.2:
        del holder[key]
    elif what < 0.3 and isinstance(holder, list):
        holder.append(holder[key])
    elif what < 0.4 and isinstance(holder, dict):
        holder[rng.choice(("x", "\udfff", "runs"))] = holder.pop(key)
    elif what < 0.45:
        holder[key] = _deep(rng.choice((50, 90, 900)))
    elif what < 0.7 and len(places) > 1:
        other, its = rng.choice(places)
        holder[key] = json.loads(json.dumps(other[its]))
    else:
        holder[key] = rng.choice(VALUES)
    return document


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _places(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def resign(data: bytes, rng: random.Random) -> bytes:
    """Change a piece of state, and write the digest that it has now."""
    stored = json.loads(data)
    stored["piece"] = _restructured(stored["piece"], rng)
    text = json.dumps(stored["piece"], ensure_ascii=False)
    stored["sha256"] = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return json.dumps(stored, ensure_ascii=False).encode("utf-8", "replace")


def rezip(change: Callable[[str, bytes, random.Random], bytes]) -> Mutate:
    """Make a mutation of one member of a zip archive, which is packed again as if it had always been so."""

    def mutate(data: bytes, rng: random.Random) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chosen = rng.choice(sorted(members))
        members[chosen] = change(chosen, members[chosen], rng)
        if rng.random() < 0.05:
            del members[chosen]
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return packed.getvalue()

    return mutate


def array_damage(name: str, data: bytes, rng: random.Random) -> bytes:
    """Change the values, the type, the shape or the header of an array."""
    if not name.endswith(".npy"):
        return rng.choice((restructure, flip, cut, renumber))(data, rng)
    what = rng.random()
    if what < 0.25:
        return _headed(
            data, f"{{'descr': '{rng.choice(DTYPES)}', 'fortran_order': False, 'shape': {rng.choice(SHAPES)}, }}"
        )
    if what < 0.45:
        end = data.index(b"\n") if b"\n" in data else len(data)
        return rng.choice((flip, cut, splice, renumber))(data[:end], rng) + data[end:]
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:
        return flip(data, rng)
    return _saved(_other_array(array, rng))


def _other_array(array: Any, rng: random.Random) -> Any:
    if array.size and array.dtype.kind in "iufb" and rng.random() < 0.5:
        array = array.copy()
        value = (
            rng.choice((-1, 10**7, 2**31 - 1, 0, 3))
            if array.dtype.kind in "iu"
            else rng.choice((np.nan, np.inf, 1e308, -1.0))
        )
        with np.errstate(all="ignore"):
            where = ... if rng.random() < 0.3 or not array.ndim else rng.randrange(array.shape[0])
            array[where] = np.array(value).astype(array.dtype)
        return array
    other = [
        np.concatenate([array.ravel()] * 4),
        array.ravel()[: array.size // 2],
        np.zeros((0, *array.shape[1:]), array.dtype),
        array.reshape(-1, 1),
        array[None],
        np.array(array.shape),
    ]
    if array.dtype.kind in "iufb":
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            other += [array.astype(kind) for kind in ("f4", "i4", "u1", "c16", "U8")]
    return rng.choice(other)


def _saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _headed(data: bytes, header: str) -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data[128:]


def regzip(data: bytes, rng: random.Random) -> bytes:
    """Damage what a gzip file holds, and pack it again."""
    inside = bytearray(gzip.decompress(data))
    if rng.random() < 0.6:
        inside[rng.randrange(min(16, len(inside)))] = rng.choice((0, 1, 255, 8, 13, 14))
        return gzip.compress(bytes(inside), mtime=0)
    return gzip.compress(rng.choice((flip, cut, splice))(bytes(inside), rng), mtime=0)


def renumber_bytes(data: bytes, rng: random.Random) -> bytes:
    """Replace four or eight bytes by a number that is likely to be taken for a length, an address or a version."""
    changed, n_bytes = bytearray(data), rng.choice((1, 2, 4, 8))
    at = rng.randrange(max(len(changed) - n_bytes, 1))
    value = rng.choice((0, 1, 2**8 - 1, 2**15, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1, len(data), len(data) // 2))
    changed[at : at + n_bytes] = (value % 2 ** (8 * n_bytes)).to_bytes(n_bytes, "little")
    return bytes(changed)


def repack(data: bytes, rng: random.Random) -> bytes:
    """Damage a variable of a MATLAB file, and compress it again."""
    import zlib

    found, at = [], 128
    while at + 8 <= len(data):
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        found.append((at, at + 8 + length))
        at += 8 + length
    start, end = rng.choice(found)
    inside = rng.choice((flip, cut, splice, renumber_bytes))(zlib.decompress(data[start + 8 : end]), rng)
    packed = zlib.compress(inside)
    return data[: start + 4] + len(packed).to_bytes(4, "little") + packed + data[end:]


def restore(data: bytes, rng: random.Random) -> bytes:
    """Damage one member of an archive that is stored as it is, as PyTorch writes it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(sorted(members))
    members[chosen] = rng.choice((flip, cut, splice, renumber_bytes))(members[chosen], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def png_size(data: bytes, rng: random.Random) -> bytes:
    """Let a PNG say that it has another size, with the right CRC."""
    import zlib

    head = bytearray(data[12:29])
    sizes = [rng.choice((0, 1, 12_000, 70_000, 2**31 - 1)).to_bytes(4, "big") for _ in range(2)]
    head[4:12] = b"".join(sizes)
    return data[:12] + bytes(head) + zlib.crc32(bytes(head)).to_bytes(4, "big") + data[33:]


PLAIN: tuple[Mutate, ...] = (flip, cut, splice)
TEXT: tuple[Mutate, ...] = (*PLAIN, renumber, renumber, reword, reword)
ZIPPED: tuple[Mutate, ...] = (*PLAIN, *[rezip(array_damage)] * 6)
JSON: tuple[Mutate, ...] = (*PLAIN, renumber, reword, *[restructure] * 5)
# Not other numbers: a run of two thousand million rounds is what its file asks for.
TOML: tuple[Mutate, ...] = (*PLAIN, reword, *[relit] * 5)


# --- files ------------------------------------------------------------------------------------------------------------


SHORT = (
    "--n-rounds",
    "1",
    "--n-folds",
    "2",
    "--n-inferences",
    "1",
    "--classifier",
    "ridge",
    "--quiet",
    "--output",
    "out",
)


def toy() -> tuple[Any, Any, Any, Any]:
    """Return rows (30, 3), bags (30,), weak labels (10,) and classes (30,)."""
    rng = np.random.default_rng(0)
    weak = np.arange(10) % 2
    X = rng.normal(size=(30, 3)).round(3)
    truth = np.zeros(30, dtype=np.int64)
    truth[::3] = weak
    X[::3, 0] += 4.0 * weak
    return X, np.repeat(np.arange(10), 3), weak, truth


def write_data(folder: Path) -> list[Case]:
    """Write a data file for each reader, and say how each is damaged."""
    X, bags, weak, truth = toy()
    ids = [f"b{bag}" for bag in bags]
    cells = [",".join([ids[i], str(weak[bags[i]]), str(truth[i]), *map(str, X[i])]) for i in range(30)]
    (folder / "t.csv").write_text("\n".join(["bag,label,inst_y,a,b,c", *cells]) + "\n")
    sets = [
        ",".join([ids[i], "x|y" if weak[bags[i]] else "y" if bags[i] % 4 else "", *map(str, X[i])]) for i in range(30)
    ]
    (folder / "sets.csv").write_text("\n".join(["bag,labels,a,b,c", *sets]) + "\n")
    np.savez(folder / "n.npz", X=X, bag=bags, y=weak, inst_y=truth, feature_names=np.array(["a", "b", "c"]))
    sparse = sp.csr_matrix(np.where(X > 0, X, 0.0))
    np.savez(
        folder / "s.npz",
        format=np.array("csr"),
        shape=np.array(sparse.shape),
        data=sparse.data,
        indices=sparse.indices,
        indptr=sparse.indptr,
        bag=bags,
        y=weak,
    )
    np.savez(folder / "p.npz", X=X, bag=bags, proportions=np.linspace(0.1, 0.9, 10))
    names = np.array(["u", "v"])
    np.savez(
        folder / "m.npz",
        X=X,
        bag=bags,
        Y=np.stack([weak, np.arange(10) % 3 == 0], axis=1).astype(int),
        label_names=names,
    )
    np.savez(folder / "l.npz", X=X, y=truth)
    lines = [
        f"i{i}:{ids[i]}:{weak[bags[i]]} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(X[i])) for i in range(30)
    ]
    (folder / "a.svm").write_text("\n".join(lines) + "\n")
    mill = [f"{i},{bags[i]},{truth[i]}," + ",".join(f"{j + 1}:{v}" for j, v in enumerate(X[i])) for i in range(30)]
    (folder / "m.data").write_text("\n".join(mill) + "\n")
    c45 = [f"{ids[i]},i{i}," + ",".join(map(str, X[i])) + f",{weak[bags[i]]}." for i in range(30)]
    (folder / "c.data").write_text("\n".join(c45) + "\n")
    (folder / "c.names").write_text("0,1.\nbag: a.\ninst: b.\nf1: continuous.\nf2: continuous.\nf3: continuous.\n")
    head = "@relation t\n@attribute bag string\n@attribute f1 numeric\n@attribute f2 numeric\n@attribute f3 numeric\n"
    flat = [f"{ids[i]}," + ",".join(map(str, X[i])) + f",{weak[bags[i]]}" for i in range(30)]
    (folder / "f.arff").write_text(head + "@attribute class {0,1}\n@data\n" + "\n".join(flat) + "\n")
    thin = [f"{{0 {ids[i]}, 1 {X[i][0]}, 4 {weak[bags[i]]}}}" for i in range(30)]
    (folder / "z.arff").write_text(head + "@attribute class {0,1}\n@data\n" + "\n".join(thin) + "\n")
    inner = "@attribute bag relational\n@attribute f1 numeric\n@attribute f2 numeric\n@attribute f3 numeric\n@end bag\n"
    whole = [
        f'm{b},"' + "\\n".join(",".join(map(str, X[i])) for i in np.flatnonzero(bags == b)) + f'",{weak[b]}'
        for b in range(10)
    ]
    (folder / "r.arff").write_text(
        "@relation t\n@attribute id string\n" + inner + "@attribute class {0,1}\n@data\n" + "\n".join(whole) + "\n"
    )
    text = {
        "t.csv": (),
        "sets.csv": (),
        "a.svm": (),
        "m.data": (),
        "c.data": (),
        "c.names": (),
        "f.arff": (),
        "z.arff": (),
    }
    text |= {"r.arff": ()}
    cases = [
        Case(f"reader {name}", folder, name, ("run", "c.data" if name == "c.names" else name, *SHORT), TEXT)
        for name in text
    ]
    for name in ("n.npz", "s.npz", "p.npz", "m.npz"):
        words = tuple(word for word in SHORT if name not in ("p.npz", "m.npz") or word not in ("--classifier", "ridge"))
        cases.append(Case(f"reader {name}", folder, name, ("run", name, *words), ZIPPED))
    (folder / "l.toml").write_text(
        '[data]\nsource = "l.npz"\nbag_size = 5\n[bliss]\nregime = "llp"\nn_rounds = 1\nn_folds = 2\nn_inferences = 1\n'
    )
    cases.append(Case("reader l.npz", folder, "l.npz", ("run", "l.toml", "--quiet", "--output", "out"), ZIPPED))
    return [
        *cases,
        *npy_cases(folder),
        *parquet_cases(folder),
        *zarr_cases(folder),
        *bag_cases(folder),
        *mat_cases(folder),
        *mnist_cases(folder),
    ]


def npy_cases(folder: Path) -> list[Case]:
    """Write rows in files of their own, with a table or an archive beside them."""
    X, bags, weak, _ = toy()
    for name in ("r", "e"):
        np.save(folder / f"{name}.npy", X.astype(np.float32))
    lines = "".join(f"b{bag},{weak[bag]}\n" for bag in bags)
    (folder / "r.labels.csv").write_text(f"bag,label\n{lines}")
    np.savez(folder / "e.labels.npz", bag=bags, y=weak)

    def damage(data: bytes, rng: random.Random) -> bytes:
        return array_damage("X.npy", data, rng)

    return [
        Case("reader r.npy", folder, "r.npy", ("run", "r.npy", *SHORT), (*PLAIN, *[damage] * 5)),
        Case("reader r.npy", folder, "r.labels.csv", ("run", "r.npy", *SHORT), TEXT),
        Case("reader e.npy", folder, "e.labels.npz", ("run", "e.npy", *SHORT), ZIPPED),
    ]


def parquet_cases(folder: Path) -> list[Case]:
    """Write a Parquet file where pyarrow is installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    X, bags, weak, _ = toy()
    columns = {"bag": [f"b{bag}" for bag in bags], "label": weak[bags], "a": X[:, 0], "b": X[:, 1].astype(np.float32)}
    pq.write_table(pa.table(columns), folder / "q.parquet")
    (folder / "parts").mkdir()
    for part in range(3):
        rows = {name: values[10 * part : 10 * part + 10] for name, values in columns.items()}
        pq.write_table(pa.table(rows), folder / "parts" / f"{part}.parquet")
    return [
        Case("reader q.parquet", folder, "q.parquet", ("run", "q.parquet", *SHORT), PLAIN),
        Case("reader parts", folder, "parts/1.parquet", ("run", "parts", *SHORT), PLAIN),
    ]


def zarr_cases(folder: Path) -> list[Case]:
    """Write Zarr stores of both versions where zarr is installed."""
    try:
        import zarr
    except ImportError:
        return []
    X, bags, weak, _ = toy()
    cases = []
    for version, about, chunk in ((2, ".zarray", "1.0"), (3, "zarr.json", "c/1/0")):
        name = f"z{version}.zarr"
        group = zarr.open_group(folder / name, mode="w", zarr_format=version)
        group.create_array("X", data=X, chunks=(12, 3))
        group.create_array("bag", data=bags)
        group.create_array("y", data=weak)
        words = ("run", name, *SHORT)
        cases += [Case(f"reader {name}", folder, f"{name}/{key}/{about}", words, JSON) for key in ("X", "y")]
        cases.append(Case(f"reader {name}", folder, f"{name}/X/{chunk}", words, PLAIN))
    return cases


def bag_cases(folder: Path) -> list[Case]:
    """Write a file for each bag in the formats whose packages are installed, and a table of labels."""
    X, bags, weak, _ = toy()
    table = "".join(f"b{bag},{label}\n" for bag, label in enumerate(weak))
    (folder / "weak.csv").write_text(f"slide,label\n{table}")
    cases = []
    for name, (suffix, write, damage) in _bag_writers().items():
        (folder / name).mkdir()
        for bag in range(10):
            write(folder / name / f"b{bag}{suffix}", X[bags == bag].astype(np.float32), bag)
        words = ("run", name, "--labels", "weak.csv", *SHORT)
        cases += [Case(f"bags {name}", folder, f"{name}/b{bag}{suffix}", words, damage) for bag in (3, 4)]
    words = ("run", "bags-npz", "--labels", "weak.csv", *SHORT)
    return [*cases, Case("bags labels", folder, "weak.csv", words, TEXT)]


def mat_cases(folder: Path) -> list[Case]:
    """Write MATLAB files: sparse rows and a cell, compressed and not, and one of version 7.3 where h5py is there."""
    import scipy.io

    X, bags, weak, _ = toy()
    cells = np.empty((1, 10), dtype=object)
    cells[0] = [X[bags == bag] for bag in range(10)]
    andrews = {"features": sp.csc_matrix(X), "bag_ids": bags, "labels": weak[bags]}
    scipy.io.savemat(folder / "andrews.mat", andrews, do_compression=True)
    scipy.io.savemat(folder / "cells.mat", {"D": cells, "L": weak}, do_compression=True)
    scipy.io.savemat(folder / "plain.mat", {"data": X, "bagID": bags, "label": weak}, do_compression=False)
    names = {"andrews.mat": repack, "cells.mat": repack, "plain.mat": renumber_bytes}
    with contextlib.suppress(ImportError):
        import h5py

        with h5py.File(folder / "new.mat", "w", userblock_size=512) as file:
            file["data"], file["bagID"], file["label"] = X.T, bags[None], weak[None]
        names["new.mat"] = renumber_bytes
    return [
        Case(f"reader {name}", folder, name, ("run", name, *SHORT), (*PLAIN, flip, damage, damage))
        for name, damage in names.items()
    ]


def _bag_writers() -> dict[str, tuple[str, Callable[[Path, Any, int], Any], tuple[Mutate, ...]]]:
    """Return for each kind of folder its suffix, what writes a file, and the damage."""
    found: dict[str, tuple[str, Callable[[Path, Any, int], Any], tuple[Mutate, ...]]] = {
        "bags-npz": (".npz", lambda path, X, bag: np.savez(path, features=X, coords=X[:, :2].astype(int)), ZIPPED)
    }
    with contextlib.suppress(ImportError):
        import h5py

        def hdf5(path: Path, X: Any, bag: int) -> None:
            with h5py.File(path, "w") as file:
                how = {"chunks": (2, 3), "compression": "gzip", "shuffle": True} if bag % 2 else {}
                file.create_dataset("features", data=X, fletcher32=bool(bag % 2), **how)
                file.create_dataset("coords", data=X[:, :2].astype(int))

        found["bags-h5"] = (".h5", hdf5, (*PLAIN, flip, flip, renumber_bytes))
    with contextlib.suppress(ImportError):
        import torch

        found["bags-pt"] = (
            ".pt",
            lambda path, X, bag: torch.save({"features": torch.tensor(X)}, path),
            (*PLAIN, restore, restore),
        )
    return found


def mnist_cases(folder: Path) -> list[Case]:
    """Write a tiny MNIST."""
    rng = np.random.default_rng(0)
    labels = (np.arange(300) % 10).astype(np.uint8)
    images = rng.integers(0, 255, (300, 4, 4)).astype(np.uint8)
    place = folder / "mnist"
    place.mkdir()
    for array, name in ((images, "train-images-idx3-ubyte"), (labels, "train-labels-idx1-ubyte")):
        head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
        (place / f"{name}.gz").write_bytes(gzip.compress(head + array.tobytes(), mtime=0))
    settings = "[bliss]\nn_rounds = 1\nn_folds = 2\nn_inferences = 1\n"
    (folder / "mnist.toml").write_text(f'[data]\nsource = "mnist-multiclass"\npath = "mnist"\nn_bags = 12\n{settings}')
    words = ("run", "mnist.toml", "--quiet", "--output", "out")
    names = ("mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz")
    return [Case("reader idx", folder, name, words, (*PLAIN, regzip, regzip, regzip)) for name in names]


def write_photos(folder: Path) -> list[Case]:
    """Write a tiny folder in VOC layout where pillow is installed."""
    try:
        from PIL import Image
    except ImportError:
        return []
    for name in ("ImageSets/Main", "JPEGImages", "Annotations"):
        (folder / "voc" / name).mkdir(parents=True)
    rng = np.random.default_rng(0)
    box = "<bndbox><xmin>3</xmin><ymin>3</ymin><xmax>30</xmax><ymax>30</ymax></bndbox>"
    for i in range(8):
        image = Image.fromarray(rng.integers(0, 255, (40, 48, 3)).astype(np.uint8))
        image.save(folder / "voc" / "JPEGImages" / (f"i{i}.png" if i == 0 else f"i{i}.jpg"))
        name = "cat" if i % 2 else "dog"
        size = "<size><width>48</width><height>40</height></size>"
        xml = f"<annotation>{size}<object><name>{name}</name>{box}</object></annotation>"
        (folder / "voc" / "Annotations" / f"i{i}.xml").write_text(xml)
    main = folder / "voc" / "ImageSets" / "Main"
    (main / "trainval.txt").write_text("\n".join(f"i{i}" for i in range(6)) + "\n")
    (main / "test.txt").write_text("i6\ni7\n")
    (main / "cat_trainval.txt").write_text("\n".join(f"i{i} {1 if i % 2 else -1}" for i in range(6)) + "\n")
    corners = np.array([[0, 0, 48, 40], [2, 2, 30, 30], [10, 10, 40, 38]], dtype=np.float32)
    np.savez(folder / "boxes.npz", **{f"i{i}": corners for i in range(8)})
    (folder / "voc.toml").write_text(
        '[pipeline]\nname = "detection"\ndata = "voc"\nclasses = ["cat", "dog"]\nproposals = "boxes.npz"\n'
        'n_components = 4\nmethods = ["whole-image"]\nn_rounds = 1\nn_folds = 2\n'
        'n_inferences = 1\nn_passes = 1\ncache = "cache"\n'
    )
    words = ("run", "voc.toml", "--quiet", "--output", "out")
    return [
        Case("photos image", folder, "voc/JPEGImages/i0.png", words, (*PLAIN, png_size, png_size)),
        Case("photos image", folder, "voc/JPEGImages/i1.jpg", words, PLAIN),
        Case("photos annotation", folder, "voc/Annotations/i2.xml", words, TEXT),
        Case("photos list", folder, "voc/ImageSets/Main/trainval.txt", words, TEXT),
        Case("photos list", folder, "voc/ImageSets/Main/cat_trainval.txt", words, TEXT),
        Case("photos boxes", folder, "boxes.npz", words, ZIPPED),
    ]


EXPERIMENT = """name = "toy"
[data]
source = "n.npz"
[bliss]
regime = "mil"
classifier = { name = "kernel-ridge", ridge = 0.3 }
n_rounds = 1
n_folds = 2
n_inferences = 1
random_state = 3
[bliss.reward]
name = "mil"
gamma = 0.2
[evaluation]
cv = 2
repeats = 1
[[compare]]
method = "bag-mean-svm"
"""
TABLE_FILE = """[evaluation]
cv = 2
[bliss]
n_rounds = 1
n_folds = 2
n_inferences = 1
final_classifier = "sklearn.svm.SVC"
[[experiment]]
name = "one"
[experiment.data]
source = "t.csv"
bag = "bag"
ignore = ["a"]
[[experiment]]
name = "two"
[experiment.data]
source = "n.npz"
"""


def write_runs(folder: Path, quick: bool) -> list[Case]:
    """Run experiments, keep what they left, and interrupt one of each kind to have its state."""
    write_data(folder)
    (folder / "e.toml").write_text(EXPERIMENT)
    (folder / "x.toml").write_text(TABLE_FILE)
    sizes = {"n_train": 12, "n_test": 6, "n_rounds": 1, "n_inferences": 1, "methods": '["whole-image", "mi-ridge"]'}
    given = [word for name, value in sizes.items() for word in ("--set", f"pipeline.{name}={value}")]
    commands: dict[str, tuple[str, ...]] = {
        "run": ("run", "e.toml"),
        "compared": ("compare", "e.toml", "--methods", "bliss,bag-mean-svm"),
        "shapes": ("run", "shapes-detection", *given, "--repeats", "2"),
    }
    commands = {"run": commands["run"]} if quick else commands
    for name, words in commands.items():
        _must_end(folder, (*words, "--output", name, "--quiet"), (0,))
    finals = {"rbf": "svm-rbf", "linear": "svm-linear", "svc": "sklearn.svm.SVC", "softmax": "cooperative-softmax"}
    finals |= {"logistic": "logistic", "near": "sklearn.neighbors.KNeighborsClassifier"}
    finals = {"rbf": finals["rbf"]} if quick else finals
    for name, final in finals.items():
        extra = ("--set", "final_classifier.algorithm=brute") if name == "near" else ()
        source = "s.npz" if name in ("linear", "svc") else "n.npz"
        words = ("run", source, *SHORT[:-2], "--final-classifier", final, *extra, "--output", f"m-{name}")
        _must_end(folder, words, (0,))
    cases = [
        Case("experiment", folder, "e.toml", ("run", "e.toml", "--quiet", "--output", "out"), TOML),
        Case("experiment", folder, "x.toml", ("run", "x.toml", "--quiet", "--output", "out"), TOML),
        Case("experiment", folder, "run/run.toml", ("run", "run/run.toml", "--quiet", "--output", "out"), TOML),
        Case("settings", folder, "e.toml", ("run", "n.npz", *SHORT, "--settings", "e.toml"), TOML),
    ]
    for name, words in commands.items():
        again = (*words, "--output", name, "--resume", "--quiet")
        for file in ("result.json", "run.toml"):
            damage = JSON if file == "result.json" else TOML
            cases.append(Case(f"report {file}", folder, f"{name}/{file}", ("report", name, "--quiet"), damage))
            cases.append(Case(f"resume {file}", folder, f"{name}/{file}", again, damage))
    tables = ("labels.csv", "bags.csv")
    cases += [Case(f"report {file}", folder, f"run/{file}", ("report", "run", "--quiet"), TEXT) for file in tables]
    for name in finals:
        model = f"m-{name}/model.skops"
        data = "s.npz" if name in ("linear", "svc") else "n.npz"
        cases.append(Case("model predict", folder, model, ("predict", f"m-{name}", data, "--quiet"), ZIPPED))
        cases.append(Case("model explain", folder, model, ("explain", f"m-{name}", "3", "--quiet"), ZIPPED))
    return [*cases, *interrupted(folder, commands)]


def interrupted(folder: Path, commands: dict[str, tuple[str, ...]]) -> list[Case]:
    """Kill each command before its result is there, and say how its pieces of state are damaged."""
    from bliss_framework.runs.folder.run_folder import RunFolder

    def stop(self: Any, *args: Any) -> Any:
        raise KeyboardInterrupt

    cases = []
    kept = RunFolder.conclude, RunFolder.finish
    for name, words in commands.items():
        RunFolder.conclude = RunFolder.finish = stop  # type: ignore[method-assign]
        try:
            _must_end(folder, (*words, "--output", f"half-{name}", "--quiet"), (130,))
        finally:
            RunFolder.conclude, RunFolder.finish = kept  # type: ignore[method-assign]
        again = (*words, "--output", f"half-{name}", "--resume", "--quiet")
        for piece in sorted((folder / f"half-{name}" / "state").glob("*.json")):
            file = f"half-{name}/state/{piece.name}"
            cases.append(Case(f"state of {name}", folder, file, again, (*JSON, *[resign] * 6)))
        cases.append(Case("resume run.toml", folder, f"half-{name}/run.toml", again, TOML))
    return cases


def _must_end(folder: Path, words: tuple[str, ...], codes: tuple[int, ...]) -> None:
    ended = command(folder, words, 120)
    if ended.code not in codes:
        raise RuntimeError(f"bliss {' '.join(words)} ended with {ended.code}:\n{ended.text}")


# --- running ----------------------------------------------------------------------------------------------------------


def command(folder: Path, words: tuple[str, ...], seconds: int = MOST_SECONDS) -> Ended:
    """Run a command in a forked child, in a folder."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            _in_child(folder, words, output.fileno(), seconds)
        _, status, usage = os.wait4(child, 0)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    code = os.waitstatus_to_exitcode(status)
    return Ended(max(code, 0), max(-code, 0), text, usage.ru_maxrss // 1024, time.monotonic() - started)


def _in_child(folder: Path, words: tuple[str, ...], output: int, seconds: int) -> None:
    code = 99
    try:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = size + 2 * MOST_MEMORY * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        signal.alarm(10 * seconds)
        sys.argv = ["bliss", *words]
        console_main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def problem(ended: Ended) -> str | None:
    """Say what is not allowed of an end."""
    if ended.signal in (signal.SIGALRM, signal.SIGXCPU):
        return "hang"
    if ended.signal:
        return f"signal {ended.signal}"
    for word in ("Traceback", "Tell its authors", "bug of bliss"):
        if word in ended.text:
            return word
    if ended.code not in (0, 1, 2):
        return f"exit {ended.code}"
    return "memory" if ended.memory > MOST_MEMORY else None


def fuzz(cases: list[Case], n: int, seed: int, minutes: float, kept: Path, say: Callable[[str], Any]) -> Counter[str]:
    """Damage files n times, or for so many minutes, count problems, and keep those files."""
    until = time.monotonic() + 60 * minutes
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    problems: Counter[str] = Counter()
    peaks: Counter[str] = Counter()
    kinds = sorted({case.kind for case in cases})
    by_kind = {kind: [case for case in cases if case.kind == kind] for kind in kinds}
    scratch = Path(tempfile.mkdtemp(prefix="bliss-fuzz-"))
    for number in range(n):
        if time.monotonic() > until:
            break
        rng = random.Random(f"{seed}-{number}")
        case = rng.choice(by_kind[kinds[number % len(kinds)]])
        folder = copied(case, scratch)
        file = folder / case.file
        damaged = rng.choice(case.mutations)(file.read_bytes(), rng)
        file.unlink()
        file.write_bytes(damaged)
        ended = command(folder, case.words)
        outside = [one.name for one in scratch.iterdir() if one.name != "case"]
        what = f"files outside: {outside}" if outside else problem(ended)
        counts[case.kind][f"exit {ended.code}" if not ended.signal else f"signal {ended.signal}"] += 1
        peaks[case.kind] = max(peaks[case.kind], ended.memory)
        if what is not None:
            problems[f"{case.kind}: {what}"] += 1
            place = kept / f"{seed}-{number}-{case.kind.replace(' ', '-')}-{file.name}"
            kept.mkdir(exist_ok=True)
            place.write_bytes(damaged)
            logs = "\n".join(one.read_text(errors="replace") for one in folder.glob("bliss-error-*.log"))
            place.with_name(place.name + ".txt").write_text(
                f"{what}\nbliss {' '.join(case.words)}\n{ended}\n{ended.text}\n{logs}"
            )
        shutil.rmtree(folder)
    shutil.rmtree(scratch)
    for kind in kinds:
        told = ", ".join(f"{key}: {value}" for key, value in sorted(counts[kind].items()))
        say(f"{kind}: {sum(counts[kind].values())} ({told}), at most {peaks[kind]} MiB\n")
    say(f"{sum(one.total() for one in counts.values())} files\n")
    return problems


def copied(case: Case, scratch: Path) -> Path:
    """Copy what a case needs into a folder of a folder."""
    folder = scratch / "case"
    shutil.copytree(case.folder, folder, copy_function=_linked, ignore=_not_needed(case))
    return folder


def _linked(source: str, target: str) -> None:
    # What is changed is written anew, and bliss replaces files rather than changing them; events.jsonl is appended to.
    if source.endswith(".jsonl"):
        shutil.copyfile(source, target)
    else:
        os.link(source, target)


def _not_needed(case: Case) -> Callable[[str, list[str]], set[str]]:
    """Leave out the runs that a case does not speak of."""

    def ignore(folder: str, names: list[str]) -> set[str]:
        if Path(folder) != case.folder:
            return set()
        needed = {case.file.split("/")[0], *(word.split("/")[0] for word in case.words), "mnist", "voc"}
        return {name for name in names if (case.folder / name).is_dir() and name not in needed}

    return ignore


def warm(cases: list[Case]) -> None:
    """Run a few commands in this process, so that what they import is there for all children."""
    chosen = {(case.words[0], Path(case.file).suffix): case for case in cases}
    streams, interrupt, shown = [os.dup(1), os.dup(2)], signal.getsignal(signal.SIGINT), warnings.showwarning
    here, words = Path.cwd(), sys.argv
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    try:
        for case in chosen.values():
            with tempfile.TemporaryDirectory() as scratch, contextlib.suppress(SystemExit):
                os.chdir(copied(case, Path(scratch)))
                sys.argv = ["bliss", *case.words]
                console_main()
    finally:
        os.chdir(here)
        sys.argv, warnings.showwarning = words, shown
        signal.signal(signal.SIGINT, interrupt)
        for stream, kept in zip((1, 2), streams, strict=True):
            os.dup2(kept, stream)


def console_main() -> None:
    """Run the command of sys.argv."""
    from bliss_framework.console import main as bliss

    bliss()


def _import_everything() -> None:
    """Import here what commands import when they start, so that children need not."""
    import bliss_framework.console.context
    import bliss_framework.console.drawing.tables
    import bliss_framework.estimator.persistence
    import bliss_framework.report.page
    import bliss_framework.runs.comparison
    import bliss_framework.runs.pipeline_run
    import bliss_framework.runs.tuning  # noqa: F401
    from bliss_framework.extension.loading.plugins import load_plugins

    load_plugins()
    for module in (
        "matplotlib.figure",
        "matplotlib.backends.backend_svg",
        "jinja2",
        "pyarrow.parquet",
        "zarr",
        "h5py",
        "torch",
        "scipy.io",
        "PIL.Image",
        "skops.io",
    ):
        try:
            __import__(module)
        except ImportError:
            continue


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000, help="how many files are damaged")
    parser.add_argument("--seed", type=int, default=0, help="another one damages them otherwise")
    parser.add_argument("--minutes", type=float, default=600.0, help="end earlier than after all of them")
    parser.add_argument("--only", default="", help="kinds whose name holds this word")
    parser.add_argument(
        "--kept", type=Path, default=Path(tempfile.gettempdir()) / "bliss-fuzz-kept", help="for problems"
    )
    parser.add_argument("--quick", action="store_true", help="leave out what takes long to prepare")
    parser.add_argument("--check", action="store_true", help="first see that each command ends well with whole files")
    given = parser.parse_args()
    os.environ |= {"XDG_DATA_HOME": "/nonexistent", "BLISS_DATA": "", "BLISS_BLOCK_PLUGINS": "", "MPLBACKEND": "agg"}
    import bliss_framework.console.app  # noqa: F401  Warm: children need not import it.

    with tempfile.TemporaryDirectory(prefix="bliss-fuzz-files-") as name:
        folders = {part: Path(name) / part for part in ("data", "photos", "runs")}
        for folder in folders.values():
            folder.mkdir()
        _import_everything()
        cases = [*write_data(folders["data"]), *write_photos(folders["photos"])]
        cases += write_runs(folders["runs"], given.quick)
        chosen = [case for case in cases if given.only in case.kind]
        for case in chosen if given.check else ():
            with tempfile.TemporaryDirectory() as scratch:
                _must_end(copied(case, Path(scratch)), case.words, (0,))
        warm(chosen)
        problems = fuzz(chosen, given.n, given.seed, given.minutes, given.kept, sys.stdout.write)
    for what, count in problems.most_common():
        sys.stdout.write(f"PROBLEM {what}: {count}\n")
    sys.stdout.write(f"{problems.total()} problems{f', kept in {given.kept}' if problems else ''}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
