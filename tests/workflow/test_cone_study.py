"""The experiments on ConeRank, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger

from .conftest import Project

pytestmark = pytest.mark.workflow

CONE = {
    "cones": {
        "cones": 2,
        "features": [3],
        "bases": [2],
        "pairs": 50,
        "basis": 2,
        "passes": 3,
        "fold_steps": 200,
        "small": {
            "queries": 4,
            "population": {"features": 3, "documents": 3, "label_shares": [0.5, 0.5]},
            "basis": 2,
            "step": None,
            "passes": 5,
            "fold_steps": [5, 500],
        },
    },
    "bases": {
        "datasets": "all",
        "bases": [1, 2],
        "basis": 2,
        "starts": 1,
        "passes": 2,
        "methods": ["sg"],
        "alphas": [],
        "rhos": [],
        "cs": [],
        "largest_sums": [],
        "ranksvm_l2": [0.1],
    },
    "stability": {
        "queries": [4, 6, 8],
        "repetitions": 2,
        "methods": ["eg"],
        "features": 3,
        "documents": 6,
        "basis": 2,
        "passes": 2,
        "test_queries": 20,
        "compared_queries": 4,
        "epsilon": 0.05,
    },
}


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    models = [{"name": "cone-sg", "algorithm": "cone", "passes": 2, "basis": [2], "published": "ConeRank-SG"}]
    project = new_project(papers=["cone"], experiments={"cone": CONE}, models=models, folds=[1])
    wanted = ["reports/small/claims.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    found = {claim["id"]: claim for claim in claims if claim["id"].startswith("cone-")}
    assert set(found) == {claim.id for claim in ledger.load([papers.get("cone")])}
    not_run = {name for name, claim in found.items() if claim["status"] == "not-run"}
    assert not_run == {"cone-fig3", "cone-table1-mq2007", "cone-table1-mq2008"}
    assert "letor-real.yaml" in found["cone-table1-mq2008"]["explanation"]
    for name in ("cone-norm", "cone-alg2-linear", "cone-thm1", "cone-thm2"):
        assert found[name]["status"] == "verified", name
    assert "Nothing to be done" in project.snakemake(*wanted)
