"""A running SLURM for the tests of this folder."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..workflow.conftest import finished, finished_copy, new_project, original  # noqa: F401
from . import packages, slurm


@pytest.fixture(scope="session")
def software() -> packages.Software:
    if packages.SOFTWARE not in os.environ:
        pytest.skip("runs on a real SLURM: make test-cluster")
    # A run that is told to end stops its clusters first, as it does after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return packages.Software(Path(os.environ[packages.SOFTWARE]))


@pytest.fixture(scope="session")
def cluster(software: packages.Software, tmp_path_factory: pytest.TempPathFactory) -> Iterator[slurm.Slurm]:
    """A cluster without accounting."""
    with slurm.running(tmp_path_factory.mktemp("slurm") / "cluster", software, accounting=False) as running:
        yield running


@pytest.fixture(scope="session")
def accounted(software: packages.Software, tmp_path_factory: pytest.TempPathFactory) -> Iterator[slurm.Slurm]:
    """A cluster with accounting."""
    with slurm.running(tmp_path_factory.mktemp("slurm") / "accounted", software, accounting=True) as running:
        yield running
