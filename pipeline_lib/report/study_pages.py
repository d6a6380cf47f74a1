"""What do the pages on the study as a whole show: the front page, published numbers, and methods?"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pipeline_lib import learners, metrics, surrogates
from pipeline_lib.core.markup import count
from pipeline_lib.data import labels
from pipeline_lib.report.blocks import Section, walk
from pipeline_lib.report.declared_figures import OURS, PRINTED, RowFigure
from pipeline_lib.report.results import Row
from pipeline_lib.report.results_section import range_over_ties
from pipeline_lib.report.study import PUBLISHED, SUMMARY, TIED, Study, as_text, measure_title
from pipeline_lib.report.tables import Cell, number, shown_as
from pipeline_lib.statistics import POWER

NO_BREAK = "\u00a0"


def overview(study: Study) -> dict[str, Any]:
    """What the template shows: what was studied, what is missing, what was not certified, and what it took."""
    measured = {row["model"] for row in study.summary}
    trained = [entry for model, entry in study.models.items() if model in measured]
    controls = sum(entry["control"] for entry in trained)
    compared = ((len(trained) - controls, "learner"), (controls, "control"))
    titles = {entry["dataset"]: entry["title"] for entry in study.data}
    described = [f"{name} ({titles[name]})" if titles.get(name, name) != name else name for name in study.datasets()]
    asked = [row for row in study.training if row["certified"] is not None]
    failed = [row for row in asked if not row["certified"]]
    return {
        "study": study,
        "power": POWER,
        "absent": SUMMARY,
        "datasets": described,
        "trained": len(trained),
        "compared": [count(n, noun) for n, noun in compared if n],
        "untrained": study.untrained(),
        "warnings": {entry["dataset"]: found for entry in study.data if (found := labels.warning(entry["labels"]))},
        "unstudied": [entry["dataset"] for entry in study.unstudied()],
        "fits": len(asked),
        "failed": len(failed),
        "uncertified": sorted({f"{study.model_title(row['model'])} on {row['dataset']}" for row in failed}),
        "best": [_best(study, dataset) for dataset in study.datasets() if _learners(study, dataset)],
        "ideal": next((study.model_title(model) for model in study.models if study.is_ideal(model)), ""),
    }


def _learners(study: Study, dataset: str) -> list[str]:
    """The learners of a data set by its first measure, best first."""
    return study.ranked(dataset, study.headlines(dataset)[0], control=False)


def _best(study: Study, dataset: str) -> Row:
    """The best learner of a data set, with its interval and its lead over the next one and over the best control."""
    measure, [first, *others] = study.headlines(dataset)[0], _learners(study, dataset)
    best = study.mean(dataset, first, measure)
    assert best is not None

    def against(other: str | None) -> Cell | None:
        row = study.mean(dataset, other, measure) if other is not None else None
        if other is None or row is None:
            return None
        shown = f"{study.model_title(other)} {number(row['mean']).text}"
        test = study.test(dataset, measure, first, other)
        if test is not None and test["p_adjusted"] is not None:
            p = shown_as(test["p_adjusted"], "p").text
            words = f"p {p}" if p.startswith("<") else f"p = {p}"
            if not study.is_significant(test) and test["detectable"] is not None:
                words += f", detectable {number(test['detectable']).text}"
            shown += f" ({words.replace(' ', NO_BREAK)})"
        return Cell(shown, raw=other)

    mean, ends = number(best["mean"]), range_over_ties(study, dataset, measure, first)
    return {
        **best,
        "mean": replace(mean, text=mean.text + ends),
        "open": ends,
        "model": Cell(
            study.model_title(first),
            raw=first,
            strong=True,
            mark=TIED if study.tied(dataset, first) is not None else "",
        ),
        "runner_up": against(next(iter(others), None)),
        "control": against(study.best_control(dataset, measure)),
    }


def published(study: Study, stories: Mapping[str, Iterable[Section]]) -> dict[str, Any]:
    """What the template shows: published numbers of models, and those on the papers' pages, ``stories`` by title."""
    compared = [
        (title, block)
        for title, sections in stories.items()
        for section in sections
        for block in walk(section.blocks)
        if isinstance(block, RowFigure)
    ]
    numbers = [(block.source, list(_numbers(title, block))) for title, block in compared]
    return {
        "absent": "" if (study.results.path / PUBLISHED).exists() else PUBLISHED,
        "numbers": [row for _, rows in numbers for row in rows],
        "sources": list(dict.fromkeys(file for source, rows in numbers if rows for file in source.split(", "))),
    }


def _numbers(paper: str, compared: RowFigure) -> Iterator[Row]:
    """The numbers of a figure that compares, with links to it."""
    link = Cell(f"[figure](#figure-{compared.name})", compared.name, running=True)
    for panel, rows in compared.rows.items():
        for name, known in rows:
            if PRINTED in known:
                printed = known[PRINTED].value
                value, low, high = known.get(OURS, (None, None, None))
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


def methods(study: Study) -> dict[str, Any]:
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
