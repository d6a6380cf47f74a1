"""The experiments on feedback at the top, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger

from .conftest import Project

pytestmark = pytest.mark.workflow

TOPK = {
    "exactness": {
        "lengths": [3],
        "shown": [1, 2],
        "gammas": [0.2],
        "repetitions": 1,
        "y_max": 2,
        "run_rounds": 200,
        "run_points": 2,
        "run_queries": 3,
        "radius": 3.0,
        "matrices": 2,
    },
    "regret": {
        "queries": 20,
        "population": {"features": 3, "documents": 4},
        "radius": 2.0,
        "rounds": [200, 400, 800],
        "seeds": 3,
        "slices": 2,
    },
    "adversary": {"rounds": [1000, 3000, 10000], "seeds": 2, "radius": 3.0},
    "figure": {
        "rounds": 2000,
        "seeds": 2,
        "points": 4,
        "radius": 100.0,
        "smoothing": 0.01,
        "repair_radii": [1.0],
        "repair_factors": [1.0],
        "repair_seeds": 2,
    },
}
IDENTITIES = ("lemma1", "estimators", "lemma2", "lemma3", "kl-min", "lemma4", "table1")


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    models = [
        {"name": "random", "algorithm": "random"},
        {"name": "top", "algorithm": "top-k-feedback", "surrogate": "ranksvm", "k": 2, "passes": 2, "steps": [1.0]},
    ]
    project = new_project(papers=["topk"], experiments={"topk": TOPK}, models=models, folds=[1])
    wanted = ["reports/small/claims.json", "results/small/models/letor-sim/top/fold-1.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / wanted[0]).read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims if claim["id"].startswith("topk-")}
    assert set(status) == {claim.id for claim in ledger.load([papers.get("topk")])}
    assert "not-run" not in status.values()
    assert {status[f"topk-{name}"] for name in IDENTITIES} == {"verified"}
    assert status["topk-p-compact"] == status["topk-lemma5"] == "refuted"
    assert "Nothing to be done" in project.snakemake(*wanted)
