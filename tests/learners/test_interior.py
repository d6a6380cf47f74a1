"""Linear programmes of surrogates, and the methods that minimise with them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from pipeline_lib import surrogates
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import bundle, erm, interior, smoothing
from pipeline_lib.learners.problem import Problem
from pipeline_lib.surrogates import programmes
from pipeline_lib.surrogates.base import SmoothableSurrogate
from tests.samples import unrelated

LINEAR = ("ranksvm", "slam-ndcg", "slam-map", "slam-ndcg@3")
KINKED = (*LINEAR, "structured-ndcg", "svm-map")
BALLS = [(None, "l2"), (0.3, "l2"), (0.3, "l1")]


def of(data: RankingData, name: str, l2: float = 0.1, radius: float = math.inf, ball: str = "l2") -> Problem:
    return Problem(data.X64, data.y, data.offsets, surrogates.create(name), l2, radius, ball)  # type: ignore[arg-type]


def dense(programme, scores):
    """The dual programme at these scores: costs of the multipliers, bounds, and what they must sum up to."""
    P, N, A = len(programme.heights), len(scores), len(programme.dues)
    E = np.zeros((P, N + A))
    for k in range(programme.nodes.shape[1]):
        E[np.arange(P), programme.nodes[:, k]] += programme.coefficients[:, k]
    return programme.heights - E[:, :N] @ scores, E[:, N:]


@pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in LINEAR), ("slam-ndcg", {"weights": "tight"})])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), levels=st.sampled_from([2, 3, 6]))
def test_the_optimum_of_the_programme_is_the_loss(name, options, seed, levels):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, 1, 4, 3, 5])
    y, scores = rng.integers(0, levels, 13).astype(np.int32), rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=13)
    loss = surrogates.create(name, **options)
    programme = loss.programme(y, offsets)
    gains, E = dense(programme, scores)
    bounds = [(0.0, None if np.isinf(c) else c) for c in programme.costs]
    total = loss.value(scores, y, offsets).sum()
    if not len(gains):
        assert total == 0.0
        return
    best = -linprog(-gains, A_eq=E.T, b_eq=programme.dues, bounds=bounds).fun if len(programme.dues) else None
    if best is None:
        best = float(np.sum(programme.costs * np.maximum(gains, 0.0)))
    assert best == pytest.approx(total, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("name", LINEAR)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_the_multipliers_the_minorant_is_below(name, seed):
    rng = np.random.default_rng(seed)
    data, loss = unrelated(4, 6, seed=seed % 1000, levels=4), surrogates.create(name)
    factors = rng.uniform(0.5, 2.0, 4)
    programme = loss.programme(data.y, data.offsets).scaled(factors)
    multipliers = programme.feasible(10.0 ** rng.uniform(-6, 2, len(programme.heights)))
    given_ = programme.spread(multipliers)[data.n_documents :]
    assert multipliers.min(initial=0.0) >= 0.0
    assert (multipliers <= programme.costs).all()
    np.testing.assert_allclose(given_, programme.dues, atol=1e-12)
    intercept, slope = programme.minorant(multipliers)
    for scale in (0.0, 0.1, 10.0):
        scores = scale * rng.normal(size=data.n_documents)
        value = float(factors @ loss.value(scores, data.y, data.offsets))
        assert intercept + slope @ scores <= value + 1e-10 * (1.0 + abs(value))


@pytest.mark.parametrize("name", KINKED)
@pytest.mark.parametrize(("radius", "ball"), BALLS)
@pytest.mark.parametrize("l2", [1e-2, 1.0])
def test_all_methods_meet_at_the_minimum(name, radius, ball, l2):
    problem = of(unrelated(20, 5, 4), name, l2, math.inf if radius is None else radius, ball)
    start = np.zeros(4)
    found = [bundle.minimise(problem, start, 1e-7)]
    programme = problem.surrogate.programme(problem.y, problem.offsets)
    if programme is not None and ball == "l2":
        found.append(interior.minimise(problem, programme, 1e-7))
    if isinstance(problem.surrogate, SmoothableSurrogate) and ball == "l2":
        found.append(smoothing.minimise(problem, start, 1e-7))
    values = [problem.objective(s.w, problem.loss(problem.X @ s.w)[0]) for s in found]
    for solution, value in zip(found, values, strict=True):
        assert not solution.reason
        assert np.linalg.norm(solution.w, 2 if ball == "l2" else 1) <= problem.radius * (1.0 + 1e-12)
        assert value - solution.gap <= min(values) + 1e-9 * abs(value)
        assert value == pytest.approx(min(values), rel=2e-7)


@pytest.mark.parametrize("name", ["slam-ndcg", "svm-map"])
@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_an_inactive_ball_changes_nothing_without_l2_either(name, ball):
    data = unrelated(30, 5, 4)
    free = erm.fit(data, name, l2=1e-7)
    for l2 in (0.0, 1e-7):
        problem = of(data, name, l2, 100.0 * float(np.abs(free.w).sum()) + 1.0, ball)
        solution = bundle.minimise(problem, np.zeros(4), 1e-6)
        value = problem.objective(solution.w, problem.loss(problem.X @ solution.w)[0])
        assert not solution.reason
        assert value == pytest.approx(free.objective, rel=1e-4)


@pytest.mark.parametrize("name", ["ranksvm", "slam-ndcg"])
def test_features_given_twice_change_no_minimum(name):
    # Without l2 and with an inactive ball, rounding leaves their second derivative without a square root.
    once, values = of(unrelated(12), name, 0.0, 1e4), []
    for problem in (once, replace(once, X=np.hstack([once.X, once.X]))):
        found = interior.minimise(problem, problem.surrogate.programme(problem.y, problem.offsets), 1e-9)
        assert not found.reason
        values.append(problem.objective(found.w, problem.loss(problem.X @ found.w)[0]))
    assert values[1] == pytest.approx(values[0], rel=2e-9)


def test_long_lists_are_squared_by_other_means(monkeypatch):
    problem = of(unrelated(6, 9, 40), "slam-ndcg")
    programme = problem.surrogate.programme(problem.y, problem.offsets)
    short = interior.minimise(problem, programme, 1e-9)
    monkeypatch.setattr(interior, "SHORT", 2)
    np.testing.assert_allclose(interior.minimise(problem, programme, 1e-9).w, short.w, atol=1e-7)


@pytest.mark.parametrize(
    ("module", "limit", "name"), [(erm, "LARGEST_MATRICES", "slam-ndcg"), (programmes, "MOST_ROWS", "ranksvm")]
)
def test_a_programme_that_is_too_large_is_left_to_cutting_planes(monkeypatch, module, limit, name):
    data = unrelated(12, 6, 40)
    whole = erm.fit(data, name, l2=0.1)
    monkeypatch.setattr(module, limit, 10)
    other = erm.fit(data, name, l2=0.1)
    assert (whole.certificate, other.certificate) == ("duality", "cutting planes")
    assert other.objective == pytest.approx(whole.objective, rel=2e-6)
