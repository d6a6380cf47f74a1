"""Are projections onto cones, second moments of pairs, and the stability bounds what their formulas say?"""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from pipeline_lib import RankingData
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import cones, stability


@example(90830)  # a slope of rounding errors
@given(st.integers(0, 2**30))
def test_projections_are_those_of_non_negative_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 8)), int(rng.integers(1, 8))
    U, z = rng.standard_normal((d, K)), rng.standard_normal(d)
    w = cones.project(U, z)
    assert (w >= 0).all()
    np.testing.assert_allclose(U @ w, U @ nnls(U, z)[0], atol=1e-9)


@example(174)  # a vector that is added and removed in turn
@given(st.integers(0, 2**30))
def test_nearly_dependent_vectors_have_a_projection_that_is_no_farther_than_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    U = rng.integers(-2, 3, (d, K)) + rng.choice([0, 1e-13, 1e-9]) * rng.standard_normal((d, K))
    z = rng.integers(-2, 3, d).astype(float)
    w = cones.project(U, z)
    assert (w >= 0).all()
    assert np.linalg.norm(z - U @ w) <= np.linalg.norm(z) + 1e-9


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("length", [1e-12, 1.0, 1e12])
def test_a_projection_does_not_depend_on_scales(size: float, length: float) -> None:
    U, z = np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([1.0, 3.0])
    w = cones.project(size * U, length * z)
    np.testing.assert_allclose(w * size / length, cones.project(U, z), rtol=1e-9)
    assert not cones.project(U, 0.0 * z).any()


def test_a_point_of_the_negative_cone_need_not_go_to_zero() -> None:
    # Errata, letter V: -u_1 lies at 45 degrees from u_2.
    U = np.array([[1.0, -math.sqrt(0.5)], [0.0, math.sqrt(0.5)]])
    assert np.linalg.norm(U @ cones.project(U, -U[:, 0])) == pytest.approx(math.sqrt(0.5))


@given(st.integers(0, 2**30))
@settings(max_examples=50)
def test_in_an_acute_cone_it_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    U = np.abs(rng.standard_normal((4, 3)))
    assert not cones.project(U, -U @ rng.exponential(size=3)).any()


@given(st.integers(0, 2**30))
@settings(max_examples=30)
def test_the_second_moment_is_that_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 4)
    X, y = rng.standard_normal((sizes.sum(), 3)), rng.integers(0, 3, sizes.sum())
    y[:2] = (0, 1) if sizes[0] > 1 else y[:2]
    data = RankingData.from_arrays(X, y, np.repeat(np.arange(4), sizes))
    z = np.array(
        [
            data.X64[i] - data.X64[j]
            for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)
            for i in range(a, b)
            for j in range(a, b)
            if data.y[i] > data.y[j]
        ]
    )
    if len(z):
        np.testing.assert_allclose(cones.second_moment(data), z.T @ z / len(z), atol=1e-9)
    else:
        with pytest.raises(DataError, match="different labels"):
            cones.second_moment(data)


@given(st.integers(0, 2**30))
@settings(max_examples=60)
def test_theorem_2_bounds_the_change_of_every_loss(seed: int) -> None:
    from pipeline_lib.learners import cone

    rng = np.random.default_rng(seed)
    d, K, high = int(rng.integers(1, 5)), int(rng.integers(1, 5)), float(rng.uniform(1, 3))
    problem = cone.Problem(weighted=False, band=(1.0, high))
    rho, c = problem.rho_of(d), problem.c_of(d)
    data = RankingData.from_arrays(3 * rng.standard_normal((6, d)), [0, 1, 0, 2, 1, 0], [1] * 6)
    U = cone.started(d, K, problem, (seed,))
    other = U + rng.choice([0.01, 0.3]) * rng.standard_normal((d, K))
    other *= np.minimum(1.0, c / np.linalg.norm(other, axis=0))
    change = np.abs(cone.pair_losses(data, U, problem) - cone.pair_losses(data, other, problem)).max()
    s = float(np.linalg.norm(U - other, ord=2))
    assert change <= stability.bound_on_beta(s, K=K, rho=rho, c=c, largest_sum=high) + 1e-7


@given(st.integers(0, 2**30))
@settings(max_examples=50)
def test_vectors_moved_outwards_enclose_what_they_enclosed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, K, c = int(rng.integers(1, 6)), int(rng.integers(2, 6)), float(rng.uniform(0.5, 3.0))
    U = rng.standard_normal((d, K))
    U *= c * rng.uniform(0.0, 1.0, K) / np.linalg.norm(U, axis=0)
    moved = cones.moved_outwards(U, c)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=0), c, rtol=1e-9)
    # Every old vector is a convex combination of the new ones: the last row makes the coefficients sum to 1.
    extended = np.vstack([moved, np.ones(K)])
    for u in U.T:
        assert nnls(extended, np.append(u, 1.0))[1] < 1e-7
    # Their norms are c up to rounding, with which they are as welcome.
    np.testing.assert_allclose(np.linalg.norm(cones.moved_outwards(moved, c), axis=0), c, rtol=1e-9)


@pytest.mark.parametrize("U", [[[0.5]], [[2.0, 0.1]], [[np.nan, 0.1]], np.empty((0, 2))])
def test_what_cannot_be_moved_outwards_is_refused(U: object) -> None:
    with pytest.raises(DataError, match="U"):
        cones.moved_outwards(U, 1.0)  # type: ignore[arg-type]


def test_equal_vectors_are_moved_apart() -> None:
    moved = cones.moved_outwards(np.zeros((2, 2)), 1.0)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=0), 1.0)
    assert np.abs(moved.sum(axis=1)).max() < 1e-12


@given(st.integers(0, 2**30))
@settings(max_examples=50)
def test_no_single_vector_changes_more_than_its_bound(seed: int) -> None:
    # Theorem (a) and (d) of docs/stability-of-cones.md: the vector is the mean of the queries' mean differences.
    rng = np.random.default_rng(seed)
    P, d, rho = int(rng.integers(2, 20)), int(rng.integers(1, 4)), float(rng.uniform(0.5, 2.0))
    z = rng.standard_normal((P, d))
    z *= rho / np.linalg.norm(z, axis=1, keepdims=True)
    changes = [np.linalg.norm(z.mean(axis=0) - np.delete(z, i, axis=0).mean(axis=0)) for i in range(P)]
    assert max(changes) <= 2.0 * rho / P * (1 + 1e-12)
    # The risk is quadratic with growth 2 everywhere; c = rho is enough.
    assert max(changes) <= stability.growth_change(P, 2.0, 2.0, rho=rho, c=rho) * (1 + 1e-12)
    apart = np.append(np.full(P - 1, rho), -rho)
    assert abs(apart.mean() - rho) == pytest.approx(2.0 * rho / P)


def test_nothing_follows_from_a_risk_that_does_not_grow() -> None:
    assert math.isinf(stability.growth_change(10, 0.0, 0.0, rho=1.0, c=1.0))
    with pytest.raises(DataError, match="low"):
        stability.tied_change(1.0, 2.0, 1.0)
