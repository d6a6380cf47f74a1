"""The perceptron's bounds: both sides by plain formulas, comparators that nothing beats, margins by a second method."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import perceptron
from pipeline_lib.surrogates import slam
from pipeline_lib.theory import perceptron_bounds
from tests.samples import drawn

MEASURES = ["ndcg", "map", "ndcg@3"]


def differences(data: RankingData) -> np.ndarray:
    """x_i - x_j of all pairs of a query with y_i > y_j."""
    queries = zip(data.offsets[:-1], data.offsets[1:], strict=True)
    pairs = ((i, j) for a, b in queries for i, j in itertools.product(range(a, b), repeat=2))
    return np.array([data.X64[i] - data.X64[j] for i, j in pairs if data.y[i] > data.y[j]])


@pytest.mark.parametrize("measure", MEASURES)
def test_ratios_are_those_of_equation_16(measure):
    data = drawn(seed=1, ties=0.1)
    order = np.random.default_rng(1).integers(0, 12, 60)
    result = perceptron.run(data, order, measure)
    found = perceptron_bounds.ratios(data, order, result, measure)
    met = data.take(np.unique(order))
    m, longest = int(np.diff(met.offsets).max()), np.square(met.X64).sum(axis=1).max()
    if measure == "ndcg@3":
        m = min(m, 3)
    plain = []
    for t in np.flatnonzero(result.mistakes):
        v = slam.weights(data.y[data.offsets[order[t]] : data.offsets[order[t] + 1]], measure)
        own = v.max() / v[v > 0].min()
        plain.append(result.squared_norms[t] / (4 * m * longest * own * result.surrogate_losses[t]))
    np.testing.assert_allclose(found, plain, rtol=1e-12)
    assert (found <= 1.0).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from(MEASURES), st.sampled_from(["margin", "misordered"]))
@settings(max_examples=60)
def test_the_bound_holds_at_the_best_comparator(seed, measure, active):
    data = drawn(seed=seed % 1000, noise=[0.0, 1.0, 5.0][seed % 3], ties=0.1)
    order = np.random.default_rng(seed).integers(0, 12, 80)
    # With misordered documents any step will do: the run does not depend on it.
    step = "theory" if active == "margin" or seed % 2 else 0.3
    result = perceptron.run(data, order, measure, step, active)
    factor = perceptron.norm_factor(data, order, measure, active)
    side = perceptron_bounds.right_side(data, order[result.mistakes], factor, measure)
    assert side.certified
    assert result.losses.sum() <= side.bound + 1e-9


@pytest.mark.parametrize("measure", MEASURES)
def test_no_other_comparator_is_better_than_the_gap_says(measure):
    data = drawn(seed=3, ties=0.1)
    mistaken = np.random.default_rng(3).integers(0, 12, 200)
    factor = 7.0
    labels = np.minimum(data.y, 1) if measure == "map" else data.y
    loss = surrogates.create(f"slam-{measure}")

    def right(u):
        return 2 * loss.value(data.X64 @ u, labels, data.offsets)[mistaken].sum() + factor * (u @ u)

    found = perceptron_bounds.right_side(data, mistaken, factor, measure, tol=1e-6)
    assert found.bound == pytest.approx(right(found.u), rel=1e-12)
    assert found.bound == pytest.approx(2 * found.comparator_loss + factor * found.u @ found.u, rel=1e-12)
    assert found.gap <= 1e-6 * found.bound
    other = minimize(right, found.u, method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-9, "fatol": 1e-9})
    assert other.fun >= found.bound - found.gap - 1e-9


def test_without_mistakes_the_bound_is_0():
    found = perceptron_bounds.right_side(drawn(ties=0.1), np.zeros(0, int), 1.0)
    assert (found.bound, found.comparator_loss, found.certified) == (0.0, 0.0, True)


def test_the_largest_margin_in_two_dimensions_is_that_of_a_scan():
    data = drawn(10, (1, 4), 2, seed=4, noise=0.0)
    found = perceptron_bounds.largest_margin(data, tol=1e-6)
    apart = differences(data)
    angles = np.linspace(0, 2 * np.pi, 200_001)
    scanned = (apart @ np.array([np.cos(angles), np.sin(angles)])).min(axis=0).max()
    # The scan's angles are 3e-5 apart and differences at most 10 long: it misses the supremum by less than 1e-3.
    assert scanned <= found.gamma + found.gap
    assert found.gamma <= scanned + 1e-3
    assert found.gamma == pytest.approx((apart @ found.u).min(), rel=1e-12)
    assert np.linalg.norm(found.u) <= 1 + 1e-9


@pytest.mark.parametrize("d", [10, 33, 50])
def test_the_largest_margin_of_orthogonal_differences(d):
    # One query for every axis, and its unit vector preferred to 0: u = (1, ..., 1) / sqrt(d). All planes of the model
    # pass through 0.
    X = np.zeros((2 * d, d))
    X[np.arange(1, 2 * d, 2), np.arange(d)] = 1.0
    data = RankingData.from_arrays(X, np.tile([0, 1], d), np.repeat(np.arange(d), 2))
    with np.errstate(all="raise", under="ignore"):
        found = perceptron_bounds.largest_margin(data)
    assert found.gamma <= 1 / np.sqrt(d) + 1e-12
    assert found.gamma + found.gap >= 1 / np.sqrt(d) - 1e-12
    assert found.gap <= 1e-3 * found.gamma * (1 + 1e-9)


def test_the_largest_margin_is_positive_only_where_a_linear_ranker_separates():
    for seed in range(6):
        data = drawn(4, (1, 4), seed=seed, noise=3.0 * (seed % 2))
        pairs = -differences(data)
        separable = linprog(np.zeros(3), A_ub=pairs, b_ub=-np.ones(len(pairs)), bounds=(None, None)).status == 0
        found = perceptron_bounds.largest_margin(data)
        assert (found.gamma > 1e-6) == separable


def test_corollary_6_holds_for_every_length_of_a_separable_stream():
    data = drawn(15, (1, 5), seed=7, noise=0.0)
    gamma = perceptron_bounds.largest_margin(data).gamma
    assert gamma > 0.0
    result = perceptron.run(data, np.tile(np.arange(15), 400), "ndcg", "theory")
    assert (np.cumsum(result.losses) <= perceptron.norm_factor(data) / gamma**2).all()


def test_ratios_need_the_order_of_their_run():
    data = drawn(ties=0.1)
    with pytest.raises(DataError, match="order: expected the 2 rounds of the run, found 3"):
        perceptron_bounds.ratios(data, [0, 1, 2], perceptron.run(data, [0, 1]))


@pytest.mark.parametrize("order", [[], [0, 0]])
def test_without_mistakes_there_are_no_ratios(order):
    data = RankingData.from_arrays([[0.0], [1.0]], [1, 1], [7, 7])
    assert perceptron_bounds.ratios(data, order, perceptron.run(data, order)).shape == (0,)


def test_a_margin_needs_two_labels():
    data = RankingData.from_arrays([[0.0], [1.0]], [1, 1], [7, 7])
    with pytest.raises(DataError, match="data: expected a query with two different labels, found none"):
        perceptron_bounds.largest_margin(data)
    with pytest.raises(DataError, match=r"mistaken.*, found 3"):
        perceptron_bounds.right_side(data, [3], 1.0)


def test_orthogonal_lists_come_to_two_thirds_of_the_bound_that_is_free_of_the_length() -> None:
    """Theorem 1 of the page on that bound, N <= 2 F + |u|^2 (2/eta + D^2), at the best multiple of the sum of axes."""
    lists, documents, eta = 20, 5, 1.0
    labels = np.eye(documents, dtype=np.int64)[-1]  # the relevant document stands last, where equal scores leave it
    X = np.kron(np.eye(lists), 2.0 * labels[:, None] - 1.0)
    data = RankingData.from_arrays(X, np.tile(labels, lists), np.repeat(np.arange(lists), documents))
    loss = perceptron.run(data, np.arange(lists), measure="map", eta=eta).losses.sum()
    assert loss == pytest.approx(lists * (1 - 1 / documents))
    along = np.linspace(0.0, 0.5, 50_001)  # documents of one list are 2 apart, so that every hinge is 1 - 2 s
    bound = np.min(2 * loss * (1 - 2 * along) + lists * along**2 * (2 / eta + 4))
    assert loss / bound == pytest.approx(0.68, abs=0.005)
