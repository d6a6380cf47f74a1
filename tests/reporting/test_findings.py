"""Does the front page say of a paper what the claims say, and nothing where nothing was judged?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from page_of_paper import claims_of

from pipeline_lib import papers
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy, JudgedTrial
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.reporting.page import PaperPages
from pipeline_lib.reporting.results import ResultsFolder

Values = Mapping[str, float | Interval]


def findings(paper: str, given: Status, folder: Path, value: float = 0.25, answer: Status | None = None) -> str:
    """The findings on a paper all of whose claims have one status, and in all of whose trials all values are equal.

    Claims that are questions have the status ``answer`` instead, if it is given.
    """
    judged = []
    for claim in claims_of(paper):
        status = answer if answer is not None and claim.kind == "finding" else given
        setting = {"dataset": "made", "loss": "listnet", "n": 100, "m": 1000}
        trial = JudgedTrial(
            setting, {name: Interval(value, value, value) for name in claim.names}, "tables/made.parquet", status
        )
        trials = () if status == "not-run" else (trial,)
        judged.append(JudgedClaim(claim.id, paper, claim.kind, "", "", "", "", status, "", None, (), "", trials))
    blocks = PaperPages(ResultsFolder.at(folder), JudgedStudy("made", tuple(judged), {})).findings(paper)
    return "".join(block.html for block in blocks)  # type: ignore[attr-defined]


@pytest.mark.parametrize("paper", papers.names())
def test_findings_depend_on_the_statuses_and_link_to_their_claims(paper: str, tmp_path: Path) -> None:
    said: dict[str, str] = {status: findings(paper, status, tmp_path) for status in STATUSES}
    assert "<li>" not in said["not-run"]
    assert "<li>" in said["refuted"]
    assert said["refuted"] != said["verified"]
    assert len({said[status] for status in ("refuted", "verified", "answered")}) == 3
    for status in ("verified", "refuted"):
        said[f"{status} and answered"] = findings(paper, status, tmp_path, answer="answered")
    known = {claim.id for claim in claims_of(paper)}
    for text in said.values():
        items = re.findall(r"<li>(.*?)</li>", text, flags=re.DOTALL)
        assert all(re.search(r'href="#claim-', item) for item in items)
        assert all(item.count("<strong>") == 1 for item in items)  # otherwise two of them ran together
        assert set(re.findall(r'href="#claim-([\w-]+)"', text)) <= known


@pytest.mark.parametrize("paper", papers.names())
def test_findings_have_the_figures_of_the_evidence(paper: str, tmp_path: Path) -> None:
    statuses = ("refuted", "verified", "answered")
    assert any(findings(paper, one, tmp_path, 0.25) != findings(paper, one, tmp_path, 0.75) for one in statuses)


def said_of(paper: str, folder: Path, statuses: Mapping[str, Status], trials: Mapping[str, Sequence[Values]]) -> str:
    """The findings on a paper with these statuses and trials, where all other claims have not run."""
    judged = [
        JudgedClaim(
            claim.id, paper, claim.kind, "", "", "", "", statuses.get(claim.id, "not-run"), "", None, (), "", made
        )
        for claim in claims_of(paper)
        for made in [
            tuple(
                JudgedTrial({"dataset": "made"}, dict(values), "tables/made.parquet", "verified")
                for values in trials.get(claim.id, ())
            )
        ]
    ]
    blocks = PaperPages(ResultsFolder.at(folder), JudgedStudy("made", tuple(judged), {})).findings(paper)
    return " ".join("".join(block.html for block in blocks).split())  # type: ignore[attr-defined]


def test_rankings_are_added_up_and_not_called_queries(tmp_path: Path) -> None:
    votes = [{"queries": 600, "queries_in_another_order": other} for other in (0, 7)]
    said = said_of(
        "cone",
        tmp_path,
        {"cone-alg2-linear": "refuted", "cone-alg2-linear-corrected": "verified"},
        {"cone-alg2-linear": votes, "cone-alg2-linear-corrected": votes},
    )
    assert "all 1,200 rankings" in said
    assert "orders 7 of them" in said


def test_a_rate_is_no_faster_than_its_interval_allows(tmp_path: Path) -> None:
    rates = [{"exponent_in_queries": Interval(-0.993448, -1.087934, -0.898962)}]
    said = said_of("cone", tmp_path, {"cone-smax": "answered"}, {"cone-smax": rates})
    assert "0.89" in said
    assert "0.99" not in said


def test_a_lead_stands_with_its_corrected_p_value(tmp_path: Path) -> None:
    compared = [{"difference_to_best_baseline": Interval(-0.014, -0.025, 0.0), "p_holm": 0.169}]
    said = said_of("slam", tmp_path, {"slam-practice": "answered"}, {"slam-practice": compared})
    assert "p = 0.17" in said
