"""Projections onto balls are the nearest points, and the lowest point is the lowest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pipeline_lib.learners.balls import lowest, norm, project

VECTORS = hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-100, 100, width=32))
RADII = st.floats(0.015625, 50, width=32)
BALLS = st.sampled_from(["l2", "l1"])


@given(VECTORS, RADII, BALLS)
def test_a_projection_is_in_the_ball_and_stays(w, radius, ball):
    once = project(w, radius, ball)
    assert norm(once, ball) <= radius * (1 + 1e-12)
    np.testing.assert_allclose(project(once, radius, ball), once, atol=1e-12 * radius)
    if norm(w, ball) <= radius:
        assert once is w


@given(VECTORS, RADII, BALLS, st.integers(0, 2**32 - 1))
def test_no_point_of_the_ball_is_nearer(w, radius, ball, seed):
    nearest = project(w, radius, ball)
    rng = np.random.default_rng(seed)
    for v in rng.normal(size=(20, len(w))):
        v = project(v * radius, radius, ball)
        # obtuse angle: <w - nearest, v - nearest> <= 0
        assert (w - nearest) @ (v - nearest) <= 1e-9 * (1 + np.abs(w).max()) * radius


@given(VECTORS, st.sampled_from([0.0, 0.1, 3.0]), RADII, BALLS, st.integers(0, 2**32 - 1))
def test_nothing_in_the_ball_is_lower(slope, l2, radius, ball, seed):
    def value(v):
        return 0.5 * l2 * v @ v + slope @ v

    best = lowest(slope, l2, radius, ball)
    if best is None:
        assert l2 == 0.0
        assert not slope.any()
        return
    assert norm(best, ball) <= radius * (1 + 1e-12)
    rng = np.random.default_rng(seed)
    for v in (
        *rng.normal(size=(20, len(slope))) * radius,
        *(radius * np.eye(len(slope))),
        *(-radius * np.eye(len(slope))),
    ):
        inside = project(v, radius, ball)
        assert value(inside) >= value(best) - 1e-9 * (1 + np.abs(slope).max()) * radius


def test_without_a_ball_or_curvature_nothing_is_lowest():
    assert lowest(np.array([1.0]), 0.0, np.inf) is None
    assert lowest(np.array([1.0, -2.0]), 2.0, np.inf).tolist() == [-0.5, 1.0]


@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_a_plane_alone_is_lowest_where_the_ball_says(ball):
    from pipeline_lib.learners import bundle

    rng = np.random.default_rng(0)
    for d in (1, 3, 200):
        slope = rng.normal(size=(1, d))
        w, weights = bundle.model_minimum(slope, np.zeros(1), 0.0, 2.0, ball)
        assert weights.tolist() == [1.0]
        assert slope[0] @ w == pytest.approx(slope[0] @ lowest(slope[0], 0.0, 2.0, ball), rel=1e-7)
