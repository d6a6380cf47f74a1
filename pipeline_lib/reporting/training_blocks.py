"""How were the models of a data set trained: which settings were chosen, and what was reached?"""

from __future__ import annotations

from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting.blocks import (
    Block,
    Details,
    Note,
)
from pipeline_lib.reporting.figures import Figure, line_plot
from pipeline_lib.reporting.study import (
    TRAINING,
    VALIDATION,
    Study,
    measure_title,
)
from pipeline_lib.reporting.tables import (
    Cell,
    Column,
    number,
    scientific,
    simple,
    text,
    whole,
)


def validation(study: Study, dataset: str) -> list[Block]:
    """The selection measure along the path of regularisations; nothing where there was none to choose."""
    # A regularisation of 0 has no place on a logarithmic axis.
    found = [row for row in study.validation if row["dataset"] == dataset and row["l2"]]
    if not found:
        return []
    series = {}
    for model in dict.fromkeys(row["model"] for row in found):
        paths: dict[float, list[float]] = {}
        for row in found:
            if row["model"] == model:
                paths.setdefault(row["l2"], []).append(row["value"])
        means = ((l2, sum(values) / len(values)) for l2, values in sorted(paths.items()))
        series[study.model_title(model)] = [(l2, mean, mean, mean) for l2, mean in means]
    if all(len(points) == 1 for points in series.values()):
        return []
    measure = measure_title(found[0]["measure"])
    mean = "" if study.of_one_fold(dataset) else ", mean over folds"
    best = "; ".join(
        f"{label}: best at λ = {max(points, key=lambda p: p[1])[0]:.3g}" for label, points in series.items()
    )
    return [
        Figure(
            name=f"validation-{dataset}",
            title=f"Validation {measure} against the regularisation on {dataset}",
            caption=f"{dataset}: {measure} on the validation queries against the regularisation λ{mean}",
            source=VALIDATION,
            description=f"{'One fold' if not mean else 'Mean over folds'}. {best}.",
            draw=lambda: line_plot(series, xlabel="regularisation λ", ylabel=f"validation {measure}", log="x"),
        )
    ]


def training(study: Study, dataset: str) -> list[Block]:
    """What the training of every model chose and reached."""
    told = ("l2", "objective", "certified", "iterations", "validation_value")
    found = [row for row in study.training if row["dataset"] == dataset and any(row[key] is not None for key in told)]
    if not found:
        return [Note(f"No record of training on {dataset}: {TRAINING} contains none.")]
    columns = [Column("model", "Model", "left"), Column("fold", "Fold"), Column("l2", "λ")]
    columns += [Column("objective", "Objective"), Column("relative_gap", "Relative gap")]
    columns += [Column("certified", "Certified", "left"), Column("iterations", "Iterations")]
    columns += [Column("validation_value", "Validation"), Column("selection", "Selected by", "left")]
    rows = [
        [
            Cell(study.model_title(row["model"]), raw=row["model"]),
            text(row["fold"]),
            scientific(row["l2"]),
            scientific(row["objective"]),
            scientific(row["relative_gap"]),
            text(None if row["certified"] is None else "yes" if row["certified"] else "no"),
            whole(row["iterations"]),
            number(row["validation_value"]),
            text(measure_title(row["selection"]) if row["selection"] else None),
        ]
        for row in found
    ]
    certificates = sorted({row["certificate"] for row in found if row["certificate"] and row["certified"] is not None})
    notes = [f"Certified by: {listed(certificates)}."] if certificates else []
    local = listed(sorted({quoted(study.model_title(row["model"])) for row in found if row["certificate"] == "local"}))
    notes += [f"Not convex, the lowest of several local minima, without a gap: {local}."] if local else []
    table = simple(f"training-{dataset}", f"Training on {dataset}", TRAINING, columns, rows, notes)
    return [Details("Training: regularisation, objective and certified gap", (table,))]
