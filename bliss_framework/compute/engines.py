"""Where work runs that is spread over processes: this machine, or a cluster of dask or ray."""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from joblib import cpu_count, parallel_config

from bliss_framework.compute.processes import workers_of_this_process
from bliss_framework.compute.remains import ending_remains
from bliss_framework.compute.signals import ignore_signals, signals_kept_from_children, signals_put_off
from bliss_framework.errors import MissingExtraError, RunError, SettingsError, UnknownNameError
from bliss_framework.extension.extras import pip_command
from bliss_framework.extension.naming import did_you_mean

ENGINES = ("local", "dask", "ray")
MODULES = {"dask": "distributed", "ray": "ray"}
PATIENCE = 10  # Seconds that a cluster has to answer.
_PASSWORD = re.compile(r"([^\s/:@]+):[^\s/@]+@")  # Of an address USER:PASSWORD@HOST.


def check_engine(name: str, address: str | None = None) -> None:
    """Refuse an engine that is not there, before anything is started.

    Args:
        name: "local", "dask" or "ray".
        address: of a running cluster, for instance "tcp://host:8786"; None starts one on this machine.

    Raises:
        UnknownNameError: there is no such engine.
        SettingsError: an address was given for the local engine.
        MissingExtraError: the package is not installed.
    """
    if name not in ENGINES:
        raise UnknownNameError(f'No engine "{name}".{did_you_mean(name, ENGINES)} There are: {", ".join(ENGINES)}.')
    if name == "local":
        if address is not None:
            raise SettingsError(f'The engine "local" is this machine and has no address; got "{_shown(address)}".')
        return
    _imported(name)


@contextmanager
def engine(name: str = "local", address: str | None = None, n_jobs: int | None = None) -> Iterator[None]:
    """Spread the work of a `with` block over the processes of this machine or of a cluster.

    The bits of results are those of one process. Workers of a cluster need bliss_framework and the plugins that are
    used, in the same versions.

    Args:
        name: "local" (processes of this machine), "dask" or "ray".
        address: of a running cluster; None starts one on this machine, which ends with the block.
        n_jobs: workers to start where none are running; None or -1 for as many as there are cores.

    Raises:
        UnknownNameError, SettingsError, MissingExtraError: as in `check_engine`.
        RunError: no cluster answers at the address, or a worker of it has more than one thread.

    >>> from bliss_framework import BlissClassifier
    >>> X, y, bags = [[0.0], [0.1], [1.0], [0.2], [0.0], [0.9]], [0, 1, 0, 1], [0, 0, 1, 1, 2, 3]
    >>> with engine("local"):
    ...     model = BlissClassifier(n_rounds=5, n_folds=2, random_state=0, n_jobs=2).fit(X, y, bags=bags)
    """
    check_engine(name, address)
    if name == "local":
        yield
        return
    start = {"dask": _dask, "ray": _ray}[name]
    with start(_imported(name), address, _n_workers(n_jobs)), parallel_config(backend=name):
        yield


def _n_workers(n_jobs: int | None) -> int:
    return int(cpu_count()) if n_jobs is None or n_jobs < 1 else n_jobs


def _imported(name: str) -> ModuleType:
    try:
        return import_module(MODULES[name])
    except ImportError:
        raise MissingExtraError(
            f'The engine "{name}" needs a package that is not installed: {pip_command(name)}.'
        ) from None


@contextmanager
def _dask(distributed: Any, address: str | None, n_workers: int) -> Iterator[None]:
    if address is None:
        # The scheduler opens a port for its own pages whatever one asks for, so it is one of this machine alone.
        own = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.ERROR}
        with signals_kept_from_children():
            cluster = distributed.LocalCluster(n_workers=n_workers, **own)
        with cluster, distributed.Client(cluster) as client:
            # What starts processes for dask lets them hear signals again.
            client.run(ignore_signals)
            yield
        return
    with _dask_client(distributed, address) as client:
        _check_threads(client, address)
        yield


def _dask_client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise RunError(f"No dask scheduler answers at {_shown(f'{address}: {error}')}.") from None


def _check_threads(client: Any, address: str) -> None:
    """Insist on one thread for each worker: the limit on BLAS threads, which keeps the bits, is one of a process."""
    threads = client.nthreads()
    if not threads:
        raise RunError(
            f"The dask scheduler at {_shown(address)} has no workers; start some with `dask worker --nthreads 1`."
        )
    if max(threads.values()) > 1:
        raise RunError(
            f"Workers of the dask scheduler at {_shown(address)} have {max(threads.values())} threads. Results keep "
            f"their bits with one thread each: start them with `dask worker --nthreads 1 --nworkers auto`."
        )


def _shown(text: str) -> str:
    """Return a text about an address without the password in it: messages end in logs.

    >>> _shown("tcp://ann:secret@host:8786 is away")
    'tcp://ann:***@host:8786 is away'
    """
    return _PASSWORD.sub(r"\1:***@", text)


@contextmanager
def _ray(ray: Any, address: str | None, n_workers: int) -> Iterator[None]:
    # Ray would send usage statistics otherwise.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with ending_remains():
        try:
            _connect_to_ray(ray, address, n_workers)
            import_module("ray.util.joblib").register_ray()
            yield
        finally:
            ray.shutdown()


def _connect_to_ray(ray: Any, address: str | None, n_workers: int) -> None:
    new = {"num_cpus": n_workers, "include_dashboard": False} if address is None else {}
    place = address or "this machine"
    try:
        with signals_put_off():
            ray.init(address="local" if address is None else address, logging_level="ERROR", log_to_driver=False, **new)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RunError(f"No ray cluster answers at {_shown(f'{place}: {error}')}.") from None


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
        with workers_of_this_process(wanted):
            yield
        return
    with engine(name, address, wanted):
        yield


def _most(n_jobs: Sequence[int | None]) -> int | None:
    given = [one for one in n_jobs if one is not None]
    if not given:
        return None
    return min(given) if min(given) < 0 else max(given)
