"""The experiments of slam, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger

from .conftest import Project

pytestmark = pytest.mark.workflow

LOSSES = {
    "lists": 60,
    "lengths": [2, 5],
    "largest_labels": [2],
    "descent_rounds": 3,
    "programmes": 2,
    "directions": 2,
    "table_lengths": [4, 8, 16],
    "restarts": 1,
}
PERCEPTRON = {
    "rounds": 1000,
    "adversarial_rounds": 100,
    "queries": 30,
    "documents": [3, 8],
    "features": 3,
    "margin": 0.1,
    "repetitions": 1,
    "measures": ["ndcg", "map", "ndcg@2"],
    "etas": [0.01, 100.0],
    "checkpoints": 2,
    "v_max_lengths": [3, 10],
}
RISK = {
    "sizes": [10, 30, 90],
    "radii": [1.0],
    "repetitions": 2,
    "parts": 2,
    "truth": 200,
    "documents": [3, 5],
    "features": 3,
}


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    slam = {"losses": LOSSES, "perceptron": PERCEPTRON, "risk": RISK}
    experiments = {"slam": slam}
    kernel = {"kernel": "gaussian", "components": 20, "bandwidth": "median"}
    models = [
        {"name": "squared", "algorithm": "erm", "surrogate": "squared"},
        {"name": "linear", "algorithm": "perceptron"},
        {"name": "kernel", "algorithm": "perceptron", "features": kernel},
    ]
    project = new_project(papers=["slam"], experiments=experiments, models=models, folds=[1])
    wanted = ["reports/small/claims.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims}
    evidence = [path.stem for path in (project.folder / "results/small/evidence").glob("*.json")]
    assert set(evidence) == {claim.id for claim in ledger.load([papers.get("slam")])}
    assert {claim for claim in evidence if status[claim] != "verified"} == {"slam-thm10", "slam-eta-free"}
    assert status["slam-thm10"] == status["slam-eta-free"] == "refuted"
    assert "Nothing to be done" in project.snakemake(*wanted)
