"""Do the findings on the front page link to their claims, and say the same whatever these say?"""

import re
from pathlib import Path

import pytest
from page_of_paper import claims_of, judged

from pipeline_lib import papers
from pipeline_lib.claims.judged import JudgedStudy, JudgedTrial
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.report.claims_section import SIGNS
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.statistics import Interval


def findings(paper: str, given: Status, folder: Path, value: float = 0.25) -> str:
    """The findings where all claims have one status, and trials with the same values."""

    setting = {"dataset": "made", "loss": "listnet", "n": 100, "m": 1000}

    def trials(claim: Claim) -> list[JudgedTrial]:
        names = {*claim.names, *(name for reading in claim.readings for name in reading.values)}
        values = {name: Interval(value, value, value) for name in names}
        # A claim that rests on its certificate alone has no values, and hence no trials.
        return [JudgedTrial(setting, values, "tables/made.parquet", "verified")] if names else []

    claims = tuple(judged(claim, given, trials(claim)) for claim in claims_of(paper))
    blocks = PaperPages(ResultsFolder.at(folder), JudgedStudy("made", claims, {})).findings(paper)
    return " ".join("".join(block.html for block in blocks).split())  # type: ignore[attr-defined]


@pytest.mark.parametrize("paper", papers.names())
def test_findings_link_to_their_claims_and_say_the_same_whatever_the_statuses(paper: str, tmp_path: Path) -> None:
    said = {status: findings(paper, status, tmp_path) for status in STATUSES if status != "not-run"}
    status = re.compile("|".join(f"{re.escape(sign)} {name.replace('-', ' ')}" for name, sign in SIGNS.items()))
    assert len({status.sub("", text) for text in said.values()}) == 1
    known = {claim.id for claim in claims_of(paper)}
    for text in said.values():
        items = re.findall(r"<li>(.*?)</li>", text, flags=re.DOTALL)
        assert items
        assert all(re.search(r'href="#claim-', item) for item in items)
        assert all(item.count("<strong>") == 1 for item in items)  # otherwise two of them ran together
        assert set(re.findall(r'href="#claim-([\w-]+)"', text)) <= known


def test_trials_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    """The smallest ratio of two bounds is that of the trials in which the larger one is below all losses."""
    name = "lists-tighter-lengths"
    assert any("vacuous" in reading.values for one in claims_of("lists") if one.id == name for reading in one.readings)
    values = [
        {"ratio": Interval(x, x, x), "vacuous": Interval(vacuous, vacuous, vacuous)}
        for x, vacuous in ((1.3, 1.0), (5.3, 0.0))
    ]
    trials = [JudgedTrial({}, one, "tables/made.parquet", "answered") for one in values]
    claims = tuple(judged(one, "answered", trials if one.id == name else ()) for one in claims_of("lists"))
    blocks = PaperPages(ResultsFolder.at(tmp_path), JudgedStudy("made", claims, {})).findings("lists")
    said = "".join(block.html for block in blocks)  # type: ignore[attr-defined]
    assert "at least 5.3 times" in " ".join(said.split())


@pytest.mark.parametrize("paper", papers.names())
def test_findings_have_the_figures_of_the_evidence(paper: str, tmp_path: Path) -> None:
    assert findings(paper, "verified", tmp_path, 0.25) != findings(paper, "verified", tmp_path, 0.75)
