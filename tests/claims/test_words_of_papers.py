"""Does every claim of a paper quote the paper, and does the paper print what is quoted?

The texts of the papers are not part of this repository: the folder ``LTR_PAPERS`` holds them, each as plain text or as
JSON with the text in it.
"""

import json
import os
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from pipeline_lib import papers
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.report.blocks import inline, plain
from tests import readings

EVERY = readings.ledger_of_claims()
CLAIMS = [claim for claim in EVERY if claim.words]


def letters(text: str) -> str:
    """A text without what sets of type differ in: spaces, ligatures, hyphens, kinds of quotation marks, and case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\s\u00ad\u2010-\u2015\-\"'\u2018-\u201f`]+", "", plain)


def text_of(path: Path) -> str:
    """What a file says, as text or as the values of a JSON document."""
    text = path.read_text(encoding="utf-8")
    return " ".join(map(str, json.loads(text).values())) if text.startswith("{") else text


@cache
def texts() -> dict[str, str]:
    """The text of every paper that is at hand, found by its title."""
    folder = Path(os.environ.get("LTR_PAPERS") or Path(__file__).resolve().parents[3] / "shared" / "papers")
    found = [letters(text_of(path)) for path in folder.glob("*") if path.is_file()]
    titles = {name: letters(papers.get(name).title) for name in papers.names()}
    return {name: text for name, title in titles.items() for text in found if title in text[: 4 * len(title)]}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_paper_prints_what_a_claim_quotes(claim: Claim) -> None:
    text = texts().get(claim.paper)
    if text is None:
        pytest.skip("set LTR_PAPERS to a folder that holds the texts of the papers")
    place = 0
    printed = re.sub(r"\\[()]", "", claim.words or "")  # the marks of mathematics are ours
    for part in re.split(r"\s*\.\.\.\s*", printed):
        place = text.find(letters(part), place)
        assert place >= 0, f"{claim.id}: not printed, or not in this order: {part!r}"


def test_a_claim_that_quotes_no_paper_says_whose_it_is() -> None:
    for claim in EVERY:
        assert (claim.says.startswith("(Ours)") or claim.where.endswith("corrected")) is not bool(claim.words), claim.id


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_mathematics_in_a_quotation_can_be_set(claim: Claim) -> None:
    assert "\\" not in plain(re.sub(r"\\\(.+?\\\)", "", claim.words or ""))
    inline(claim.words or "")  # which refuses what it cannot set
