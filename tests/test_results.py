"""Are the tables of a study read by their names, as frames of polars and pandas?"""

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from pipeline_lib import results
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DamagedFileError, DataError


def test_tables_are_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    written = pl.DataFrame({"dataset": ["a", "b"], "mean": [0.5, None]})
    for name in ("summary", "measures"):
        storage.write_table(tmp_path / "tables" / f"{name}.parquet", written)
    assert results.names(tmp_path) == ["measures", "summary"]
    assert results.table(tmp_path, "summary").equals(written)
    frame = results.table(str(tmp_path), "summary").to_pandas()
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"dataset": ["a", "b"], "mean": [0.5, None]}), check_dtype=False)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected the results of a study"):
        results.table(tmp_path, "summary")
    (tmp_path / "tables").mkdir()
    storage.write_table(tmp_path / "tables/summary.parquet", pl.DataFrame({"mean": [0.5]}))
    with pytest.raises(DataError, match="unknown table 'sumary'; did you mean 'summary'"):
        results.table(tmp_path, "sumary")
    pl.DataFrame({"mean": [0.6]}).write_parquet(tmp_path / "tables/summary.parquet")
    with pytest.raises(DamagedFileError):
        results.table(tmp_path, "summary")
