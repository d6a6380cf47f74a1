"""Are the tables of a step written as it declares them, and nothing else?"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib.core import storage
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, Row, frame
from pipeline_lib.experiment import Job, Step, write
from pipeline_lib.sources import catalog, folds
from pipeline_lib.sources.catalog import Fold, Part


class Toy(Row, table="tables/toy"):
    """One mean."""

    n: int = Field(description="numbers")
    mean: float | None = Field(description="their mean")


STEP = Step("toy", lambda job: (), rows=[Toy])


def test_a_table_has_the_declared_columns_even_without_rows(tmp_path: Path) -> None:
    write(STEP, [tmp_path / "none.parquet"], [])
    write(STEP, [tmp_path / "some.parquet"], [Toy(n=1, mean=0.5), Toy(n=2, mean=None)])
    none, some = (storage.read_table(tmp_path / f"{name}.parquet") for name in ("none", "some"))
    assert none.schema == some.schema
    assert some.to_dicts() == [{"n": 1, "mean": 0.5}, {"n": 2, "mean": None}]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"n": 1}, r"step toy: Toy\.mean"),
        ({"n": 1, "mean": 0.5, "more": 1}, r"step toy: Toy\.more"),
        ({"n": "x", "mean": 1.0}, r"step toy: Toy\.n: .*, found 'x'"),
        ({"n": 1.5, "mean": 1.0}, r"step toy: Toy\.n: "),
    ],
)
def test_the_first_wrong_row_is_an_error_that_names_class_and_field(
    row: dict[str, Any], message: str, tmp_path: Path
) -> None:
    def yielded() -> Iterator[Toy]:
        yield Toy(n=1, mean=None)
        yield Toy(**row)
        raise AssertionError("the work went on behind the wrong row")

    with pytest.raises(DataError, match=message):
        write(STEP, [tmp_path / "toy.parquet"], yielded())
    assert not list(tmp_path.iterdir())


def test_rows_of_another_class_are_refused(tmp_path: Path) -> None:
    class Other(Row, table="tables/other"):
        n: int = Field(description="numbers")

    with pytest.raises(DataError, match="step toy: expected rows of Toy, found one of Other"):
        write(STEP, [tmp_path / "toy.parquet"], [Other(n=1)])


def test_a_column_may_be_a_word_of_python() -> None:
    class Ball(Row):
        class_: str = Field(description="norm of the ball")

    made = Ball(class_="l1")
    assert frame([made], Ball).to_dicts() == [{"class": "l1"}]
    assert Ball.of({"class": "l1"}) == made


def test_a_divided_step_names_its_axes_in_its_tables() -> None:
    with pytest.raises(ConfigurationError, match="axes"):
        Step("toy", lambda job: (), rows=[Toy], divided={"slice": lambda settings: range(2)})


def test_a_sample_of_queries_is_the_same_for_all_that_read_it(tmp_path: Path) -> None:
    path = tmp_path / "toy" / "documents.parquet"
    path.parent.mkdir()
    qids = np.arange(40)
    RankingData.from_arrays(qids[:, None], qids % 3, qids).write_parquet(path)
    fold = Fold(train=("all/1", "all/2"), validation=("all/3",), test=("all/4",))
    layout = {"name": "toy", "parts": {"all": Part()}, "split": {"all": 4}, "folds": (fold,)}
    data_set = catalog.get("letor-sim").model_copy(update=layout)
    folds.write_folds(data_set, path, tmp_path / "toy" / "folds.parquet")

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
