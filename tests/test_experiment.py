"""Are the tables of a step written as it declares them, and nothing else?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib import storage
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.experiment import Job, Outcome, Step, write
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import catalog, folds
from pipeline_lib.sources.catalog import Fold, Part

TABLE = {"tables/toy": {"n": int, "mean": float}}


def test_a_table_has_the_declared_columns_even_without_rows(tmp_path: Path) -> None:
    write(TABLE, [tmp_path / "none.parquet"], Outcome([[]]))
    write(TABLE, [tmp_path / "some.parquet"], Outcome([[{"n": 1, "mean": 0.5}, {"n": 2, "mean": None}]]))
    none, some = (storage.read_table(tmp_path / f"{name}.parquet") for name in ("none", "some"))
    assert none.schema == some.schema
    assert some.to_dicts() == [{"n": 1, "mean": 0.5}, {"n": 2, "mean": None}]


@pytest.mark.parametrize(
    "row", [{"n": 1}, {"n": 1, "mean": 0.5, "more": 1}, {"m": 1, "mean": 0.5}, {"n": "x", "mean": 1.0}]
)
def test_rows_with_other_columns_are_refused(row: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="tables/toy"):
        write(TABLE, [tmp_path / "toy.parquet"], Outcome([[row]]))
    assert not list(tmp_path.iterdir())


def test_a_divided_step_names_its_axes_in_its_tables_and_hands_in_no_evidence() -> None:
    def run(job: object) -> Outcome:
        return Outcome()

    divided = {"slice": lambda settings: range(2)}
    with pytest.raises(ConfigurationError, match="axes"):
        Step("toy", run, tables={"slices/toy": {"n": int}}, divided=divided)
    with pytest.raises(ConfigurationError, match="evidence"):
        Step("toy", run, tables={"slices/toy/{slice}": {"n": int}}, divided=divided, claims=("toy-claim",))


def test_a_sample_of_queries_is_the_same_for_all_that_read_it(tmp_path: Path) -> None:
    path = tmp_path / "toy" / "documents.parquet"
    path.parent.mkdir()
    qids = np.arange(40)
    RankingData.from_arrays(qids[:, None], qids % 3, qids).write_parquet(path)
    data_set = replace(catalog.get("letor-sim"), name="toy", parts={"all": Part("all", (), (), None, None, None)})
    fold = Fold(("all/1", "all/2"), ("all/3",), ("all/4",))
    folds.write_folds(replace(data_set, split={"all": 4}, folds=(fold,)), path, tmp_path / "toy" / "folds.parquet")

    def job(most: int | None) -> Job:
        return Job(None, 1, documents=[path], folds=[tmp_path / "toy" / "folds.parquet"], most_queries=most)

    everything, sample = job(None).datasets()["toy"].qids.tolist(), job(12).datasets()["toy"].qids.tolist()
    assert everything == job(40).datasets()["toy"].qids.tolist() == qids.tolist()
    assert len(sample) == 12
    assert sample == sorted(sample)
    whole, parts = (job(most).parts("toy", 1, ("train", "validation", "test")) for most in (None, 12))
    assert sorted(query for part in parts for query in part.qids) == sample
    for all_queries, some in zip(whole, parts, strict=True):
        assert set(some.qids) <= set(all_queries.qids)
