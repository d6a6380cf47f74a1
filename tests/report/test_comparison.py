"""Is every difference between two studies noticed, and nothing reported where there is none?"""

import json
import shutil
from pathlib import Path

import made_study
import polars as pl
import pytest
import yaml

from pipeline_lib import cli
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.report.comparison import TableChange, compare


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    results = made_study.make(folder / "results")
    made_study.claims_of(results, folder / "reports" / results.name)
    return results


@pytest.fixture
def pair(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    shutil.copytree(made.parents[1], tmp_path, dirs_exist_ok=True)
    for top in ("results", "reports"):
        shutil.copytree(tmp_path / top / made.name, tmp_path / top / "second")
    return tmp_path / "results" / made.name, tmp_path / "results" / "second"


def changed(folder: Path, *columns: pl.Expr, rows: slice = slice(None)) -> None:
    path = folder / "tables" / "summary.parquet"
    storage.write_table(path, pl.read_parquet(path).with_columns(*columns)[rows])


def test_a_study_does_not_differ_from_itself(pair: tuple[Path, Path]) -> None:
    found = compare(*pair, tolerance=0.0)
    assert found.same
    assert not found.settings
    assert found.compared_claims > 100
    assert found.compared_tables > 5


@pytest.mark.parametrize(("tolerance", "differs"), [(0.0, True), (1e-7, True), (1e-5, False)])
def test_numbers_differ_beyond_the_tolerance_only(pair: tuple[Path, Path], tolerance: float, differs: bool) -> None:
    third = pl.int_range(pl.len()) == 2
    changed(pair[1], pl.when(third).then(pl.col("mean") * (1 + 1e-6)).otherwise(pl.col("mean")).alias("mean"))
    found = compare(*pair, tolerance=tolerance)
    assert found.same is not differs
    if differs:
        [change] = found.tables
        assert (change.table, change.rows) == ("tables/summary.parquet", 1)
        assert change.largest == pytest.approx(1e-6, rel=1e-3)
        row = pl.read_parquet(pair[0] / "tables" / "summary.parquet").row(2, named=True)
        assert f"model = {row['model']}" in change.where
        assert f"measure = {row['measure']}" in change.where


def test_rows_of_one_study_only_are_counted_and_the_others_compared(pair: tuple[Path, Path]) -> None:
    changed(pair[1], pl.when(pl.int_range(pl.len()) == 5).then(9.0).otherwise(pl.col("mean")).alias("mean"))
    changed(pair[1], rows=slice(2, None))
    lost, value = compare(*pair, tolerance=0.0).tables
    assert (lost.rows, "only one study" in lost.what) == (2, True)
    assert value.rows == 1
    assert "9.0 in the second" in value.what


def test_a_missing_number_and_a_new_column_are_differences(pair: tuple[Path, Path]) -> None:
    changed(pair[1], pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise(pl.col("mean")).alias("mean"))
    [change] = compare(*pair, tolerance=1.0).tables
    assert change.largest == float("inf")
    changed(pair[1], pl.lit(1.0).alias("new"))
    assert compare(*pair, tolerance=1.0).tables == (
        TableChange("tables/summary.parquet", "other columns or types: new"),
    )
    (pair[1] / "tables" / "summary.parquet").unlink()
    assert compare(*pair, tolerance=1.0).tables == (TableChange("tables/summary.parquet", "only in the first study"),)


def test_statuses_come_first_and_settings_are_named(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "reports" / "second" / "claims.json"
    document = json.loads(path.read_text())
    verified = next(claim for claim in document["claims"] if claim["status"] == "verified")
    other = next(claim for claim in document["claims"] if claim["trials"] and claim is not verified)
    verified["status"] = "refuted"
    other["explanation"] = "It says something else."
    storage.write_text(path, json.dumps(document))
    configuration = pair[1] / "configuration.yaml"
    settings = yaml.safe_load(configuration.read_text())
    settings["statistics"]["level"] = 0.8
    storage.write_text(configuration, yaml.safe_dump(settings))
    with pytest.raises(SystemExit) as ended:
        cli.main(["compare-studies", *map(str, pair)])
    assert ended.value.code == 1
    printed = capsys.readouterr().out
    assert f"{verified['id']}: verified, now refuted" in printed
    assert f"other evidence: {other['id']}" in printed
    assert printed.index(verified["id"]) < printed.index("statistics.level")


def test_a_folder_without_results_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found no table"):
        compare(made, tmp_path, tolerance=0.0)
