"""The study of real data, whole: both data sets, all folds, and the published baseline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from .conftest import SMALL, copy_project

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def study(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copy_project(tmp_path_factory.mktemp("real") / "project", dict(SMALL))
    command = [sys.executable, "-m", "snakemake", "--cores", "2"]
    command += ["--configfile", "workflow/studies/letor-real.yaml"]
    environment = {**os.environ, "LTR_MIRROR": str(mirror.resolve())}
    result = subprocess.run(
        command, cwd=project.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-4000:]
    return project.folder


def test_ranksvm_with_the_published_c_matches_the_published_baseline(study: Path) -> None:
    published = pl.read_parquet(study / "results/letor-real/tables/published.parquet")
    deltas = dict(published.filter(pl.col("fold") == 1).select("measure", "delta").iter_rows())
    assert abs(deltas["ap"]) <= 0.004
    assert abs(deltas["letor4_mean_ndcg"]) <= 0.004


def test_every_model_ran_on_all_five_folds(study: Path) -> None:
    measures = pl.read_parquet(study / "results/letor-real/tables/measures.parquet")
    for (dataset, model), group in measures.group_by(["dataset", "model"]):
        assert sorted(group["fold"].unique()) == [1, 2, 3, 4, 5], (dataset, model)
    queries = measures.filter((pl.col("model") == "listnet") & (pl.col("measure") == "ap"))
    assert dict(queries.group_by("dataset").agg(pl.col("n_queries").sum()).iter_rows()) == {
        "MQ2008": 784,
        "OHSUMED": 106,
    }


def test_every_convex_problem_is_certified(study: Path) -> None:
    training = pl.read_parquet(study / "results/letor-real/tables/training.parquet").filter(
        (pl.col("algorithm") == "erm") & (pl.col("surrogate") != "smooth-dcg")
    )
    assert len(training) == 11 * 5
    assert training["certified"].all()
    assert training["relative_gap"].max() <= 1e-6


def test_the_report_shows_all_folds(study: Path) -> None:
    page = (study / "reports/letor-real/index.html").read_text()
    for text in ("MQ2008", "OHSUMED", "RankSVM, published C", "LETOR 4.0 baselines"):
        assert text in page
    counts = json.loads((study / "reports/letor-real/claims.json").read_text())["counts"]["all"]
    handed_in = len(list((study / "results/letor-real/evidence").glob("*.json")))
    assert handed_in > 0
    assert counts["not-run"] == sum(counts.values()) - handed_in
    assert sum(counts.values()) == 75
