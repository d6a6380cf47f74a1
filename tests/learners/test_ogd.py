"""Online gradient descent does what its formula says, keeps its regret bound, and refuses what it cannot run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners import ogd, rounds
from pipeline_lib.learners.balls import norm, project
from tests.samples import drawn

CONVEX = [name for name in surrogates.NAMES if surrogates.create(name).convex]


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_every_round_follows_the_formula(name, ball):
    data, loss = drawn(20, d=4), surrogates.create(name)
    order = np.random.default_rng(1).integers(0, data.n_queries, 50)
    steps = ogd.decreasing_steps(50, 0.05)
    found = ogd.run(data, loss, step=steps, order=order, radius=0.7, ball=ball)
    w, iterates, outside, at_the_edge = np.zeros(4), [], 0, 0
    for t, q in enumerate(order):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        X, y = data.X64[rows], data.y[rows]
        value, gradient = loss.value_and_gradient(X @ w, y, [0, len(y)])
        assert found.losses[t] == pytest.approx(value[0], rel=1e-12, abs=1e-13)
        assert found.gradient_norms[t] == pytest.approx(np.linalg.norm(X.T @ gradient), rel=1e-10, abs=1e-12)
        iterates.append(w)
        moved = w - steps[t] * X.T @ gradient
        outside += norm(moved, ball) > 0.7 * (1 + 1e-12)
        at_the_edge += abs(norm(moved, ball) / 0.7 - 1) <= 1e-12
        w = project(moved, 0.7, ball)
    np.testing.assert_allclose(found.w, w, atol=1e-12)
    np.testing.assert_allclose(found.average, np.mean(iterates, axis=0), atol=1e-12)
    assert outside <= found.projections <= outside + at_the_edge


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_runs_side_by_side_are_those_one_by_one(name, ball):
    data, loss = drawn(20, d=4), surrogates.create(name)
    orders = np.random.default_rng(2).integers(0, data.n_queries, (3, 30))
    given = {"step": ogd.decreasing_steps(30, 0.1), "radius": 0.1, "ball": ball}
    together = ogd.runs(data, loss, orders=orders, **given)
    assert len(together) == 3
    assert max(one.projections for one in together) > 0
    for one, order in zip(together, orders, strict=True):
        alone = ogd.run(data, loss, order=order, **given)
        assert one.projections == alone.projections
        for name_of in ("w", "average", "losses", "gradient_norms"):
            np.testing.assert_array_equal(getattr(one, name_of), getattr(alone, name_of))


@settings(max_examples=60)
@given(
    st.sampled_from(CONVEX),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-3, 0.03, 0.3]),
    st.sampled_from(["l2", "l1"]),
)
def test_the_regret_bound_holds_against_everybody_in_the_ball(name, seed, eta, ball):
    rng = np.random.default_rng(seed)
    data, loss = drawn(20, d=4, seed=int(rng.integers(1000))), surrogates.create(name)
    order = rng.integers(0, data.n_queries, 40)
    found = ogd.run(data, loss, step=eta, order=order, radius=1.0, ball=ball)
    for u in (np.zeros(4), *(project(2 * rng.standard_normal(4), 1.0, ball) for _ in range(5)), found.w):
        comparator = loss.value(data.X64 @ u, data.y, data.offsets)[order].sum()
        allowed = u @ u / (2 * eta) + eta / 2 * np.sum(found.gradient_norms**2)
        assert found.losses.sum() - comparator <= allowed * (1 + 1e-9) + 1e-9


@given(st.integers(1, 10**6), st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10))
def test_the_lipschitz_step_is_the_best_for_its_bound(n, radius, lipschitz, feature_norm):
    step = ogd.lipschitz_step(n, radius=radius, lipschitz=lipschitz, feature_norm=feature_norm)

    def bound(log_step):
        eta = np.exp(log_step)
        return radius**2 / (2 * eta) + eta * (lipschitz * feature_norm) ** 2 * n

    assert bound(np.log(step)) <= min(bound(np.log(step) + shift) for shift in (-0.1, -0.01, 0.01, 0.1))
    # and gives Theorem 5: G W2 R_X sqrt(2 / n)
    assert bound(np.log(step)) / n == pytest.approx(lipschitz * radius * feature_norm * np.sqrt(2 / n), rel=1e-9)


@given(st.integers(1, 10**6), st.floats(0.1, 10), st.floats(0.1, 10), st.sampled_from([0.0, 1e-4, 0.3, 5.0]))
def test_the_smooth_step_is_the_best_for_its_bound(n, radius, smoothness, risk):
    step = ogd.smooth_step(n, radius=radius, smoothness=smoothness, optimal_risk=risk)

    def bound(share):  # of the largest step, 1 / (4 H)
        eta = share / (4 * smoothness)
        return risk / (1 - share) + radius**2 / (2 * eta * (1 - share) * n)

    best = minimize_scalar(bound, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12})
    assert bound(4 * smoothness * step) <= best.fun * (1 + 1e-9)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"step": 0.0}, "step: expected numbers > 0"),
        ({"step": [0.1, np.nan]}, r"step\[1\]: .*found nan"),
        ({"order": [0, 20]}, r"order\[1\]: .*from 0 to 19, found 20"),
    ],
)
def test_wrong_arguments_are_refused(wrong, said):
    with pytest.raises(DataError, match=said):
        ogd.run(drawn(20, d=4), "listnet", **{"step": 0.1, **wrong})
    side_by_side = {"orders": [wrong.pop("order", [0])], "step": 0.1, **wrong}
    with pytest.raises(DataError, match=said.replace(r"order\[1", r"orders\[0, 1")):
        ogd.runs(drawn(20, d=4), "listnet", **side_by_side)


def test_steps_that_overflow_are_named():
    with pytest.raises(DataError, match="step: too large"), np.errstate(all="ignore"):
        ogd.run(drawn(20, d=4), "squared", step=1e30, order=np.zeros(60, int))


def test_what_is_recorded_of_a_step_is_the_mean_loss_of_all_rounds():
    data = drawn()
    wanted = {"surrogate": "squared", "step": [0.01, 0.1], "passes": 2, "features": "raw"}
    record = ogd.train(data, data, wanted, 4).record
    order = rounds.random_passes(data.n_queries, 2, 4)
    for tried in record["tried"]:
        steps = ogd.decreasing_steps(len(order), tried["step"])
        losses = ogd.run(data, "squared", step=steps, order=order).losses
        assert tried["mean_loss"] == pytest.approx(losses.mean())
        assert losses.mean() != pytest.approx(losses[-1], rel=0.01)
