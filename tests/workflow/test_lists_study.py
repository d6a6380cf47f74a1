"""The paper lists, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger

from .conftest import Project

pytestmark = pytest.mark.workflow

CONSTANTS = {
    "listnet_lengths": [3, 50],
    "lengths": [4],
    "ranksvm_lengths": [4, 8, 16],
    "largest_labels": [1],
    "widths": [0.5],
    "cutoffs": [1],
    "score_bound": 2.0,
    "restarts": 1,
    "matrices": 5,
    "starts": 50,
    "lists": 20,
}
LOSSES = [
    {"name": "listnet", "surrogate": "listnet", "options": {}},
    {"name": "smooth-dcg", "surrogate": "smooth-dcg", "options": {"sign": "regret"}},
]
GRID = {
    "queries": [10, 20, 40],
    "lengths": [3, 6, 12],
    "documents_at_most": 120,
    "repetitions": 3,
    "rate_repetitions": 3,
    "held_out_documents": 600,
    "held_out_queries_at_least": 100,
    "best_ranker_documents": 3000,
    "radius": 2.5,
    "tol": 1.0e-4,
    "ascent_steps": 3,
    "delta": 0.05,
    "populations": {
        "noisy": {"features": 4},
        "realisable": {"features": 4, "noise": 0, "query_noise": 0, "margin": 0.4999},
    },
    "realisable_lengths": [3],
    "realisable_losses": ["listnet"],
    "losses": LOSSES,
}
REAL = {
    "queries": [5, 10],
    "lengths": [3],
    "repetitions": 2,
    "radius": 5.0,
    "tol": 1.0e-4,
    "ascent_steps": 3,
    "delta": 0.05,
    "losses": LOSSES[:1],
}
SPARSE = {
    "features": [5, 50, 500],
    "active": 3,
    "queries": 10,
    "documents": 4,
    "held_out_queries": 100,
    "repetitions": 2,
    "radius": 2.0,
    "tol": 1.0e-2,
    "ascent_steps": 3,
    "delta": 0.05,
    "fitted_at": 1000000000,
}
AVERAGES = {
    "queries": [10],
    "documents": [4],
    "features": 3,
    "radius": 2.0,
    "draws": 5,
    "scales": [0.1],
    "candidates": 50,
    "integral_queries": [100, 1000000000],
    "integral_documents": [5],
    "radii": [1.0],
}


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    parts = {"constants": CONSTANTS, "grid": GRID, "real": REAL, "sparse": SPARSE, "averages": AVERAGES}
    models = [{"name": "random", "algorithm": "random"}]
    project = new_project(papers=["lists"], experiments={"lists": parts}, models=models, folds=[1])
    wanted = ["reports/small/claims.json", "reports/small/index.html"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims if claim["id"].startswith("lists-")}
    assert set(status) == {claim.id for claim in ledger.load([papers.get("lists")])}
    assert "not-run" not in status.values()
    # So small a study decides no rate; Corollary 8 is refuted by formulas alone.
    assert {claim for claim, found in status.items() if found == "refuted"} - {"lists-m-free", "lists-n-rate"} == {
        "lists-cor8"
    }
    assert "lists-gap-against-n" in (project.folder / "reports/small/index.html").read_text()
    assert "Nothing to be done" in project.snakemake(*wanted)
