"""Is the best depth of judging measured in the right metric, and do trained rankers follow it?"""

import numpy as np
import pytest
from scipy.optimize import minimize

from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.tradeoff import depth
from pipeline_lib.theory import pair_losses

SETTINGS = {"features": 3, "label_shares": [0.5, 0.5], "query_noise": 1.0, "query_spread": 0.3}


@pytest.mark.parametrize("name", ["logistic", "exponential"])
@pytest.mark.parametrize(("radius", "held"), [(0.3, True), (50.0, False)])
def test_the_metric_is_how_the_minimiser_moves(name, radius, held):
    # Tilt the risk by a small linear term: the minimiser over the ball moves by minus A times the tilt.
    rng = np.random.default_rng(0)
    loss, pairs = pair_losses.get(name), rng.normal(0.3, 1.0, (400, 3))

    def minimiser(tilt: np.ndarray) -> np.ndarray:
        found = minimize(
            lambda w: loss.of_difference(-(pairs @ w)).mean() + tilt @ w,
            np.full(3, 0.1),
            jac=lambda w: -(loss.derivative(-(pairs @ w)) @ pairs) / len(pairs) + tilt,
            constraints=[{"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        return found.x

    w = minimiser(np.zeros(3))
    assert (np.linalg.norm(w) > radius * (1 - 1e-7)) == held
    root = depth._root_of_metric(pairs, loss, loss.curvature(-(pairs @ w)), radius, w)
    for axis in range(3):
        tilt = np.zeros(3)
        tilt[axis] = 1e-3
        moved = (minimiser(tilt) - minimiser(-tilt)) / 2e-3
        np.testing.assert_allclose(-root @ root[axis], moved, atol=2e-3 * np.abs(root @ root.T).max())


def test_gradients_average_to_that_of_the_training_risk():
    population = risks.population(SETTINGS)
    loss, w = pair_losses.get("logistic"), np.array([0.5, -1.0, 0.3])
    data = population.draw(20, np.random.default_rng(0), depth.DOCUMENTS)
    found = depth._gradients(data, loss, w).mean(axis=(0, 1))
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = 1e-5
        slope = (risks.empirical(data, loss, w + step) - risks.empirical(data, loss, w - step)) / 2e-5
        assert found[axis] == pytest.approx(slope, rel=1e-6)


def test_trained_rankers_follow_the_depth():
    # C = 1200 documents: the depth by variance is near 5, and both ends are worse in the logistic risk.
    population = risks.population(SETTINGS)
    loss, rng = pair_losses.get("logistic"), generator("depth", role="reference")
    best = risks.best_ranker(population, loss, 5.0, 40_000, rng)
    found = depth.by_variance(population, loss, 5.0, best, 10_000, rng)
    assert found is not None
    assert found.standard_error < 0.3
    near = next(m for m in (2, 3, 4, 5, 6, 8, 10) if m >= found.estimate - 1)
    pool = risks.Pool.of(population.draw(40_000, rng.continued("truth"), 2))
    excess = {}
    for m in (2, near, 60):
        weights = [risks.fitted(population.draw(1200 // m, rng, m), loss, 5.0)[0] for _ in range(150)]
        values, _ = pool.risk(loss, np.column_stack([*weights, best]))
        excess[m] = values[:-1] - values[-1]
    for end in (2, 60):
        difference = excess[end].mean() - excess[near].mean()
        error = np.hypot(excess[end].std(), excess[near].std()) / np.sqrt(150)
        assert difference > 2 * error


def test_a_loss_without_curvature_has_no_depth():
    args = (5.0, np.ones(3), 100, np.random.default_rng(0))
    assert depth.by_variance(risks.population(SETTINGS), pair_losses.get("hinge"), *args) is None
