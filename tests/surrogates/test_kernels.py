"""Do the kernels that surrogates share compute what their slow and plain forms do?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numba import njit

from pipeline_lib.surrogates.listwise import RUN
from pipeline_lib.surrogates.logistic_kernels import FACTORIZE_UP_TO, logistic
from pipeline_lib.surrogates.pair_sweeps import PASSES_UP_TO, ascending, label_runs, middle
from pipeline_lib.surrogates.vector_exp import LARGEST, exp


@njit
def exponentials(x):
    e = np.empty(len(x))
    for i in range(len(x)):
        e[i] = exp(x[i])
    return e


def test_exp_is_accurate_to_about_a_unit_in_the_last_place():
    rng = np.random.default_rng(0)
    small = np.logspace(-320, 2.85, 100_001)
    x = np.concatenate([small, -small, rng.uniform(-LARGEST, LARGEST, 200_000), rng.uniform(-1, 1, 200_000), [0.0]])
    expected = np.exp(x.astype(np.longdouble))
    found = exponentials(x)
    assert np.all(np.abs(found - expected) <= 1.1 * np.spacing(found))


def test_exp_beyond_its_range():
    np.testing.assert_array_equal(exponentials(np.array([-708.1, -1e4, -1e300, -np.inf])), 0.0)
    assert exponentials(np.array([-LARGEST]))[0] == pytest.approx(np.exp(-LARGEST), rel=1e-15)


@given(hnp.arrays(np.float64, st.integers(1, 300), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_ascending_is_a_stable_sort(s):
    s[::3] = np.round(s[::3] / 1e300)  # ties, and zeros of either sign
    np.testing.assert_array_equal(ascending(s), np.argsort(s, kind="stable"))


@pytest.mark.parametrize("top", [0, 1, PASSES_UP_TO, PASSES_UP_TO + 1, 255])
def test_label_runs(top):
    rng = np.random.default_rng(top)
    for m in (1, 2, 50):
        s, y = rng.normal(size=m), rng.integers(0, top + 1, m).astype(np.int32)
        c, order, runs = np.empty(m), np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
        n_runs = label_runs(s, y, 0.5, c, order, runs)
        expected = np.argsort(y, kind="stable")
        np.testing.assert_array_equal(order[:m], expected)
        np.testing.assert_array_equal(c, s[expected] - 0.5)
        starts = np.flatnonzero(np.diff(y[expected], prepend=-1))
        np.testing.assert_array_equal(runs[: n_runs + 1], [*starts, m])


def test_middle():
    assert middle(np.array([3.0, -1.0, 2.0])) == (1.0, 2.0)
    assert middle(np.array([1.7e308, -1.7e308])) == (0.0, 1.7e308)


@pytest.mark.parametrize("spread", [1e-9, 1e-3, 0.5, 5.0, FACTORIZE_UP_TO, 60.0])
@pytest.mark.parametrize("levels", [2, 3, 9])
@pytest.mark.parametrize("m", [2, 9, 300])
def test_ranknet_by_products_equals_the_sum_over_pairs(spread, levels, m):
    rng = np.random.default_rng(m)
    s, y = rng.uniform(-spread, spread, m), rng.integers(0, levels, m).astype(np.int32)
    difference = (s[None, :] - s[:, None]) * 1.0
    pairs = y[:, None] > y[None, :]
    losses = np.where(pairs, np.logaddexp(0.0, difference), 0.0)
    alpha = np.where(pairs, 1.0 / (1.0 + np.exp(-difference)), 0.0)
    values, gradient = logistic(s, y, np.array([0, m]))
    assert values[0] == pytest.approx(losses.sum(), rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(gradient, alpha.sum(axis=0) - alpha.sum(axis=1), atol=1e-12 * m)


def test_ranknet_of_well_ordered_documents_keeps_its_digits():
    s, y = np.array([-15.0, -14.0, 15.0, 16.0, 30.0]), np.array([0, 0, 1, 1, 2], np.int32)
    pairs = [(i, j) for i in range(5) for j in range(5) if y[i] > y[j]]
    expected = sum(np.log1p(np.exp(s[j] - s[i])) for i, j in pairs)
    assert logistic(s, y, np.array([0, 5]))[0][0] == pytest.approx(expected, rel=1e-14)


def test_listnet_takes_queries_in_runs():
    from pipeline_lib import surrogates

    rng = np.random.default_rng(0)
    loss = surrogates.create("listnet")
    sizes = [3, RUN - 3, 1, RUN + 10, 5, RUN, 2]
    offsets = np.r_[0, np.cumsum(sizes)]
    scores, y = 10.0 * rng.normal(size=offsets[-1]), rng.integers(0, 256, offsets[-1])
    values, gradient = loss.value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        target = np.exp(y[a:b] - float(y[a:b].max()))
        target /= target.sum()
        behind = scores[a:b] - scores[a:b].max()
        softmax = np.exp(behind) / np.exp(behind).sum()
        assert values[q] == pytest.approx(np.log(np.exp(behind).sum()) - target @ behind, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(gradient[a:b], softmax - target, atol=1e-14)
