"""How was everything measured and trained: conventions, formulas and settings?"""

from __future__ import annotations

from pipeline_lib import learners, measures, surrogates
from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting.blocks import (
    Block,
    Bullets,
    Definitions,
    Formula,
    Note,
    Paragraph,
    Section,
    Subsection,
)
from pipeline_lib.reporting.results import Row
from pipeline_lib.reporting.study import (
    Study,
    as_text,
    measure_title,
)

CONVENTIONS = (
    r"Formulas speak of one query \(q\) with \(m\) documents, of which \(r\) are relevant: \(s\) are their scores, "
    r"\(y\) their labels, \(X_q\) their features and \(y_{(i)}\) the label at rank \(i\) when they are ranked "
    r"by \(s\).",
    r"The gain is \(G(y) = 2^y - 1\) and the discount \(D(i) = 1 / \log_2(i + 1)\). \(Z_k(y)\) is the largest value of "
    r"\(\sum_{i \le k} G(y_{(i)}) D(i)\) that a ranking of the same documents can reach, and \(Z = Z_m\). In the "
    r"weights \(v_i\) of SLAM, documents are numbered by falling label.",
    r"\(\Delta\) is a margin, 1 unless an option says otherwise. Sums over pairs are as they stand, unless the option "
    "`normalisation` divides them by the number of pairs.",
    "Average precision counts every label of 1 or more as relevant.",
    "A query without a relevant document has the value 0 in every measure, as in LETOR's own evaluation.",
    "Ties in scores are broken by the order of the documents in the data set (a stable sort), so that results are "
    "reproducible.",
    r"“LETOR” marks the evaluation of LETOR 4.0: discount 1 at ranks 1 and 2, then \(1 / \log_2(i)\); NDCG@k of a "
    r"query with fewer than \(k\) documents counts as 0; its mean NDCG of a query runs over \(k = 1\) to \(m\).",
    r"P@k divides by \(k\), also where a query has fewer documents.",
)


def methods(study: Study) -> Section:
    """Conventions, the formulas of the measures, then every model's formula and settings."""
    parts = [
        Subsection(
            f"method-{entry['model']}",
            quoted(entry["title"]) + (" (control)" if entry["control"] else ""),
            tuple(_method(entry)),
        )
        for entry in study.models.values()
    ]
    blocks: list[Block] = [Subsection("conventions", "Conventions", (Bullets(CONVENTIONS),))]
    blocks += [*_measures(study), *parts]
    if not parts:
        blocks.append(Note("The study contains no list of models: models.json is absent or empty."))
    return Section("methods", "Methods", tuple(blocks))


def _measures(study: Study) -> list[Block]:
    """What the measures of the study are, each formula once."""
    named: dict[str, list[str]] = {}
    for measure in dict.fromkeys(row["measure"] for row in study.summary):
        named.setdefault(measures.load(measure).formula, []).append(measure_title(measure))
    blocks = [block for tex, titles in named.items() for block in (Paragraph(f"{listed(titles)}:"), Formula(tex))]
    return [Subsection("measures", "Measures", tuple(blocks))] if blocks else []


def _method(entry: Row) -> list[Block]:
    blocks: list[Block] = [Paragraph(entry["description"])] if entry.get("description") else []
    options = entry.get("options") or {}
    if entry.get("untrained"):
        blocks.append(Note(f"Not trained: {quoted(entry['untrained'])}.", "missing"))
    blocks.append(Formula(learners.get(entry["algorithm"]).formula))
    if entry["surrogate"]:
        blocks.append(Formula(surrogates.create(entry["surrogate"], **options).formula))
    settings = [(key, as_text(value)) for key, value in {**options, **entry["settings"]}.items()]
    if settings:
        blocks.append(Definitions(tuple(settings)))
    return blocks
