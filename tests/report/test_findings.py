"""Does the front page say of a paper what the claims say, and nothing where nothing was judged?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from page_of_paper import claims_of, judged

from pipeline_lib import papers
from pipeline_lib.claims.judged import JudgedStudy, JudgedTrial
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.statistics import Interval

Values = Mapping[str, float | Interval]


def said_of(
    paper: str, folder: Path, statuses: Callable[[Claim], Status], trials: Callable[[Claim], Sequence[Values]]
) -> str:
    """The findings on a paper whose claims have these statuses and, unless they have not run, these trials."""
    setting = {"dataset": "made", "loss": "listnet", "n": 100, "m": 1000}
    claims = tuple(
        judged(
            claim,
            statuses(claim),
            [JudgedTrial(setting, dict(values), "tables/made.parquet", "verified") for values in trials(claim)],
        )
        for claim in claims_of(paper)
    )
    blocks = PaperPages(ResultsFolder.at(folder), JudgedStudy("made", claims, {})).findings(paper)
    return " ".join("".join(block.html for block in blocks).split())  # type: ignore[attr-defined]


def findings(paper: str, given: Status, folder: Path, value: float = 0.25, answer: Status | None = None) -> str:
    """The findings where all claims have one status, questions perhaps another, and all trials the same values."""

    def trials(claim: Claim) -> Sequence[Values]:
        names = {*claim.names, *(name for reading in claim.readings for name in reading.values)}
        return [] if given == "not-run" else [{name: Interval(value, value, value) for name in names}]

    return said_of(paper, folder, lambda claim: answer if answer and claim.kind == "finding" else given, trials)


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


VOTES = [{"queries": 600, "queries_in_another_order": other} for other in (0, 7)]
LEAD = {"difference_to_best_baseline": Interval(-0.014, -0.025, 0.0), "p_holm": 0.169}


@pytest.mark.parametrize(
    ("statuses", "values", "said"),
    [
        # Rankings are added up, a rate is no faster than its interval allows, and a lead has its corrected p-value.
        ({"cone-alg2-linear": "refuted", "cone-alg2-linear-corrected": "verified"}, VOTES, {"1,200", "7"}),
        ({"cone-smax": "answered"}, [{"exponent_in_queries": Interval(-0.993448, -1.087934, -0.898962)}], {"0.89"}),
        ({"slam-practice": "answered"}, [LEAD], {"0.17"}),
    ],
)
def test_numbers_of_findings(
    tmp_path: Path, statuses: dict[str, Status], values: Sequence[Values], said: set[str]
) -> None:
    found = said_of(
        next(iter(statuses)).partition("-")[0],
        tmp_path,
        lambda claim: statuses.get(claim.id, "not-run"),
        lambda claim: values if claim.id in statuses else [],
    )
    assert said <= set(re.findall(r"\d[\d,.]*\d|\d", found))
