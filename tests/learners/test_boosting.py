"""Do AdaRank and RankBoost do on small examples what their formulas say by hand?"""

import math

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners import adarank, rankboost
from pipeline_lib.learners.models import TreesModel
from pipeline_lib.surrogates.rankboost import RankBoost

# Query 1 is ranked right by feature 0, query 2 by feature 1, query 3 by both; query 4 has nothing relevant.
X = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [3.0, 3.0]]
Y = [1, 0, 0, 1, 1, 0, 0]
QID = [1, 1, 2, 2, 3, 3, 4]


def test_two_rounds_of_adarank_by_hand() -> None:
    # AP of feature 0: 1, 1/2, 1; of feature 1: 1/2, 1, 1. Uniform weights: both 5/6; the first wins.
    found = adarank.run(RankingData.from_arrays(X, Y, QID), "map", rounds=2)
    first = 0.5 * math.log((1 + 5 / 6) / (1 - 5 / 6))
    # f_1 is feature 0: P_2 is proportional to e^-1, e^-1/2, e^-1, so feature 1 has the larger mean.
    total = 2 * math.exp(-1) + math.exp(-0.5)
    mean = (0.5 * math.exp(-1) + math.exp(-0.5) + math.exp(-1)) / total
    second = 0.5 * math.log((1 + mean) / (1 - mean))
    assert found.features.tolist() == [0, 1]
    np.testing.assert_allclose(found.alphas, [first, second])
    np.testing.assert_allclose(found.weights[-1], [first, second])
    assert found.values[0] == pytest.approx(5 / 6)


def test_as_printed_adarank_may_choose_a_feature_again_and_with_a_limit_not() -> None:
    data = RankingData.from_arrays([[1.0, 1.0], [0.0, 2.0]], [1, 0], [1, 1])
    assert adarank.run(data, "map", rounds=3, repeats=None).features.tolist() == [0, 0, 0]
    assert adarank.run(data, "ndcg", rounds=3, repeats=1).features.tolist() == [0, 1]


def test_a_round_of_rankboost_by_hand() -> None:
    data = RankingData.from_arrays([[2.0], [0.0], [1.0]], [1, 1, 0], [1, 1, 1])
    # Pairs (0, 2) and (1, 2), D = 1/2 each. [x > 1.5]: r = 1/2. [x > 0.5]: pi = 1/2, 1/2, -1, so r = -1/2: the later.
    found = rankboost.run(data, rounds=1)
    assert found.thresholds.tolist() == [0.5]
    assert found.alphas[0] == pytest.approx(-0.5 * math.log(3))
    # Z = 1/2 (1 + e^alpha): pair (0, 2) has h = 1 in both, pair (1, 2) has 0 - 1.
    assert found.normalisers[0] == pytest.approx(0.5 * (1 + 3**-0.5))


def brute_force(data: RankingData, H: np.ndarray) -> float:
    """The largest |r| over all features and thresholds, by pairs."""
    D = {}
    for q in range(data.n_queries):
        rows = range(data.offsets[q], data.offsets[q + 1])
        for high in rows:
            for low in rows:
                if data.y[high] > data.y[low]:
                    D[high, low] = math.exp(H[low] - H[high])
    total, best = sum(D.values()), 0.0
    for k in range(data.n_features):
        for theta in np.unique(data.X[:, k])[:-1]:
            h = (data.X[:, k] > theta).astype(float)
            best = max(best, abs(sum(w * (h[high] - h[low]) for (high, low), w in D.items())) / total)
    return best


@pytest.mark.parametrize("seed", range(5))
def test_every_weak_ranker_is_the_best_there_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = RankingData.from_arrays(
        rng.integers(0, 5, (18, 3)).astype(float), rng.integers(0, 3, 18), np.repeat([1, 2, 3], 6)
    )
    found = rankboost.run(data, rounds=6, pairs="alike")
    H = np.zeros(data.n_documents)
    for k, theta, alpha in zip(found.features, found.thresholds, found.alphas, strict=True):
        r = math.tanh(alpha)
        assert abs(r) == pytest.approx(brute_force(data, H), abs=1e-9)
        H += alpha * (data.X64[:, k] > theta)
    # The normalisers telescope to the share of exponential loss that is left, which bounds the pairs ranked wrongly.
    loss = RankBoost(normalisation="sum")
    left = loss.value(H, data.y, data.offsets).sum() / loss.value(0 * H, data.y, data.offsets).sum()
    assert np.prod(found.normalisers) == pytest.approx(left)
    assert (found.normalisers <= np.sqrt(1 - np.tanh(found.alphas) ** 2) + 1e-12).all()


def test_rankboost_may_go_on_where_one_threshold_orders_every_pair() -> None:
    data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    found = rankboost.run(data, rounds=300)
    assert 10 < len(found.features) < 300
    assert np.isfinite(found.alphas).all()
    assert (found.normalisers >= 0).all()
    trained = rankboost.train(data, data, {"rounds": 300, "pairs": "alike", "selection": "map"}, 0)
    assert trained.record["rounds"] == 1


def test_wrong_arguments_are_named() -> None:
    data = RankingData.from_arrays(X, Y, QID)
    nothing = RankingData.from_arrays([[0.0], [1.0]], [0, 0], [1, 1])
    for call, words in (
        (lambda: adarank.run(nothing, "map", rounds=1), "relevant"),
        (lambda: rankboost.run(nothing, rounds=1), "different labels"),
        (lambda: TreesModel.of([0], [1], [0.0], [0], [0], [1.0], n_features=1), "features"),
        (lambda: TreesModel.of([0], [-1], [0.0], [0], [0], [1.0], n_features=1).predict(data), "features"),
    ):
        with pytest.raises(DataError, match=words):
            call()
