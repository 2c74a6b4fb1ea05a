"""How much memory there is: on the machine, in the container of this process, and by the limits of a process."""

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen

PROC, CGROUP = Path("/proc"), Path("/sys/fs/cgroup")
NO_LIMIT = 2**60  # What cgroups of the first version say where there is no limit, and more than any machine has.


@frozen
class Room:
    """The memory that a process may still take.

    Attributes:
        n_bytes: how much.
        why: who says so, in words that follow "there are 3 GB".
    """

    n_bytes: int = field()
    why: str = field()


def memory_left() -> tuple[Room | None, Room | None]:
    """Return what this process and those that it starts may take together, and what each of them may take alone.

    Returns:
        Each None where nothing is known or nothing is limited.
    """
    shared = [Room(left, "in this container") for left in _container()]
    shared += [Room(left, "on this machine") for left in _machine()]
    alone = [Room(left, "by the limit of a process, ulimit") for left in _process()]
    return tuple(min(rooms, key=lambda one: one.n_bytes, default=None) for rooms in (shared, alone))  # type: ignore[return-value]


def memory_in_use() -> int:
    """Return how many bytes of memory this process has now; 0 where the system does not say."""
    return _status("VmRSS") or 0


def _machine() -> Iterator[int]:
    found = _line(PROC / "meminfo", "MemAvailable")
    if found is not None:
        yield found
        return
    try:
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return


def _container() -> Iterator[int]:
    """Yield what each control group that this process is in leaves it."""
    for folder, limit, used, reclaimed in _groups():
        most, now = _number(folder / limit), _number(folder / used)
        if most is not None and now is not None and most < NO_LIMIT:
            # Pages of files are given up when memory is wanted.
            yield max(0, most - now + (_line(folder / "memory.stat", reclaimed, unit=1) or 0))


def _groups() -> Iterator[tuple[Path, str, str, str]]:
    """Yield the folders of the control groups of this process, with the names of their files, of both versions."""
    for line in _text(PROC / "self" / "cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            names, root = ("memory.max", "memory.current", "inactive_file"), CGROUP
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            root = CGROUP / "memory"
        else:
            continue
        # The path is that of the host: in a container the root may be the group itself.
        parts = Path(path.lstrip("/"))
        yield from ((root / part, *names) for part in (parts, *parts.parents) if (root / part / names[0]).exists())


def _process() -> Iterator[int]:
    try:
        import resource
    except ImportError:
        return
    for limit, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        soft, now = resource.getrlimit(limit)[0], _status(used)
        if soft != resource.RLIM_INFINITY and now is not None:
            yield max(0, soft - now)


def _status(name: str) -> int | None:
    return _line(PROC / "self" / "status", name)


def _line(path: Path, name: str, unit: int = 1024) -> int | None:
    """Return the number of a line such as "MemAvailable:  42 kB", in bytes."""
    for line in _text(path).splitlines():
        key, _, rest = line.replace(":", " ", 1).partition(" ")
        if key == name:
            return int(rest.split()[0]) * unit
    return None


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""
