"""The unpacked archive of MQ2008 as somebody's own folder: its folds share their queries, and come out as published."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib.sources import catalog, conversion, folds, own_data
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.sources.tables import Options


def test_folds_that_share_queries_are_those_of_the_catalogue(mirror: Path, tmp_path: Path) -> None:
    if not (mirror / "MQ2008.zip").is_file():
        pytest.skip("set LTR_MIRROR to a folder that holds MQ2008.zip")
    with zipfile.ZipFile(mirror / "MQ2008.zip") as archive:
        archive.extractall(tmp_path)
    entry = OwnDataSettings.parse({"name": "own", "folder": str(tmp_path / "MQ2008")})
    own, known = own_data.data_set(entry), catalog.get("MQ2008")
    files = {part: own.raw_paths(part, tmp_path)[0] for part in own.parts}
    summary = conversion.convert_own(files, tmp_path / "own.parquet", Options(), shared=own.shared)
    assert known.counts is not None
    assert (summary.rows, summary.queries) == (known.counts.rows, known.counts.queries)
    assert tuple(summary.labels.values()) == known.counts.labels
    parts = {part: tmp_path / f"MQ2008/S{part[1:]}.txt" for part in known.parts}
    conversion.convert(parts, tmp_path / "known.parquet", n_features=known.n_features)
    tables = [
        folds.fold_table(data_set, tmp_path / f"{name}.parquet").to_pandas().sort_values(["fold", "part", "qid"])
        for data_set, name in ((own, "own"), (known, "known"))
    ]
    for column in ("fold", "part", "qid"):
        assert np.array_equal(tables[0][column], tables[1][column])
