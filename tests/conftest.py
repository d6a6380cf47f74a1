"""What do tests share?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder that holds the archives of real data; tests that need it are skipped where there is none."""
    folder = Path(os.environ.get("LTR_MIRROR") or Path(__file__).parents[1] / "../shared/data")
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is not a folder; set LTR_MIRROR to one that holds MQ2008.zip")
    return folder
