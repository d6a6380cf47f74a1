"""How far are our numbers from published ones?"""

from __future__ import annotations

from pipeline_lib.markup import quoted
from pipeline_lib.reporting.blocks import (
    Note,
    Paragraph,
    Section,
)
from pipeline_lib.reporting.study import (
    PUBLISHED,
    Study,
    count,
    measure_title,
)
from pipeline_lib.reporting.tables import (
    Column,
    number,
    simple,
    text,
)


def published(study: Study) -> Section | None:
    """Published numbers compared with ours; no section where the study reproduces none."""
    if not study.published:
        if (study.results.path / PUBLISHED).exists():
            return None
        note = Note(f"No published numbers to compare with in this study: {PUBLISHED} is absent or empty.")
        return Section("published", "Published numbers compared with ours", (note,))
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
    table = simple(
        "published",
        "Published numbers and ours; the difference is ours minus the published number",
        PUBLISHED,
        columns,
        rows,
    )
    return Section("published", "Published numbers compared with ours", (Paragraph(sentence), table))
