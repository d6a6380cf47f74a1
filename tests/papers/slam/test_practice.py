"""The comparisons of SLAM's learners with others, query by query."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.papers.slam.practice import experiment as practice
from pipeline_lib.statistics import compare_runs
from tests import readings
from tests.papers.jobs import tables


def model(
    name: str, algorithm: str = "erm", surrogate: str | None = None, control: bool = False, **settings: Any
) -> practice.Model:
    entry = {"model": name, "title": name.upper(), "algorithm": algorithm, "surrogate": surrogate, "control": control}
    return practice.Model.from_entry({**entry, "settings": settings})


GAUSSIAN = {"kernel": "gaussian"}
SURROGATES = {"slam": "slam-ndcg", "listnet": "listnet"}
FIRST = ("practice", "listnet-0")
MODELS = [
    model("random", "random", control=True),
    model("listnet", surrogate="listnet"),
    model("squared", surrogate="squared"),
    model("slam", surrogate="slam-ndcg"),
    model("linear", "perceptron", features="standardised"),
    model("kernel", "perceptron", features=GAUSSIAN),
]


def compared(
    values: dict[str, Any], models: list[practice.Model] = MODELS, folds: Any = None, resamples: int = 200
) -> list[practice.Comparison]:
    folds = np.ones(len(next(iter(values.values()))), int) if folds is None else folds
    return list(practice.compared("d", models, values, folds, {"level": 0.95, "resamples": resamples}, 1))


def test_families_follow_from_the_entries():
    assert [one.family for one in MODELS] == ["control", "baseline", "baseline", "slam", "slam", "slam"]
    assert [one.kernel for one in MODELS] == [False, False, False, False, False, True]


def test_the_best_of_each_side_are_compared_query_by_query():
    rng = np.random.default_rng(5)
    base = rng.random(200)
    shifts = {"random": 1.0, "listnet": 0.02, "squared": 0.01, "slam": 0.05, "linear": 0.0, "kernel": 0.03}
    values = {"d": {name: base + shift + 0.01 * rng.standard_normal(200) for name, shift in shifts.items()}}
    rows = compared(values["d"], folds=np.repeat([1, 2], 100), resamples=500)
    [best] = readings.trials("slam-practice", tables(rows))
    assert dict(best.setting) == {"dataset": "d", "model": "SLAM", "other": "LISTNET"}
    difference = best.values["difference_to_best_baseline"]
    assert difference.value == pytest.approx((values["d"]["slam"] - values["d"]["listnet"]).mean())
    assert difference.low < 0.03 < difference.high
    assert best.values["p_adjusted"] < 0.05
    [kernel] = readings.trials("slam-kernel", tables(rows))
    assert kernel.values["difference_to_linear"].value == pytest.approx(0.03, abs=0.005)
    # Two baselines and one linear perceptron; the control is compared with none.
    assert [row.other for row in rows if row.question != "family"] == ["listnet", "squared", "linear"]
    # And the best baseline with the other SLAM learners: four tests of one family with those above.
    family = [row for row in rows if row.question == "family"]
    assert [(row.model, row.other) for row in family] == [("listnet", "kernel"), ("listnet", "linear")]
    assert family[1].difference.value == pytest.approx((values["d"]["listnet"] - values["d"]["linear"]).mean())
    # No sign flip of 500 comes near, and the number of tests does not matter.
    assert {row.p_adjusted for row in rows} == {1 / 501}


def test_learners_that_rank_as_the_file_does_are_named():
    values = {"file-order": np.arange(3.0), "slam": np.arange(3.0), "linear": np.ones(3), "listnet": np.zeros(3)}
    models = [one for one in MODELS if one.name in values]
    rows = compared(values, models)
    assert {row.unlearned for row in rows} == {"SLAM"}


@pytest.mark.parametrize(("noise", "answer"), [(0.1, "differ by less than .04"), (0.03, "ranks worse than")])
def test_a_difference_that_is_one_of_many_is_no_answer(noise, answer, tmp_path):
    names = {"slam": 3, "listnet": 12}
    models = [model(f"{name}-{i}", surrogate=SURROGATES[name]) for name, many in names.items() for i in range(many)]
    draws = np.random.default_rng(3).standard_normal((len(models), 300))
    draws = noise / np.sqrt(2) * (draws - draws.mean(axis=1, keepdims=True))
    values = {one.name: 0.5 + draw for one, draw in zip(models, draws, strict=True)}
    values["listnet-0"] = values["listnet-0"] + 0.014
    rows = [row for row in compared(values, models, resamples=2000) if (row.question, row.other) == FIRST]
    [difference] = [values[row.model] - values[row.other] for row in rows]
    # A test of these two alone would find the difference at any noise.
    alone = compare_runs([difference, np.zeros(300)], rng=np.random.default_rng(0))
    assert (rows[0].difference.value, alone.p_value[0] < 0.03) == (pytest.approx(-0.014), True)
    judgement = readings.judged("slam-practice", tables(rows), {}, tmp_path)
    assert (judgement.status, answer in judgement.explanation) == ("answered", True)


@pytest.mark.parametrize("claim", ["slam-practice", "slam-kernel", "slam-repaired"])
@pytest.mark.parametrize(
    ("high", "answer"), [(-0.003, "ranks worse"), (0.0, "iffer by less than .04")], ids=["found", "possible"]
)
def test_an_interval_that_reaches_0_is_no_answer(claim, high, answer, tmp_path):
    question = claim.removeprefix("slam-")
    row = {"dataset": "d", "question": question, "model": "s", "title": "S", "value": 0.65, "other": "b"}
    row |= {"other_title": "B", "other_value": 0.664, "difference": -0.014, "low": -0.025, "high": high}
    row |= {"worst_fold": -0.01, "worst_fold_low": -0.03, "worst_fold_high": 0.01, "file_order": 0.8}
    rows = [{**row, "n_queries": 300, "p_adjusted": 0.04, "unlearned": ""}]
    judgement = readings.judged(claim, {"slam-practice": rows}, {}, tmp_path)
    assert (judgement.status, answer in judgement.explanation) == ("answered", True)


def test_without_rivals_there_is_nothing_to_read():
    assert compared({"slam": np.ones(3)}) == []


def test_repaired_learners_are_compared_with_those_as_printed() -> None:
    models = [
        model("margin", "perceptron", active="margin"),
        model("misordered", "perceptron", active="misordered"),
        model("kernel", "perceptron", active="misordered", features=GAUSSIAN),
        model("short", surrogate="slam-ndcg", sublists=3),
    ]
    assert [one.repaired for one in models] == [False, True, True, True]
    base = np.random.default_rng(1).random(100)
    shifts = {"margin": 0.0, "misordered": 0.02, "short": 0.05, "kernel": 0.1}
    values = {name: base + shift for name, shift in shifts.items()}
    rows = compared(values, models)
    [row] = [row for row in rows if row.question == "repaired"]
    assert (row.model, row.other) == ("short", "margin")
    assert row.difference.value == pytest.approx(0.05)


def test_a_fold_that_is_counted_twice_is_refused(tmp_path: Path) -> None:
    folds, queries = np.repeat([1, 2], 3), np.arange(6)
    values = {"fold": folds, "query": queries, "qid": queries, practice.MEASURE: queries / 6.0}
    table = pl.DataFrame(values).with_columns(dataset=pl.lit("d"), model=pl.lit("slam"))
    path = tmp_path / "slam.parquet"
    storage.write_table(path, table)
    [(found, of_query)] = practice.per_query([path]).values()
    assert (len(found["slam"]), of_query.tolist()) == (6, folds.tolist())
    storage.write_table(path, pl.concat([table, table.filter(fold=1)]))
    with pytest.raises(DataError, match=r"slam\.parquet: expected one row for .*query, found 6 of 9 rows"):
        practice.per_query([path])
