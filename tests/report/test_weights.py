"""The table of weights: means over folds, the largest shares first, and nothing where features have no names."""

from typing import Any

import polars as pl
from pipeline_lib.report.weights import SHOWN, weights_blocks

from pipeline_lib.commands.summarise_results import weights_table
from pipeline_lib.report.blocks import Details
from pipeline_lib.report.tables import Table


def rows(model: str, *folds: dict[str, float]) -> list[dict[str, Any]]:
    return [
        {"dataset": "mine", "model": model, "fold": fold, "feature": feature, "weight": weight}
        for fold, found in enumerate(folds, 1)
        for feature, weight in found.items()
    ]


def test_means_over_folds_and_the_largest_first() -> None:
    found = rows("a", {"x": 1.0, "*y*": -9.0, "z": 0.0}, {"x": 3.0, "*y*": -7.0, "z": 0.0}) + rows("b", {"x": 0.0})
    details = weights_blocks(found, "mine", str.upper)
    assert isinstance(details, Details)
    [table] = details.blocks
    assert isinstance(table, Table)
    assert [column.title for column in table.columns] == ["Feature", "A"]
    assert [[cell.raw for cell in row] for group in table.groups for row in group.rows] == [["*y*", -8.0], ["x", 2.0]]
    assert weights_blocks(found, "other", str) is None
    assert weights_blocks(rows("b", {"x": 0.0}), "mine", str) is None


def test_many_features_are_cut_off_and_the_page_says_so() -> None:
    details = weights_blocks(rows("a", {f"x{j}": float(j) for j in range(50)}), "mine", str)
    assert isinstance(details, Details)
    [table] = details.blocks
    assert isinstance(table, Table)
    shown = [row[0].raw for group in table.groups for row in group.rows]
    assert shown == [f"x{j}" for j in range(49, 49 - SHOWN, -1)]
    assert any("50" in note for note in table.notes)


def test_only_linear_models_on_named_features_have_weights() -> None:
    linear = {"kind": "linear", "w": [0.5, 2.0], "mean": [0.0, 0.0], "scale": [1.0, 1.0]}
    trained = [
        {"trained": {**linear, "feature_names": ["x", "y"]}},
        {"trained": linear},
        {"trained": {"kind": "ideal"}},
    ]
    table = weights_table([{"dataset": "mine", "model": "m", "fold": fold, **one} for fold, one in enumerate(trained)])
    assert table.rows() == [("mine", "m", 0, "x", 0.5), ("mine", "m", 0, "y", 2.0)]
    assert table.schema["feature"] == pl.String
