"""Does ConeRank solve problem (18), in every way it offers, and rank as Algorithm 2 does?"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pipeline_lib import RankingData
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners import cone, cone_kernels
from pipeline_lib.learners.cone_ranking import FoldIn, direction, same_order, votes
from tests.samples import drawn


def differences(data: RankingData, problem: cone.Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """z, phi and query of every pair, plainly."""
    z, phi, query = [], [], []
    for q in range(data.n_queries):
        rows = range(data.offsets[q], data.offsets[q + 1])
        for high in rows:
            for low in rows:
                if data.y[high] > data.y[low]:
                    raw = data.X64[high] - data.X64[low]
                    z.append(problem.rho_of(data.n_features) * raw / (problem.alpha + np.linalg.norm(raw)))
                    phi.append(data.y[high] - data.y[low] if problem.weighted else 1)
                    query.append(q)
    return np.array(z), np.array(phi, float), np.array(query)


def folded_in(
    data: RankingData,
    U: np.ndarray,
    query: int,
    *,
    method: cone.Method,
    problem: cone.Problem = cone.PUBLISHED,
    step: float | None = None,
    fold_steps: int = 10,
    fold_tol: float = cone.FOLD_TOL,
) -> np.ndarray:
    """The coefficients of every pair of one query, (l, m) with y_l > y_m in the order of l, then m: (pairs, K)."""
    (d, K), y = U.shape, data.y[data.offsets[query] : data.offsets[query + 1]]
    how, numbers = cone._for_kernels(method, problem, step, fold_steps, fold_tol, d)
    W, ends = np.empty((int((y[:, None] > y).sum()), K)), (int(data.offsets[query]), int(data.offsets[query + 1]))
    sums, G = (np.zeros((K, K)), np.zeros((d, K))), cone_kernels.gram(U)
    cone_kernels.visit(data.X64, data.y, *ends, U, G, how, numbers, cone._key_of((0,)), 0, *sums, W)
    return W


def smallest_loss(U: np.ndarray, z: np.ndarray, low: float, high: float) -> float:
    """min ||z - U w||^2 over w >= 0, low <= sum w <= high, by a general solver from several starts."""
    K = U.shape[1]
    bounds = [{"type": "ineq", "fun": lambda w: w.sum() - low}, {"type": "ineq", "fun": lambda w: high - w.sum()}]
    if low == high:
        bounds = [{"type": "eq", "fun": lambda w: w.sum() - low}]
    starts = [np.full(K, (low + high) / (2 * K)), *(low * np.eye(K))]
    options = {"ftol": 1e-14, "maxiter": 500}
    found = [
        minimize(
            lambda w: np.sum((z - U @ w) ** 2),
            start,
            jac=lambda w: 2 * U.T @ (U @ w - z),
            bounds=[(0, None)] * K,
            constraints=bounds,
            method="SLSQP",
            options=options,
        ).fun
        for start in starts
    ]
    return float(min(found))


@pytest.mark.parametrize("band", [(1.0, 1.0), (1.0, 2.0)])
def test_the_risk_is_the_mean_over_queries_of_the_mean_over_pairs_of_the_smallest_losses(
    band: tuple[float, float],
) -> None:
    data, problem = drawn(3, 5, 4, 0), cone.Problem(band=band)
    z, phi, query = differences(data, problem)
    U = np.random.default_rng(1).standard_normal((4, 3))
    losses = np.array([p * smallest_loss(U, one, *band) for one, p in zip(z, phi, strict=True)])
    np.testing.assert_allclose(cone.pair_losses(data, U, problem), losses, rtol=1e-6, atol=1e-6)
    by_query = [losses[query == q].mean() for q in np.unique(query)]
    assert cone.risk(data, U, problem) == pytest.approx(np.mean(by_query), rel=1e-6)
    assert cone.losses(data, U, problem)[1].sum() == len(z)


def test_eg_and_sg_reach_the_same_coefficients_of_a_convex_case() -> None:
    data, problem = drawn(2, 6, 5, 2), cone.Problem()
    U = np.random.default_rng(3).standard_normal((5, 3))
    exact = folded_in(data, U, 0, method="exact")
    z = differences(data, problem)[0][: len(exact)]
    best = np.sum((z - exact @ U.T) ** 2, axis=1)
    for method, steps in (("sg", 20_000), ("eg", 20_000), ("eg-linear", 20_000)):
        w = folded_in(data, U, 0, method=method, step=0.01, fold_steps=steps, fold_tol=1e-13)
        assert (w >= 0).all()
        np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-9)
        assert np.sum((z - w @ U.T) ** 2, axis=1) == pytest.approx(best, rel=1e-4, abs=1e-4)


def test_the_printed_rescaling_ends_elsewhere() -> None:
    # Errata, letter W: its fixed points have a gradient along w, not along 1.
    data, problem = drawn(2, 6, 5, 2), cone.Problem()
    U = np.random.default_rng(3).standard_normal((5, 3))
    exact = folded_in(data, U, 0, method="exact")
    z = differences(data, problem)[0][: len(exact)]
    w = folded_in(data, U, 0, method="sg-printed", step=0.001, fold_steps=50_000, fold_tol=1e-14)
    gap = np.sum((z - w @ U.T) ** 2, axis=1) - np.sum((z - exact @ U.T) ** 2, axis=1)
    assert gap.max() > 0.01
    # On its support w is stationary for the rescaled step, g = lambda w, and not for (18), g = lambda 1.
    slope, support = 2 * (w @ U.T - z) @ U, w > 1e-9
    along = (slope * w).sum(axis=1) / (w * w).sum(axis=1)
    np.testing.assert_allclose(slope[support], (along[:, None] * w)[support], atol=1e-6)


@given(st.integers(0, 2**30), st.sampled_from([(1.0, 1.0), (0.5, 2.0)]))
@example(9182, (0.5, 2.0))  # pair steps alone leave a gap
@settings(max_examples=60)
def test_exact_coefficients_are_certified(seed: int, band: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    problem = cone.Problem(rho=1.0, band=band)
    data = RankingData.from_arrays(rng.standard_normal((2, d)), [0, 1], [1, 1])
    U = rng.standard_normal((d, K)) * rng.choice([0.1, 1.0, 3.0])
    z = differences(data, problem)[0][0]
    w = folded_in(data, U, 0, method="exact", problem=problem)[0]
    assert (w >= 0).all()
    assert band[0] - 1e-9 <= w.sum() <= band[1] + 1e-9
    slope = 2 * U.T @ (U @ w - z)
    best = min(high * slope.min() for high in band)
    assert slope @ w - best <= 1e-8


@given(st.integers(0, 2**30), st.sampled_from([(1.0, 1.0), (0.5, 2.0)]))
@settings(max_examples=60)
def test_the_gap_of_any_coefficients_is_that_to_the_best_end_of_the_band(seed: int, band: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    low, high = band
    U, z = rng.standard_normal((4, 3)), rng.standard_normal(4) * rng.choice([0.1, 1.0, 10.0])
    ends = np.vstack([end * np.eye(3) for end in dict.fromkeys(band)])
    v, w, g = rng.dirichlet(np.ones(len(ends))), np.empty(3), np.empty(3)
    gap = cone_kernels._gap(U.T @ U, U.T @ z, v, low, high, w, g)
    slope = 2 * U.T @ (U @ (v @ ends) - z)
    np.testing.assert_allclose(w, v @ ends)
    assert gap == pytest.approx(slope @ w - (ends @ slope).min())


def inside_long_edges(noise: float) -> tuple[RankingData, np.ndarray]:
    """One pair whose difference lies inside the hull of basis vectors that are ``noise`` long: pair steps zigzag."""
    rng, d = np.random.default_rng(0), 46
    data = RankingData.from_arrays(rng.standard_normal((2, d)), [0, 1], [1, 1])
    z = differences(data, cone.Problem())[0][0]
    edges, w = noise * rng.standard_normal((d, d)), rng.dirichlet(np.ones(d))
    return data, z[:, None] + edges - (edges @ w)[:, None]


def test_folding_in_is_exact_where_pair_steps_zigzag() -> None:
    data, U = inside_long_edges(1e3)
    # The minimum is 0: the difference is a combination of the columns.
    assert cone.pair_losses(data, U)[0] <= cone_kernels.SLACK * cone.ACCURACY * 46
    w, z = folded_in(data, U, 0, method="exact")[0], differences(data, cone.Problem())[0][0]
    slope = 2 * U.T @ (U @ w - z)
    assert (w >= 0).all()
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert slope @ w - slope.min() <= 2 * cone.ACCURACY * 46


@pytest.mark.parametrize("w", [[0.5, 0.75, -1.0], [0.1, -0.2, 0.3], [2.0, 1.5, -1.0], [4.0, 0.0, 0.1]])
def test_the_projection_is_the_nearest_point(w: list[float]) -> None:
    # The sums of the positive parts are within, below, and above the band.
    nearest, low, high = np.array(w), 0.5, 2.0
    cone_kernels._project(nearest, low, high)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 2.0, 81)] * 3), axis=-1).reshape(-1, 3)
    grid = grid[(grid.sum(axis=1) >= low) & (grid.sum(axis=1) <= high)]
    assert (nearest >= 0.0).all()
    assert low - 1e-12 <= nearest.sum() <= high + 1e-12
    assert np.linalg.norm(nearest - w) <= np.linalg.norm(grid - w, axis=1).min() + 1e-12


def test_a_basis_block_is_the_minimum_of_its_convex_problem() -> None:
    rng = np.random.default_rng(5)
    d, K, c = 4, 3, 1.0
    W, Z = rng.dirichlet(np.ones(K), 50), rng.standard_normal((50, d)) * 2
    M, B, U = W.T @ W / 50, Z.T @ W / 50, np.zeros((d, K))
    gap = cone_kernels.solve_basis(U, M, B, c, False, 10_000, 1e-10)
    assert gap <= 1e-10
    assert (np.linalg.norm(U, axis=0) <= c + 1e-12).all()

    def value(flat: np.ndarray) -> float:
        V = flat.reshape(d, K)
        return float(np.trace(V @ M @ V.T) - 2 * np.trace(V.T @ B))

    limits = [{"type": "ineq", "fun": lambda x, k=k: c**2 - np.sum(x.reshape(d, K)[:, k] ** 2)} for k in range(K)]
    other = minimize(value, U.ravel() * 0.9, constraints=limits, method="SLSQP", options={"ftol": 1e-13}).fun
    assert value(U.ravel()) <= other + 1e-7


def test_exact_blocks_never_rise() -> None:
    found = cone.fit(drawn(8, 6, 5, 7), 3, method="exact", passes=15, tol=0.0)
    assert (np.diff(found.objective) <= 1e-8 * found.objective[:-1]).all()
    assert found.block_gap <= 1e-8
    # Coefficients are folded in exactly at the basis before each step, so the risks met are those of the path.
    np.testing.assert_allclose(found.met, found.objective[:-1])


def test_what_is_not_traced_is_the_same_at_both_ends() -> None:
    traced, not_traced = (cone.fit(drawn(3, 4, 3, 7), 2, passes=4, tol=0.0, traced=traced) for traced in (True, False))
    np.testing.assert_array_equal(not_traced.U, traced.U)
    np.testing.assert_array_equal(not_traced.objective, traced.objective[[0, -1]])


def slope_at(data: RankingData, U: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """The gradient of the risk in U, by differences."""
    slope = np.zeros_like(U)
    for place in np.ndindex(*U.shape):
        up, down = U.copy(), U.copy()
        up[place] += h
        down[place] -= h
        slope[place] = (cone.risk(data, up) - cone.risk(data, down)) / (2 * h)
    return slope


@pytest.mark.parametrize("method", ["sg", "eg", "eg-linear"])
def test_one_basis_step_a_pass_follows_the_gradient_of_the_risk(method: cone.Method) -> None:
    data, problem, K = drawn(4, 5, 3, 11), cone.Problem(), 2
    start = cone.started(3, K, problem, (1,))
    found = cone.fit(
        data, K, method=method, start=start, passes=1, at_once=True, step=1e-3, fold_steps=200_000, fold_tol=1e-14
    )
    np.testing.assert_allclose(start - found.U, 1e-3 * slope_at(data, start), atol=2e-6)


def test_columns_moved_one_after_another_differ_by_the_square_of_the_step() -> None:
    # Step 2 of Algorithm 1 as printed, beside all columns at once.
    data, problem, K = drawn(4, 5, 3, 11), cone.Problem(), 3
    start = cone.started(3, K, problem, (1,))
    z, phi, query = differences(data, problem)
    w = np.concatenate([folded_in(data, start, q, method="exact") for q in range(data.n_queries)])
    weight = np.array([phi[j] / (query == query[j]).sum() for j in range(len(z))]) / len(np.unique(query))
    apart = []
    for mu in (1e-2, 1e-3):
        at_once = cone.fit(
            data, K, method="sg", start=start, passes=1, at_once=True, step=mu, fold_steps=500_000, fold_tol=1e-15
        )
        U = start.copy()
        for k in range(K):
            U[:, k] += 2 * mu * ((weight * w[:, k]) @ (z - w @ U.T))
        apart.append(np.abs(U - at_once.U).max())
    assert apart[0] < 1e-4 * np.abs(start).max()
    assert 50 < apart[0] / apart[1] < 200


@pytest.mark.parametrize("method", cone.METHODS)
def test_coefficients_do_not_depend_on_the_weights_of_pairs(method: cone.Method) -> None:
    data, U = drawn(2, 6, 5, 2), np.random.default_rng(3).standard_normal((5, 3))
    weighted, alike = (
        folded_in(data, U, 0, method=method, problem=cone.Problem(weighted=weighted)) for weighted in (True, False)
    )
    np.testing.assert_array_equal(weighted, alike)


def test_the_gap_of_a_basis_bounds_what_it_can_gain_and_vanishes_at_stationary_points() -> None:
    data, K = drawn(4, 5, 3, 11), 2
    start, problem = cone.started(3, K, cone.Problem(), (1,)), cone.Problem()
    slope = slope_at(data, start)
    expected = (slope * start).sum() + problem.c_of(3) * np.linalg.norm(slope, axis=0).sum()
    assert cone.basis_gap(data, start) == pytest.approx(expected, rel=1e-4)
    once = cone.fit(data, K, method="exact", start=start, passes=1)
    assert cone.risk(data, start) - once.objective[-1] > 0
    ended = cone.fit(data, K, method="exact", start=start, passes=3000, tol=0.0)
    assert cone.basis_gap(data, ended.U) < 1e-4 * expected
    with pytest.raises(DataError, match="at-most"):
        cone.basis_gap(data, start, cone.Problem(norms="equal"))


def test_with_one_basis_vector_the_minimum_is_the_mean_difference() -> None:
    data, problem = drawn(6, 5, 3, 13), cone.Problem(c=100.0)
    z, phi, query = differences(data, problem)
    weight = np.array([phi[j] / (query == query[j]).sum() for j in range(len(z))])
    found = cone.fit(data, 1, method="exact", problem=problem, passes=3)
    np.testing.assert_allclose(found.U[:, 0], weight @ z / weight.sum(), atol=1e-9)


def test_form_9_keeps_the_norms() -> None:
    problem = cone.Problem(band=(1.0, 2.0), norms="equal")
    for method in ("sg", "eg", "exact"):
        found = cone.fit(drawn(5, 5, 4, 17), 3, method=method, problem=problem, passes=3)
        np.testing.assert_allclose(np.linalg.norm(found.U, axis=0), problem.c_of(4))


@given(st.integers(0, 2**30), st.sampled_from(["gradient", "least-squares"]))
@settings(max_examples=80)
def test_the_vote_of_algorithm_2_is_the_order_of_the_linear_score(seed: int, fold_in: FoldIn) -> None:
    rng = np.random.default_rng(seed)
    m, d, K = (int(rng.integers(1, top)) for top in (12, 6, 6))
    X, U = rng.standard_normal((m, d)), rng.standard_normal((d, K))
    X[rng.random(m) < 0.3] = X[0]
    scores = X @ direction(U, fold_in)
    points = votes(X, U, fold_in)
    assert points.sum() == m * (m - 1) // 2
    assert same_order(points, scores, float(np.abs(scores).max(initial=1.0)))


def test_leaving_out_a_query_is_training_without_it() -> None:
    data = drawn(4, 5, 3, 19)
    start, order = cone.started(3, 2, cone.Problem(), (1,)), cone.random_order(4, 3, (1,))
    bases = cone.without_each(data, start, order, [-1, 2], method="sg", step=0.01, seed=1)
    labels = data.y.copy()
    labels[data.offsets[2] : data.offsets[3]] = 0
    silent = RankingData(data.X, labels, data.offsets, data.qids)
    np.testing.assert_array_equal(
        bases[1], cone.without_each(silent, start, order, [-1], method="sg", step=0.01, seed=1)[0]
    )
    assert np.abs(bases[0] - bases[1]).max() > 1e-6


def test_what_does_not_fit_is_named() -> None:
    data, wrong = drawn(2, 4, 2, 31), np.zeros((3, 1))
    flat = RankingData.from_arrays([[0.0], [1.0]], [1, 1], [1, 1])
    start = cone.started(2, 1, cone.Problem(), (1,))
    band = cone.Problem(band=(1.0, 2.0))
    for call, words in (
        (lambda: cone.pair_losses(data, wrong), "U: expected"),
        (lambda: cone.fit(data, 2, method="eg-linear", problem=band), "eg-linear"),
        (lambda: cone.fit(flat, 1), "different labels"),
        (lambda: cone.fit(RankingData.from_arrays(np.zeros((2, 0)), [0, 1], [1, 1]), 1), "at least one feature"),
        (lambda: cone.fit(data, 1, step=-1.0), "step"),
        (lambda: cone.fit(data, 1, start=np.zeros((3, 1))), "start"),
        (lambda: cone.fit(data, 1, passes=2, order=[[0, 1]]), "order: expected a row for each of 2 passes, found 1"),
        (lambda: cone.fit(data, 1).score([[np.nan, 0.0]]), "finite"),
        (lambda: cone.Problem(band=(2.0, 1.0)), "band"),
        (lambda: votes([[0.0]], start, "gradient"), "X"),
        (lambda: same_order([0, 1], [0.5], 1.0), "points|scores"),
    ):
        with pytest.raises(DataError, match=words):
            call()


def test_a_query_without_pairs_changes_no_risk_on_the_way() -> None:
    data = drawn(4, 5, 3, 19)
    labels, silent = data.y.copy(), slice(data.offsets[1], data.offsets[2])
    labels[silent] = 0
    kept = np.ones(len(labels), bool)
    kept[silent] = False
    qids = np.repeat(data.qids, np.diff(data.offsets))
    both = [RankingData.from_arrays(data.X64[of], labels[of], qids[of]) for of in (slice(None), kept)]
    found, without = (cone.fit(one, 2, method="exact", passes=4, tol=0.0) for one in both)
    np.testing.assert_allclose(found.met, without.met)
    np.testing.assert_allclose(found.met, found.objective[:-1])


def test_the_gap_of_many_queries_is_the_largest() -> None:
    data, U = drawn(6, 5, 3, 21), np.random.default_rng(1).standard_normal((3, 3))

    def gap(queries: list[int]) -> float:
        rows = [slice(data.offsets[q], data.offsets[q + 1]) for q in queries]
        X, y = (np.concatenate([of[row] for row in rows]) for of in (data.X64, data.y))
        some = RankingData.from_arrays(X, y, np.repeat(np.arange(len(queries)), 5))
        return float(cone._at_best(cone_kernels.objective, some, U, cone.PUBLISHED)[-1])

    alone = [gap([q]) for q in range(6)]
    assert len(set(alone)) > 1
    assert gap(list(range(6))) == gap(list(range(6))[::-1]) == max(alone)


def test_folding_in_that_rounding_spoils_says_so() -> None:
    data, U = inside_long_edges(1e8)
    for call in (
        lambda: cone.risk(data, U),
        lambda: cone.losses(data, U),
        lambda: cone.pair_losses(data, U),
        lambda: cone.basis_gap(data, U),
    ):
        with pytest.warns(cone.UncertifiedWarning, match="gap"):
            call()
    problem = cone.Problem(c=1e12)
    with pytest.warns(cone.UncertifiedWarning):
        found = cone.fit(data, 46, problem=problem, start=U, passes=1, traced=False)
    assert found.fold_gap > cone.ACCURACY * 46


def test_queries_to_train_on_are_drawn_at_random():
    # The differences of the first twenty queries point the other way.
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 1)) * 0.1
    X[1::2] += np.where(np.arange(100) < 20, -1.0, 1.0)[:, None]
    data = RankingData.from_arrays(X, np.tile([0, 1], 100), np.repeat(np.arange(100), 2))
    wanted = {"method": "exact", "basis": 1, "queries": 20, "passes": 3, "restarts": 1, "features": "raw"}
    for seed in range(3):
        assert cone.train(data, data, wanted, seed).model.predict([[1.0]])[0] > 0.0


def test_training_stops_at_the_same_pass_in_all_units():
    data = drawn(seed=2)
    ends = [
        cone.fit(data, 2, method="exact", problem=cone.Problem(rho=rho), passes=60, tol=1e-3) for rho in (1.0, 1e-4)
    ]
    assert 1 < ends[0].passes < 60
    assert ends[0].converged
    assert ends[1].passes == ends[0].passes
