"""What was studied and what is missing, and which learner is the best on every data set?"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting.blocks import (
    Block,
    Note,
    Paragraph,
)
from pipeline_lib.reporting.study import (
    SUMMARY,
    TRAINING,
    Study,
    count,
    duration,
    measure_title,
)
from pipeline_lib.reporting.tables import (
    Cell,
    Column,
    Table,
    number,
    probability,
    simple,
    span,
    text,
    whole,
)


def overview(study: Study) -> list[Block]:
    """What was studied, what is missing, and what was not certified."""
    trained = [entry for entry in study.models.values() if not entry.get("untrained")]
    learners = sum(not entry["control"] for entry in trained)
    controls = len(trained) - learners
    compared = [count(n, noun) for n, noun in ((learners, "learner"), (controls, "control")) if n]
    names = study.datasets()
    blocks: list[Block] = []
    if names:
        blocks.append(
            Paragraph(
                f"The study `{study.name}` {'measures' if len(trained) == 1 else 'compares'} {listed(compared)} "
                f"on {count(len(names), 'data set')}: {listed([_described(study, name) for name in names])}."
            )
        )
    else:
        blocks.append(Note(f"The study {study.name} contains no results: {SUMMARY} is absent or empty.", "missing"))
    if left_out := study.untrained():
        blocks.append(Note(f"Not trained: {listed(left_out)}.", "missing"))
    missing = study.unstudied()
    if missing:
        titles = listed([entry["dataset"] for entry in missing])
        blocks.append(
            Note(
                f"Configured but not available: {titles}. The reasons and how to obtain them are listed under [data "
                "sets](#not-studied).",
                "missing",
            )
        )
    return blocks + _certificates(study)


def _described(study: Study, dataset: str) -> str:
    """The name of a data set with its title, which says what kind of data it is."""
    [title] = [entry["title"] for entry in study.data if entry["dataset"] == dataset] or [dataset]
    return dataset if title == dataset else f"{dataset} ({quoted(title)})"


def cost(study: Study) -> list[Block]:
    """How long the jobs of the study took; nothing where Snakemake left no record of them."""
    jobs = study.results.benchmarks()
    if not jobs:
        return []
    longest, in_all = max(jobs, key=lambda job: job.seconds), sum(job.seconds for job in jobs)
    return [
        Paragraph(
            f"{count(len(jobs), 'job')} took {duration(in_all)} in all, one after the other; the longest, "
            f"`{longest.name}`, took {duration(longest.seconds)}. No job needed more than "
            f"{max(job.megabytes for job in jobs):,.0f} MB."
        )
    ]


def best_learners(study: Study) -> list[Block]:
    """The best learner on every data set, with its interval and its lead; nothing where no learner was trained."""
    return [_best_table(study)] if any(not study.is_control(row["model"]) for row in study.summary) else []


def _best_table(study: Study) -> Table:
    found = [(dataset, study.headlines(dataset)[0]) for dataset in study.datasets()]
    ranked = {place: study.ranked(*place, control=False) for place in found if study.ranked(*place, control=False)}
    several = any(len(learners) > 1 for learners in ranked.values())
    controls = {place: study.best_control(*place) for place in ranked}
    columns = [Column("dataset", "Data set", "left"), Column("measure", "Measure", "left")]
    columns.append(Column("model", "Best learner" if several else "Learner", "left"))
    columns += [Column("mean", "Mean"), Column("interval", study.interval()), Column("n_queries", "Test queries")]
    # Columns that nothing could stand in are left out.
    columns += [Column("runner_up", "Next learner", "left")] if several else []
    columns += [Column("control", "Best control", "left")] if any(controls.values()) else []
    kept = [column.key for column in columns]
    rows = []
    for (dataset, measure), best_first in ranked.items():
        row = _best_row(study, dataset, measure, best_first)
        rows.append([row[key] for key in kept])
    notes = []
    if study.comparisons and (several or any(controls.values())):
        first = "best learner" if several else "learner"
        notes.append(f"In brackets: the paired test of the {first} against it, p-value after Holm's correction.")
    ideal = [study.model_title(model) for model in study.models if study.is_ideal(model)]
    if ideal:
        notes.append(f"The control “{ideal[0]}” sees the labels and is therefore left out here.")
    caption = f"The {'best learner' if several else 'learner'} on every data set"
    return simple("best-learners", caption, SUMMARY, columns, rows, notes)


def _best_row(study: Study, dataset: str, measure: str, learners: Sequence[str]) -> dict[str, Cell]:
    best = study.mean(dataset, learners[0], measure)
    assert best is not None
    control = study.best_control(dataset, measure)
    return {
        "dataset": text(dataset),
        "measure": text(measure_title(measure)),
        "model": Cell(study.model_title(learners[0]), raw=learners[0], strong=True),
        "mean": number(best["mean"]),
        "interval": span(best["low"], best["high"]),
        "n_queries": whole(best["n_queries"]),
        "runner_up": _against(study, dataset, measure, learners[0], learners[1] if len(learners) > 1 else None),
        "control": _against(study, dataset, measure, learners[0], control),
    }


def _against(study: Study, dataset: str, measure: str, best: str, other: str | None) -> Cell:
    if other is None:
        return text(None)
    row = study.mean(dataset, other, measure)
    assert row is not None
    shown = f"{study.model_title(other)} {number(row['mean']).text}"
    test = study.test(dataset, measure, best, other)
    if test is not None and test["p_holm"] is not None:
        p = probability(test["p_holm"]).text
        shown += f" (p {p})" if p.startswith("<") else f" (p = {p})"
        shown = shown.replace("p = ", "p\u00a0=\u00a0").replace("p < ", "p\u00a0<\u00a0")
    return Cell(shown, raw=other)


def _certificates(study: Study) -> list[Block]:
    asked = [row for row in study.training if row["certified"] is not None]
    failed = [row for row in asked if not row["certified"]]
    if not asked:
        return []
    if not failed:
        all_ = f"All {len(asked):,} convex fits reached their" if len(asked) > 1 else "The one convex fit reached its"
        return [Paragraph(f"{all_} certified gap (`{TRAINING}`).")]
    names = listed(sorted({f"{quoted(study.model_title(r['model']))} on {r['dataset']}" for r in failed}))
    sentence = f"{len(failed)} of {count(len(asked), 'convex fit')} did not reach the certified gap: {names}"
    return [Note(f"{sentence} (`{TRAINING}`).", "warning")]
