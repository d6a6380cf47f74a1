"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder with real data sets, which may not be part of this repository."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("LTR_MIRROR") or beside)
    if not folder.is_dir():
        pytest.skip("set LTR_MIRROR to a folder that holds MQ2008.zip and OHSUMED.zip")
    return folder
