"""Which data sets were studied, what is known of each, and which were not available?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting.blocks import (
    Block,
    Bullets,
    Definitions,
    Details,
    Note,
    Paragraph,
    Section,
    Subsection,
)
from pipeline_lib.reporting.figures import Figure, data_plot
from pipeline_lib.reporting.results import Row
from pipeline_lib.reporting.study import (
    Study,
)
from pipeline_lib.reporting.tables import (
    Cell,
    Column,
    Table,
    simple,
    text,
    whole,
)


def datasets(study: Study) -> Section:
    """The data sets studied, and those that are missing."""
    blocks: list[Block] = []
    if study.data:
        blocks.append(_data_table(study))
    else:
        blocks.append(Note("The study contains no description of a data set: the folder data/ is absent or empty."))
    missing = study.unstudied()
    if missing:
        rows = [
            [
                text(entry["dataset"]),
                text(entry["reason"]),
                Cell(entry["how_to_get"], raw=entry["how_to_get"], running=True),
            ]
            for entry in missing
        ]
        columns = [Column("dataset", "Data set", "left"), Column("reason", "Reason", "left")]
        columns.append(Column("how_to_get", "How to obtain it", "left"))
        table = simple("not-studied", "Configured data sets that are not available", "availability.json", columns, rows)
        blocks.append(Subsection("not-studied", "Not available", (table,)))
    elif study.availability:
        blocks.append(Paragraph("All data sets named in the configuration were available."))
    return Section("data", "Data sets", tuple(blocks))


def _data_table(study: Study) -> Table:
    columns = [Column("dataset", "Data set", "left"), Column("queries", "Queries"), Column("rows", "Documents")]
    columns += [Column("features", "Features"), Column("documents_per_query", "Documents per query")]
    columns += [Column("without", "Queries without a relevant document"), Column("folds", "Folds")]
    columns += [Column("expected", "Catalogue", "left")]
    rows = [
        [
            text(entry["dataset"]),
            whole(entry["queries"]),
            whole(entry["rows"]),
            whole(entry["features"]),
            _lengths(entry["documents_per_query"]),
            whole(entry["queries_without_relevant"]),
            whole(entry["folds"]),
            text(_catalogue_words(entry)),
        ]
        for entry in study.data
    ]
    notes = ("Documents per query: smallest, median and largest number.",)
    return simple("data-sets", "Data sets studied", "data/*.json", columns, rows, notes)


def _lengths(found: Mapping[str, float]) -> Cell:
    parts = [f"{found[key]:,g}" for key in ("min", "median", "max")]
    return Cell(" / ".join(parts), raw=" ".join(repr(found[key]) for key in ("min", "median", "max")))


def _catalogue_words(entry: Row) -> str:
    expected = entry["expected"]
    if _changed(entry):
        return "changed after it was obtained"
    if not expected:
        return "not in it" if _own(entry) else "no figures to compare"
    about = [str(key) for key in expected.get("approximate") or ()]
    wrong = [key for key, value in expected.items() if key not in about and _differs(entry.get(key), value)]
    if wrong:
        return f"differs in {listed(sorted(wrong))}"
    return f"as expected ({listed(sorted(about))} known only roughly)" if about else "as expected"


def _differs(found: Any, expected: Any) -> bool:
    """Whether a figure of the data contradicts the catalogue; what either does not know contradicts nothing."""
    return found is not None and expected is not None and found != expected


def facts(entry: Row) -> Subsection:
    """What is known of one data set, its labels and lengths as a figure, and its files with their digests."""
    name = entry["dataset"]
    source = f"data/{name}.json"
    known = [(key.capitalize(), str(entry[key])) for key in ("title", "licence", "citation") if entry[key] is not None]
    blocks: list[Block] = [Definitions(tuple(known))]
    remarks = [*entry.get("removed", []), *entry.get("notes", [])]
    if remarks:
        blocks.append(Bullets(tuple(quoted(str(remark)) for remark in remarks)))
    blocks.append(_data_figure(entry, source))
    if entry["parts"]:
        columns = [Column("part", "Part", "left"), Column("queries", "Queries"), Column("rows", "Documents")]
        own = _own(entry)
        changed = _changed(entry)
        columns += [Column("file", "File", "left") if own else Column("verified", "Digest", "left")]
        columns += [Column("sha256", "SHA-256", "left")]
        columns += [Column("before", "SHA-256 when it was obtained", "left")] if changed else []
        rows = [
            [
                text(part["name"]),
                whole(part["queries"]),
                whole(part["rows"]),
                text(part["file"] if own else _digest_words(part)),
                _digest(part["sha256"]),
                *([_digest(part.get("before") or part["sha256"])] if changed else []),
            ]
            for part in entry["parts"]
        ]
        table = simple(f"parts-{name}", f"Files of {name}", source, columns, rows, ("Digests in full: the CSV file.",))
        blocks.append(Details("Files and digests", (table,)))
    return Subsection(f"data-{name}", "The data", tuple(blocks))


def _own(entry: Row) -> bool:
    """Whether a data set is one of the configuration, which names its files."""
    return any("file" in part for part in entry["parts"] or ())


def _changed(entry: Row) -> bool:
    """Whether a file was changed after it was obtained."""
    return any(part.get("before") for part in entry["parts"] or ())


def _digest(sha256: str | None) -> Cell:
    return Cell(f"{sha256[:16]}…", raw=sha256) if sha256 else text(None)


def _digest_words(part: Row) -> str:
    if part.get("before"):
        return "not as in the catalogue: changed after it was obtained"
    return "as in the catalogue" if part["verified"] else "as first recorded; not in the catalogue"


def _data_figure(entry: Row, source: str) -> Figure:
    histogram = entry.get("document_counts_histogram") or {"edges": [], "counts": []}
    labels = {str(label): int(count) for label, count in entry["labels"].items()}
    shares = ", ".join(f"label {label}: {count:,}" for label, count in labels.items())
    lengths = entry["documents_per_query"]
    return Figure(
        name=f"data-{entry['dataset']}",
        title=f"Labels and list lengths of {entry['dataset']}",
        caption=f"{entry['dataset']}: labels of the documents (left) and number of documents per query (right)",
        source=source,
        description=f"Documents by label: {shares}. Documents per query: from {lengths['min']:g} to "
        f"{lengths['max']:g}, median {lengths['median']:g}.",
        draw=lambda: data_plot(labels, histogram["edges"], histogram["counts"]),
    )
