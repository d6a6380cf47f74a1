"""Are the cells of Table 1 what they are said to be?"""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from pipeline_lib.papers.cone.table1 import experiment as table1
from tests import readings
from tests.papers.jobs import tables


def cell(method: str, model: str, published: float, values: table1.Values) -> table1.Cell:
    printed = {("MQ2008", method, "map"): published}
    return table1.cell(("MQ2008", method, model, "map"), printed, values, seed=1, resamples=200)


def test_a_cell_of_table_1() -> None:
    rng = np.random.default_rng(0)
    values = {fold: rng.random(40) for fold in (1, 2, 3)}
    first = float(values[1].mean())
    row = cell("ListNet", "listnet", first + 0.0149, values)
    assert row.status == "verified"
    assert row.fold1.value == pytest.approx(first)
    assert row.five_fold_mean == pytest.approx(np.mean([one.mean() for one in values.values()]))
    assert row.five_fold_sd == pytest.approx(np.std([one.mean() for one in values.values()], ddof=1))
    assert row.fold1.low < first < row.fold1.high
    far = cell("ListNet", "listnet", first - 0.02, values)
    assert far.status == "deviates"
    single = cell("RankBoost", "rb", 0.5, {1: values[1]})
    cells = tables([row, single])
    both, none = (readings.trials(claim, cells) for claim in ("cone-table1-mq2008", "cone-table1-mq2007"))
    assert [set(trial.values) for trial in both] == [{"measured", "published", "five_folds"}, {"measured", "published"}]
    assert [set(trial.setting) for trial in both] == [{"dataset", "method", "measure"}] * 2
    assert none == []
    # Two models may reproduce the same row.
    cells = tables([row, row.model_copy(update={"model": "other"})])
    assert [trial.setting["model"] for trial in readings.trials("cone-table1-mq2008", cells)] == ["listnet", "other"]


def test_the_studies_named_for_table_1_train_all_of_its_rows() -> None:
    root = Path(__file__).parents[3] / "workflow"
    printed = pl.read_csv(root / "published/cone-table1.csv", comment_prefix="#")
    for dataset in table1.OTHER:
        [claim] = [claim for claim in readings.ledger_of_claims() if claim.id == f"cone-table1-{dataset.lower()}"]
        [name] = re.findall(r"workflow/studies/(\S+\.yaml)", claim.otherwise)
        study = yaml.safe_load((root / "studies" / name).read_text())
        trained = {
            model.get("published") for model in study["models"] if dataset in model.get("datasets", study["datasets"])
        }
        assert set(printed.filter(pl.col("dataset") == dataset)["row"]) <= trained, name


def test_the_best_of_a_column_is_of_its_data_set_and_measure() -> None:
    printed = {
        ("MQ2007", "A", "map"): 0.5,
        ("MQ2007", "B", "map"): 0.4,
        ("MQ2008", "A", "map"): 0.3,
        ("MQ2008", "B", "map"): 0.2,
        ("MQ2008", "A", "letor4_mean_ndcg"): 0.6,
    }
    found = {(row.dataset, row.method, row.measure): row for row in table1.as_published(printed)}
    assert [row.best for row in found.values()] == [0.5, 0.5, 0.3, 0.3, 0.6]
    assert found["MQ2008", "B", "MAP"].other_dataset == 0.4
