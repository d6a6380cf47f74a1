"""Are measures by their definitions those of the package, and is a stored value that differs found?"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, metrics
from pipeline_lib.core import storage
from pipeline_lib.recompute import definitions
from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.recompute.study import Study

CUT = ("ndcg", "linear_ndcg", "letor4_ndcg", "p", "recall", "rr", "err")
NAMES = [*(f"{family}@{k}" for family in CUT for k in (1, 2, 5, 20)), "ndcg", "map", "rr", "err", "letor4_mean_ndcg"]


def test_every_measure_of_the_package_has_a_definition() -> None:
    assert {name.partition("@")[0] for name in metrics.NAMES} == {*definitions.DEFINITIONS}
    assert definitions.value("mine@3", [1], 1) is None


def test_definitions_give_the_measures_of_the_package() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        labels = rng.integers(0, 4, rng.integers(1, 25)) * rng.integers(0, 2)
        scores = -np.arange(len(labels), dtype=float)
        found = metrics.per_query(NAMES, scores, labels, [0, len(labels)], y_max=3)
        for name in NAMES:
            assert definitions.value(name, labels.tolist(), 3) == pytest.approx(found[name][0], rel=1e-12)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study of one linear model, with twelve queries, of which two are measured wrongly."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2)).astype(np.float32)
    data = RankingData.from_arrays(X, rng.integers(0, 3, 60), np.repeat(np.arange(12), 5))
    data.write_parquet(tmp_path / "data/parquet/made/documents.parquet")
    w, mean, scale = np.array([1.0, -2.0]), np.array([0.5, 0.0]), np.array([2.0, 0.25])
    scores = ((data.X64 - mean) / scale) @ w
    results = tmp_path / "results/default"
    found = metrics.per_query(["ndcg@3", "map"], scores, data.y, data.offsets)
    found["map"][[0, 11]] += 0.01
    about = {"dataset": ["made"] * 12, "model": ["linear"] * 12, "fold": [1] * 12, "query": range(12), "qid": range(12)}
    storage.write_table(results / "evaluation/made/linear.parquet", pl.DataFrame({**about, **found}))
    trained = {"kind": "linear", "w": w.tolist(), "mean": mean.tolist(), "scale": scale.tolist()}
    storage.write_json(results / "models/made/linear/fold-1.json", {"fold": 1, "trained": trained})
    storage.write_json(results / "availability.json", {"datasets": [{"dataset": "made", "status": "generated"}]})
    storage.write_json(results / "models.json", {"models": [{"model": "linear"}]})
    return Study(results, tmp_path / "reports/default")


def test_a_measure_that_differs_is_found_among_the_first_queries(study: Study) -> None:
    found = Comparison()
    definitions.compare(study, found)
    [(name, differences)] = [(name, some) for name, some in found.differences.items() if some]
    assert name == "evaluation of linear on made"
    assert [(one.where, one.column) for one in differences] == [("fold 1, query 0", "map")]
    assert found.compared[name] == 2 * definitions.QUERIES


@pytest.mark.parametrize("change", ["kind", "ties", "documents"])
def test_what_cannot_be_measured_again_is_said(study: Study, change: str) -> None:
    if change == "kind":
        trained = {"kind": "ideal"}
        storage.write_json(study.results / "models/made/linear/fold-1.json", {"fold": 1, "trained": trained})
    elif change == "ties":
        storage.write_json(study.results / "evaluation/made/linear.held-out.json", {"folds": [{"ties": {}}]})
    else:
        (study.results.parents[1] / "data/parquet/made/documents.parquet").unlink()
    found = Comparison()
    definitions.compare(study, found)
    assert found.left == {definitions.NOT_AGAIN: {"evaluation of linear on made": []}}
    assert not found.compared


def test_lists_that_rounding_orders_are_left_out() -> None:
    ranker = {"w": [1.0, 1.0], "mean": [0.0, 0.0], "scale": [1.0, 1.0]}
    assert definitions._ranked(ranker, [[1.0, 0.0], [1.0, 1e-12], [0.0, 0.0]], [0, 1, 2]) is None
    assert definitions._ranked(ranker, [[1.0, 0.0], [1.0, 1e-12], [0.0, 0.0]], [1, 1, 2]) == [1, 1, 2]
    assert definitions._ranked(ranker, [[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [0, 1, 2]) == [2, 0, 1]
