"""The experiments of the paper twolayer, run by Snakemake with tiny settings."""

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
    project = new_project(papers=["twolayer"], experiments=SETTINGS, models=models, folds=[1])
    wanted = ["reports/small/claims.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims if claim["id"].startswith("two-")}
    assert set(status) == {claim.id for claim in ledger.load([papers.get("twolayer")])}
    assert "not-run" not in status.values()
    exact = ("two-def3", "two-eq6", "two-thm1", "two-thm2", "two-thm3", "two-budget", "two-capacity", "two-nm-sampling")
    assert {status[claim] for claim in exact} == {"verified"}
    assert "Nothing to be done" in project.snakemake(*wanted)
