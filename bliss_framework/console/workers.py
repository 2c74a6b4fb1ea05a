"""Where a command's work runs: processes of this machine that Ctrl-C leaves alone, or a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bliss_framework.console.exits import deaf_workers
from bliss_framework.engines import engine


@contextmanager
def workers(name: str, address: str | None, n_jobs: Sequence[int | None]) -> Iterator[None]:
    """Run a with block on an engine.

    Args:
        name: of the engine.
        address: of a running cluster, or None.
        n_jobs: of each experiment of the command.
    """
    wanted = _most(n_jobs)
    if name == "local":
        with deaf_workers(wanted):
            yield
        return
    with engine(name, address, wanted):
        yield


def _most(n_jobs: Sequence[int | None]) -> int | None:
    given = [one for one in n_jobs if one is not None]
    if not given:
        return None
    return min(given) if min(given) < 0 else max(given)
