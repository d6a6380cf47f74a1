"""Which step costs each bound of a study most, and is there a bound that says something without it?"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting import waterfalls
from pipeline_lib.reporting.blocks import Block, Paragraph, Section
from pipeline_lib.reporting.certificate_blocks import HELD_OUT
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
    # By the bound, whether it is informative for a ranker: in all folds, since it is said of the ranker.
    informative: dict[str, dict[tuple[str, str], bool]] = {}
    places = {}
    for row in study.certificates:
        if row["risk"] is not None and row["bound"] != HELD_OUT and not study.is_control(row["model"]):
            places[row["bound"]] = quoted(row["place"])
            rankers = informative.setdefault(row["bound"], {})
            ranker = (row["dataset"], row["model"])
            rankers[ranker] = rankers.get(ranker, True) and row["informative"]
    own = informative.pop(OWN, {})
    if not any(own.values()):
        return []
    datasets = listed(sorted({dataset for (dataset, _), told in own.items() if told}))
    by_count: dict[int, list[str]] = {}
    for bound, rankers in informative.items():
        by_count.setdefault(sum(rankers.values()), []).append(places[bound])
    others = [
        f"for {number or 'none'} of them ({listed(by_count[number])})" for number in sorted(by_count, reverse=True)
    ]
    words = (
        f"The certificate `{OWN}`, a bound of this project's own, is informative for {sum(own.values())} of "
        f"{count(len(own), 'linear ranker')} on {datasets}: it bounds the risk on new queries below the largest "
        "loss of any ranker with weights of about that size"
    )
    if others:
        words += f". The bounds that `lists` states or cites are informative {listed(others)}"
    return [Paragraph(f"{words} (`{CERTIFICATES}`).")]
