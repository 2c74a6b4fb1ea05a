"""What tests of every room share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared(pytestconfig: pytest.Config) -> Path:
    """The folder of real data and recorded cases: BLISS_SHARED, or `shared` beside the repository."""
    folder = Path(os.environ.get("BLISS_SHARED") or pytestconfig.rootpath.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"the shared folder is not at {folder}; set BLISS_SHARED to where it is")
    return folder
