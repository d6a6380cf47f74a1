"""How was everything measured and trained: conventions, formulas and settings?"""

from typing import Any

from pipeline_lib import learners, metrics, surrogates
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import Study, as_text, measure_title


def given(study: Study) -> dict[str, Any]:
    """What the template shows: the formulas of the measures, each once, then every model's formulas and settings."""
    measures: dict[str, list[str]] = {}
    for measure in dict.fromkeys(row["measure"] for row in study.summary):
        measures.setdefault(metrics.get(measure).formula, []).append(measure_title(measure))
    return {"measures": measures, "models": [_method(entry) for entry in study.models.values()]}


def _method(entry: Row) -> Row:
    options = entry.get("options") or {}
    formulas = [learners.get(entry["algorithm"]).formula]
    formulas += [surrogates.create(entry["surrogate"], **options).formula] if entry["surrogate"] else []
    settings = [(key, as_text(value)) for key, value in {**options, **entry["settings"]}.items()]
    about = {"description": entry.get("description") or "", "untrained": entry.get("untrained")}
    return {**entry, **about, "formulas": formulas, "settings": settings}
