"""Are risks with kinks minimised to the gap where features are many?

The reference knows nothing of surrogates or solvers: it is the quadratic or linear programme with one constraint for
every affine function that the definition of a loss takes the largest of.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, linprog, minimize

from pipeline_lib import RankingData, surrogates
from pipeline_lib.learners import bundle, erm
from pipeline_lib.learners.balls import project
from pipeline_lib.surrogates import slam
from tests.surrogates.ranking_losses import margins

KINKED = ("ranksvm", "slam-map", "slam-ndcg", "slam-ndcg@2", "structured-ndcg", "svm-map")
CONVEX = [name for name in surrogates.NAMES if surrogates.create(name).convex]


def drawn(n=4, m=4, d=3, seed=0):
    """Few lists with ties: features are whole numbers, and two documents of every list are alike."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n * m, d)).astype(float)
    X[1::m] = X[::m]
    y = rng.integers(0, 3, n * m)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n), m))


@pytest.fixture
def by_planes(monkeypatch):
    """All surrogates with kinks by planes below the mean loss."""
    monkeypatch.setattr(erm, "_with_kinks", bundle.minimise)


def hinges(name, y):
    """Of one list: groups of rows (intercept, slopes in the scores), of which phi sums up the largest."""
    m, unit = len(y), np.eye(len(y))
    labels = np.minimum(y, 1) if name.endswith("map") else y
    below = [(i, j) for i, j in itertools.product(range(m), repeat=2) if labels[j] < labels[i]]
    nothing = np.zeros(m + 1)
    if name == "ranksvm":
        return [np.array([nothing, np.r_[1.0, unit[j] - unit[i]]]) for i, j in below]
    if name.startswith("slam"):
        v = slam.weights(y, name.removeprefix("slam-"))
        rows = {i: [np.r_[v[i], v[i] * (unit[j] - unit[i])] for a, j in below if a == i] for i in range(m)}
        return [np.array([nothing, *rows[i]]) for i in range(m) if rows[i]]
    if not below:
        return [nothing[None]]
    return [np.column_stack(margins(name, y))]


def rows_of(data, name):
    """All affine functions of w: intercepts, slopes, and to which group each belongs."""
    intercepts, slopes, group, count = [], [], [], 0
    for begin, end in itertools.pairwise(data.offsets):
        for rows in hinges(name, data.y[begin:end]):
            intercepts += list(rows[:, 0])
            slopes += list(rows[:, 1:] @ data.X64[begin:end])
            group += [count] * len(rows)
            count += 1
    return np.array(intercepts), np.array(slopes), np.array(group)


def reference(data, name, l2, radius=None):
    """The least regularised risk."""
    return of_programme(*rows_of(data, name), data.n_queries, l2, radius)


def of_programme(intercepts, slopes, group, queries, l2, radius=None):
    """min of the quadratic programme in w and a bound t on every group of affine functions, by scipy."""
    d, count = slopes.shape[1], group.max() + 1
    mask, cost = np.r_[np.ones(d), np.zeros(count)], np.r_[np.zeros(d), np.full(count, 1.0 / queries)]
    system = np.hstack([-slopes, np.eye(count)[group]])
    constraints = [LinearConstraint(system, intercepts, np.inf)]
    if radius is not None:
        constraints.append(NonlinearConstraint(lambda z: z[:d] @ z[:d], -np.inf, radius**2, jac=lambda z: 2 * mask * z))
    highest = np.array([intercepts[group == k].max() for k in range(count)])
    result = minimize(
        lambda z: (0.5 * l2 * np.sum(mask * z * z) + cost @ z, l2 * mask * z + cost),
        np.r_[np.zeros(d), highest],
        jac=True,
        method="SLSQP",
        constraints=constraints,
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    return result.fun


def reference_in_l1_ball(data, name, radius):
    """min of the linear programme in w = p - q with sum p + q <= radius."""
    intercepts, slopes, group = rows_of(data, name)
    d, count = slopes.shape[1], group.max() + 1
    cost = np.r_[np.zeros(2 * d), np.full(count, 1.0 / data.n_queries)]
    system = np.vstack([np.hstack([slopes, -slopes, -np.eye(count)[group]]), np.r_[np.ones(2 * d), np.zeros(count)]])
    bounds = [(0, None)] * (2 * d) + [(None, None)] * count
    return linprog(cost, A_ub=system, b_ub=np.r_[-intercepts, radius], bounds=bounds).fun


def certified(fit, best):
    assert fit.certified, fit.reason
    assert fit.objective == pytest.approx(best, rel=3e-6, abs=1e-9)
    assert fit.objective - fit.gap <= best + 1e-7 * abs(best) + 1e-9


@pytest.mark.usefixtures("by_planes")
@pytest.mark.parametrize("name", KINKED)
@pytest.mark.parametrize(
    ("d", "l2", "radius", "ball"),
    [
        *((d, l2, None, "l2") for d in (3, 40) for l2 in (0.3, 1e-3)),
        *((d, l2, radius, "l2") for d, radius in ((3, 0.3), (40, 0.03)) for l2 in (0.0, 0.1)),
        *((d, 0.0, 0.3, "l1") for d in (3, 40)),
    ],
)
def test_the_minimum_is_that_of_a_programme(name, d, l2, radius, ball):
    data = drawn(d=d)
    fit = erm.fit(data, name, l2=l2, radius=radius, ball=ball)
    assert radius is None or np.linalg.norm(fit.w, 2 if ball == "l2" else 1) <= radius * (1 + 1e-12)
    certified(fit, reference_in_l1_ball(data, name, radius) if ball == "l1" else reference(data, name, l2, radius))


@pytest.mark.parametrize("name", CONVEX)
def test_more_features_than_documents(name):
    data = drawn(n=12, m=6, d=100, seed=1)
    for fit in erm.path(data, name, [1e-4, 1.0]):
        assert fit.certified, fit.reason


@pytest.mark.parametrize(
    ("solver", "steps", "name", "sizes"),
    [("smoothing", 2, "ranksvm", (30, 6, 8)), ("interior", 3, "slam-ndcg", (12, 6, 40))],
)
def test_what_a_method_leaves_is_finished_by_cutting_planes(monkeypatch, solver, steps, name, sizes):
    data = drawn(*sizes, seed=2)
    whole = erm.fit(data, name, l2=0.1)
    monkeypatch.setattr(getattr(erm, solver), "ITERATIONS", steps)
    fit = erm.fit(data, name, l2=0.1)
    assert fit.certified
    assert fit.certificate == bundle.CERTIFICATE
    assert fit.objective == pytest.approx(whole.objective, rel=2e-6)


def test_a_point_very_far_from_an_l1_ball_is_nearest_to_a_corner():
    assert project(np.array([1e30, -3e30]), 0.5, "l1").tolist() == [0.0, -0.5]
