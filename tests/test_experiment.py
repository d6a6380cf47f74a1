"""Are the tables of a step written as it declares them, and nothing else?"""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline_lib import storage
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.experiment import Outcome, Step, write

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
