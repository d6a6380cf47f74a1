"""Does the front page say of a paper what the claims say, and nothing where nothing was judged?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_of_paper import claims_of

from pipeline_lib import papers
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy, JudgedTrial
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.reporting.page import PaperPages
from pipeline_lib.reporting.results import ResultsFolder


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
