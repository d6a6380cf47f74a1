"""How is a paper shown section by section, with the status of every claim?"""

from typing import Any

from pipeline_lib import papers
from pipeline_lib.claims import coverage
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.report.claims_section import linked
from pipeline_lib.report.tables import Cell


def given(judged: JudgedStudy, paper: str) -> dict[str, Any] | None:
    """What the template shows: the statements of a paper in the order of print; None where it does not list them."""
    claims = [claim for claim in judged.claims if claim.paper == paper]
    found = coverage.load(papers.get(paper), claims)
    if not found:
        return None
    statuses = {claim.id: claim.status for claim in claims}
    statements = [
        {
            "heading": one.heading,
            "place": entry.what,
            "statement": entry.says,
            "claims": Cell(
                ", ".join(linked(name, statuses[name]) for name in entry.claims) or entry.reason,
                " ".join(entry.claims) or entry.reason,
                running=True,
            ),
        }
        for one in found
        for entry in one.statements
    ]
    covered, reasons = coverage.counts(found)
    return {"paper": paper, "statements": statements, "covered": covered, "reasons": reasons}
