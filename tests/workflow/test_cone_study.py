"""The experiments on ConeRank, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from tests.small_settings import SETTINGS

from .conftest import Project

pytestmark = pytest.mark.workflow


def test_every_claim_gets_its_status_and_a_second_run_does_nothing(new_project: Callable[..., Project]) -> None:
    models = [{"name": "cone-sg", "algorithm": "cone", "passes": 2, "basis": [2], "published": "ConeRank-SG"}]
    project = new_project(papers=["cone"], experiments=SETTINGS, models=models, folds=[1])
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
