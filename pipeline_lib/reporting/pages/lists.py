"""What was found about the paper `lists`? Its page of the report: one part an experiment, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable

from pipeline_lib.reporting.blocks import Block, Section
from pipeline_lib.reporting.results import ResultsFolder

Part = Callable[[ResultsFolder], tuple[Block, ...]]


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    return Section("lists", "Generalization bounds and the length of lists", blocks) if blocks else None


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = ()
