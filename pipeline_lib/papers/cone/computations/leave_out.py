"""How stable is a cone that is trained until it has converged, on queries of which there are finitely many kinds?

The queries are drawn with replacement from a few kinds, all of which are known. The risk (10), the supremum over
queries in (12) and gamma are then exact, a sample is a number of queries of every kind, and leaving one out has as many
outcomes as there are kinds: P may be large at no cost. Theorem 2 takes the supremum over all differences with
||z|| <= rho, which is searched for (:func:`worst_change`). The claims are Theorems 1 and 2 of `cone` and the open
question of section 3.4.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.compiled import njit
from pipeline_lib.learners import cone, cone_kernels
from pipeline_lib.papers.cone.computations.exponents import exponents_of
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import cones, stability

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.leave_out import LeaveOutSettings

_LOG = logging.getLogger(__name__)

ALPHA, RHO = 0.1, 1.0
MOVED = 1e-10
"""Training has converged when no entry of the basis moves by more than this in a pass."""
PASSES = 5000
FOLDED = 1e-13
"""Gap to which coefficients are folded in."""
LAST_STEP = 0.01
"""mu of the player "constant-step", in units in which rho is 1."""
DIRECTIONS, ASCENT = 64, 30
"""Where the search for the worst difference begins, and its number of steps."""
RARE = 0.02
"""Share of the kind "line" whose difference points the other way."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Kinds:
    """A population of finitely many kinds of queries, the order of the cone learned on it, and the bound c.

    ``shares`` are the probabilities of the kinds. Pairs are not weighted by labels, as in Theorem 2.
    """

    name: str
    data: RankingData
    shares: Floats
    K: int
    c: float

    @property
    def problem(self) -> cone.Problem:
        """The constants of (18)."""
        return cone.Problem(alpha=ALPHA, rho=RHO, c=self.c, weighted=False)


def populations(settings: LeaveOutSettings, seed: int) -> Iterator[Kinds]:
    """Those with random queries, for every K, and the one with two kinds on a line, where Theorem 2 is nearly sharp."""
    rng = generator(seed, "cone-leave-out", "kinds")
    d, shares = settings.features, np.full(settings.kinds, 1.0 / settings.kinds)
    population = Population(PopulationSettings(features=d, documents=settings.documents, label_shares=(0.4, 0.3, 0.3)))
    scale = Standardisation(np.zeros(d), np.full(d, population.settings.feature_norm / math.sqrt(d)))
    data = scale.apply(population.draw(settings.kinds, rng))
    for K in settings.bases:
        yield Kinds("random", data, shares, K, settings.c * RHO)
    yield line()


def line() -> Kinds:
    """One feature, K = 1: almost all differences are close to rho, and the share ``RARE`` to -rho."""
    far = 1000.0
    data = RankingData.from_arrays([[0.0], [far], [0.0], [-far]], [0, 1, 0, 1], [1, 1, 2, 2])
    return Kinds("line", data, np.array([1.0 - RARE, RARE]), 1, RHO)


def run(settings: LeaveOutSettings, seed: int) -> list[Row]:
    """One row for every population, method, P and repetition."""
    rows = []
    planned = [(kinds, P) for kinds in populations(settings, seed) for P in settings.queries]
    for kinds, P in progress.counted(planned, _LOG, "sizes"):
        for repetition in range(settings.repetitions):
            rows += _rows(settings, kinds, P, repetition, seed)
    return rows


def _rows(settings: LeaveOutSettings, kinds: Kinds, P: int, repetition: int, seed: int) -> list[Row]:
    axes = (seed, "cone-leave-out", kinds.name, kinds.K, P, repetition)
    counts = _sample(kinds, P, generator(*axes, "sample"))
    start = cone.started(kinds.data.n_features, kinds.K, kinds.problem, (*axes[:4], repetition))
    U, steps = trained(kinds, counts, start)
    drawn, others = np.flatnonzero(counts), []
    for kind in drawn:
        left = counts.copy()
        left[kind] -= 1.0
        other, more = trained(kinds, left, start)
        others.append(other)
        steps = max(steps, more)
    marked = [np.add(U, last_step(kinds, U, int(kind))) for kind in drawn]
    axis = {"population": kinds.name, "K": kinds.K, "P": P, "repetition": repetition, "passes": steps}
    rows = [{**axis, "method": "exact", **_measured(settings, kinds, counts, U, [U] * len(others), others, axes)}]
    rows[0] |= grown(kinds, counts, U, drawn, others)
    if kinds.name == "random":
        rows.append({**axis, "method": "constant-step", **dict.fromkeys(GROWTH)})
        rows[-1] |= _measured(settings, kinds, counts, U, marked, others, axes)
    return rows


def _sample(kinds: Kinds, P: int, rng: np.random.Generator) -> Floats:
    # Queries of every kind; on the line their expected numbers, because without the rare kind nothing would change.
    if kinds.name == "line":
        rare = max(1.0, float(round(RARE * P)))
        return np.array([P - rare, rare])
    return rng.multinomial(P, kinds.shares).astype(np.float64)


def trained(kinds: Kinds, counts: Floats, start: Floats) -> tuple[Floats, int]:
    """Exact blocks until the basis no longer moves, for ``counts`` queries of every kind; and the number of passes."""
    data = kinds.data
    U, passes = _train(data.X64, data.y, data.offsets, counts / counts.sum(), start, PASSES, MOVED, ALPHA, RHO, kinds.c)
    return U, int(passes)


def last_step(kinds: Kinds, U: Floats, kind: int) -> Floats:
    """What one more step of size ``LAST_STEP``, along the gradient of one query, adds to the basis."""
    one = np.zeros(kinds.data.n_queries)
    one[kind] = 1.0
    M, B = _moments(kinds.data.X64, kinds.data.y, kinds.data.offsets, one, U, ALPHA, RHO)
    step: Floats = -2.0 * LAST_STEP * (U @ M - B)
    return step


def _measured(
    settings: LeaveOutSettings,
    kinds: Kinds,
    counts: Floats,
    U: Floats,
    whole: Sequence[Floats],
    others: Sequence[Floats],
    axes: tuple[Any, ...],
) -> Row:
    # ``whole`` and ``others`` are the bases with and without the query that is left out, one for every kind.
    problem, P, K, c = kinds.problem, int(counts.sum()), kinds.K, kinds.c
    changes = [float(np.linalg.norm(a - b, ord=2)) for a, b in zip(whole, others, strict=True)]
    s_max = max(changes)
    pairs = [
        (cone.pair_losses(kinds.data, a, problem), cone.pair_losses(kinds.data, b, problem))
        for a, b in zip(whole, others, strict=True)
    ]
    beta = max(float(np.abs(a - b).max()) for a, b in pairs)
    every, gamma = cone.losses(kinds.data, U, problem)[0], float(cone.pair_losses(kinds.data, U, problem).max())
    empirical, risk = float(counts @ every) / P, float(kinds.shares @ every)
    worst = max(worst_change(a, b, RHO, axes) for a, b in zip(whole, others, strict=True))
    return {
        "d": kinds.data.n_features,
        "rho": RHO,
        "c": c,
        "s_max": s_max,
        "beta": beta,
        "beta_worst": max(worst, beta),
        "beta_bound": stability.bound_on_beta(s_max, K=K, rho=RHO, c=c, largest_sum=1.0),
        "gamma": gamma,
        "empirical_risk": empirical,
        "risk": risk,
        "bound": stability.risk_bound(empirical, beta, gamma, P, settings.epsilon),
        "largest_possible_loss": (RHO + c) ** 2,
    }


GROWTH = ("with_pairs", "growth", "change", "change_by_growth")


def grown(kinds: Kinds, counts: Floats, U: Floats, left_out: Iterable[int], others: Sequence[Floats]) -> Row:
    """How fast the risk grows from U to the basis without a query, and what this implies for the change of the basis.

    The values are those of the query whose change is nearest to :func:`pipeline_lib.theory.stability.growth_change`.
    Where the basis without the query is better on the whole sample, nothing is implied; if that is so for every query,
    and where no query moves the basis, all are missing.
    """
    data, problem = kinds.data, kinds.problem
    pairs = cones.pairs_of(data)
    P = int(counts[pairs > 0].sum())
    found: Row = {**dict.fromkeys(GROWTH), "with_pairs": P}
    most = 0.0
    at_whole = _accurate_losses(data, U)
    for kind, V in zip(left_out, others, strict=True):
        change = float(np.linalg.norm(U - V, ord=2))
        if not pairs[kind] or change == 0.0 or P < 2:
            continue
        more = _accurate_losses(data, V) - at_whole
        total = float(counts @ more)
        growth, without = (2.0 * x / change**2 for x in (total / P, -(total - float(more[kind])) / (P - 1)))
        limit = stability.growth_change(P, growth, without, rho=RHO, c=problem.c_of(data.n_features))
        if change / limit > most:
            most = change / limit
            found |= {"growth": (P * growth + (P - 1) * without) / (2 * P - 1)}
            found |= {"change": change, "change_by_growth": limit}
    return found


def _accurate_losses(data: RankingData, U: Floats) -> Floats:
    # The loss of every query, accurate enough for the differences of neighbouring bases.
    found, _ = cone_kernels.every_loss(data.X64, data.y, data.offsets, U, False, ALPHA, RHO, 1.0, 1.0, FOLDED)
    pairs = cones.pairs_of(data)
    sums = np.bincount(np.repeat(np.arange(data.n_queries), pairs), weights=found, minlength=data.n_queries)
    losses: Floats = sums / np.maximum(pairs, 1)
    return losses


def worst_change(U: Floats, V: Floats, rho: float, axes: tuple[Any, ...]) -> float:
    """The largest change of min_w ||z - U w||^2 over differences with ||z|| <= rho when U becomes V, by ascent.

    From many directions, z moves to the end of the ball along the gradient 2 (V v - U w) of the change, in both signs,
    where w and v are the coefficients that are best for z; the largest value that occurs is a lower bound of the
    supremum.
    """
    d = len(U)
    starts = np.vstack([np.eye(d), -np.eye(d), generator(*axes, "directions").standard_normal((DIRECTIONS, d))])
    starts *= rho / np.linalg.norm(starts, axis=1, keepdims=True)
    return float(_worst_change(np.ascontiguousarray(U), np.ascontiguousarray(V), starts, rho, ASCENT))


def exponents(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Exponents of s_max and beta in P for every population, K and method, with intervals over repetitions."""
    return exponents_of(rows, ("population", "K", "method"), ("s_max", "beta"))


@njit
def _moments(X, y, offsets, shares, U, alpha, rho):  # type: ignore[no-untyped-def]
    d, K = U.shape
    M, B, nothing = np.zeros((K, K)), np.zeros((d, K)), np.empty((0, K))
    G = np.dot(U.T, U)
    for q in range(len(shares)):
        if shares[q] > 0.0:
            m, b = np.zeros((K, K)), np.zeros((d, K))
            numbers = (alpha, rho, 0.0, FOLDED, 1.0, 1.0)
            how, zero = (np.int64(cone_kernels.EXACT), np.int64(0), np.bool_(False)), np.int64(0)
            cone_kernels.visit(X, y, offsets[q], offsets[q + 1], U, G, how, numbers, zero, zero, m, b, nothing)
            M += shares[q] * m
            B += shares[q] * b
    return M, B


@njit
def _train(X, y, offsets, shares, start, passes, least, alpha, rho, c):  # type: ignore[no-untyped-def]
    U = start.copy()
    for t in range(passes):
        M, B = _moments(X, y, offsets, shares, U, alpha, rho)
        before = U.copy()
        cone_kernels.solve_basis(U, M, B, c, np.bool_(False), np.int64(1000), FOLDED)
        if np.abs(U - before).max() <= least:
            return U, t + 1
    return U, passes


@njit
def _least_loss(U, G, z, w, g, v):  # type: ignore[no-untyped-def]
    # min_w ||z - U w||^2; w receives the coefficients.
    b = np.dot(U.T, z)
    cone_kernels.fold_exactly(G, b, w, 1.0, 1.0, FOLDED, g, v)
    rest = z - np.dot(U, w)
    return np.dot(rest, rest)


@njit
def _worst_change(U, V, starts, rho, steps):  # type: ignore[no-untyped-def]
    K, largest = U.shape[1], 0.0
    G, H = np.dot(U.T, U), np.dot(V.T, V)
    w, v, g, aside = np.empty(K), np.empty(K), np.empty(K), np.empty(2 * K)
    for i in range(len(starts)):
        for sign in (1.0, -1.0):
            z = starts[i].copy()
            for _ in range(steps):
                change = sign * (_least_loss(U, G, z, w, g, aside) - _least_loss(V, H, z, v, g, aside))
                largest = max(largest, change)
                along = sign * (np.dot(V, v) - np.dot(U, w))
                size = math.sqrt(np.dot(along, along))
                if size == 0.0:
                    break
                moved = rho / size * along
                if np.abs(moved - z).max() <= 1e-9:
                    break
                z = moved
    return largest
