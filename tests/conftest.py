"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LONGEST = ("test_paper_studies.py", "test_own_data.py", "test_real_study.py")
"""The tests of the workflow that run studies of their own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests of the workflow, the longest first: while they wait for processes, other workers compute."""
    items.sort(key=lambda item: ("workflow" not in item.keywords, item.path.name not in LONGEST))


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder with real data sets, which may not be part of this repository."""
    shared = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("LTR_MIRROR") or shared)
    if not folder.is_dir():
        pytest.skip("set LTR_MIRROR to a folder that holds MQ2008.zip and OHSUMED.zip")
    return folder
