"""Are published numbers compared with the same folds of ours, and by how many standard errors do they differ?"""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline_lib import metrics
from pipeline_lib.commands import summarise_results
from pipeline_lib.commands.summarise_results import published_table

TRANSCRIBED = sorted((Path(__file__).parents[2] / "workflow/published").glob("*.csv"))


def measured(folds: dict[int, list[float]]) -> pl.DataFrame:
    """The values of one measure of every query of a made model."""
    rows = [
        {"dataset": "made", "model": "ours", "fold": fold, "query": q, "qid": str(q), "measure": "map", "value": value}
        for fold, values in folds.items()
        for q, value in enumerate(values)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("seed", range(20))
def test_means_are_those_without_weights_to_the_last_bit_where_there_are_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries = int(rng.integers(1000, 5000))
    table = pl.DataFrame(
        {
            "dataset": ["made"] * queries,
            "model": rng.choice(["one", "other"], queries),
            "fold": pl.Series(np.sort(rng.integers(1, 4, queries)), dtype=pl.UInt8),
            "measure": ["map"] * queries,
            "value": rng.random(queries),
        }
    )
    alike = table.with_columns(weight=pl.lit(None, pl.Float64))
    grouped = table.group_by(["dataset", "model", "fold", "measure"], maintain_order=True)
    plain = grouped.agg(pl.col("value").mean(), n_queries=pl.len())["value"].to_list()
    assert summarise_results.measure_table(alike)["value"].to_list() == plain
    weighted = table.with_columns(weight=rng.integers(1, 5, queries).astype(float), dataset=pl.lit("weighted"))
    both = summarise_results.measure_table(pl.concat([alike, weighted.select(alike.columns)]))
    assert both.filter(dataset="made")["value"].to_list() == pytest.approx(plain, rel=1e-14)
    for row in both.filter(dataset="weighted").to_dicts():
        known = weighted.filter(model=row["model"], fold=row["fold"])
        assert row["value"] == pytest.approx(np.average(known["value"], weights=known["weight"]), rel=1e-12)
        assert row["n_queries"] == len(known)


def written(tmp_path: Path, *folds: str) -> list[Path]:
    path = tmp_path / "made.csv"
    lines = [f"A paper,made,Theirs,{fold},map,0.25" for fold in folds]
    path.write_text("\n".join(["# a comment", "source,dataset,row,fold,measure,value", *lines, ""]))
    return [path]


def test_a_number_of_one_fold_and_a_mean_over_folds_are_compared_with_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    folds = {fold: rng.random(20 + fold).tolist() for fold in (1, 2)}
    table = published_table(measured(folds), written(tmp_path, "1", "1-2"), {"ours": "Theirs", "other": "Nobody's"})
    assert table.schema == pl.Schema(summarise_results.PUBLISHED)
    one, both = table.to_dicts()
    errors = {fold: np.std(values, ddof=1) / math.sqrt(len(values)) for fold, values in folds.items()}
    assert (one["folds"], both["folds"]) == ("1", "1-2")
    assert one["measured"] == pytest.approx(np.mean(folds[1]))
    assert one["standard_error"] == pytest.approx(errors[1])
    assert both["measured"] == pytest.approx(np.mean([np.mean(values) for values in folds.values()]))
    assert both["standard_error"] == pytest.approx(math.hypot(*errors.values()) / 2)
    for row in (one, both):
        assert row["delta"] == pytest.approx(row["measured"] - 0.25)
        assert row["in_standard_errors"] == pytest.approx(row["delta"] / row["standard_error"])


def test_a_mean_over_folds_that_are_not_all_measured_is_not_compared(tmp_path: Path) -> None:
    table = published_table(measured({1: [0.5, 1.0]}), written(tmp_path, "1-5"), {"ours": "Theirs"})
    assert table.is_empty()


def test_a_fold_with_a_single_query_has_no_standard_error(tmp_path: Path) -> None:
    [row] = published_table(measured({1: [0.5]}), written(tmp_path, "1"), {"ours": "Theirs"}).to_dicts()
    assert row["delta"] == 0.25
    assert row["in_standard_errors"] is None


@pytest.mark.parametrize("path", TRANSCRIBED, ids=lambda path: path.name)
def test_transcribed_numbers_are_of_known_measures_and_between_0_and_1(path: Path) -> None:
    cells = pl.read_csv(path, comment_prefix="#", infer_schema=False)
    assert len(cells)
    assert cells.unique(["dataset", "row", "fold", "measure"]).height == len(cells)
    for cell in cells.iter_rows(named=True):
        metrics.get(cell["measure"])
        assert 0.0 < float(cell["value"]) < 1.0
        assert set(cell["fold"].split("-")) <= set("12345")
