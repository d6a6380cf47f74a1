"""What was studied and what is missing, and which learner is the best on every data set?"""

from typing import Any

from pipeline_lib.report.declared_tables import shown_as
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import SUMMARY, Study, count
from pipeline_lib.report.tables import Cell, number

NO_BREAK = "\u00a0"


def given(study: Study) -> dict[str, Any]:
    """What the template shows: what was studied, what is missing, what was not certified, and what it took."""
    trained = [entry for entry in study.models.values() if not entry.get("untrained")]
    learners = sum(not entry["control"] for entry in trained)
    compared = ((learners, "learner"), (len(trained) - learners, "control"))
    titles = {entry["dataset"]: entry["title"] for entry in study.data}
    described = [f"{name} ({titles[name]})" if titles.get(name, name) != name else name for name in study.datasets()]
    asked = [row for row in study.training if row["certified"] is not None]
    failed = [row for row in asked if not row["certified"]]
    return {
        "study": study,
        "absent": SUMMARY,
        "datasets": described,
        "trained": len(trained),
        "compared": [count(n, noun) for n, noun in compared if n],
        "untrained": study.untrained(),
        "unstudied": [entry["dataset"] for entry in study.unstudied()],
        "fits": len(asked),
        "failed": len(failed),
        "uncertified": sorted({f"{study.model_title(row['model'])} on {row['dataset']}" for row in failed}),
        "best": [_best(study, dataset) for dataset in study.datasets() if _learners(study, dataset)],
        "ideal": next((study.model_title(model) for model in study.models if study.is_ideal(model)), ""),
        "jobs": study.results.benchmarks(),
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
        if test is not None and test["p_holm"] is not None:
            p = shown_as(test["p_holm"], "p").text
            words = f"p {p}" if p.startswith("<") else f"p = {p}"
            shown += f" ({words.replace(' ', NO_BREAK)})"
        return Cell(shown, raw=other)

    return {
        **best,
        "model": Cell(study.model_title(first), raw=first, strong=True),
        "runner_up": against(next(iter(others), None)),
        "control": against(study.best_control(dataset, measure)),
    }
