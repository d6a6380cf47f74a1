"""The experiments on feedback at the top, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from tests.small_settings import SETTINGS

from .conftest import Project

pytestmark = pytest.mark.workflow

IDENTITIES = ("lemma1", "estimators", "lemma2", "lemma3", "kl-min", "lemma4", "table1")


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    models = [
        {"name": "random", "algorithm": "random"},
        {"name": "top", "algorithm": "top-k-feedback", "surrogate": "ranksvm", "k": 2, "passes": 2, "step": [1.0]},
    ]
    project = new_project(papers=["topk"], experiments=SETTINGS, models=models, folds=[1])
    wanted = ["reports/small/claims.json", "results/small/models/letor-sim/top/fold-1.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / wanted[0]).read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims if claim["id"].startswith("topk-")}
    assert set(status) == {claim.id for claim in ledger.load([papers.get("topk")])}
    assert "not-run" not in status.values()
    assert {status[f"topk-{name}"] for name in IDENTITIES} == {"verified"}
    assert status["topk-p-compact"] == status["topk-lemma5"] == "refuted"
    assert "Nothing to be done" in project.snakemake(*wanted)
    claims_of_topk = project.folder / "pipeline_lib/papers/topk/claims.yaml"
    claims_of_topk.write_text(claims_of_topk.read_text().replace("MAX(second_moment / printed)", "MAX(gamma)"))
    assert project.planned(*wanted) == {"judge_claims": 1}
