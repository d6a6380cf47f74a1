"""A model that cannot be trained on a fold is left out of what is measured, and everything else goes on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, learners
from pipeline_lib.commands import compare_models, evaluate_model, summarise_results, train_model
from pipeline_lib.core import storage
from pipeline_lib.core.errors import OutOfRangeError, UnlearnableError
from tests.samples import drawn

ABOUT = {"dataset": "made", "model": "boosting"}


def without_preferences(data: RankingData) -> RankingData:
    return RankingData(data.X, np.zeros_like(data.y), data.offsets, data.qids)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """RankBoost of two folds; the documents of the second all have one label."""
    parts = {1: drawn(), 2: without_preferences(drawn())}
    monkeypatch.setattr(train_model, "read", lambda documents, folds, number, part: replace(parts[number], role=part))
    paths = [tmp_path / f"fold-{fold}.json" for fold in (1, 2)]
    train_model.run(**arguments(paths))
    return paths


def arguments(paths: list[Path]) -> dict[str, Any]:
    settings = {"rounds": 3, "selection": "map"}
    of_job = {"algorithm": "rankboost", "settings": [settings], "fold": [1, 2], "seed": 1, "output": paths}
    return {**ABOUT, **of_job, "documents": Path("d"), "folds": Path("f")}


def test_the_file_of_the_model_says_why_and_the_other_folds_are_trained(models: list[Path]) -> None:
    assert learners.load(models[0]).about["fold"] == 1
    assert storage.read_json(models[1])["untrained"].startswith("data: rankboost: expected documents with different")
    with pytest.raises(UnlearnableError, match=r"fold-2\.json: boosting could not be trained: data: rankboost"):
        learners.load(models[1])


def test_an_error_of_another_kind_ends_the_job(models: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a mistake in the code")

    learner = learners.get("rankboost")
    monkeypatch.setattr(learners, "get", lambda name: type(learner)(broken, learner.settings, learner.formula))
    with pytest.raises(ValueError, match="a mistake"):
        train_model.run(**arguments(models))


def test_nothing_is_measured_of_it_and_the_other_models_are_compared(models: list[Path], tmp_path: Path) -> None:
    storage.write_json(tmp_path / "summary.json", {"labels": {"0": 1, "2": 1}})
    evaluate_model.run(
        models=models,
        documents=Path("d"),
        folds=Path("f"),
        measures=["map", "ndcg@10"],
        summary=tmp_path / "summary.json",
        output=tmp_path / "boosting.parquet",
        held_out=tmp_path / "boosting.json",
    )
    paths = [tmp_path / "boosting.parquet"]
    assert storage.read_table(paths[0]).is_empty()
    for k, name in enumerate(("a", "b")):
        keys = {"dataset": "made", "model": name, "fold": 1}
        table = pl.DataFrame({"query": [1, 2], "qid": [1, 2], "map": [0.1, 0.2 + k]})
        paths.append(tmp_path / f"{name}.parquet")
        storage.write_table(paths[-1], table.with_columns(**{key: pl.lit(value) for key, value in keys.items()}))
    chosen: dict[str, Any] = {"level": 0.95, "resamples": 100, "seed": 1, "evaluations": paths}
    compare_models.run(**chosen, output=tmp_path / "comparisons.parquet", measures=["map"])
    [row] = pl.read_parquet(tmp_path / "comparisons.parquet").to_dicts()
    assert (row["model_a"], row["model_b"]) == ("a", "b")
    summarise_results.run(
        **chosen,
        models=models,
        held_out=[tmp_path / "boosting.json"],
        untrained=tmp_path / "untrained.json",
        output=tmp_path,
    )
    assert set(pl.read_parquet(tmp_path / "summary.parquet")["model"]) == {"a", "b"}
    assert pl.read_parquet(tmp_path / "training.parquet").is_empty()
    [left_out] = storage.read_json(tmp_path / "untrained.json")["untrained"]
    assert left_out["folds"] == [2]


@pytest.mark.parametrize("name", [name for name in learners.NAMES if not learners.get(name).requires])
@pytest.mark.parametrize("kind", ["no-preferences", "no-features", "no-queries", "far-apart"])
def test_learners_refuse_no_data_that_are_in_order_with_another_error(name: str, kind: str) -> None:
    data = drawn(4, 3)
    if kind == "no-preferences":
        data = without_preferences(data)
    elif kind == "no-features":
        data = RankingData(data.X[:, :0].copy(), data.y, data.offsets, data.qids)
    elif kind == "no-queries":
        data = data.take([])
    else:
        data = RankingData(data.X * np.float32(1e37), data.y, data.offsets, data.qids)
    learner = learners.get(name)
    settings = {"surrogate": "ranksvm"} if learner.with_surrogate else {}
    try:
        learners.get(name).train(data, data, settings, 0)
    except (UnlearnableError, OutOfRangeError):
        return


def test_kinks_without_a_penalty_or_a_ball_leave_the_model_alone_out() -> None:
    with pytest.raises(UnlearnableError, match="expected l2 > 0 or a radius"):
        learners.get("erm").train(drawn(4, 3), drawn(4, 3), {"surrogate": "svm-map", "l2": [0.0]}, 0)
