"""The experiments of all papers, run by Snakemake with tiny settings."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import judged, ledger
from pipeline_lib.claims.words import BY_PROOF, STATUSES, Status
from pipeline_lib.report.blocks import Prose, walk
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.results import ResultsFolder
from tests import readings
from tests.small_settings import SETTINGS

from .conftest import SMALL, Project, copy_folder, copy_project, shared

pytestmark = pytest.mark.workflow

KERNEL = {"kernel": "gaussian", "components": 20, "bandwidth": "median"}
MODELS = [
    {"name": "squared", "algorithm": "erm", "surrogate": "squared"},
    {"name": "linear", "algorithm": "perceptron"},
    {"name": "misordered", "algorithm": "perceptron", "active": "misordered", "passes": 2},
    {"name": "kernel", "algorithm": "perceptron", "features": KERNEL},
    {"name": "cone-sg", "algorithm": "cone", "passes": 2, "basis": [2], "published": "ConeRank-SG"},
    {"name": "top", "algorithm": "top-k-feedback", "surrogate": "ranksvm", "k": 2, "passes": 2},
]
UNFINISHED = {"lists-m-free", "lists-n-rate", "cone-descent-corrected"}
"""Claims about rates and converged training, which a study so small may contradict."""
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
    assert set(status) == {claim.id for claim in readings.ledger_of_claims()}
    not_run = {name for name in status if status[name] == "not-run"}
    # These need other data, more than one fold, or lists of ten documents.
    figures = {"cone-fig3", "cone-fig4", "topk-fig1", "topk-fig1-close"}
    other_data = figures | {"cone-table1-mq2007", "cone-table1-mq2008"}
    folds = {"cone-low-risk", "cone-signs", "cone-mean-difference", "cone-baselines"}
    assert not_run == other_data | folds | {"topk-variance-losses"}


def test_another_reading_of_a_claim_replans_its_judgement_alone(studied: Project, tmp_path: Path) -> None:
    project = copy_folder(studied.folder, tmp_path / "again")
    ledger_of_topk = project.folder / "pipeline_lib/papers/topk/exactness/claims.yaml"
    ledger_of_topk.write_text(ledger_of_topk.read_text().replace("MAX(second_moment / printed)", "MAX(gamma)"))
    assert project.planned(WANTED[0]) == {"judge_claims": 1}


def test_what_is_planted_and_not_caught_leaves_no_claim_verified(claims: dict[str, dict[str, Any]]) -> None:
    for name, claim in claims.items():
        if claim["severity"] is None:  # it has not run, or rests on its certificate alone
            continue
        planted = claim["severity"]["planted"]
        assert planted, name
        missed = [plant["name"] for plant in planted if not plant["caught"]]
        assert not missed or claim["status"] in ("inconclusive", "refuted", "deviates", *BY_PROOF.values()), name


def test_only_printed_errors_are_refuted(claims: dict[str, dict[str, Any]]) -> None:
    """A claim that is expected to be refuted has a control, whatever the size of the study."""
    wrong = {claim.id for claim in readings.ledger_of_claims() if any(planted.holds for planted in claim.planted)}
    refuted = {name for name, claim in claims.items() if claim["status"] == "refuted"}
    assert refuted - wrong <= UNFINISHED
    assert len(wrong & refuted) > 20


def test_formulas_are_decided_in_a_study_of_any_size(status: dict[str, str]) -> None:
    exact = {
        "slam": {"eq3-eq5", "lemma1", "thm2", "thm2-tight", "weight-sums", "grad-l1", "thm10"},
        "topk": {"lemma1", "estimators", "lemma2", "lemma3-corrected", "kl-min", "lemma4", "table1", "more-labels"},
        "cone": {"norm", "thm2", "project-corrected", "proper-corrected", "alg2-linear-corrected"},
        "lists": {"thm3", "lemma4", "appendix-c-corrected"},
        "twolayer": {"def3", "eq6", "one-layer", "budget", "capacity"},
    }
    for paper, names in exact.items():
        assert with_status(status, paper, "verified", *BY_PROOF.values()) >= names


def test_claims_that_need_other_data_say_which(claims: dict[str, dict[str, Any]]) -> None:
    assert "letor-real.yaml" in claims["cone-table1-mq2008"]["explanation"]


@pytest.mark.parametrize("paper", papers.names())
def test_pages_can_be_written_whatever_the_statuses_are(studied: Project, paper: str) -> None:
    found = judged.read(studied.folder / WANTED[0])
    results = ResultsFolder.at(studied.folder / "results/small")

    def sentences(status: Status) -> set[str]:
        claims = tuple(dataclasses.replace(one, status=status) if one.trials else one for one in found.claims)
        pages = PaperPages(results, dataclasses.replace(found, claims=claims))
        story = pages.story(paper)
        assert story is not None
        blocks = [*walk(story.blocks), *walk(pages.findings(paper))]
        text = " ".join(block.html for block in blocks if isinstance(block, Prose))
        words = " ".join(re.sub(r"</?(p|li|ul|ol)>", " ", text).split())
        return {part.rstrip(".,:;") for part in re.split(r"[.,:;] ", words)}

    said = {status: sentences(status) for status in STATUSES}
    of_failure = said["refuted"] - said["verified"]
    assert of_failure
    assert not of_failure & said["inconclusive"]
