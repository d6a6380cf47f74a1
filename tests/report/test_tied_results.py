"""Does the report show what equal scores leave open, and does it mark models that order nothing?"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, learners, metrics
from pipeline_lib.commands.evaluate_model import _ties
from pipeline_lib.commands.summarise_results import SUMMARY, TIES, ties_table
from pipeline_lib.core import storage
from pipeline_lib.report import results_section, study_pages
from pipeline_lib.report import study as studied
from pipeline_lib.report.results import ResultsFolder

MEASURES = ["ndcg@10", "map"]


@pytest.fixture
def data() -> RankingData:
    """Lists that stand best first; the first feature is constant within a list, the second is not in one of four."""
    y = [2, 1, 0, 1, 0, 0, 2, 0, 1, 1, 1, 1]
    X = [[1, 0], [1, 0], [1, 0], [2, 0], [2, 0], [2, 0], [3, 2], [3, 1], [3, 0], [4, 0], [4, 0], [4, 0]]
    return RankingData.from_arrays(X, y, np.repeat(np.arange(4), 3))


def test_ends_and_tied_lists_are_recorded(data: RankingData) -> None:
    whole = learners.create("best-feature").fit(data)
    found = _ties(whole, data, 2, MEASURES)
    assert (found["lists"], found["tied_lists"]) == (3, 2)  # the last list has one label only
    scores = whole.predict(data)
    for end in ("worst", "best"):
        for name in MEASURES:
            values = metrics.per_query([name], scores, data.y, data.offsets, ties=end)[name]
            assert found[end][name] == pytest.approx(values.mean())
    assert found["worst"]["ndcg@10"] < found["best"]["ndcg@10"] <= 1.0


def test_ends_are_means_over_folds_and_lists_are_summed(tmp_path: Path) -> None:
    about = {"dataset": "mine", "model": "a", "settings": {}}
    ties = [
        {"worst": {"map": worst}, "best": {"map": 1.0}, "lists": 4, "tied_lists": tied}
        for worst, tied in ((0.2, 4), (0.4, 1))
    ]
    folds = [{**about, "fold": fold, "ties": one} for fold, one in enumerate(ties, 1)]
    storage.write_json(tmp_path / "a.json", {"folds": folds})
    storage.write_json(tmp_path / "public.json", {"folds": [{**about, "dataset": "public", "fold": 1}]})
    table = ties_table([tmp_path / "a.json", tmp_path / "public.json"])
    assert table.schema == pl.Schema(TIES)
    assert table.rows() == [("mine", "a", "map", pytest.approx(0.3), 1.0, 8, 5)]


def made(folder: Path, ties: list[tuple[object, ...]]) -> studied.Study:
    """A study of two models, of which only the first ties lists."""
    (folder / "tables").mkdir(exist_ok=True)
    means = [("mine", model, "ndcg@10", value, None, value, value, 1, 20) for model, value in (("a", 0.7), ("b", 0.6))]
    storage.write_table(folder / studied.SUMMARY, pl.DataFrame(means, schema=SUMMARY, orient="row"))
    storage.write_table(folder / studied.TIES, pl.DataFrame(ties, schema=TIES, orient="row"))
    storage.write_json(folder / "models.json", {"models": [{"model": one, "title": one.upper()} for one in "ab"]})
    return studied.Study(ResultsFolder.at(folder))


def shown(folder: Path, ties: list[tuple[object, ...]]) -> dict[str, object]:
    """The part of the page that shows the results."""
    return results_section._results(made(folder, ties), "mine")


def test_a_value_is_shown_with_its_range_where_it_is_wider_than_its_digits(tmp_path: Path) -> None:
    ties = [("mine", "a", "ndcg@10", 0.5, 1.0, 10, 6), ("mine", "b", "ndcg@10", 0.60001, 0.60002, 10, 5)]
    found = shown(tmp_path, ties)
    cells = {row["model"]: row["ndcg@10"] for row in found["rows"]}
    assert cells["a"].text == "0.7000 (0.5000 to 1.0000)"
    assert cells["b"].text == "0.6000"
    assert [(cell.raw, cell.mark) for cell in cells.values()] == [(0.7, studied.TIED), (0.6, "")]
    assert found["open"]
    assert len(found["tied"]) == 1
    assert "60 %" in found["tied"][0]


def test_the_figure_and_the_table_of_best_learners_show_ranges_as_the_results_do(tmp_path: Path) -> None:
    ties = [("mine", "a", "ndcg@10", 0.5, 1.0, 10, 6), ("mine", "b", "ndcg@10", 0.60001, 0.60002, 10, 5)]
    study = made(tmp_path, ties)
    [rows] = results_section._dot_figure(study, "mine", ["ndcg@10"]).rows.values()
    assert [[(one.low, one.high) for one in known.values()] for _, known in rows] == [
        [(0.7, 0.7), (0.5, 1.0)],
        [(0.6, 0.6)],
    ]
    assert study_pages._best(study, "mine")["mean"].text == "0.7000 (0.5000 to 1.0000)"
    assert study_pages._best(made(tmp_path, []), "mine")["mean"].text == "0.7000"


def test_measures_of_letor_are_those_of_public_data_alone(tmp_path: Path) -> None:
    """Where all data are one's own, whoever names such a measure sees it."""
    (tmp_path / "tables").mkdir()
    measures = ("letor4_mean_ndcg", "ndcg@10", "map")
    for datasets, of_own in ((("mine", "public"), list(measures[1:])), (("mine",), list(measures))):
        rows = [(one, "a", name, 0.7, None, 0.6, 0.8, 1, 20) for one in datasets for name in measures]
        storage.write_table(tmp_path / studied.SUMMARY, pl.DataFrame(rows, schema=SUMMARY, orient="row"))
        ties = [("mine", "a", name, 0.5, 1.0, 10, 6) for name in measures]
        storage.write_table(tmp_path / studied.TIES, pl.DataFrame(ties, schema=TIES, orient="row"))
        storage.write_json(tmp_path / "models.json", {"models": [{"model": "a", "title": "A"}]})
        study = studied.Study(ResultsFolder.at(tmp_path))
        assert study.measured("mine") == of_own
        assert study.measured(datasets[-1]) == list(measures)


def test_data_that_keep_the_order_of_their_files_show_no_range(tmp_path: Path) -> None:
    found = shown(tmp_path, [])
    assert [row["ndcg@10"].text for row in found["rows"]] == ["0.7000", "0.6000"]
    assert not found["open"]
    assert not found["averaged"]
    assert found["tied"] == []
