"""How far are our numbers from published ones?"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline_lib.report.blocks import Section, walk
from pipeline_lib.report.declared_figures import Comparison
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import PUBLISHED, Study
from pipeline_lib.report.tables import Cell


def given(study: Study, stories: Mapping[str, Iterable[Section]]) -> dict[str, Any]:
    """What the template shows: published numbers of models, and those on the papers' pages, ``stories`` by title."""
    compared = [
        (title, block)
        for title, sections in stories.items()
        for section in sections
        for block in walk(section.blocks)
        if isinstance(block, Comparison)
    ]
    numbers = [(block.source, list(_rows(title, block))) for title, block in compared]
    return {
        "largest": max(study.published, key=lambda row: abs(row["delta"]), default=None),
        "absent": "" if (study.results.path / PUBLISHED).exists() else PUBLISHED,
        "numbers": [row for _, rows in numbers for row in rows],
        "sources": list(dict.fromkeys(file for source, rows in numbers if rows for file in source.split(", "))),
    }


def _rows(paper: str, compared: Comparison) -> Iterator[Row]:
    """The numbers of a figure that compares, with links to it."""
    link = Cell(f"[figure](#figure-{compared.name})", compared.name, running=True)
    for panel, pairs in compared.pairs.items():
        for name, printed, ours in pairs:
            if printed is not None:
                value, low, high = ours or (None, None, None)
                # A difference that is rounding alone has no digits.
                close = value is not None and math.isclose(value, printed, abs_tol=1e-12)
                yield {
                    "paper": paper,
                    "what": f"{name}, {panel}" if panel else name,
                    "published": printed,
                    "measured": value,
                    "low": None if low == high else low,
                    "high": high,
                    "difference": None if value is None else 0.0 if close else value - printed,
                    "figure": link,
                }
