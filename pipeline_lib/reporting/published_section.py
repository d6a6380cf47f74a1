"""How far are our numbers from published ones?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from pipeline_lib.markup import quoted
from pipeline_lib.reporting.blocks import Block, Note, Paragraph, Section, walk
from pipeline_lib.reporting.declared_figures import Comparison
from pipeline_lib.reporting.study import PUBLISHED, Study, count, measure_title
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, number, scientific, simple, span, text


def published(study: Study, stories: Mapping[str, Iterable[Section]]) -> Section | None:
    """Published numbers compared with ours: those of models, and those on the papers' pages, ``stories`` by title.

    No section where the study reproduces none.
    """
    blocks: list[Block] = []
    if study.published:
        blocks += _of_models(study)
    elif not (study.results.path / PUBLISHED).exists():
        blocks.append(Note(f"No published numbers to compare with in this study: {PUBLISHED} is absent or empty."))
    blocks += _of_papers(stories)
    return Section("published", "Published numbers compared with ours", tuple(blocks)) if blocks else None


def _of_models(study: Study) -> list[Block]:
    columns = [Column("dataset", "Data set", "left"), Column("model", "Method", "left"), Column("fold", "Fold")]
    columns += [Column("measure", "Measure", "left"), Column("published", "Published"), Column("measured", "Ours")]
    columns += [Column("delta", "Difference"), Column("source", "Source", "left")]
    rows = [
        [
            text(row["dataset"]),
            text(study.model_title(row["model"])),
            text("all" if row["fold"] is None else row["fold"]),
            text(measure_title(row["measure"])),
            number(row["published"], 3),
            number(row["measured"], 4),
            number(row["delta"], 4, signed=True),
            text(row["source"]),
        ]
        for row in study.published
    ]
    largest = max(study.published, key=lambda row: abs(row["delta"]))
    sentence = (
        f"{count(len(rows), 'published number')}; the largest difference is "
        f"{number(largest['delta'], 4, signed=True).text} ({quoted(study.model_title(largest['model']))}, "
        f"{measure_title(largest['measure'])} on {largest['dataset']})."
    )
    caption = "Published numbers and ours; the difference is ours minus the published number"
    return [Paragraph(sentence), simple("published", caption, PUBLISHED, columns, rows)]


def _of_papers(stories: Mapping[str, Iterable[Section]]) -> list[Block]:
    """The numbers of all figures that compare, with links to them; nothing where there is none."""
    groups, sources = [], []
    for title, sections in stories.items():
        blocks = chain.from_iterable(walk(section.blocks) for section in sections)
        compared = [(block, tuple(_rows(block))) for block in blocks if isinstance(block, Comparison)]
        sources += [one.source for one, rows in compared if rows]
        if every := tuple(row for _, rows in compared for row in rows):
            groups.append(Group(title, every))
    if not groups:
        return []
    columns = (
        Column("what", "Number", "left"),
        Column("published", "Published"),
        Column("measured", "Ours"),
        Column("interval", "Interval"),
        Column("difference", "Difference"),
        Column("figure", "Shown in", "left"),
    )
    words = (
        "The papers print constants, powers, probabilities and other numbers. Figures on the papers' pages "
        "compare them with ours and say why they differ; here are all of them, each with a link to its figure."
    )
    source = ", ".join(dict.fromkeys(", ".join(sources).split(", ")))
    return [
        Paragraph(words),
        Table(
            "published-in-papers",
            "Numbers that the papers print, and ours",
            source,
            columns,
            tuple(groups),
            ("Rows without a number of ours: this study does not measure it.",),
        ),
    ]


def _rows(compared: Comparison) -> Iterator[tuple[Cell, ...]]:
    for panel, pairs in compared.pairs.items():
        for name, printed, ours in pairs:
            if printed is None:
                continue
            what = text(f"{name}, {panel}" if panel else name)
            link = Cell(f"[figure](#figure-{compared.name})", compared.name, running=True)
            if ours is None:
                yield (what, scientific(printed), text(None), text(None), text(None), link)
                continue
            value, low, high = ours
            # A difference that is rounding alone has no digits.
            difference = 0.0 if math.isclose(value, printed, abs_tol=1e-12) else value - printed
            interval = text(None) if low == high else span(low, high, 3)
            yield (what, scientific(printed), scientific(value), interval, scientific(difference), link)
