"""How were the models of a data set trained: which settings were chosen, and what was reached?"""

from typing import Any

from pipeline_lib.core.markup import quoted
from pipeline_lib.report.figures import Figure, line_plot
from pipeline_lib.report.study import VALIDATION, Study, measure_title


def validation(study: Study, dataset: str) -> Figure | None:
    """The selection measure along the path of regularisations; None where there was none to choose."""
    # A regularisation of 0 has no place on a logarithmic axis.
    found = [row for row in study.validation if row["dataset"] == dataset and row["l2"]]
    paths: dict[str, dict[float, list[float]]] = {}
    for row in found:
        paths.setdefault(row["model"], {}).setdefault(row["l2"], []).append(row["value"])
    if all(len(path) == 1 for path in paths.values()):
        return None
    series = {}
    for model, path in paths.items():
        means = ((l2, sum(values) / len(values)) for l2, values in sorted(path.items()))
        series[study.model_title(model)] = [(l2, mean, mean, mean) for l2, mean in means]
    measure = measure_title(found[0]["measure"])
    mean = "" if study.of_one_fold(dataset) else ", mean over folds"
    best = "; ".join(
        f"{label}: best at λ = {max(points, key=lambda p: p[1])[0]:.3g}" for label, points in series.items()
    )
    return Figure(
        name=f"validation-{dataset}",
        title=f"Validation {measure} against the regularisation on {dataset}",
        caption=f"{dataset}: {measure} on the validation queries against the regularisation λ{mean}",
        source=VALIDATION,
        description=f"{'One fold' if not mean else 'Mean over folds'}. {best}.",
        draw=lambda: line_plot({"": series}, xlabel="regularisation λ", ylabel=f"validation {measure}", log="x"),
    )


def trained(study: Study, dataset: str) -> dict[str, Any]:
    """What the training of every model chose and reached, and what certified it."""
    told = ("l2", "objective", "certified", "iterations", "validation_value")
    found = [row for row in study.training if row["dataset"] == dataset and any(row[key] is not None for key in told)]
    words = {True: "yes", False: "no", None: None}
    return {
        "rows": [{**row, "certified": words[row["certified"]]} for row in found],
        "certificates": sorted(
            {row["certificate"] for row in found if row["certificate"] and row["certified"] is not None}
        ),
        "local": sorted({quoted(study.model_title(row["model"])) for row in found if row["certificate"] == "local"}),
    }
