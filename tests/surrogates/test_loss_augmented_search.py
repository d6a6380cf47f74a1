"""Is the ranking that is found one of largest loss plus score difference?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_losses import compared, margins, queries
from scipy.optimize import linear_sum_assignment

from pipeline_lib.surrogates.structured import StructuredNDCG, SvmMAP

LOSSES = {"structured-ndcg": StructuredNDCG(), "svm-map": SvmMAP()}


def scores_of_all_kinds(m, y, rng):
    """Scores at which labels matter, do not matter, or nearly balance the loss; with and without ties."""
    for scale in (0.0, 1e-3, 0.03, 0.3, 10.0):
        yield scale * rng.normal(size=m)
        yield scale * rng.integers(-1, 2, size=m)
        yield scale * (y + 0.1 * rng.normal(size=m))
        yield -scale * y.astype(float)


@pytest.mark.parametrize("name", LOSSES)
def test_is_the_maximum_over_all_rankings(name):
    rng = np.random.default_rng(11)
    for m, vectors in ((2, 6), (3, 12), (4, 12), (5, 10), (6, 5)):
        for _ in range(vectors):
            y = rng.integers(0, 4, size=m)
            if len(set(compared(name, y).tolist())) == 1:
                continue
            losses, slopes = margins(name, y)
            for s in scores_of_all_kinds(m, y, rng):
                value, gradient = LOSSES[name].value_and_gradient(s, y, [0, m])
                assert value[0] == pytest.approx((losses + slopes @ s).max(), abs=1e-12)
                # the gradient is the slope of a ranking that attains it
                attained = np.abs(slopes - gradient).max(axis=1) < 1e-12
                assert (losses + slopes @ s)[attained].max() == pytest.approx(value[0], abs=1e-12)


def by_assignment(s, y):
    """structured-ndcg through scipy's assignment solver."""
    m = len(y)
    s = s - s.mean()  # large equal parts of scores cancel, and would take their digits along
    D = 1 / np.log2(np.arange(2, m + 2))
    falling = sorted(range(m), key=lambda i: (-y[i], i))
    gain = (2.0**y - 1) / ((2.0**y - 1)[falling] @ D)
    cost = np.outer(gain, D) + np.outer(s, np.arange(1, m + 1))
    best = cost[linear_sum_assignment(cost)].sum()
    return cost[falling, np.arange(m)].sum() - best


@given(queries(max_m=40, y_max=5), st.floats(0, 0.3), st.integers(0, 10**6))
@settings(max_examples=200)
def test_structured_ndcg_is_the_best_assignment(query, pull, seed):
    s, y = query
    if len(set(y.tolist())) == 1:
        return
    # Scores in the order of the labels, at distances like those between discounts, are the hardest.
    s = s + pull * (y + 0.3 * np.random.default_rng(seed).normal(size=len(y))) / len(y)
    expected = by_assignment(s, y)
    scale = 1 + np.abs(s - s.mean()).max() * len(s) ** 2
    assert LOSSES["structured-ndcg"].value(s, y, [0, len(y)])[0] == pytest.approx(expected, abs=1e-13 * scale)


@pytest.mark.parametrize("pull", [0.0, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_structured_ndcg_of_long_lists_is_the_best_assignment(pull, noise):
    rng = np.random.default_rng(13)
    y = rng.choice(5, size=250, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    s = pull * (y + noise * rng.normal(size=250))
    value = LOSSES["structured-ndcg"].value(s, y, [0, 250])[0]
    assert value == pytest.approx(by_assignment(s, y), abs=1e-10)


def by_counting(s, y):
    """svm-map through a table of the best loss with a relevant and b irrelevant documents placed."""
    high, low = np.sort(s[y >= 1])[::-1], np.sort(s[y == 0])[::-1]
    r, q = len(high), len(low)
    best = np.full((r + 1, q + 1), -np.inf)
    best[0, 0] = 0.0
    for a in range(r + 1):
        for b in range(q + 1):
            if a < r:  # the next relevant one, below b irrelevant ones
                step = (1 - (a + 1) / (a + 1 + b)) / r - 2 / (r * q) * (b * high[a] - low[:b].sum())
                best[a + 1, b] = max(best[a + 1, b], best[a, b] + step)
            if b < q:
                best[a, b + 1] = max(best[a, b + 1], best[a, b])
    return best[r, q]


@given(queries(max_m=40), st.floats(0, 3), st.integers(0, 10**6))
def test_svm_map_is_the_best_of_a_full_table(query, pull, seed):
    s, y = query
    if not 0 < (y >= 1).sum() < len(y):
        return
    s = s + pull * (np.minimum(y, 1) + 0.3 * np.random.default_rng(seed).normal(size=len(y))) / len(y)
    scale = 1 + np.abs(s).max()
    assert LOSSES["svm-map"].value(s, y, [0, len(y)])[0] == pytest.approx(by_counting(s, y), abs=1e-12 * scale)


@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_where_the_ideal_ranking_is_among_the_best_the_gradient_is_0(places):
    # One of two documents is relevant: exchanging them costs 1/2 and gains twice the lead, which is exactly as much.
    scores, labels = np.array([0.25, 0.0])[list(places)], np.array([1, 0])[list(places)]
    value, gradient = LOSSES["svm-map"].value_and_gradient(scores, labels, [0, 2])
    assert (value.tolist(), gradient.tolist()) == ([0.0], [0.0, 0.0])
    value, gradient = LOSSES["svm-map"].value_and_gradient(scores * (1.0 - 2.0**-10), labels, [0, 2])
    assert value[0] == pytest.approx(0.5 * 2.0**-10)
    assert gradient.tolist() == [-2.0 if label else 2.0 for label in labels]
