"""The table of weights: means over folds, the largest shares first, and nothing where features have no names."""

from pathlib import Path
from typing import Any

import polars as pl

from pipeline_lib.commands.summarise_results import weights_table
from pipeline_lib.core import storage
from pipeline_lib.report import results_section
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import WEIGHTS, Study
from pipeline_lib.report.tables import Table


def rows(model: str, *folds: dict[str, float]) -> list[dict[str, Any]]:
    return [
        {"dataset": "mine", "model": model, "fold": fold, "feature": feature, "weight": weight}
        for fold, found in enumerate(folds, 1)
        for feature, weight in found.items()
    ]


def shown(folder: Path, found: list[dict[str, Any]], dataset: str = "mine") -> Table | None:
    """The table that the report shows of these weights."""
    (folder / "tables").mkdir(exist_ok=True)
    storage.write_table(folder / WEIGHTS, pl.DataFrame(found))
    storage.write_json(folder / "models.json", {"models": [{"model": "a", "title": "A"}]})
    return results_section.weights(Study(ResultsFolder.at(folder)), dataset)


def test_means_over_folds_and_the_largest_first(tmp_path: Path) -> None:
    found = rows("a", {"x": 1.0, "*y*": -9.0, "z": 0.0}, {"x": 3.0, "*y*": -7.0, "z": 0.0}) + rows("b", {"x": 0.0})
    table = shown(tmp_path, found)
    assert table is not None
    assert [column.title for column in table.columns] == ["Feature", "A"]
    assert [[cell.raw for cell in row] for group in table.groups for row in group.rows] == [["*y*", -8.0], ["x", 2.0]]
    assert shown(tmp_path, found, "other") is None
    assert shown(tmp_path, rows("b", {"x": 0.0})) is None


def test_many_features_are_cut_off_and_the_page_says_so(tmp_path: Path) -> None:
    table = shown(tmp_path, rows("a", {f"x{j}": float(j) for j in range(50)}))
    assert table is not None
    features = [row[0].raw for group in table.groups for row in group.rows]
    assert features == [f"x{j}" for j in range(49, 49 - results_section.FEATURES, -1)]
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
