"""Are the losses of pairs the averages that the paper writes down?"""

import itertools

import numpy as np
import pytest

from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import erm
from pipeline_lib.theory import pair_losses

PHI = {"hinge": lambda t: max(0.0, 1.0 + t), "logistic": lambda t: np.log(1.0 + np.exp(t)), "exponential": np.exp}


def as_printed(name: str, scores: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for j in range(len(y)):
        for k in range(len(y)):
            if j == k:
                continue
            if name == "zero-one":
                total += (int(y[j]) - int(y[k])) * (scores[j] - scores[k]) < 0
            else:
                total += PHI[name](-np.sign(int(y[j]) - int(y[k])) * (scores[j] - scores[k]))
    return total / (len(y) * (len(y) - 1))


@pytest.mark.parametrize("name", sorted(pair_losses.LOSSES))
def test_values_are_the_averages_of_equation_1(name):
    rng = np.random.default_rng(0)
    lengths = [2, 3, 7, 40, 90]  # on both sides of the limit for passes over pairs
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scores = np.round(rng.normal(size=offsets[-1]), 1)  # many ties
    y = rng.integers(0, 4, offsets[-1])
    values = pair_losses.get(name).values(scores, y, offsets)
    expected = [as_printed(name, scores[a:b], y[a:b]) for a, b in itertools.pairwise(offsets)]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(pair_losses.LOSSES))
def test_range_and_slope_hold_and_are_reached(name):
    loss, b = pair_losses.get(name), 1.3
    t = np.linspace(-2 * b, 2 * b, 2001)
    phi = loss.of_difference(t)
    assert phi.min() >= 0.0
    assert phi.max() == pytest.approx(loss.largest(b))
    assert loss.of_difference(np.zeros(1))[0] == pytest.approx(loss.at_zero)
    if name != "zero-one":
        slopes = np.diff(phi) / np.diff(t)
        assert slopes.max() <= loss.slope(b) + 1e-9
        assert slopes.max() == pytest.approx(loss.slope(b), rel=0.01)


@pytest.mark.parametrize("name", ["hinge", "logistic", "exponential"])
def test_derivatives_are_those_of_phi(name):
    loss, t, step = pair_losses.get(name), np.array([-3.1, -1.3, -0.4, 0.2, 2.5]), 1e-5
    slope = (loss.of_difference(t + step) - loss.of_difference(t - step)) / (2 * step)
    np.testing.assert_allclose(loss.derivative(t), slope, rtol=1e-8)


def test_minimising_the_objective_minimises_the_risk():
    rng = np.random.default_rng(1)
    lengths = np.array([2, 9, 4, 6])
    data = RankingData.from_arrays(rng.normal(size=(21, 2)), rng.integers(0, 3, 21), np.repeat(np.arange(4), lengths))
    loss = pair_losses.get("logistic")
    fitted = erm.fit(data, loss.objective(), l2=0.0, radius=1.0)
    risk = loss.values(data.X64 @ fitted.w, data.y, data.offsets).mean()
    for angle in np.linspace(0.0, 2 * np.pi, 60):
        w = np.array([np.cos(angle), np.sin(angle)])
        for length in (0.3, 0.8, 1.0):
            assert risk <= loss.values(data.X64 @ (length * w), data.y, data.offsets).mean() + 1e-6


def test_errors():
    with pytest.raises(DataError, match="query 1: expected at least two documents to form a pair, found 1"):
        pair_losses.get("hinge").values([0.0, 1.0, 2.0], [0, 1, 1], [0, 2, 3])
    with pytest.raises(ConfigurationError, match="did you mean 'hinge'"):
        pair_losses.get("hing")
    with pytest.raises(DataError, match="convex"):
        pair_losses.get("zero-one").objective()
