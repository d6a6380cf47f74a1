"""Are splits of a budget compared fairly?"""

from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.twolayer.tradeoff import experiment as tradeoff
from pipeline_lib.papers.twolayer.tradeoff.experiment import Measured, TradeoffSettings
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import Interval
from tests import readings
from tests.papers.jobs import Given, tables
from tests.small_settings import small

SMALL: dict[str, Any] = {
    "population": {"features": 3},
    "radius": 2.0,
    "data_radius": 5.0,
    "data_budgets": [12, 24],
    "documents": [2, 3, 4, 5, 6, 8, 12],
    "data_documents": [2, 3, 4, 5, 6, 8, 12],
    "risk_queries": 500,
    "slices": 2,
}


def fold(queries: int, documents: int) -> tradeoff.Fold:
    population, rng = Population(PopulationSettings(features=3)), generator("tradeoff", role="train")
    train = population.draw(queries, rng, documents)
    test = population.draw(queries, rng.continued("test"), documents)
    return tradeoff.Fold("toy", 1, train, test)


def on_data(one: tradeoff.Fold, asked: TradeoffSettings | None = None, part: int = 0) -> list[Measured]:
    return list(tradeoff.on_data(asked or small("twolayer", "tradeoff", **{**SMALL, "slices": 1}), one, 1, part))


def measured(asked: TradeoffSettings, *folds: tradeoff.Fold) -> list[Measured]:
    """What all slices measure on the population and on the folds."""
    return [
        row
        for part in range(asked.slices)
        for rows in (
            tradeoff.measure(Given(asked, 1, {"slice": str(part)})),
            *(on_data(one, asked, part) for one in folds),
        )
        for row in rows
    ]


def joined(asked: TradeoffSettings, rows: list[Measured]) -> dict[str, list[dict[str, Any]]]:
    return tables(tradeoff.join(Given(asked, 1, earlier=rows)))


def test_splits_use_the_whole_budget():
    assert tradeoff.splits(12, [2, 3, 4, 5, 6, 8, 12]) == [(6, 2), (4, 3), (3, 4), (2, 6)]
    assert tradeoff.splits(12, [2, 4, 6]) == [(6, 2), (3, 4), (2, 6)]


def test_every_place_with_enough_long_lists_is_judged():
    asked = small("twolayer", "tradeoff", **SMALL)
    # Lists of 8 documents: the budget of 24 lacks its deepest split, and so is not tried at all.
    rows = measured(asked, fold(20, 8))
    found = joined(asked, rows)
    places = {(row["dataset"], row["budget"]) for row in found["twolayer-tradeoff"]}
    assert places == {("population", 12), ("toy", 12)}
    assert {(row.dataset, row.budget) for row in rows} == places
    trials = readings.trials("twolayer-tradeoff", found)
    assert [trial.setting for trial in trials] == [{"dataset": name, "C": 12} for name in ("population", "toy")]
    for trial, row in zip(trials, found["twolayer-best-splits"], strict=True):
        best, low, high = (row[f"best_queries{end}"] for end in ("", "_low", "_high"))
        assert trial.values["best_queries"] == Interval(best, low, high)
        assert trial.values["error_inner"] == row["error_inner"]
        assert trial.values["training_deepest"] == row["training_error_deepest"]
    assert found == joined(asked, rows[::-1])


def test_the_error_of_measuring_is_part_of_the_intervals():
    # One and the same ranker, on the fresh queries of every repetition: were they shared, no interval would know them.
    asked = small("twolayer", "tradeoff", **{**SMALL, "budgets": [12, 24], "risk_queries": 1000, "slices": 1})
    rows = measured(asked)
    by_repetition = [{row.reference_error for row in rows if row.repetition == one} for one in range(4)]
    assert all(len(found) == 1 for found in by_repetition)
    assert len(set.union(*by_repetition)) > 1


def test_the_excess_is_paired_by_repetition():
    asked = small("twolayer", "tradeoff", **{**SMALL, "slices": 1})
    rows = [
        Measured(
            dataset="population",
            features=3,
            budget=12,
            fold=0,
            repetition=r,
            queries=n,
            documents=m,
            error=0.2 + 0.01 * r + 0.1 / m,
            training_error=0.1,
            reference_error=0.2 + 0.01 * r,
        )
        for r in range(4)
        for n, m in tradeoff.splits(12, asked.documents)
    ]
    for row in joined(asked, rows)["twolayer-tradeoff"]:
        assert row["excess"] == pytest.approx(0.1 / row["documents"])
        assert row["excess_high"] - row["excess_low"] < 1e-9 < row["high"] - row["low"]
    unknown = [row.model_copy(update={"reference_error": None}) for row in rows]
    assert all(row["excess"] is None for row in joined(asked, unknown)["twolayer-tradeoff"])


@pytest.fixture
def seen(monkeypatch):
    """The samples on which rankers are trained, all of them at 0."""
    samples = []
    monkeypatch.setattr(tradeoff.risks, "fitted", lambda data, loss, radius: (samples.append(data), np.zeros(3))[::-1])
    return samples


def test_budgets_are_kept_and_documents_are_of_their_query(seen):
    on_data(fold(20, 12))
    assert {data.n_documents for data in seen} == {12, 24}
    assert all(len(set(data.qids)) == data.n_queries for data in seen)


def test_errors_are_measured_on_other_documents_and_on_the_sample(monkeypatch):
    monkeypatch.setattr(tradeoff.risks, "empirical", lambda data, loss, w, role: {"test": 0.2, "train": 0.1}[role])
    assert {(row.error, row.training_error) for row in on_data(fold(20, 12))} == {(0.2, 0.1)}


def test_all_splits_draw_from_the_same_queries(seen):
    # 8 long lists and 12 short ones; 12 documents need 6 lists of 6, 24 documents 12 lists of 12.
    population, rng = Population(PopulationSettings(features=3)), generator("tradeoff", role="train")
    train = population.draw(20, rng, np.array([6] * 8 + [5] * 12))
    one = tradeoff.Fold("toy", 1, train, population.draw(5, rng.continued("test"), 4))
    on_data(one)
    assert {data.n_documents for data in seen} == {12}
    assert {qid for data in seen for qid in data.qids} == set(train.qids[:8])


def test_a_data_set_without_long_lists_leaves_the_population():
    asked = small("twolayer", "tradeoff", **SMALL)
    found = joined(asked, measured(asked, fold(20, 3)))
    assert {row["dataset"] for row in found["twolayer-best-splits"]} == {"population"}


def test_single_documents_are_no_test():
    lonely = fold(20, 6)
    data = lonely.test
    X, y = np.vstack([data.X, data.X[:1]]), np.append(data.y, 1).astype(np.int32)
    test = RankingData(X, y, np.append(data.offsets, len(y)), np.append(data.qids, 99), role="test")
    assert on_data(tradeoff.Fold("toy", 1, lonely.train, test)) == on_data(lonely)


def test_the_choice_is_not_judged_on_what_chose_it():
    # Pure noise: a split chosen and measured on the same repetitions would beat the ends.
    rng = np.random.default_rng(0)
    noise = [tradeoff.compared({m: rng.normal(size=20) for m in range(2, 40)}) for _ in range(300)]
    gains = [found.deepest.value - found.inner for found in noise]
    assert abs(np.mean(gains)) < 4 * np.std(gains) / np.sqrt(len(gains))


def test_an_inner_minimum_is_seen():
    rng = np.random.default_rng(0)
    level = rng.normal(size=40)  # folds differ more than splits
    errors = {m: level + (np.log(m) - 2.0) ** 2 / 10 + 0.01 * rng.normal(size=40) for m in (2, 4, 8, 20, 60)}
    found = tradeoff.compared(errors)
    assert min(found.deepest.low, found.shallowest.low) > found.inner
    best = tradeoff.best_queries(errors, 120, rng)
    assert (best.value, best.low, best.high) == (15.0, 15.0, 15.0)


def test_the_interval_of_the_best_split_covers_it():
    # Two splits of one error and others far worse: either may be best, no other.
    rng = np.random.default_rng(0)
    errors = {m: rng.normal(0.1 if m in (4, 8) else 1.0, 0.02, 50) for m in (2, 4, 8, 60)}
    found = tradeoff.best_queries(errors, 120, rng)
    assert (found.low, found.high) == (15.0, 30.0)
