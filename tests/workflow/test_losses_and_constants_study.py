"""The experiments of slam, run by Snakemake with tiny settings."""

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
    kernel = {"kernel": "gaussian", "components": 20, "bandwidth": "median"}
    models = [
        {"name": "squared", "algorithm": "erm", "surrogate": "squared"},
        {"name": "linear", "algorithm": "perceptron"},
        {"name": "kernel", "algorithm": "perceptron", "features": kernel},
    ]
    project = new_project(papers=["slam"], experiments=SETTINGS, models=models, folds=[1])
    wanted = ["reports/small/claims.json"]
    project.snakemake(*wanted)
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    status = {claim["id"]: claim["status"] for claim in claims}
    judged = {claim.id for claim in ledger.load([papers.get("slam")])}
    assert {claim for claim in judged if status[claim] != "verified"} == {"slam-thm10", "slam-eta-free"}
    assert status["slam-thm10"] == status["slam-eta-free"] == "refuted"
    assert "Nothing to be done" in project.snakemake(*wanted)
