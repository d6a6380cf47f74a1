"""What does theory certify of the models of a data set: the tightest bound on each one's risk, and what it is worth?"""

from typing import Any

from pipeline_lib.report.results import Row
from pipeline_lib.report.study import Study
from pipeline_lib.report.tables import Cell

HELD_OUT = "held-out"
"""The bound, in the table of certificates, that the test part gives."""


def certificates(study: Study, dataset: str) -> dict[str, Any] | None:
    """The tightest bound of every learner, and why others have none; None where there is no learner."""
    found: dict[str, list[Row]] = {}
    for row in study.certificates:
        if row["dataset"] == dataset and not study.is_control(row["model"]):
            found.setdefault(row["model"], []).append(row)
    if not found:
        return None
    tightest = {model: bound for model, rows in found.items() if (bound := _tightest(rows)) is not None}
    tested = {model: bound for model, rows in found.items() if (bound := _tightest(rows, held_out=True)) is not None}
    without: dict[str, list[str]] = {}
    for model, rows in found.items():
        if model not in tightest:
            reason = next((row["reason"] for row in rows if row["reason"]), "unknown")
            without.setdefault(reason, []).append(study.model_title(model))
    return {
        "rows": [_shown(row, tested.get(model)) for model, row in tightest.items()],
        "tested": bool(tested),
        "informative": sum(row["informative"] for row in tightest.values()),
        "delta": next((row["delta"] for row in tightest.values()), None),
        "without": without,
    }


def _tightest(rows: list[Row], held_out: bool = False) -> Row | None:
    """The least risk that the bounds certify, or the held-out queries; of several folds, where it is largest."""
    best: dict[int, Row] = {}
    for row in rows:
        if (row["bound"] == HELD_OUT) is held_out and row["risk"] is not None:
            best[row["fold"]] = min(best.get(row["fold"], row), row, key=lambda one: one["risk"])
    return max(best.values(), key=lambda row: row["risk"], default=None)


def _shown(row: Row, tested: Row | None) -> Row:
    return {
        **row,
        "bound": Cell(f"{row['bound']} ({row['place']})", raw=row["bound"]),
        "informative": "yes" if row["informative"] else "no",
        "informative_from": _first(row),
        "held_out": None if tested is None else tested["risk"],
        "held_out_from": None if tested is None else _first(tested),
    }


def _first(row: Row) -> Cell | int:
    found = row["informative_from"]
    return Cell("beyond 10¹⁵") if found is None else int(found)
