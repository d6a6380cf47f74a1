"""Which data sets were studied, what is known of each, and which were not available?"""

from typing import Any

from pipeline_lib.core.markup import listed
from pipeline_lib.data import labels
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import SUMMARY, Study
from pipeline_lib.report.tables import Cell


def given(study: Study) -> dict[str, Any]:
    """What the template of the table of all data sets shows."""
    return {"study": study, "described": list(map(_described, study.data)), "absent": SUMMARY}


def _described(entry: Row) -> Row:
    lengths = [entry["documents_per_query"][key] for key in ("min", "median", "max")]
    return {
        **entry,
        "documents_per_query": Cell(" / ".join(f"{length:,g}" for length in lengths), raw=" ".join(map(repr, lengths))),
        "without": entry["queries_without_relevant"],
        "expected": _catalogue_words(entry),
    }


def _catalogue_words(entry: Row) -> str:
    expected = entry["expected"]
    if not expected:
        return "not in it" if _own(entry) else "no figures to compare"
    rough = expected.get("approximate") or ()
    wrong = sorted(key for key, value in expected.items() if key not in rough and _differs(entry.get(key), value))
    return f"differs in {listed(wrong)}" if wrong else "as expected"


def _differs(found: Any, expected: Any) -> bool:
    """Whether a figure of the data contradicts the catalogue; what either does not know contradicts nothing."""
    return found is not None and expected is not None and found != expected


def about(entry: Row) -> dict[str, Any]:
    """What the template of one data set shows of it: how often which label occurs, and its files with digests."""
    return {
        "known": [(key.capitalize(), str(entry[key])) for key in ("title", "licence", "citation") if entry[key]],
        "warning": labels.warning(entry["labels"]),
        "remarks": [*entry.get("removed", []), *entry.get("notes", [])],
        "labels": [
            {"label": str(label), "documents": number, "share": number / entry["rows"]}
            for label, number in entry["labels"].items()
        ],
        "parts": [_part(part) for part in entry["parts"] or ()],
        "own": _own(entry),
    }


def _part(part: Row) -> Row:
    found = "as in the catalogue" if part.get("verified") else "as first recorded; not in the catalogue"
    digest = Cell(f"{part['sha256'][:16]}…", raw=part["sha256"]) if part["sha256"] else None
    return {**part, "part": part["name"], "verified": found, "sha256": digest}


def _own(entry: Row) -> bool:
    """Whether a data set is one of the configuration, which names its files."""
    return any("file" in part for part in entry["parts"] or ())
