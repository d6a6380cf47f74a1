"""Are the models of a study measured by weighted means where queries have weights, without intervals and tests?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline_lib import learners, metrics
from pipeline_lib.commands import certify_models, compare_models, evaluate_model, summarise_results, train_model
from pipeline_lib.core import storage
from tests.samples import drawn

MODELS = {"boosted": ("rankboost", {"rounds": 3}), "risk": ("erm", {"surrogate": "listnet", "l2": 0.1})}


@pytest.mark.parametrize("weighted", [True, False])
def test_a_study_of_weighted_queries(weighted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {}
    for k, role in enumerate(("train", "validation", "test")):
        data = drawn(seed=k)
        weights = 1.0 + np.arange(data.n_queries) if weighted else None
        parts[role] = replace(data, qids=100 * k + np.arange(data.n_queries), weights=weights, role=role)
    monkeypatch.setattr(train_model, "read", lambda documents, folds, number, part: parts[part])
    indices = {role: np.arange(100 * k, 100 * k + parts[role].n_queries) for k, role in enumerate(parts)}
    monkeypatch.setattr(evaluate_model.stored_folds, "read", lambda documents, folds, number, part: parts[part])
    monkeypatch.setattr(evaluate_model.stored_folds, "queries", lambda folds, fold, part: indices[part])
    storage.write_json(tmp_path / "summary.json", {"labels": {"0": 1, "2": 1}})
    data_files: dict[str, Any] = {"documents": Path("d"), "folds": Path("f")}
    for name, (algorithm, settings) in {**MODELS, "online": ("perceptron", {})}.items():
        chosen = learners.completed(algorithm, settings)
        trained = {"dataset": "made", "model": name, "algorithm": algorithm, "settings": [chosen], "fold": [1]}
        train_model.run(**trained, seed=1, output=[tmp_path / f"{name}.json"], **data_files)
        evaluate_model.run(
            models=[tmp_path / f"{name}.json"],
            measures=["map", "ndcg@10"],
            summary=tmp_path / "summary.json",
            output=tmp_path / f"{name}.parquet",
            held_out=tmp_path / f"{name}-held-out.json",
            **data_files,
        )
    names = [*MODELS, "online"]
    evaluations = [tmp_path / f"{name}.parquet" for name in names]
    common: dict[str, Any] = {"level": 0.95, "evaluations": evaluations}
    compare_models.run(**common, resamples=100, seed=1, output=tmp_path / "comparisons.parquet", measures=["map"])
    certify_models.run(**common, limits=tmp_path / "limits.parquet", plans=tmp_path / "plans.parquet", measures=["map"])
    summarise_results.run(
        **common,
        resamples=100,
        seed=1,
        models=[tmp_path / f"{name}.json" for name in names],
        held_out=[tmp_path / f"{name}-held-out.json" for name in names],
        untrained=tmp_path / "untrained.json",
        ties=tmp_path / "ties.parquet",
        output=tmp_path,
    )
    summary = pl.read_parquet(tmp_path / "summary.parquet").filter(measure="map")
    left_out = [row["model"] for row in storage.read_json(tmp_path / "untrained.json")["untrained"]]
    assert left_out == (["online"] if weighted else [])
    for name in MODELS:
        ranker, test = learners.load(tmp_path / f"{name}.json"), parts["test"]
        scores = ranker.predict(test)
        values = metrics.per_query(["map"], scores, test.y, test.offsets, **test.judging._asdict())["map"]
        [row] = summary.filter(model=name).to_dicts()
        assert row["mean"] == pytest.approx(np.average(values, weights=test.weights), rel=1e-12)
        assert (row["low"] is None) == (row["high"] is None) == weighted
        [ties] = pl.read_parquet(tmp_path / "ties.parquet").filter(model=name, measure="map").to_dicts()
        assert ties["worst"] - 1e-12 <= row["mean"] <= ties["best"] + 1e-12
    certificates = pl.read_parquet(tmp_path / "certificates.parquet").filter(model="risk")
    assert certificates["reason"].str.contains("its queries have weights").any() == weighted
    for table in ("comparisons", "limits", "plans"):
        assert pl.read_parquet(tmp_path / f"{table}.parquet").is_empty() == weighted
