"""Describe the contents of a data set and compare them with its entry in the catalogue."""

from pathlib import Path
from typing import Annotated, Any

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import Output
from pipeline_lib.core.markup import listed
from pipeline_lib.data.stored_data import read_parts
from pipeline_lib.sources import catalog, own_data

LABELS = {
    "rounded": "Its labels are real numbers; they were rounded to the nearest whole label.",
    "doubled": "Its labels are multiples of one half; all were doubled.",
    "shifted": "Its labels count from -1; 1 was added to all.",
    "lowered": "Its labels count from 1; 1 was subtracted from all.",
    "clipped": "Negative labels were read as 0.",
}
MISSING = {
    "zero": "Missing values were read as 0.",
    "mean": "Missing values were read as the mean of the other documents of the query, or as 0 if none has a value.",
}
MISSING["flag"] = f"{MISSING['mean']} A feature says of which documents."
COUNTED = ("rows", "queries", "features", "labels", "queries_without_relevant", "parts")
"""What the conversion has counted and the description repeats."""


def run(
    *,
    dataset: own_data.Name,
    summary: Annotated[Path, "summary.json written by the conversion"],
    documents: Annotated[Path, "documents.parquet of the data set"],
    output: Annotated[Output, "output file for the description, as JSON"],
    own: own_data.Own = None,
) -> None:
    """Join the catalogue's entry with the counts and digests of the text that was converted."""
    data_set = own_data.entry(dataset, own)
    counted = storage.read_json(summary)
    # The digests shown on the page must be those of the text from which the documents were converted.
    stored = {part["name"]: part["sha256"] for part in read_parts(documents, stored=True)}
    if stored != {part["name"]: part["sha256"] for part in counted["parts"]}:
        raise DataError(
            f"{summary}: expected the digests of the text recorded in {documents}, found others; "
            "delete both files and start the run again"
        )
    description = {
        "dataset": data_set.name,
        "title": data_set.title,
        "licence": data_set.terms or None,
        "citation": data_set.citation or None,
        **{name: counted[name] for name in COUNTED},
        "documents_per_query": {name: counted[f"documents_per_query_{name}"] for name in ("min", "median", "max")},
        "expected": _expected(data_set),
        "folds": data_set.n_folds,
        "notes": _notes(data_set, counted),
        **({"weight": weight} if (weight := _weight(data_set, counted)) else {}),
    }
    storage.write_json(output, description)


def _weight(data_set: catalog.DataSet, summary: dict[str, Any]) -> str:
    """The column of the weights of queries, or the files in which they stand; nothing where there are none."""
    return data_set.columns.get("weight") or "; ".join(summary.get("weights", ()))


def _expected(data_set: catalog.DataSet) -> dict[str, Any] | None:
    counts = data_set.counts
    if counts is None:
        return None
    labels = {str(label): count for label, count in enumerate(counts.labels)} if counts.labels else None
    return {
        "rows": counts.rows,
        "queries": counts.queries,
        "labels": labels,
        "features": data_set.n_features,
        "approximate": sorted(counts.approximate),
    }


def _notes(data_set: catalog.DataSet, summary: dict[str, Any]) -> list[str]:
    notes = []
    empty = summary["queries_without_relevant"]
    if empty:
        queries = "1 query has" if empty == 1 else f"{empty} queries have"
        notes.append(f"{queries} no relevant document; every measure is 0 there.")
    notes += [LABELS[policy]] if (policy := data_set.columns.get("labels", data_set.labels)) in LABELS else []
    if weight := _weight(data_set, summary):
        where = f"column {weight!r}" if data_set.columns.get("weight") else weight
        notes.append(f"Its queries have weights ({where}): one of weight 3 counts like three of it.")
    if columns := data_set.columns.get("one_hot"):
        notes.append(
            f"Each value of {listed(list(map(repr, columns)))} is a feature, which is 1 where a document has it."
        )
    notes += [MISSING[policy]] if (policy := data_set.columns.get("missing")) in MISSING else []
    return notes
