"""The native data file: an .npz archive of rows, bag ids and weak labels."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bliss_framework.plugin import Bags, DataError, Reader, WeakDataset
from bliss_readers.npz.npz_archive import Archive, open_archive

_REGIME_OF_KEY = {"y": "mil", "Y": "multiclass-mil", "proportions": "llp"}
_KEYS_OF_REGIME = {"mil": ("y",), "multiclass-mil": ("Y", "y"), "llp": ("proportions",)}
_CSR_KEYS = ("format", "shape", "data", "indices", "indptr")
_OTHER_KEYS = {"X", "bag", "inst_y", "feature_names", "label_names", "_is_array", *_CSR_KEYS}


class NpzReader(Reader):
    """Reads .npz archives without pickles.

    Keys: `X` (n, d), or the CSR parts that `scipy.sparse.save_npz` writes; `bag` (n,) integers or text; one of `y`
    (B,), `Y` (B, C) of 0 and 1 with `label_names` (C,), and `proportions` (B,) or (B, C), one entry for each bag in
    order of first appearance; optional `inst_y` (n,) and `feature_names` (d,).
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .npz and starts like a zip archive."""
        if path.suffix.lower() != ".npz":
            return False
        try:
            with path.open("rb") as file:
                return file.read(2) == b"PK"
        except (OSError, ValueError):
            return False

    def read(self, path: Path, *, regime: str | None = None) -> WeakDataset:  # type: ignore[override]
        """Read the file.

        Args:
            path: the archive.
            regime: what the weak labels are for, and so which of them is taken where the file holds several. By default
                `y` ("mil"), else `Y` ("multiclass-mil"), else `proportions` ("llp").

        Returns:
            The data set, its rows as float64; `weak` is None where the file holds no weak labels.

        Raises:
            DataError: naming the file, the key, what was found and what is allowed.
        """
        path = Path(path)
        with open_archive(path) as archive:
            rows = _rows(archive)
            n_rows, n_features = rows.shape
            bag = archive.get("bag", kinds="iuU", shape=(n_rows,))
            key = _weak_key(archive, regime)
            weak = None if key is None else _weak(archive, key, Bags.from_ids(bag).n_bags)
            return WeakDataset(
                name=path.stem,
                X=rows,
                bags=bag,
                weak=weak,
                regime=regime or _REGIME_OF_KEY.get(key or "y", "mil"),
                instance_labels=_optional(archive, "inst_y", "biufU", n_rows),
                feature_names=_names(archive, "feature_names", n_features),
                label_names=None if weak is None or weak.ndim < 2 else _names(archive, "label_names", weak.shape[1]),
            )


def _rows(archive: Archive) -> Any:
    if "X" in archive:
        return archive.get("X", kinds="biuf", shape=(None, None)).astype(np.float64)
    if "format" in archive:
        return _sparse_rows(archive)
    raise DataError(
        f'{archive.path} has no rows: neither "X" nor the parts of a CSR matrix ({", ".join(_CSR_KEYS)}). '
        f"It holds {', '.join(archive.keys) or 'nothing'}."
    )


def _sparse_rows(archive: Archive) -> sp.csr_matrix:
    _check_format(archive)
    shape = archive.get("shape", kinds="iu", shape=(2,)).tolist()
    data = archive.get("data", kinds="biuf", shape=(None,)).astype(np.float64)
    indices, indptr = (archive.get(key, kinds="iu", shape=(None,)) for key in ("indices", "indptr"))
    try:
        rows = sp.csr_matrix((data, indices, indptr), shape=tuple(shape))
        # A column index beyond the last column would be read from memory that is not ours.
        rows.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise archive.error("indices", f"and the other CSR parts do not fit together ({error})") from error
    return rows


def _check_format(archive: Archive) -> None:
    # Old versions of SciPy wrote the format as bytes.
    stored = archive.get("format", kinds="US", shape=()).astype(str).item()
    if stored != "csr":
        raise archive.error("format", f'says "{stored}"; allowed is "csr": save X.tocsr()')


def _weak_key(archive: Archive, regime: str | None) -> str | None:
    wanted = _KEYS_OF_REGIME.get(regime or "", tuple(_REGIME_OF_KEY))
    present = [key for key in wanted if key in archive]
    if present:
        return present[0]
    unknown = [key for key in archive.keys if key not in _OTHER_KEYS]
    if regime is None and not unknown:
        return None
    needed = " or ".join(f'"{key}"' for key in wanted)
    purpose = f' for the regime "{regime}"' if regime else ""
    raise DataError(
        f"{archive.path} has no weak labels{purpose}: {needed} is needed; it holds {', '.join(archive.keys)}."
    )


def _weak(archive: Archive, key: str, n_bags: int) -> NDArray[Any]:
    try:
        return _weak_array(archive, key, n_bags)
    except DataError as error:
        raise DataError(
            f"{error} It needs one entry for each of the {n_bags} bags, in order of first appearance."
        ) from error


def _weak_array(archive: Archive, key: str, n_bags: int) -> NDArray[Any]:
    if key == "y":
        return archive.get(key, kinds="biufU", shape=(n_bags,))
    if key == "Y":
        indicators = archive.get(key, kinds="biuf", shape=(n_bags, None))
        archive.get("label_names", kinds="iuU", shape=(indicators.shape[1],))
        return indicators
    return archive.get(key, kinds="biuf", shape=(n_bags, ...))


def _optional(archive: Archive, key: str, kinds: str, length: int) -> NDArray[Any] | None:
    return archive.get(key, kinds=kinds, shape=(length,)) if key in archive else None


def _names(archive: Archive, key: str, length: int) -> tuple[str, ...] | None:
    names = _optional(archive, key, "iuU", length)
    return None if names is None else tuple(str(name) for name in names.tolist())
