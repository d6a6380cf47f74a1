"""What do tests share?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with the real data sets: LTR_MIRROR, else ../shared/data beside the repository, else skip."""
    given = os.environ.get("LTR_MIRROR")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is not a folder; set LTR_MIRROR to one that holds MQ2008.zip")
    return folder
