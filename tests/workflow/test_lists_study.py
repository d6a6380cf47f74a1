"""The paper lists, run by Snakemake with tiny settings."""

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
    models = [{"name": "random", "algorithm": "random"}]
    project = new_project(papers=["lists"], experiments=SETTINGS, models=models, folds=[1])
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
