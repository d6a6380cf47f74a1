"""Real documents, which may not be part of this repository."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline_lib import RankingData
from pipeline_lib.sources import letor


@pytest.fixture(scope="session")
def mq2008(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RankingData]:
    """A function that reads some files of MQ2008, such as S1 or Fold1/train, as one data set."""
    if not (mirror / "MQ2008.zip").is_file():
        pytest.skip("set LTR_MIRROR to a folder that holds MQ2008.zip")

    def read(*parts: str) -> RankingData:
        path = tmp_path_factory.mktemp("MQ2008") / "some.txt"
        with zipfile.ZipFile(mirror / "MQ2008.zip") as files:
            path.write_bytes(b"".join(files.read(f"MQ2008/{part}.txt") for part in parts))
        return letor.read(path)

    return read
