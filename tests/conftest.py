"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

LONGEST = ("test_paper_studies.py", "test_own_data.py", "test_real_study.py")
"""The tests of the workflow that run studies of their own."""


@pytest.hookimpl(trylast=True)  # after tests were deselected
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every worker its share of the tests of the workflow to begin with, the longest first.

    They wait for processes most of the time, so that they are fast only if they overlap. Each worker is first given an
    equal share of the list from one place on (``--dist worksteal``): its share begins with some files of the workflow,
    whole ones, because tests of one file use the same studies.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        if "workflow" in item.keywords:
            files.setdefault(item.path.name, []).append(item)
    others = [item for item in items if "workflow" not in item.keywords]
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for name in sorted(files, key=lambda name: (name not in LONGEST, -len(files[name]), name)):
        min(shares, key=len).extend(files[name])
    size = len(items) / workers
    ordered: list[pytest.Item] = []
    for number, share in enumerate(shares, 1):
        ordered += share
        missing = max(int(number * size) - len(ordered), 0)
        ordered += others[:missing]
        others = others[missing:]
    items[:] = ordered + others


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of every later search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder with real data sets, which may not be part of this repository."""
    shared = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("LTR_MIRROR") or shared)
    if not folder.is_dir():
        pytest.skip("set LTR_MIRROR to a folder that holds MQ2008.zip and OHSUMED.zip")
    return folder
