"""Is the minimum found the minimum, and does the certified gap never promise too much?"""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pipeline_lib import RankingData, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners import erm
from pipeline_lib.surrogates.base import Surrogate
from tests.learners.test_many_features import of_programme, reference, reference_in_l1_ball
from tests.samples import drawn, objective

SMOOTH = ("listnet", "ranknet", "squared")
ALL = (*SMOOTH, "ranksvm")


def population(n=12, m=(2, 9), d=4, seed=0, noise=1.0):
    """No direction separates the pairs, unless there is no noise."""
    return drawn(n, m, d, seed, noise)


def smooth_optimum(data, surrogate, l2, radius=None):
    """By a general solver that knows nothing of ours; without a ball, polished by its own Newton method."""

    def value_and_gradient(w):
        values, gradient = surrogate.value_and_gradient(data.X64 @ w, data.y, data.offsets)
        Q = data.n_queries
        return 0.5 * l2 * w @ w + values.mean(), l2 * w + data.X64.T @ gradient / Q

    w = np.zeros(data.n_features)
    if radius is None:
        return minimize(value_and_gradient, w, jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    ball = {"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}
    options = {"ftol": 1e-15, "maxiter": 1000}
    return minimize(value_and_gradient, w, jac=True, method="SLSQP", constraints=[ball], options=options).fun


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("l2", [1e-4, 1e-2, 1.0, 100.0])
def test_smooth_minimum(name, l2):
    data, surrogate = population(), surrogates.create(name)
    result = erm.fit(data, name, l2=l2, tol=1e-9)
    best = smooth_optimum(data, surrogate, l2)
    assert result.certified
    assert result.certificate == "duality"
    assert result.objective == pytest.approx(objective(data, surrogate, l2, result.w), rel=1e-14)
    assert result.objective - best <= result.gap + 1e-10 * best
    assert result.objective <= best * (1 + 1e-9)


@pytest.mark.parametrize("l2", [0.0, 0.01, 0.3, 10.0])
def test_ranksvm_minimum(l2):
    data = population(5, (2, 5), 3)
    # Without l2 it is a linear programme, whose slopes are 0 up to rounding; the minimum is far inside the l1 ball.
    result = erm.fit(data, "ranksvm", l2=l2, tol=1e-8 if l2 else 1e-7)
    best = reference(data, "ranksvm", l2) if l2 else reference_in_l1_ball(data, "ranksvm", 1e3)
    assert result.certified, result.reason
    assert result.objective == pytest.approx(best, rel=1e-7)
    assert result.objective - best <= result.gap + 1e-7 * best


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_active_ball(name, l2):
    data, surrogate = population(6, d=3), surrogates.create(name)
    free = erm.fit(data, name, l2=l2)
    radius = 0.4 * float(np.linalg.norm(free.w))
    result = erm.fit(data, name, l2=l2, radius=radius, tol=1e-7)
    assert result.certified
    assert np.linalg.norm(result.w) <= radius * (1 + 1e-12)
    rng = np.random.default_rng(0)
    for _ in range(200):  # the bound holds against everybody in the ball
        v = rng.normal(size=3)
        v *= radius * rng.random() ** (1 / 3) / np.linalg.norm(v)
        assert objective(data, surrogate, l2, v) >= result.objective - result.gap - 1e-12
    if name != "ranksvm":
        assert result.objective == pytest.approx(smooth_optimum(data, surrogate, l2, radius), rel=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_inactive_ball_changes_nothing(name):
    data = population()
    free = erm.fit(data, name, l2=0.1, tol=1e-9)
    held = erm.fit(data, name, l2=0.1, radius=2 * float(np.linalg.norm(free.w)), tol=1e-9)
    assert held.certified
    np.testing.assert_allclose(held.w, free.w, atol=1e-3 * np.linalg.norm(free.w))
    assert held.objective == pytest.approx(free.objective, rel=2e-9)


def with_features(data, X):
    return RankingData.from_arrays(X, data.y, np.repeat(data.qids, data.documents_per_query))


@pytest.mark.parametrize("name", SMOOTH)
def test_unregularised_minimum_with_redundant_features(name):
    narrow = population(noise=2.0)
    narrow = with_features(narrow, np.round(64 * narrow.X) / 64)  # sums of features are exact in storage
    # a copy of a feature, a sum of two and (if a shift is nothing) a constant: F has the same minimum at many w
    X = np.column_stack([narrow.X, narrow.X[:, 0], narrow.X[:, 1] + narrow.X[:, 2], np.ones(narrow.n_documents)])
    wide = with_features(narrow, X[:, :-1] if name == "squared" else X)
    result = erm.fit(wide, name, l2=0.0, tol=1e-9)
    best = smooth_optimum(narrow, surrogates.create(name), 0.0)
    assert result.certified, result.reason
    assert result.certificate == "self-concordance"
    assert result.objective == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("name", SMOOTH)
def test_unregularised_minimum_with_nearly_redundant_features(name):
    narrow = population(noise=2.0)
    X = np.column_stack([narrow.X64, narrow.X64[:, 1] + narrow.X64[:, 2]])  # apart by float32's rounding only
    result = erm.fit(with_features(narrow, X), name, l2=0.0, tol=1e-9)
    assert result.certified, result.reason
    assert np.abs(result.w).max() > 1e3
    assert result.objective < erm.fit(narrow, name, l2=0.0, tol=1e-9).objective


def test_features_of_very_different_units():
    data = population(noise=2.0)
    units = np.array([1e4, 1.0, 1e-3, 10.0])
    scaled = with_features(data, data.X64 * units)
    for name in ALL:
        here, there = (erm.fit(one, name, l2=0.0) for one in (data, scaled))
        assert here.certified
        assert there.certified, (name, there.reason)
        assert there.objective == pytest.approx(here.objective, rel=1e-5)


def test_infimum_that_is_not_attained_is_not_certified():
    data = RankingData.from_arrays([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], [1, 1, 2, 2])
    result = erm.fit(data, "ranknet", l2=0.0)
    assert not result.certified
    assert "attained" in result.reason
    assert math.isinf(result.gap)
    assert erm.fit(data, "ranknet", l2=0.0, radius=3.0).certified
    assert erm.fit(data, "ranksvm", l2=0.0).certified  # the hinge attains 0


@pytest.mark.parametrize("name", ALL)
def test_nothing_to_learn(name):
    same = RankingData.from_arrays(np.ones((4, 2)), [1, 1, 1, 1], [1, 1, 2, 2])
    for l2 in (0.0, 1.0):
        result = erm.fit(same, name, l2=l2)
        assert result.certified, result.reason
        assert np.isfinite(result.w).all()


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    l2=st.sampled_from([0.0, 1e-3, 0.1, 5.0]),
    tol=st.sampled_from([0.5, 1e-2, 1e-5]),
    radius=st.sampled_from([None, 0.2, 2.0]),
)
@example(seed=36, l2=1e-3, tol=1e-5, radius=None)  # once, the two documents of a pair rounded its slope differently
def test_gap_is_an_upper_bound(name, seed, l2, tol, radius):
    data, surrogate = population(5, (2, 6), 3, seed), surrogates.create(name)
    result = erm.fit(data, name, l2=l2, radius=radius, tol=tol)
    assert result.gap >= 0.0
    assert result.certified == (result.relative_gap <= tol)
    # nothing that a far more patient run or a random walk finds lies below the bound
    better = erm.fit(data, name, l2=l2, radius=radius, tol=1e-9).w
    rng = np.random.default_rng(seed)
    for w in (better, *(better + 0.1 * rng.normal(size=(20, 3)))):
        if radius is not None:
            w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        assert objective(data, surrogate, l2, w) >= result.objective - result.gap - 1e-12 * result.objective


class Absolute(Surrogate):
    """sum |s_i - y_i|: values and subgradients only."""

    name = "absolute"

    def unchecked(self, scores, y, offsets):
        values = np.add.reduceat(np.abs(scores - y), offsets[:-1]) if len(scores) else np.zeros(0)
        return values, np.sign(scores - y)


def test_any_convex_surrogate_is_solved_by_cutting_planes():
    data = population()
    result = erm.fit(data, Absolute(), l2=0.1, tol=1e-8)
    assert result.certified
    assert result.certificate == "cutting planes"
    # |X w - y| is the larger of X w - y and y - X w.
    y = data.y.astype(float)
    slopes, documents = np.vstack([data.X64, -data.X64]), np.tile(np.arange(data.n_documents), 2)
    best = of_programme(np.r_[-y, y], slopes, documents, data.n_queries, 0.1)
    assert result.objective == pytest.approx(best, rel=1e-7)
    with pytest.raises(DataError, match="cutting planes"):
        erm.fit(data, Absolute(), l2=0.0)


@pytest.mark.parametrize("name", ALL)
def test_path_equals_single_fits(name):
    data = population()
    values = [0.01, 10.0, 0.0, 1.0]
    found = erm.path(data, name, values, tol=1e-7)
    for l2, result in zip(values, found, strict=True):
        single = erm.fit(data, name, l2=l2, tol=1e-7)
        assert result.certified
        assert result.objective == pytest.approx(single.objective, rel=2e-7)


@pytest.mark.parametrize("name", ALL)
def test_any_start_gives_the_same_minimum(name):
    data = population()
    plain = erm.fit(data, name, l2=0.1, radius=1.0, tol=1e-8)
    far = erm.fit(data, name, l2=0.1, radius=1.0, tol=1e-8, start=np.full(4, 50.0))
    assert far.certified
    assert far.objective == pytest.approx(plain.objective, rel=2e-8)


def test_what_cannot_be_fitted_is_refused():
    for start in ([1.0], [math.nan] * 4):
        with pytest.raises(DataError, match="start"):
            erm.fit(population(), "listnet", l2=1.0, start=start)
    with pytest.raises(DataError, match="at least one query"):
        erm.fit(population().take([]), "listnet", l2=1.0)
    with pytest.raises(DataError, match="at least one value"):
        erm.path(population(), "listnet", [])


def test_train_passes_options():
    train = population(seed=1)
    base = {"surrogate": "ranksvm", "l2": [1.0], "selection": "p@1"}
    total, mean = (
        erm.train(train, train, {**base, "options": {"normalisation": how}}, 0).record["path"][0]["objective"]
        for how in ("sum", "mean")
    )
    assert total > 2 * mean


COUNTS = [2, 0, 1, 5, 3, 1]


@pytest.mark.parametrize("name", ["listnet", "squared", "ranksvm", "slam-ndcg", "structured-ndcg", "svm-map"])
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("where", [{"l2": 0.1}, {"l2": 0.0, "radius": 0.5}, {"l2": 0.0, "radius": 0.5, "ball": "l1"}])
def test_a_weight_is_a_number_of_copies(name, d, where):
    data = population(6, (2, 6), d)
    weighted = erm.fit(data, name, weights=COUNTS, **where)
    repeated = erm.fit(data.take(np.repeat(np.arange(6), COUNTS)), name, **where)
    assert weighted.certified
    assert repeated.certified
    assert weighted.certificate == repeated.certificate
    assert weighted.objective == pytest.approx(repeated.objective, rel=3e-6)


def test_of_equally_good_l2_the_largest_is_kept():
    # One feature orders all documents alike, whatever its weight.
    data = RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 2], [1, 1, 1])
    wanted = {"surrogate": "squared", "l2": [0.01, 10.0, 0.1], "features": "raw"}
    assert erm.train(data, data, wanted, 0).record["l2"] == 10.0
