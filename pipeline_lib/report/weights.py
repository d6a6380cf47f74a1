"""Which features do the linear models of a data set weigh most? The answer is shown where features have names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pipeline_lib.report.blocks import Details
from pipeline_lib.report.declared_tables import col, table
from pipeline_lib.report.study import WEIGHTS

SHOWN = 20
"""So many features are shown on the page."""


def weights_blocks(rows: Iterable[Mapping[str, Any]], dataset: str, title: Callable[[str], str]) -> Details | None:
    """A table of the features that the models of a data set weigh most, means over folds; None without names.

    Features stand in the order of their largest share of a model's weights. ``title`` gives the title of a model.
    """
    weights: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row["dataset"] == dataset:
            weights.setdefault(row["model"], {}).setdefault(row["feature"], []).append(row["weight"])
    means = {
        model: {feature: sum(values) / len(values) for feature, values in of_model.items()}
        for model, of_model in weights.items()
    }
    shares: dict[str, float] = {}
    for of_model in means.values():
        total = sum(map(abs, of_model.values()))
        for feature, weight in of_model.items():
            shares[feature] = max(shares.get(feature, 0.0), abs(weight) / total if total else 0.0)
    shown = sorted((feature for feature in shares if shares[feature] > 0), key=lambda name: -shares[name])[:SHOWN]
    models = [model for model, of_model in means.items() if any(of_model.values())]
    if not shown:
        return None
    columns = [col("feature", "Feature", "text"), *(col(model, title(model), "number") for model in models)]
    found = ({"feature": feature, **{model: means[model][feature] for model in models}} for feature in shown)
    caption = f"Weights of features on {dataset}"
    notes = ["Means over folds, in the units in which each model sees the feature."]
    if len(shares) > SHOWN:
        notes.append(f"The {len(shown)} of {len(shares):,} features that have the largest share of a model's weights.")
    made = table(f"weights-{dataset}", caption, found, columns, notes=notes, source=WEIGHTS)
    return Details("Weights of features", (made,))
