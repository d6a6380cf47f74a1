"""Which step costs each bound of a study most, and is there a bound that says something without it?"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline_lib.markup import listed
from pipeline_lib.reporting import waterfalls
from pipeline_lib.reporting.blocks import Block, Paragraph, Section
from pipeline_lib.reporting.queries import Rows, Tables
from pipeline_lib.reporting.study import CERTIFICATES, Study, count
from pipeline_lib.reporting.tables import Table

PLACE = "bounds"
"""The address of the section."""
OWN = "contraction"
"""The project's own bound in the table of certificates."""


def section(study: Study, papers: Sequence[str]) -> Section | None:
    """One row for each bound of the papers, with its costliest step; None where no chain was computed."""
    tables = Tables(study.results)
    found: list[Rows] = []
    for paper in papers:
        if tables.has(f"{paper}-chain"):
            rows = tables.rows(f"{paper}-chain")
            found += waterfalls.largest(rows, datasets=len(rows.distinct("dataset")))
    if not found:
        return None
    words = (
        "A bound is the last link of a chain that begins with what is measured. Every step multiplies by a factor; the "
        "table names the largest one of each bound. The pages of the papers show all steps."
    )
    caption = "Where the bounds lose: what is measured, what is stated, and the step with the largest factor"
    return Section(
        PLACE, "Where the bounds lose", (Paragraph(words), waterfalls.summary("costliest-steps", caption, found))
    )


def pointer(found: Section | None) -> list[Block]:
    """What the front page says of the section: how many bounds were followed, and where to see it."""
    bounds = sum(len(block.rows()) for block in found.blocks if isinstance(block, Table)) if found is not None else 0
    words = f"The numbers of {count(bounds, 'bound')} are followed step by step: [where they lose](#{PLACE})."
    return [Paragraph(words)] if bounds else []


def certified(study: Study) -> list[Block]:
    """What the bound of our own certifies; nothing where it is not informative."""
    rows = [row for row in study.certificates if row["risk"] is not None and not study.is_control(row["model"])]
    own = {(row["dataset"], row["model"]) for row in rows if row["bound"] == OWN}
    said = {
        kind: {
            (row["dataset"], row["model"])
            for row in rows
            if row["informative"] and (row["bound"] == OWN) == (kind == OWN) and row["bound"] != "held-out"
        }
        for kind in (OWN, "papers")
    }
    if not said[OWN]:
        return []
    datasets = listed(sorted({dataset for dataset, _ in said[OWN]}))
    return [
        Paragraph(
            f"The certificate `{OWN}`, a bound of this project's own, is informative for {len(said[OWN])} of "
            f"{count(len(own), 'linear ranker')} on {datasets}: it bounds the risk on new queries below the largest "
            f"loss of any ranker with weights of about that size. The bounds of `lists` are for {len(said['papers'])} "
            f"of them (`{CERTIFICATES}`)."
        )
    ]
