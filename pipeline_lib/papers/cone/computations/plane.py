"""What limits the size of a cone? Figure 2 of `cone` in the plane, and what moving basis vectors outwards does.

In the plane, with two basis vectors of norm c, a cone is given by two angles, so that the minimum of (9) is found on a
grid. With ||u_k|| <= c and sum w = 1, as in (18), a minimum is attained at a whole chord of the circle of radius c, and
at every part of it that the differences are projected to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.computations import geometry
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.theory import cones

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.geometry import GeometrySettings

Row = dict[str, Any]

DIRECTIONS = 180
"""Directions of the basis vectors, two degrees apart, next to those of the differences."""
WIDTH, NOISE = 25.0, (50.0, 80.0)
"""Differences lie within this angle of the first axis, but for one, which lies between the other two angles."""
EQUAL = 1e-9
"""Risks that differ by at most this count as equal."""
LEARNED_PASSES = 10
ON_THE_SURFACE, NOISY, LONG, STARTS = 100, 3, 100.0, 5
"""Differences in a plane, differences anywhere, their length, so that alpha hardly shortens them, and starts."""
SLIGHTLY = 1.02
"""A lambda_u slightly above 1."""


def sizes(settings: GeometrySettings, seed: int) -> list[Row]:
    """One row for every sample, c and lambda_u: the least risk, and the openings of the cones that attain it.

    Differences have norm 1. c = 1 and equal norms are those of Figure 2, c = 2 and (18) those of section 6. ``enough``
    is lambda_u = 1 / cos(h) where 2 h is the angle between the outermost differences.
    """
    rows: list[Row] = []
    for sample in range(settings.plane_samples):
        rng = generator(seed, "cone-plane", sample)
        angles = np.radians(np.append(rng.uniform(-WIDTH, WIDTH, settings.differences - 1), rng.uniform(*NOISE)))
        spread = float(np.ptp(angles))
        enough = 1.0 / float(np.cos(0.5 * spread))
        for case, c, high in (
            ("one", 1.0, 1.0),
            ("slightly", 1.0, SLIGHTLY),
            ("enough", 1.0, enough),
            ("published", 2.0, 1.0),
        ):
            found = _best(angles, c, high)
            rows.append({"sample": sample, "case": case, "c": c, "largest_sum": high, **found})
            rows[-1] |= {"spread": float(np.degrees(spread))}
    return rows


def _best(angles: Floats, c: float, high: float) -> Row:
    Z = np.stack([np.cos(angles), np.sin(angles)])
    directions = np.concatenate([2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS, angles])
    first, second = (directions[i] for i in np.triu_indices(len(directions), 1))
    A, B = (c * np.stack([np.cos(t), np.sin(t)], axis=1) for t in (first, second))
    losses = squared_distances(A, B, Z, high)
    risks = losses.mean(axis=1)
    best = np.flatnonzero(risks <= risks.min() + EQUAL)
    between = np.degrees(np.abs((first - second + np.pi) % (2.0 * np.pi) - np.pi))[best]
    least = int(best[np.argmin(between)])
    found = {"risk": float(risks.min()), "largest_loss": float(losses[least].max())}
    # With norms of at most c the part of a chord to which differences are projected is as good as the chord.
    narrowest = between.min() if c == 1.0 else _opening_of_part(A[least], B[least], Z)
    return {**found, "narrowest": float(narrowest), "widest": float(between.max())}


def _opening_of_part(a: Floats, b: Floats, Z: Floats) -> float:
    t = np.clip((Z - a[:, None]).T @ (b - a) / float((b - a) @ (b - a)), 0.0, 1.0)
    p, q = (a + share * (b - a) for share in (t.min(), t.max()))
    cosine = float(p @ q) / float(np.linalg.norm(p) * np.linalg.norm(q))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def squared_distances(A: Floats, B: Floats, Z: Floats, high: float) -> Floats:
    """Squared distances of the points Z (2, n) from {v a + w b: v, w >= 0, 1 <= v + w <= high}; shape (cones, n).

    ``A`` and ``B``, shape (cones, 2), are the basis vectors. A point outside is nearest to one of the four sides.

    Example
    -------
    >>> one, two = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> squared_distances(one, two, np.array([[1.0, 0.0], [1.0, 0.0]]), 1.5).round(6)
    array([[0.125, 0.5  ]])
    """
    sides = ((A, B), (high * A, high * B), (A, high * A), (B, high * B))
    least = np.min([_to_segments(p, q, Z) for p, q in sides], axis=0)
    determinant = A[:, 0] * B[:, 1] - A[:, 1] * B[:, 0]
    safe = np.where(determinant == 0.0, 1.0, determinant)[:, None]
    v = (np.outer(B[:, 1], Z[0]) - np.outer(B[:, 0], Z[1])) / safe
    w = (np.outer(A[:, 0], Z[1]) - np.outer(A[:, 1], Z[0])) / safe
    inside = (v >= 0.0) & (w >= 0.0) & (v + w >= 1.0) & (v + w <= high) & (determinant != 0.0)[:, None]
    distances: Floats = np.where(inside, 0.0, least)
    return distances


def _to_segments(P: Floats, Q: Floats, Z: Floats) -> Floats:
    edge = Q - P
    lengths = np.maximum((edge**2).sum(axis=1), np.finfo(np.float64).tiny)[:, None]
    t = np.clip((edge @ Z - (edge * P).sum(axis=1)[:, None]) / lengths, 0.0, 1.0)
    rest = [Z[i] - P[:, i, None] - t * edge[:, i, None] for i in range(2)]
    squared: Floats = rest[0] ** 2 + rest[1] ** 2
    return squared


def nested(settings: GeometrySettings, seed: int) -> list[Row]:
    """One row for every d, K and band of a learned cone: the largest rise of a pair's loss when its basis is changed.

    ``outwards`` moves the vectors to norm c by :func:`pipeline_lib.theory.cones.moved_outwards`, ``added`` adds a
    vector, ``scaled`` multiplies every vector so that its norm is c, and ``replaced`` puts another vector in the place
    of the first. Losses are in units of rho^2, ``norm_error`` is that of the moved vectors in units of c, and
    ``longest`` is the largest norm before, in units of c. One vector can only be scaled.
    """
    rows = []
    for d, K, high, data in _learned(settings, seed):
        problem = cone.Problem(weighted=False, band=(1.0, high))
        axes = (seed, "cone-nested", d, K, high)
        c, rho = problem.c_of(d), problem.rho_of(d)
        U = cone.fit(data, K, method="exact", problem=problem, passes=LEARNED_PASSES, traced=False, seed=axes).U
        other = cone.started(d, 1, problem, (*axes, "other"))
        scaled = c * U / np.linalg.norm(U, axis=0)
        moved = cones.moved_outwards(U, c) if K > 1 else scaled
        changed = {
            "outwards": moved,
            "added": np.ascontiguousarray(np.hstack([U, other])),
            "scaled": scaled,
            "replaced": np.ascontiguousarray(np.hstack([other, U[:, 1:]])),
        }
        before = cone.pair_losses(data, U, problem)
        rises = {name: cone.pair_losses(data, V, problem) - before for name, V in changed.items()}
        row: Row = {"d": d, "K": K, "largest_sum": high, "longest": float(np.linalg.norm(U, axis=0).max()) / c}
        row |= {name: float(rise.max()) / rho**2 for name, rise in rises.items()}
        row |= {"norm_error": float(np.abs(np.linalg.norm(moved, axis=0) / c - 1.0).max())}
        rows.append(row)
    return rows


def _learned(settings: GeometrySettings, seed: int) -> Iterator[tuple[int, int, float, RankingData]]:
    for d in settings.features:
        rng = generator(seed, "cone-nested", d, "queries")
        data = geometry.sample_with_pairs(d, settings.learned_queries, rng)
        for K in sorted({1, *(K for K in settings.bases if d >= K)}):
            for high in (1.0, 2.0):
                yield d, K, high, data


def surfaces(settings: GeometrySettings, seed: int) -> list[Row]:
    """One row for every sample of Figure 1: how far differences are from a cone that is learned from them.

    In three dimensions, most differences lie in a plane, between two directions; a few point anywhere. Measured are
    mean squared distances of both to the cone of two vectors with the least risk (18) of several starts, in units of
    rho^2, and those of the former to a single ray and to the cone of a start.
    """
    rows = []
    for sample in range(settings.plane_samples):
        axes = (seed, "cone-surface", sample)
        rng = generator(*axes)
        edges = np.linalg.qr(rng.standard_normal((3, 2)))[0]
        angles = np.radians(rng.uniform(-WIDTH, WIDTH, ON_THE_SURFACE))
        clean = edges @ np.stack([np.cos(angles), np.sin(angles)])
        noise = rng.standard_normal((3, NOISY))
        Z = LONG * np.hstack([clean, noise / np.linalg.norm(noise, axis=0)])
        # A query is a pair of documents, 0 and z.
        X = np.zeros((2 * Z.shape[1], 3))
        X[1::2] = Z.T
        data = RankingData.from_arrays(X, np.tile([0, 1], Z.shape[1]), np.repeat(np.arange(Z.shape[1]), 2))
        fits = {K: _least_risk(data, K, axes) for K in (1, 2)}
        start = cone.started(3, 2, cone.Problem(), axes)
        found = {name: _distances(U, Z) for name, U in (("cone", fits[2]), ("ray", fits[1]), ("start", start))}
        row: Row = {"sample": sample, "noisy": float(found["cone"][ON_THE_SURFACE:].mean())}
        row |= {f"to_the_{name}": float(values[:ON_THE_SURFACE].mean()) for name, values in found.items()}
        rows.append(row)
    return rows


def _least_risk(data: RankingData, K: int, axes: tuple[Any, ...]) -> Floats:
    fits = [
        cone.fit(data, K, method="exact", problem=cone.Problem(weighted=False), passes=200, seed=(*axes, start))
        for start in range(STARTS)
    ]
    return min(fits, key=lambda fit: float(fit.objective[-1])).U


def _distances(U: Floats, Z: Floats) -> Floats:
    units = Z / np.linalg.norm(Z, axis=0)
    return np.array([float(np.sum((z - U @ cones.project(U, z)) ** 2)) for z in units.T])
