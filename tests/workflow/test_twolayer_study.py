"""The experiments of the paper twolayer, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger

from .conftest import Project

pytestmark = pytest.mark.workflow

POPULATION = {"features": 4, "label_shares": [0.5, 0.5], "query_noise": 1.0}
TWOLAYER = {
    "statements": {
        "draws": 200,
        "matrices": 2,
        "budgets": [100],
        "vc_dimensions": [5, 20],
        "deltas": [0.2, 0.05],
        "c1": [1.0],
    },
    "gaps": {
        "population": POPULATION,
        "losses": ["hinge"],
        "queries": [4, 8],
        "documents": [2, 4],
        "more_queries": [16, 32],
        "more_documents": [8, 16],
        "repetitions": 6,
        "middle_documents": 100,
        "risk_queries": 1000,
        "reference_queries": 200,
        "draws": 20,
        "slices": 2,
    },
    "samplings": {
        "population": POPULATION,
        "queries": [4],
        "documents": [3],
        "repetitions": 4,
        "risk_queries": 200,
        "reference_queries": 100,
    },
    "tradeoff": {
        "population": POPULATION,
        "budgets": [12],
        "data_budgets": [12],
        "documents": [2, 3, 4, 6],
        "repetitions": 4,
        "data_repetitions": 4,
        "risk_queries": 200,
        "reference_queries": 100,
        "variance_queries": 100,
        "slices": 1,
    },
}


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    models = [{"name": "random", "algorithm": "random"}]
    project = new_project(papers=["twolayer"], experiments={"twolayer": TWOLAYER}, models=models, folds=[1])
    wanted = ["reports/small/claims.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims if claim["id"].startswith("two-")}
    assert set(status) == {claim.id for claim in ledger.load([papers.get("twolayer")])}
    assert "not-run" not in status.values()
    exact = ("two-def3", "two-eq6", "two-thm1", "two-thm2", "two-thm3", "two-budget", "two-capacity", "two-nm-sampling")
    assert {status[claim] for claim in exact} == {"verified"}
    assert "Nothing to be done" in project.snakemake(*wanted)
