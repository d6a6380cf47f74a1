"""One made study, its report and a browser for all tests of the report."""

from collections.abc import Iterator
from pathlib import Path

import made_study
import pytest
from browser import Browser, started


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a made study."""
    return made_study.make(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def report(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report, which no test changes."""
    folder = tmp_path_factory.mktemp("reports") / "made"
    made_study.report(study, folder)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("browser")) as found:
        yield found
