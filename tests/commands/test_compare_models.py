"""Can paired tests of a study find what is there, however many models it has?"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline_lib.commands import compare_models
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError


def evaluation(model: str, values: np.ndarray, queries: list[int] | None = None) -> pl.DataFrame:
    queries = list(range(len(values))) if queries is None else queries
    about = {"dataset": "made", "model": model, "fold": 1}
    return pl.DataFrame({"query": queries, "ndcg@10": values}).with_columns(**{k: pl.lit(v) for k, v in about.items()})


def compared(folder: Path, tables: list[pl.DataFrame], resamples: int) -> pl.DataFrame:
    paths = [folder / f"{i}.parquet" for i in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        storage.write_table(path, table)
    output = folder / "comparisons.parquet"
    compare_models.run(level=0.95, resamples=resamples, seed=1, output=output, evaluations=paths, measures=("ndcg@10",))
    return pl.read_parquet(output)


@pytest.mark.parametrize("models", [2, 33, 37])
def test_no_number_of_models_blinds_the_tests(models: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    tables = [evaluation(f"m{k}", rng.normal(k / models, 0.05, 400)) for k in range(models)]
    found = compared(tmp_path, tables, resamples=10_000)
    assert len(found) == models * (models - 1) // 2
    # The means of neighbours differ by 8 standard errors, even with 37 models; the least p-value is that of one test.
    assert set(found["p_adjusted"]) == {1 / 10_001}
    assert (found["high"] < 0).all()


def test_equal_models_are_not_told_apart(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random(30)
    [row] = compared(tmp_path, [evaluation("a", values), evaluation("b", values)], resamples=200).to_dicts()
    assert (row["p_value"], row["p_adjusted"], row["difference"], row["detectable"]) == (1.0, 1.0, 0.0, None)


def test_one_model_is_compared_with_none(tmp_path: Path) -> None:
    found = compared(tmp_path, [evaluation("a", np.ones(30))], resamples=200)
    assert found.schema == pl.Schema(compare_models.COMPARISONS)
    assert found.is_empty()


def test_models_of_other_queries_are_not_compared(tmp_path: Path) -> None:
    tables = [evaluation("a", np.ones(2)), evaluation("b", np.ones(2), queries=[0, 2])]
    with pytest.raises(DataError, match="made: expected the same test queries of all models, found others of b than"):
        compared(tmp_path, tables, resamples=200)
