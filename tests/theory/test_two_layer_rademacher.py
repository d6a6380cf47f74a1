"""Do the Monte Carlo averages agree with exact enumeration, with each other, and with what they bound?"""

import itertools

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory import two_layer_rademacher as rademacher

DRAWS = 20_000


def sample(lengths, d, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X, y = rng.normal(size=(offsets[-1], d)), rng.permutation(offsets[-1])  # no two labels equal
    return X, y, offsets


@pytest.mark.parametrize(("lengths", "d"), [([2, 2, 2], 2), ([7], 3), ([2, 5, 4], 1), ([6, 6], 4)])
def test_monte_carlo_agrees_with_enumeration(lengths, d):
    pairs = rademacher.disjoint_pairs(*sample(lengths, d, seed=3))
    found = rademacher.two_layer(pairs, 1.5, DRAWS, np.random.default_rng(0))
    exact = rademacher.exactly(pairs.differences, pairs.weights, 1.5)
    assert abs(found.estimate - exact) < 3 * found.standard_error
    assert 0 < found.standard_error < 0.02 * exact


@pytest.mark.parametrize("lengths", [[2, 2, 2, 2], [9]])
def test_reduced_averages_are_ordinary_ones(lengths):
    pairs = rademacher.disjoint_pairs(*sample(lengths, 3, seed=5))
    k = len(pairs.differences)
    exact = rademacher.exactly(pairs.differences, pairs.weights, 1.0)
    assert exact == pytest.approx(rademacher.exactly(pairs.differences, np.full(k, 2 / k), 1.0))
    found = rademacher.ordinary(pairs.differences, 1.0, DRAWS, np.random.default_rng(1))
    assert abs(found.estimate - exact) < 3 * found.standard_error


def test_pairs_are_disjoint_and_signed():
    X, y, offsets = np.arange(7.0)[:, None], np.array([2, 0, 1, 0, 1, 1, 0]), np.array([0, 4, 7])
    pairs = rademacher.disjoint_pairs(X, y, offsets)
    # (0, 2): labels 2, 1; (1, 3): equal; (4, 5): equal; 6 is left out
    assert pairs.differences.ravel().tolist() == [-2.0, 0.0, 0.0]
    assert pairs.owner.tolist() == [0, 0, 1]
    assert pairs.weights.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("name", ["hinge", "logistic", "exponential"])
@pytest.mark.parametrize("radius", [0.01, 0.5, 1.5])
def test_the_contracted_average_bounds_the_exact_one(name, radius):
    # One feature in [-1, 1] and w on a grid of [-W, W]: the supremum over the grid is below that over all w.
    loss, rng = pair_losses.get(name), np.random.default_rng(7)
    d = rng.uniform(-2.0, 2.0, 6) * rng.integers(0, 2, 6)  # some pairs have equal labels
    w = np.linspace(-radius, radius, 201)
    values = loss.of_difference(-np.outer(w, d))
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=6)))
    exact = np.abs(2 / 6 * values @ signs.T).max(axis=0).mean()
    linear = rademacher.exactly(d[:, None], np.full(6, 2 / 6), radius)
    assert exact <= rademacher.contracted(linear, 6, loss, radius) + 1e-12
    if radius == 0.01:  # the share of phi(0) is what remains of a small class: the bound is not loose there
        assert exact > 0.9 * rademacher.contracted(0.0, 6, loss, radius)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_expected_walk(k):
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=k)))
    found = rademacher.contracted(0.0, k, pair_losses.get("hinge"), 1.0) * k / 2
    assert found == pytest.approx(np.abs(signs.sum(axis=1)).mean())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda rng: rademacher.disjoint_pairs(np.ones((3, 1)), [1, 0, 1], [0, 2, 3]),
            "query 1: expected at least two",
        ),
        (lambda rng: rademacher.exactly(np.ones((21, 1)), np.ones(21), 1.0), "at most 20 pairs"),
        (lambda rng: rademacher.contracted(1.0, 2, pair_losses.get("zero-one"), 1.0), "largest slope"),
        (lambda rng: rademacher.Pairs(np.ones((2, 1)), np.array([0, 2])), "owner: expected the query of each of 2"),
        (
            lambda rng: rademacher.two_layer(rademacher.Pairs(np.ones((0, 1)), np.zeros(0, int)), 1.0, 10, rng),
            "at least one pair",
        ),
        (lambda rng: rademacher.contracted(0.1, 2, pair_losses.get("exponential"), 1000.0), "exponential: expected"),
    ],
)
def test_wrong_samples_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call(np.random.default_rng(0))
