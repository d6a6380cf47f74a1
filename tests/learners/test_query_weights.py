"""Does a query of weight c count like c copies of it, in training as in means, and are weights refused elsewhere?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline_lib import RankingData, evaluation, learners, metrics, surrogates
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.learners import adarank, erm, ogd, rankboost, selection
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.sublists import cut
from pipeline_lib.theory import ranker_facts

SEEDS = st.integers(0, 10**6)
CONVEX = [name for name in surrogates.NAMES if surrogates.get(name).convex]


def drawn(seed: int, queries: int = 6, features: int = 3) -> tuple[RankingData, RankingData]:
    """Queries with whole weights, and the same queries so many times."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, queries)
    X, y = rng.normal(size=(sizes.sum(), features)), rng.integers(0, 3, sizes.sum())
    y[np.r_[0, np.cumsum(sizes)[:-1]]] = 2  # documents of different labels in every query
    y[np.r_[0, np.cumsum(sizes)[:-1]] + 1] = 0
    data = RankingData.from_arrays(X, y, np.repeat(np.arange(queries), sizes))
    counts = rng.integers(1, 5, queries)
    return replace(data, weights=counts.astype(float)), data.take(np.repeat(np.arange(queries), counts))


@given(SEEDS)
def test_features_are_standardised_as_those_of_copies(seed: int) -> None:
    weighted, copied = drawn(seed)
    found, expected = Standardisation.of(weighted), Standardisation.of(copied)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-12)


def test_a_constant_feature_has_the_scale_1_under_weights_too() -> None:
    data = RankingData.from_arrays([[0.1, 1.0], [0.1, 2.0]], [0, 1], [1, 2], weight=[3.0, 0.7])
    assert Standardisation.of(data).scale[0] == 1.0


@pytest.mark.parametrize("name", CONVEX)
@given(seed=SEEDS)
@settings(max_examples=2)
def test_risks_are_minimised_as_those_of_copies(name: str, seed: int) -> None:
    weighted, copied = drawn(seed)
    found, expected = (erm.fit(data, name, l2=0.1, tol=1e-9) for data in (weighted, copied))
    assert found.objective == pytest.approx(expected.objective, rel=1e-7, abs=1e-9)
    # Strong convexity: ||w - w'||^2 l2 / 2 <= the sum of both gaps.
    limit = np.sqrt(2.0 * (max(found.gap, 0.0) + max(expected.gap, 0.0)) / 0.1) + 1e-6
    assert np.linalg.norm(found.w - expected.w) <= limit
    assert found.certified


@given(SEEDS)
@example(362881)  # two values of l2 have the same mean up to rounding
@settings(max_examples=10)
def test_a_learner_chooses_and_trains_as_with_copies(seed: int) -> None:
    (weighted, copied), (held, held_copies) = drawn(seed), drawn(seed + 1)
    learner = learners.create("erm", surrogate="listnet", l2=[0.01, 1.0, 100.0], tol=1e-9)
    found, expected = learner.fit(weighted, held), learner.fit(copied, held_copies)
    for one, other in zip(found.record["path"], expected.record["path"], strict=True):
        assert one["validation"] == pytest.approx(other["validation"], abs=1e-9)
        assert one["objective"] == pytest.approx(other["objective"], rel=1e-7)
    assert found.record["l2"] == expected.record["l2"]
    np.testing.assert_allclose(found.predict(weighted.X), expected.predict(weighted.X), atol=1e-3)


@pytest.mark.parametrize("pairs", ["alike", "queries-alike"])
@given(seed=SEEDS)
@example(seed=564)  # of two thresholds with the same r, the other one
@settings(max_examples=20)
def test_rankboost_boosts_as_with_copies(pairs: str, seed: int) -> None:
    weighted, copied = drawn(seed)
    found, expected = (rankboost.run(data, rounds=1, pairs=pairs) for data in (weighted, copied))
    # Equal |r| of several thresholds, of which rounding chooses one, are likely in the first round.
    np.testing.assert_allclose(np.abs(found.alphas), np.abs(expected.alphas), rtol=1e-9)
    if (found.features, found.thresholds) == (expected.features, expected.thresholds):  # Z is not that of r alone
        np.testing.assert_allclose(found.normalisers, expected.normalisers, rtol=1e-9)


def test_rankboost_takes_the_same_rounds_as_with_copies() -> None:
    weighted, copied = drawn(3, queries=30, features=4)
    found, expected = (rankboost.run(data, rounds=40) for data in (weighted, copied))
    np.testing.assert_array_equal(found.features, expected.features)
    np.testing.assert_allclose(found.alphas, expected.alphas, rtol=1e-7)


@given(SEEDS)
@settings(max_examples=20)
def test_adarank_boosts_as_with_copies(seed: int) -> None:
    weighted, copied = drawn(seed)
    found, expected = (adarank.run(data, "ndcg", rounds=3) for data in (weighted, copied))
    np.testing.assert_array_equal(found.features, expected.features)
    np.testing.assert_allclose(found.alphas, expected.alphas, rtol=1e-9)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9)


@given(SEEDS)
@settings(max_examples=20)
def test_measures_and_the_best_feature_are_those_of_copies(seed: int) -> None:
    weighted, copied = drawn(seed)
    found, expected = (learners.create("best-feature").fit(data) for data in (weighted, copied))
    assert found.record["value"] == pytest.approx(expected.record["value"], rel=1e-12)
    for measure in ("map", "ndcg@3"):
        values = [selection.mean_measure(data.X64[:, 0].copy(), data, measure) for data in (weighted, copied)]
        assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_equal_weights_are_no_weights() -> None:
    weighted, _ = drawn(1)
    same, alike = replace(weighted, weights=np.full(weighted.n_queries, 2.5)), replace(weighted, weights=None)
    for name in ("listnet", "ranksvm"):
        found, expected = (erm.fit(data, name, l2=0.1) for data in (same, alike))
        np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)


def test_the_argument_of_fit_takes_the_place_of_the_weights_of_the_data() -> None:
    weighted, _ = drawn(2)
    alike = replace(weighted, weights=None)
    given_both = erm.fit(weighted, "listnet", l2=0.1, weights=np.ones(weighted.n_queries))
    assert given_both.objective == pytest.approx(erm.fit(alike, "listnet", l2=0.1).objective, rel=1e-6)
    assert (
        erm.fit(weighted, "listnet", l2=0.1).objective
        == erm.fit(alike, "listnet", l2=0.1, weights=weighted.weights).objective
    )


def test_parts_of_a_query_have_its_weight() -> None:
    weighted, _ = drawn(5)
    parts = cut(weighted, 2, np.random.default_rng(0))
    assert parts.weights is not None
    assert weighted.weights is not None
    assert parts.weights.tolist() == [weighted.weights[q] for q in parts.qids]


@pytest.mark.parametrize("name", [name for name in learners.NAMES if not learners.get(name).weighs])
def test_learners_that_cannot_use_weights_refuse_them(name: str) -> None:
    weighted, _ = drawn(4)
    given_settings = {"surrogate": "squared"} if learners.get(name).with_surrogate else {}
    with pytest.raises(UnlearnableError, match=rf"{name}: expected queries without weights.*adarank.*erm.*rankboost"):
        learners.create(name, **given_settings).fit(weighted)


def test_what_counts_queries_alike_refuses_weights() -> None:
    weighted, _ = drawn(4)
    with pytest.raises(UnlearnableError, match="data: expected queries without weights"):
        ogd.run(weighted, "squared", step=0.1)
    ranker = learners.create("erm", surrogate="listnet", l2=0.1).fit(weighted)
    runs = [(ranker, weighted), (ranker, weighted)]
    for ask in (evaluation.certify, evaluation.compare, lambda runs: evaluation.plan_labels(runs, within=0.1)):
        with pytest.raises(DataError, match="expected queries that count alike"):
            ask(runs)
    assert isinstance(ranker.model, LinearModel)
    with pytest.raises(DataError, match="queries have weights"):
        ranker_facts.of_model(ranker.model, weighted, surrogates.create("listnet"))
    kernel = {"kernel": "gaussian", "components": 5, "bandwidth": "median"}
    with pytest.raises(UnlearnableError, match="bandwidth"):
        learners.create("erm", surrogate="listnet", l2=0.1, features=kernel).fit(weighted)
    learners.create("erm", surrogate="listnet", l2=0.1, features={**kernel, "bandwidth": 1.0}).fit(weighted)


def test_weights_are_stored_and_follow_their_queries(tmp_path: Path) -> None:
    weighted, _ = drawn(6)
    assert weighted.weights is not None
    weighted.write_parquet(tmp_path / "data.parquet")
    read = RankingData.read_parquet(tmp_path / "data.parquet", [4, 0, 4])
    assert read.weights is not None
    np.testing.assert_array_equal(read.weights, weighted.weights[[4, 0, 4]])
    replace(weighted, weights=None).write_parquet(tmp_path / "alike.parquet")
    assert RankingData.read_parquet(tmp_path / "alike.parquet").weights is None


@pytest.mark.parametrize("wrong", [[1.0, -1.0], [1.0, 0.0], [1.0], [1.0, np.nan], [1e308, 1e308]])
def test_wrong_weights_are_refused(wrong: list[float]) -> None:
    data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 2])
    with pytest.raises(DataError, match="weights"):
        replace(data, weights=np.array(wrong))


def test_several_weights_of_a_query_name_row_and_query() -> None:
    with pytest.raises(DataError, match="weight: row 2: expected one weight for all documents of query b, found 5"):
        RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 0], ["a", "b", "b"], weight=[1.0, 2.0, 5.0])


def test_a_weighted_mean_of_measures() -> None:
    data = RankingData.from_arrays(
        [[1.0], [0.0], [0.0], [1.0]], [1, 0, 1, 0], [1, 1, 2, 2], weight=[3.0, 3.0, 1.0, 1.0]
    )
    values = metrics.per_query(["map"], data.X64[:, 0].copy(), data.y, data.offsets)["map"]
    assert values.tolist() == [1.0, 0.5]
    assert selection.mean_measure(data.X64[:, 0].copy(), data, "map") == (3.0 * 1.0 + 0.5) / 4.0
