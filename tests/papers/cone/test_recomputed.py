"""Are the decisive numbers of `cone` those of the slowest obvious computation?

Every number is computed again in plain Python, by loops, enumeration and fractions, with no code of the pipeline but
that which draws the inputs and makes the tables.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import votes
from pipeline_lib.papers.cone import kinds as known
from pipeline_lib.papers.cone.chain import experiment as chain
from pipeline_lib.papers.cone.cones import experiment as cones
from pipeline_lib.papers.cone.geometry import experiment as geometry
from pipeline_lib.papers.cone.geometry import plane
from pipeline_lib.papers.cone.geometry.experiment import GeometrySettings
from pipeline_lib.papers.cone.leave_out import experiment as leave_out
from pipeline_lib.papers.cone.leave_out.experiment import LeaveOutSettings
from pipeline_lib.papers.cone.leave_out.failures import Twins
from pipeline_lib.sources.population import Population, PopulationSettings
from tests.papers.jobs import Given

Vector = list[float]
SEED = 3


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def pairs(data: RankingData) -> list[list[tuple[Vector, int]]]:
    """The difference of the features of every pair of every query, and that of its labels."""
    return [
        [
            ([float(a) - float(b) for a, b in zip(data.X64[l], data.X64[m], strict=True)], int(data.y[l] - data.y[m]))
            for l, m in itertools.product(range(begin, end), repeat=2)
            if data.y[l] > data.y[m]
        ]
        for begin, end in itertools.pairwise(data.offsets.tolist())
    ]


def differences(data: RankingData, alpha: float, rho: float) -> list[list[Vector]]:
    """z of every pair of every query, by (5)."""
    return [[[rho * value / (alpha + math.sqrt(dot(x, x))) for value in x] for x, _ in query] for query in pairs(data)]


def solved(A: list[Vector], b: Vector) -> Vector | None:
    """The solution of A x = b by elimination, or None where A is singular."""
    n, rows = len(b), [[*row, value] for row, value in zip(A, b, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-12:
            return None
        for r in range(n):
            if r != i:
                share = rows[r][i] / rows[i][i]
                rows[r] = [x - share * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def distance(columns: list[Vector], z: Vector) -> float:
    """The squared distance to a cone: the least over all sets of basis vectors with coefficients >= 0."""
    least = dot(z, z)
    for size in range(1, len(columns) + 1):
        for chosen in itertools.combinations(columns, size):
            w = solved([[dot(a, b) for b in chosen] for a in chosen], [dot(a, z) for a in chosen])
            if w is not None and min(w) >= 0.0:
                rest = [z[i] - sum(c * a[i] for c, a in zip(w, chosen, strict=True)) for i in range(len(z))]
                least = min(least, dot(rest, rest))
    return least


def test_normalised_differences_by_loops_over_pairs() -> None:
    # With a basis vector 0, the loss of a pair is the squared norm of its z.
    data = leave_out.line().data
    kinds = next(iter(leave_out.populations(LeaveOutSettings.parse({}), SEED))).data
    for sample, alpha in ((data, 1.0), (kinds, 0.1)):
        rho = math.sqrt(sample.n_features)
        squares = [dot(z, z) for query in differences(sample, alpha, rho) for z in query]
        problem = cone.Problem(alpha=alpha, weighted=False)
        found = cone.pair_losses(sample, np.zeros((sample.n_features, 1)), problem)
        assert sorted(found.tolist()) == pytest.approx(sorted(squares), rel=1e-9)
        assert max(squares) < rho**2


def test_the_objective_of_a_trace_by_loops() -> None:
    sample = cones.drawn(SEED)
    fit = cone.fit(sample, 2, method="exact", passes=4, tol=0.0, seed=(SEED, "recomputed"))
    rho = math.sqrt(sample.n_features)
    values = []
    for U in fit.path:
        first, second = U[:, 0].tolist(), U[:, 1].tolist()
        edge = [a - b for a, b in zip(first, second, strict=True)]
        of_queries = []
        for z_of, pairs_of in zip(differences(sample, 1.0, rho), pairs(sample), strict=True):
            of_pairs = []
            for z, (_, weight) in zip(z_of, pairs_of, strict=True):
                from_second = [a - b for a, b in zip(z, second, strict=True)]
                t = min(1.0, max(0.0, dot(from_second, edge) / dot(edge, edge)))
                rest = [a - t * b for a, b in zip(from_second, edge, strict=True)]
                of_pairs.append(weight * dot(rest, rest))
            of_queries += [sum(of_pairs) / len(of_pairs)] if of_pairs else []
        values.append(sum(of_queries) / len(of_queries))
    assert fit.objective.tolist() == pytest.approx(values, rel=1e-7)
    assert sorted(values, reverse=True) == pytest.approx(values, rel=1e-9)


def test_votes_are_sums_of_coefficients_by_loops() -> None:
    rng = np.random.default_rng(1)
    X, U = rng.standard_normal((5, 3)), rng.standard_normal((3, 2))
    points = [0] * 5
    columns = U.T.tolist()
    for l, m in itertools.combinations(range(5), 2):
        z = (X[l] - X[m]).tolist()
        w = solved([[dot(a, b) for b in columns] for a in columns], [dot(a, z) for a in columns])
        assert w is not None
        points[l if sum(w) > 0 else m] += 1
    assert votes(X, U, "least-squares").tolist() == points
    # A linear score gives a total order: nobody has as many points as somebody else.
    assert sorted(points) == [0, 1, 2, 3, 4]


def test_no_hinge_is_the_squared_distance() -> None:
    [row] = geometry.distances(GeometrySettings.parse({"features": [2], "bases": [2], "points": 300}), SEED)
    grid = [k / 50 - 1 for k in range(101)]
    least = min(
        max(abs(a / 50 * max(0.0, b - t) - min(0.0, t) ** 2) for t in grid[::4]) for a in range(0, 101, 2) for b in grid
    )
    assert row.to_best_hinge == pytest.approx(least, abs=0.02)
    assert row.to_best_hinge > 0.05
    # cone(u, v, -v) with u = (1, 0): the distance of (t, .) is -t where t < 0.
    assert distance([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [-0.6, 0.8]) == pytest.approx(0.36)


@pytest.mark.parametrize("epsilon", [0.05, 0.25])
def test_tails_by_fractions(epsilon: float) -> None:
    settings = LeaveOutSettings.parse({"tail_queries": [10, 40], "tail_epsilons": [epsilon]})
    for row in leave_out.tails(settings):
        P = row.P
        root = math.sqrt(math.log(1.0 / epsilon) / (2 * P))
        for name, margin in (
            ("failure", root),
            ("failure_of_half", root / 2),
            ("failure_of_root", math.sqrt(math.log(1.0 / epsilon)) / (2 * P)),
            ("failure_of_decimal", root / math.sqrt(math.log(10.0))),
        ):
            worst = Fraction(0)
            for k in range(1, 20):
                p = Fraction(k, 20)
                tail = [
                    math.comb(P, b) * p**b * (1 - p) ** (P - b)
                    for b in range(P + 1)
                    if float(p) - b / P > margin + 1e-12
                ]
                worst = max(worst, sum(tail, Fraction(0)))
            assert getattr(row, name) == pytest.approx(float(worst), rel=1e-9)


@pytest.mark.parametrize(
    "case", [Twins(2, 2, 2.0, 0.4), Twins(4, 3, 2.0, 0.05), Twins(6, 3, 3**-0.5, 0.25), Twins(5, 4, 0.5, 0.999)]
)
def test_twins_by_enumeration(case: Twins) -> None:
    kinds, P = case.kinds, case.P
    measured = []
    for sample in itertools.product(range(kinds), repeat=P):
        losses = _losses(sample, kinds, case.c)
        changes = [
            [abs(a - b) for a, b in zip(losses, _losses(sample[:i] + sample[i + 1 :], kinds, case.c), strict=True)]
            for i in range(P)
        ]
        mean = sum(map(sum, changes)) / P / kinds
        risk, empirical = sum(losses) / kinds, sum(losses[k] for k in sample) / P
        measured.append((risk - empirical, max(losses), max(map(max, changes)), mean))
    gamma, largest, mean = (max(one[i] for one in measured) for i in (1, 2, 3))
    root = math.sqrt(math.log(1.0 / case.epsilon) / (2 * P))
    row = leave_out.twins(case)
    assert row.largest_beta == pytest.approx(largest)
    for name, own, twice, inside in (
        ("failure_with_own_beta", True, 2.0, 4.0),
        ("failure_with_largest_beta", False, 2.0, 4.0),
        ("failure_without_beta", False, 0.0, 0.0),
        ("failure_without_twice_beta", False, 0.0, 4.0),
        ("failure_with_mean_beta", False, 2.0 * mean / largest, 4.0 * mean / largest),
    ):
        failing = 0
        for excess, _, beta, _ in measured:
            beta = beta if own else largest
            failing += excess > twice * beta + (inside * P * beta + gamma) * root + 1e-12
        assert getattr(row, name) == pytest.approx(failing / kinds**P), name


def _losses(sample: Sequence[int], kinds: int, c: float) -> list[float]:
    # z of kind k is the k-th unit vector, and u the mean of the sample, or c times its direction if it is longer.
    mean = [sum(k == kind for k in sample) / len(sample) for kind in range(kinds)]
    length = math.sqrt(dot(mean, mean))
    u = [min(1.0, c / length) * entry for entry in mean]
    return [sum(((i == k) - u[i]) ** 2 for i in range(kinds)) for k in range(kinds)]


def test_one_basis_vector_is_the_mean_of_differences() -> None:
    settings = LeaveOutSettings.parse(
        {"queries": [50, 100, 200], "repetitions": 2, "kinds": 4, "features": 2, "bases": [1]}
    )
    rows = [row for row in leave_out.left_out(settings, SEED) if row.method == "exact" and row.population == "random"]
    kinds = next(iter(leave_out.populations(settings, SEED)))
    z = differences(kinds.data, known.ALPHA, known.RHO)
    slopes: dict[int, list[float]] = {}
    for row in rows:
        axes = (SEED, "cone-leave-out", "random", 1, row.P, row.repetition, "sample")
        counts = generator(*axes).multinomial(row.P, kinds.shares).tolist()
        u = _mean(z, counts)
        pairs = [pair for query in z for pair in query]
        s_max = beta = 0.0
        for kind, count in enumerate(counts):
            if count:
                v = _mean(z, [n - (k == kind) for k, n in enumerate(counts)])
                s_max = max(s_max, math.dist(u, v))
                beta = max(beta, *(abs(math.dist(p, u) ** 2 - math.dist(p, v) ** 2) for p in pairs))
        losses = [sum(math.dist(p, u) ** 2 for p in query) / len(query) if query else 0.0 for query in z]
        gamma, P = max(math.dist(p, u) ** 2 for p in pairs), row.P
        empirical = dot(counts, losses) / P
        bound = empirical + 2 * beta + (4 * P * beta + gamma) * math.sqrt(math.log(20.0) / (2 * P))
        expected = {"s_max": s_max, "beta": beta, "gamma": gamma, "empirical_risk": empirical, "bound": bound}
        expected |= {"risk": sum(losses) / 4, "beta_bound": 2 * s_max * 2 + s_max**2}
        assert {name: getattr(row, name) for name in expected} == pytest.approx(expected, rel=1e-6)
        slopes.setdefault(P, []).append(s_max)
    # The exponent: least squares on the logarithms of the means.
    x = [math.log(P) for P in slopes]
    y = [math.log(sum(values) / len(values)) for values in slopes.values()]
    centre = sum(x) / len(x)
    slope = sum((a - centre) * b for a, b in zip(x, y, strict=True)) / sum((a - centre) ** 2 for a in x)
    [fitted] = leave_out.exponents(rows)
    assert fitted.slope.value == pytest.approx(slope, rel=1e-6)


def _mean(z: list[list[Vector]], counts: Sequence[int]) -> Vector:
    # Queries without a pair do not count in the objective.
    used = [(count, query) for count, query in zip(counts, z, strict=True) if query]
    total = sum(count for count, _ in used)
    return [
        sum(count * sum(p[i] for p in query) / len(query) for count, query in used) / total for i in range(len(z[0][0]))
    ]


def test_the_line_reaches_the_bound_of_theorem_2() -> None:
    z = 1000.0 / 1000.1
    u, v = z * (98 - 2) / 100, z * (98 - 1) / 99
    worst = max(abs((x - u) ** 2 - (x - v) ** 2) for x in (1.0, -1.0))
    assert worst / (2 * (v - u) * 2 + (v - u) ** 2) == pytest.approx(0.975, abs=0.01)
    settings = LeaveOutSettings.parse({"queries": [100, 200, 300], "repetitions": 2, "bases": [1]})
    rows = [row for row in leave_out.left_out(settings, SEED) if row.population == "line" and row.P == 100]
    assert rows[0].beta_worst == pytest.approx(worst, rel=1e-6)


def test_ties_by_fractions() -> None:
    settings = LeaveOutSettings.parse({"tied_queries": [5], "tied_features": [2], "tied_sums": [2.0]})
    axes, rare, sums = leave_out.ties(settings)
    # Without one query of 5 at (1, 0) the best segment lies in the line x = -1/19; its risk is the variance of x.
    P, delta = 20, Fraction(1, 19)
    variance = Fraction(9, 19) - delta**2
    distances = [(1 + delta) ** 2] * 4 + [(1 - delta) ** 2] * 5 + [delta**2] * 10
    assert sum(distances) / 19 == variance
    assert variance < Fraction(10, 19)
    assert (axes.P, axes.s_max) == (P, pytest.approx(1.0))
    assert axes.beta == pytest.approx(float(((1 + delta) ** 2 - delta**2) / 2))
    assert axes.above_the_bound == pytest.approx(0.0, abs=1e-9)
    # Segments (-1/19, +-1) and (+-1, -1/19), with columns in the better order: half the norm of the difference.
    a, b = np.array([[-1 / 19, -1 / 19], [1.0, -1.0]]), np.array([[1.0, -1.0], [-1 / 19, -1 / 19]])
    swapped = min(float(np.linalg.norm(a - b[:, list(order)], 2)) for order in ((0, 1), (1, 0)))
    assert axes.s_max == pytest.approx(0.5 * swapped)
    # With one axis rare, it is the same line for both, up to the mean.
    assert rare.s_max < 0.05
    # One dimension, 1 <= w <= 2, five 1 and four -1: (5 * 2 - 4) / (5 * 4 + 4) = 1/4, and -1/4 the other way round.
    assert sums.s_max == pytest.approx(0.25)
    risks = [
        sum(max(0.0, 1 - 2 * u, u - 1) ** 2 for _ in range(5)) + 4 * (1 + u) ** 2 for u in np.linspace(0.0, 1.0, 4001)
    ]
    assert float(np.argmin(risks)) / 4000 == pytest.approx(0.25, abs=1e-3)


def test_the_trade_off_by_a_grid() -> None:
    high = 1.5
    settings = LeaveOutSettings.parse({"tradeoff_queries": [5], "tradeoff_sums": [1.0, high]})
    [row] = leave_out.tradeoff(settings)
    grid = [k / 2000 for k in range(1, 4001)]
    samples = [sample for sample in itertools.product((1.0, 2.0), repeat=5) if 2 <= sample.count(1.0) <= 3]
    for name, largest in (("mean_empirical_risk", 1.0), ("next_mean_empirical_risk", high)):
        total = 0.0
        for sample in samples:
            total += min(sum(max(u - z, z - largest * u, 0.0) ** 2 for z in sample) / 5 for u in grid)
        assert getattr(row, name) == pytest.approx(total / len(samples), abs=1e-5)

    # The expected risk and beta of the higher lambda_u, by the best u of the grid for each sample, and without a query.
    def best(sample: Sequence[float]) -> float:
        return min(grid, key=lambda u: sum(max(u - z, z - high * u, 0.0) ** 2 for z in sample))

    def losses(u: float) -> list[float]:
        return [max(u - z, z - high * u, 0.0) ** 2 for z in (1.0, 2.0)]

    of = {ones: [1.0] * ones + [2.0] * (5 - ones) for ones in (2, 3)}  # one sample of each kind
    risks = {ones: sum(losses(best(sample))) / 2 for ones, sample in of.items()}
    assert row.next_mean_risk == pytest.approx((risks[2] + risks[3]) / 2, abs=1e-3)
    beta = max(
        abs(a - b)
        for sample in of.values()
        for i in (0, 4)
        for a, b in zip(losses(best(sample)), losses(best(sample[:i] + sample[i + 1 :])), strict=True)
    )
    assert row.next_beta == pytest.approx(beta, abs=2e-3)
    # lambda_u = 1: the means of 1, 1, 1, 2, 2 and without a 2, or without a 1, are 7/5, 5/4 and 3/2. The loss at 2
    # changes most, from the square of 3/5 to that of 3/4; that of 2, 2, 2, 1, 1 likewise at 1.
    assert row.beta == pytest.approx((3 / 4) ** 2 - (3 / 5) ** 2)


def test_the_best_cones_of_the_plane_by_loops() -> None:
    rng = np.random.default_rng(2)
    A, B = rng.standard_normal((2, 3, 2))
    Z = rng.standard_normal((2, 4))
    for high in (1.0, 1.7):
        found = plane.squared_distances(A, B, Z, high)
        for i, j in itertools.product(range(3), range(4)):
            least = min(
                sum((Z[k, j] - s * (t * A[i, k] + (1 - t) * B[i, k])) ** 2 for k in range(2))
                for s in np.linspace(1.0, high, 30)
                for t in np.linspace(0.0, 1.0, 60)
            )
            assert found[i, j] <= least + 1e-12
            assert found[i, j] == pytest.approx(least, abs=0.03)


def spectral(a: Any, b: Any) -> float:
    """The spectral norm of the difference of two bases of two vectors: the root of the larger eigenvalue of D'D."""
    first, second = (a - b).T.tolist()
    p, q, r = dot(first, first), dot(first, second), dot(second, second)
    return math.sqrt((p + r) / 2 + math.sqrt(((p - r) / 2) ** 2 + q**2))


def to_segment(z: Vector, U: Any) -> float:
    """The squared distance of z to the segment between the two columns of U."""
    first, second = U.T.tolist()
    edge = [a - b for a, b in zip(first, second, strict=True)]
    away = [a - b for a, b in zip(z, second, strict=True)]
    t = min(1.0, max(0.0, dot(away, edge) / dot(edge, edge)))
    return math.dist(away, [t * a for a in edge]) ** 2


def test_two_basis_vectors_without_each_query() -> None:
    settings = LeaveOutSettings.parse(
        {"queries": [40, 80, 160], "repetitions": 2, "kinds": 5, "features": 3, "bases": [2]}
    )
    rows = [row for row in leave_out.left_out(settings, SEED) if row.method == "exact" and row.population == "random"]
    kinds = next(iter(leave_out.populations(settings, SEED)))
    z = differences(kinds.data, known.ALPHA, known.RHO)
    for row in rows:
        axes = (SEED, "cone-leave-out", "random", 2, row.P, row.repetition)
        counts = generator(*axes, "sample").multinomial(row.P, kinds.shares).astype(float)
        start = cone.started(3, 2, kinds.problem, (*axes[:4], row.repetition))
        U = known.trained(kinds, counts, start)
        of_U = [[to_segment(p, U) for p in query] for query in z]
        expected: dict[str, float] = {}
        s_max = beta = most = 0.0
        P = int(sum(n for n, query in zip(counts, z, strict=True) if query))
        for kind in np.flatnonzero(counts):
            rest = counts - np.eye(5)[kind]
            V = known.trained(kinds, rest, start)
            of_V = [[to_segment(p, V) for p in query] for query in z]
            change = spectral(U, V)
            s_max = max(s_max, change)
            more = [[b - a for a, b in zip(old, new, strict=True)] for old, new in zip(of_U, of_V, strict=True)]
            beta = max(beta, *(abs(x) for query in more for x in query))
            means = [sum(query) / len(query) if query else 0.0 for query in more]
            if change > 0.0 and z[kind]:
                # P and P - 1 times how fast the risks grow, by which the theorem limits the change.
                total = 2 * dot(counts, means) / change**2, -2 * dot(rest, means) / change**2
                limit = 4 * (1 + kinds.c) / sum(total)
                if sum(total) > 0.0 and change / limit > most:
                    most = change / limit
                    expected = {"growth": sum(total) / (2 * P - 1), "change": change, "change_by_growth": limit}
        expected |= {"s_max": s_max, "beta": beta, "with_pairs": P}
        assert {name: getattr(row, name) for name in expected} == pytest.approx(expected, rel=1e-4)


def test_one_more_step_follows_the_gradient_of_one_query() -> None:
    kinds = next(iter(leave_out.populations(LeaveOutSettings.parse({"bases": [2]}), SEED)))
    kind = int(np.flatnonzero(np.diff(kinds.data.offsets) > 1)[0])
    U = cone.started(3, 2, kinds.problem, (SEED, "step"))
    found = known.moved(kinds, U, kind, 0.3)
    for i, k in itertools.product(range(3), range(2)):
        step = np.zeros((3, 2))
        step[i, k] = 1e-5
        rise = known.accurate_losses(kinds.data, U + step)[kind] - known.accurate_losses(kinds.data, U - step)[kind]
        assert found[i, k] == pytest.approx(-0.3 * rise / 2e-5, abs=1e-6)


def test_the_worst_change_of_two_basis_vectors_on_a_grid() -> None:
    rng = np.random.default_rng(6)
    for _ in range(5):
        U, V = rng.standard_normal((2, 2, 2))
        for a, b in ((U, V), (V, U)):
            angles = np.linspace(0.0, 2.0 * math.pi, 721)
            on_grid = max(
                abs(to_segment(z, a) - to_segment(z, b)) for z in np.stack([np.cos(angles), np.sin(angles)], 1).tolist()
            )
            found = known.worst_change(a, b, 1.0, (1,))
            assert on_grid * (1 - 1e-9) <= found <= on_grid * (1 + 1e-3)


def test_the_chain_of_theorem_1_by_loops() -> None:
    settings = chain.ConeChainSettings.parse({"queries": [60], "repetitions": 3, "kinds": 5, "documents": 4})
    data = Population(PopulationSettings(features=3, documents=(3, 6))).draw(30, np.random.default_rng(2))
    found = chain.measure(Given(settings, SEED, data={"made": data}))
    links = {(row.bound, row.link): row.value.value for row in found}
    kinds, P = chain.population(settings, data, (SEED, "cone-chain", "made")), 60
    assert kinds is not None
    z, shares = differences(kinds.data, known.ALPHA, known.RHO), np.full(5, 0.2)
    start = cone.started(3, 2, kinds.problem, (SEED, "cone-chain", "made", "start"))

    def of_pairs(U: Any) -> list[list[float]]:
        return [[to_segment(p, U) for p in query] for query in z]

    def means(losses: list[list[float]]) -> Any:
        return np.array([sum(query) / len(query) for query in losses])

    whole = means(of_pairs(known.trained(kinds, shares, start)))
    samples = []
    for repetition in range(3):
        counts = generator(SEED, "cone-chain", "made", P, repetition).multinomial(P, shares).astype(float)
        U = known.trained(kinds, counts, start)
        losses, own, others, s_max = of_pairs(U), 0.0, 0.0, 0.0
        largest = dict.fromkeys(("uniform", "pair", "norms"), 0.0)
        for kind in np.flatnonzero(counts):
            V = known.trained(kinds, counts - np.eye(5)[kind], start)
            after = of_pairs(V)
            change = means(after) - means(losses)
            own += counts[kind] * change[kind] / P
            others += counts[kind] * sum(abs(change)) / 5 / P
            s, norm = spectral(U, V), max(spectral(U, np.zeros((3, 2))), spectral(V, np.zeros((3, 2))))
            s_max = max(s_max, s)
            pair = max(
                abs(b - a) for old, new in zip(losses, after, strict=True) for a, b in zip(old, new, strict=True)
            )
            here = {"uniform": max(abs(change)), "pair": pair, "norms": 2 * s * (1 + norm) + s**2}
            largest = {name: max(value, here[name]) for name, value in largest.items()}
        gap = dot(shares - counts / P, means(losses) - whole)
        stated = 2 * s_max * (1 + math.sqrt(2)) + s_max**2
        gamma = max(x for query in losses for x in query)
        samples.append({**largest, "gap": gap, "changes": own + others, "stated": stated, "gamma": gamma})
    mean = {name: sum(one[name] for one in samples) / 3 for name in samples[0]}
    root = math.sqrt(math.log(20.0) / (2 * P))
    expected = {
        ("theorem-1", "gap"): mean["gap"],
        ("theorem-1", "changes"): mean["changes"],
        ("theorem-1", "uniform"): 2 * mean["uniform"],
        ("theorem-1", "beta"): 2 * mean["pair"],
        ("theorem-1", "gamma"): 2 * mean["pair"] + mean["gamma"] * root,
        ("theorem-1", "p-beta"): 2 * mean["pair"] + (4 * P * mean["pair"] + mean["gamma"]) * root,
        ("theorem-1", "theorem-2"): 2 * mean["stated"] + (4 * P * mean["stated"] + mean["gamma"]) * root,
        ("theorem-2", "norms"): mean["norms"],
        ("theorem-2", "stated"): mean["stated"],
    }
    assert {name: links[name] for name in expected} == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_growth_is_twice_the_rise_over_the_square_of_the_change() -> None:
    kinds = leave_out.line()
    counts = np.array([9.0, 1.0])
    u, v = (np.array([[1000.0 / 1000.1 * x]]) for x in (0.8, 1.0))
    found = leave_out.grown(kinds, counts, u, [1], [v])
    # One vector: the risk is a square, whose second derivative is 2.
    assert (found["with_pairs"], found["growth"]) == (10, pytest.approx(2.0))
    assert found["change"] == pytest.approx(0.2, rel=1e-3)
    assert found["change_by_growth"] == pytest.approx(4 * 2 / (10 * 2 + 9 * 2))
    assert "growth" not in leave_out.grown(kinds, counts, u, [1], [u])
