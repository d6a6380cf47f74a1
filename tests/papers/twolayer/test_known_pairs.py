"""Sums of a pairwise loss over the pairs of a data set, and their largest values, are those of plain computations."""

import numpy as np
import pytest

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.balls import lowest
from pipeline_lib.papers.twolayer.chain.known_pairs import KINDS, KnownPairs
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory.known_population import FULL_STEPS

RNG = np.random.default_rng(0)
DATA = RankingData.from_arrays(RNG.normal(size=(12, 3)), RNG.integers(0, 3, 12), np.repeat([1, 2, 3], [3, 4, 5]))


def plainly(pairs: KnownPairs, weights: np.ndarray, starts: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    X, y, loss = DATA.X64, DATA.y.astype(int), pairs.loss
    differences = np.array(
        [
            np.sign(y[j] - y[k]) * (X[j] - X[k])
            for a, b in zip(DATA.offsets, DATA.offsets[1:], strict=False)
            for j in range(a, b)
            for k in range(j, b)
            if y[j] != y[k]
        ]
    )
    best, where = 0.0, np.zeros(3)
    for w in starts:
        for i in range(steps + FULL_STEPS + 1):
            t = -(differences @ w)
            value = float(weights @ (loss.of_difference(t) - loss.at_zero))
            if value > best:
                best, where = value, w
            furthest = lowest((weights * loss.derivative(t)) @ differences, 0.0, pairs.radius)
            w = w + (2.0 / (i + 2.0) if i < steps else 1.0) * (furthest - w)
    np.testing.assert_allclose(pairs.weighted_difference(weights), weights @ differences, atol=1e-12)
    assert pairs.sum(weights, starts[0]) == pytest.approx(
        weights @ (loss.of_difference(-differences @ starts[0]) - loss.at_zero)
    )
    return best, where


@pytest.mark.parametrize("name", KINDS)
def test_a_search_goes_where_plain_steps_uphill_go(name: str) -> None:
    pairs = KnownPairs(DATA, pair_losses.get(name), 1.5)
    rng = np.random.default_rng(1)
    for _ in range(5):
        weights = rng.normal(size=len(pairs.of_queries(np.ones(3))))
        starts = rng.normal(size=(2, 3))
        found, where = pairs.supremum(weights, list(starts), 6)
        value, place = plainly(pairs, weights, starts, 6)
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(where, place, atol=1e-12)


def test_without_weights_nothing_is_above_zero() -> None:
    pairs = KnownPairs(DATA, pair_losses.get("hinge"), 1.5)
    value, where = pairs.supremum(np.zeros(len(pairs.of_queries(np.ones(3)))), [np.ones(3)], 3)
    assert value == 0.0
    assert not where.any()
