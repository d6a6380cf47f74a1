"""The study of real data: one fold of MQ2008 with the published baseline, and whole as it is shipped."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from pipeline_lib.claims import ledger

from . import forked, job_server
from .conftest import ROOT, SMALL, copy_project, shared

pytestmark = pytest.mark.workflow


REAL = "workflow/studies/letor-real.yaml"
TRAINED = ("listnet", "ranksvm-published-c")


def run(mirror: Path, folder: Path, overrides: dict[str, Any]) -> None:
    """Make a copy of the project and run the study in it, with some settings changed."""
    project = copy_project(folder, dict(SMALL))
    (project.folder / "overrides.yaml").write_text(yaml.safe_dump(overrides))
    arguments = ["--cores", "2", "--configfile", REAL, "overrides.yaml"]
    status, output = forked.snakemake(
        arguments, project.folder, interpreter=job_server.interpreter(), LTR_MIRROR=str(mirror.resolve())
    )
    assert status == 0, output[-4000:]


@pytest.fixture(scope="session")
def study(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first fold of MQ2008, with some of the models and none of the experiments."""
    models = [model for model in yaml.safe_load(Path(ROOT / REAL).read_text())["models"] if model["name"] in TRAINED]
    assert len(models) == len(TRAINED)
    overrides = {"models": models, "papers": [], "folds": [1], "datasets": ["MQ2008"]}
    return shared(tmp_path_factory, "real", lambda project: run(mirror, project.folder, overrides)).folder


@pytest.fixture(scope="session")
def shipped(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole study."""
    return shared(tmp_path_factory, "shipped", lambda project: run(mirror, project.folder, {})).folder


def test_ranksvm_with_the_published_c_matches_the_published_baseline(study: Path) -> None:
    published = pl.read_parquet(study / "results/letor-real/tables/published.parquet")
    deltas = dict(published.filter(pl.col("folds") == "1").select("measure", "delta").iter_rows())
    assert abs(deltas["map"]) <= 0.004
    assert abs(deltas["letor4_mean_ndcg"]) <= 0.004


def test_every_convex_problem_is_certified(study: Path) -> None:
    training = pl.read_parquet(study / "results/letor-real/tables/training.parquet").filter(
        (pl.col("algorithm") == "erm") & (pl.col("surrogate") != "smooth-dcg")
    )
    assert len(training) == len(TRAINED)
    assert training["certified"].all()
    assert training["relative_gap"].max() <= 1e-6


def test_the_report_shows_the_data_and_what_was_published(study: Path) -> None:
    page = (study / "reports/letor-real/report.html").read_text()
    for text in ("MQ2008", "RankSVM, published C", "LETOR 4.0 baselines"):
        assert text in page
    counts = json.loads((study / "reports/letor-real/claims.json").read_text())["counts"]["all"]
    assert counts["not-run"] == sum(counts.values()) > 0


@pytest.mark.slow
def test_the_study_as_shipped_answers_all_claims_but_those_on_other_data(shipped: Path) -> None:
    claims = json.loads((shipped / "reports/letor-real/claims.json").read_text())["claims"]
    assert [claim["id"] for claim in claims if claim["status"] == "not-run"] == [
        claim.id for claim in ledger.load() if claim.data and not {"MQ2008", "OHSUMED"} & set(claim.data)
    ]
    table = pl.read_csv(shipped / "reports/letor-real/tables/cone-table1-mq2008.csv", comment_prefix="#")
    assert len(table.unique(["method", "measure"])) == 14
    models = yaml.safe_load((shipped / REAL).read_text())["models"]
    reproducing = [model["name"] for model in models if model.get("published") in set(table["method"])]
    assert sorted(table.select("model", "measure").iter_rows()) == sorted(product(reproducing, ("MAP", "NDCG")))
