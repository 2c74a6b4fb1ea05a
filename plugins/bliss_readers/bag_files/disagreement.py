"""Bags that disagree with the table of labels or with one another are named, and nothing is learnt from the rest."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bliss_framework.plugin import DataError, near_miss
from bliss_readers.bag_files.bag_file import BagFile
from bliss_readers.tables.wanted_columns import quoted

N_SHOWN = 3


def disagreeing(files: Sequence[BagFile], told: tuple[Path, Sequence[str]] | None) -> dict[str, str]:
    """Say what is wrong with bags, by bag id.

    Args:
        files: that could be opened.
        told: the table of labels and its bag ids, or None where there is none.
    """
    bad: dict[str, str] = {}
    if told is not None:
        table, ids = told
        own, labelled = {one.id for one in files}, set(ids)
        spare = sorted(labelled - own)
        for one in files:
            if one.id not in labelled:
                bad[one.id] = f"{one.path} has no line in {table}.{near_miss(one.id, spare)}"
    widths = Counter(one.shape[1] for one in files)
    kinds = Counter(one.stored.str for one in files)
    names = Counter(frozenset(one.columns or ()) for one in files)
    for one in files:
        said = _odd(one, widths, kinds, names)
        if said is not None:
            bad[one.id] = f"{one.path} {said}"
    return bad


def without_file(paths: Sequence[Path], told: tuple[Path, Sequence[str]] | None) -> dict[str, str]:
    """Say which bags of the table have no file, by bag id."""
    if told is None:
        return {}
    stems = {one.stem for one in paths}
    return {one: f"{told[0]} has a line for the bag {one!r}, which has no file." for one in told[1] if one not in stems}


def refuse(path: Path, bad: Mapping[str, str], n_bags: int, skip_bad: bool) -> None:
    """Refuse all where some bags cannot be used, unless these are to be left out.

    Raises:
        DataError: naming the first of them, and how many more there are.
    """
    if not bad or skip_bad:
        return
    raise DataError(
        f"{path}: {len(bad)} of {n_bags} bags cannot be used, so none was. {_first(bad)} Mend them; or set skip_bad = "
        f"true, which is --skip-bad, and they are left out."
    )


def skipped_note(bad: Mapping[str, str], n_bags: int) -> list[str]:
    """Say which bags were left out."""
    return [f"{len(bad)} of {n_bags} bags were left out, as skip_bad says. {_first(bad)}"] if bad else []


def _first(bad: Mapping[str, str]) -> str:
    more = len(bad) - N_SHOWN
    shown = " ".join(list(bad.values())[:N_SHOWN])
    return f"{shown} And {more} more." if more > 0 else shown


def _odd(one: BagFile, widths: Counter[int], kinds: Counter[str], names: Counter[frozenset[str]]) -> str | None:
    """Say in what a file differs from most others; None where it is as they are."""
    width, n_wide = widths.most_common(1)[0]
    if not one.shape[0]:
        return "has no rows; a bag has at least one."
    if not one.shape[1]:
        return "has rows without columns."
    usual, n_as = names.most_common(1)[0]
    if frozenset(one.columns or ()) != usual:
        return _other_columns(one, usual, n_as)
    if one.shape[1] != width:
        return f"has {one.shape[1]} columns, and {n_wide} others have {width}."
    kind, n_as = kinds.most_common(1)[0]
    if one.stored.str != kind:
        return f"holds values of type {one.stored}, and {n_as} others of another type ({kind}); write all alike."
    return None


def _other_columns(one: BagFile, usual: frozenset[str], n_as: int) -> str:
    """Say which features a file has that most others lack, and the other way round."""
    own = set(one.columns or ())
    said = {"more": quoted(sorted(own - usual)), "fewer": quoted(sorted(usual - own))}
    found = " and ".join(f"{word} ({names})" for word, names in said.items() if names)
    beside = sorted((usual - own) & set(one.beside))
    words = f"; {quoted(beside)} holds words here" if beside else ""
    return f"has {found} columns of numbers than {n_as} others{words}. Carry or ignore columns that differ."
