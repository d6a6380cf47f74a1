"""The experiments of all papers, run by Snakemake with tiny settings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from tests.small_settings import SETTINGS

from .conftest import SMALL, Project, copy_project, shared

pytestmark = pytest.mark.workflow

KERNEL = {"kernel": "gaussian", "components": 20, "bandwidth": "median"}
MODELS = [
    {"name": "squared", "algorithm": "erm", "surrogate": "squared"},
    {"name": "linear", "algorithm": "perceptron"},
    {"name": "kernel", "algorithm": "perceptron", "features": KERNEL},
    {"name": "cone-sg", "algorithm": "cone", "passes": 2, "basis": [2], "published": "ConeRank-SG"},
    {"name": "top", "algorithm": "top-k-feedback", "surrogate": "ranksvm", "k": 2, "passes": 2},
]
WANTED = ["reports/small/claims.json", "reports/small/index.html", "results/small/models/letor-sim/top/fold-1.json"]


@pytest.fixture(scope="session")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project in which the study of all papers has run."""

    def make(project: Project) -> None:
        overrides = {"papers": "all", "experiments": SETTINGS, "models": MODELS, "folds": [1]}
        copy_project(project.folder, {**SMALL, **overrides}).snakemake(*WANTED)

    return shared(tmp_path_factory, "studied", make)


@pytest.fixture
def claims(studied: Project) -> dict[str, dict[str, Any]]:
    """The claims as they were judged, by their names."""
    judged = json.loads((studied.folder / WANTED[0]).read_text())["claims"]
    return {claim["id"]: claim for claim in judged}


@pytest.fixture
def status(claims: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: claim["status"] for name, claim in claims.items()}


def with_status(status: dict[str, str], paper: str, *wanted: str) -> set[str]:
    """The claims of a paper that have one of the statuses, without the name of the paper before them."""
    own = {claim.id for claim in ledger.load([papers.get(paper)])}
    return {name.partition("-")[2] for name in own if status[name] in wanted}


def test_a_second_run_does_nothing(studied: Project) -> None:
    assert "Nothing to be done" in studied.snakemake(*WANTED)


def test_every_claim_gets_its_status(status: dict[str, str]) -> None:
    assert set(status) == {claim.id for claim in ledger.load()}
    not_run = {name for name in status if status[name] == "not-run"}
    assert not_run == {"cone-fig3", "cone-fig4", "cone-table1-mq2007", "cone-table1-mq2008"}


def test_another_reading_of_a_claim_replans_its_judgement_alone(studied: Project, tmp_path: Path) -> None:
    project = Project(tmp_path / "again")
    shutil.copytree(studied.folder, project.folder, symlinks=True)
    ledger_of_topk = project.folder / "pipeline_lib/papers/topk/claims.yaml"
    ledger_of_topk.write_text(ledger_of_topk.read_text().replace("MAX(second_moment / printed)", "MAX(gamma)"))
    assert project.planned(WANTED[0]) == {"judge_claims": 1}


def test_claims_of_slam(status: dict[str, str]) -> None:
    every = {claim.id.partition("-")[2] for claim in ledger.load([papers.get("slam")])}
    assert with_status(status, "slam", "refuted") == {"thm10", "eta-free"}
    assert with_status(status, "slam", "verified") == every - {"thm10", "eta-free"}


def test_claims_of_topk(status: dict[str, str]) -> None:
    identities = {"lemma1", "estimators", "lemma2", "lemma3", "kl-min", "lemma4", "table1"}
    assert with_status(status, "topk", "verified") >= identities
    assert with_status(status, "topk", "refuted") >= {"p-compact", "lemma5"}


def test_claims_of_cone(claims: dict[str, dict[str, Any]], status: dict[str, str]) -> None:
    assert "letor-real.yaml" in claims["cone-table1-mq2008"]["explanation"]
    corrected = {f"{name}-corrected" for name in ("project", "proper", "alg2-linear", "halfspace", "lambda")}
    assert with_status(status, "cone", "verified") >= {"norm", "thm2"} | corrected
    printed = {name.removesuffix("-corrected") for name in corrected}
    assert with_status(status, "cone", "refuted") >= {"eq12"} | printed
    assert with_status(status, "cone", "answered") == {"smax"}


def test_claims_of_lists(studied: Project, status: dict[str, str]) -> None:
    # So small a study decides no rate; Corollary 8 is refuted by formulas alone.
    assert with_status(status, "lists", "refuted") - {"m-free", "n-rate"} == {"cor8"}
    assert "lists-gap-against-n" in (studied.folder / "reports/small/index.html").read_text()


def test_claims_of_twolayer(status: dict[str, str]) -> None:
    exact = {"def3", "eq6", "thm1", "thm2", "thm3", "budget", "capacity", "nm-sampling"}
    assert with_status(status, "twolayer", "verified") >= exact
