"""When SLAM's risk is smallest at 0: the lead, the spread and their largest ratio against second computations."""

import math

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import erm
from pipeline_lib.surrogates.slam import SlamNDCG, weights_of_all
from pipeline_lib.theory import zero_minimiser


def sample(seed: int, d: int, separation: float, n: int = 12, m: int = 6) -> RankingData:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n * m)
    X = rng.standard_normal((n * m, d)) + separation * (y[:, None] * np.eye(d)[0])
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n), m))


def weights(data: RankingData) -> np.ndarray:
    return weights_of_all(data.y.astype(np.int32), data.offsets)


def by_hand(s, y, v) -> tuple[float, float]:
    lead = spread = 0.0
    for i in range(len(y)):
        lower = [s[j] for j in range(len(y)) if y[j] < y[i]]
        if lower:
            mean = sum(lower) / len(lower)
            lead += v[i] * (s[i] - mean)
            spread += v[i] * (max(lower) - mean)
    return lead, spread


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("separation", [0.0, 0.3, 0.6, 1.2])
def test_the_minimiser_is_0_exactly_where_the_ratio_is_at_most_1(d, separation):
    data = sample(7, d, separation, n=40)
    best = zero_minimiser.best_direction(data, weights(data))
    assert abs(best.ratio - 1.0) > 0.01
    for margin in (0.1, 1.0, 10.0):
        for l2 in (1e-3, 1e-1):
            fit = erm.fit(data, SlamNDCG(margin), l2=l2, tol=1e-7)
            assert fit.certified
            assert fit.w.any() == (best.ratio > 1.0)


def test_no_direction_has_a_larger_ratio():
    data = sample(3, 2, 0.4, n=30)
    v = weights(data)
    best = zero_minimiser.best_direction(data, v)
    ratios = []
    for angle in np.linspace(0.0, 2.0 * math.pi, 400):
        scores = data.X64 @ [math.cos(angle), math.sin(angle)]
        lists = (np.split(part, data.offsets[1:-1]) for part in (scores, data.y, v))
        lead, spread = np.sum([by_hand(*one) for one in zip(*lists, strict=True)], axis=0)
        ratios.append(lead / spread)
    assert best.ratio == pytest.approx(max(ratios), rel=2e-3)
    assert best.ratio == pytest.approx(best.lead / best.spread)


def test_directions_without_a_lead_or_a_spread():
    y, offsets = [1, 0], [7, 7]
    assert zero_minimiser.best_direction(RankingData.from_arrays([[1.0], [0.0]], y, offsets), [1, 0]).ratio == math.inf
    nothing = RankingData.from_arrays([[0.0], [0.0]], y, offsets)
    assert zero_minimiser.best_direction(nothing, [1, 0]).ratio == 0.0
    with pytest.raises(DataError):
        zero_minimiser.best_direction(nothing, [1, 0, 0])


@pytest.mark.parametrize("seed", range(20))
def test_a_lead_of_rounding_errors_is_none(seed: int) -> None:
    # Every relevant document is the mean of the others, and weights divided by 3, 5, or 7 do not quite add up.
    rng = np.random.default_rng(seed)
    n, queries = int(rng.choice([3, 5, 7])), int(rng.integers(1, 4))
    others = rng.integers(-9, 9, (queries, n, 2))
    others[:, -1] = -others[:, :-1].sum(axis=1)
    X = np.concatenate([np.zeros((queries, 1, 2)), others], axis=1) + rng.integers(-9, 9, (queries, 1, 2))
    y, qid = np.tile(np.arange(n + 1) == 0, queries), np.repeat(np.arange(queries), n + 1)
    data = RankingData.from_arrays(X.reshape(-1, 2), y.astype(int), qid)
    assert zero_minimiser.best_direction(data, rng.uniform(size=len(y))).ratio == 0.0


def test_expected_maxima_are_those_of_samples_and_of_known_integrals():
    assert zero_minimiser.expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-12)
    drawn = np.random.default_rng(0).standard_normal((40_000, 20)).max(axis=1)
    assert zero_minimiser.expected_maximum(20) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 200)


def test_weights_whose_sums_overflow_are_refused() -> None:
    data = RankingData.from_arrays([[3.0, 1.0], [2.0, 0.0], [0.0, 5.0]], [2, 1, 0], [7, 7, 7])
    for v in ([1e308, 1e308, 0.0], [0.0, -1e101, 0.0]):
        with pytest.raises(DataError, match=r"^v: expected weights up to 1e\+100"):
            zero_minimiser.best_direction(data, v)
    data = sample(1, 1, 0.5)
    ratio = zero_minimiser.best_direction(data, weights(data)).ratio
    assert zero_minimiser.best_direction(data, 1e100 * weights(data)).ratio == pytest.approx(ratio)
    assert 0.1 < ratio < 10.0
    data = sample(1, 3, 0.5)
    small, large = (zero_minimiser.best_direction(data, scale * weights(data)) for scale in (1.0, 1e100))
    assert (large.lead, large.spread) == pytest.approx((1e100 * small.lead, 1e100 * small.spread), rel=1e-4)
