"""Which cones are proper, what is the distance to a halfspace, and what does lowering lambda_u change?

Three statements of `cone` that need no data:

- section 3.2: a cone of order K, none of whose basis vectors is a conic combination of the others, is proper;
- section 5: RankSVM's solution is the special case in which the cone approaches a halfspace;
- section 3.4: the bound (16) on the stability can be made small by lowering lambda_u.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import cone
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import cones, stability

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.geometry import GeometrySettings

Row = dict[str, Any]

NEAR = 1e-9
"""Distances of unit vectors up to this are rounding."""
DIRECTIONS = 720
"""Directions of the plane among which the best is sought, half a degree apart."""
LENGTHS = np.geomspace(1e-3, 1e3, 301)
"""Lengths of u that RankSVM may choose."""
PENALTIES = np.geomspace(1e-6, 1e4, 41)
"""Values of RankSVM's C."""
SUMS = np.geomspace(1e-3, 1e3, 61)
"""Values of lambda_u."""


def proper(settings: GeometrySettings, seed: int) -> list[Row]:
    """One row for every cone: whether its basis is of order K, and whether the cone is solid, pointed, and proper."""
    rows = []
    for case, U in _bases(settings, seed):
        solid, pointed = is_solid(U), is_pointed(U)
        d, K = U.shape
        independent = bool(np.linalg.matrix_rank(U) == K)
        found = {"of_order": of_order(U), "independent": independent, "solid": solid, "pointed": pointed}
        rows.append({"case": case, "d": d, "K": K, **found, "proper": solid and pointed})
    return rows


def _bases(settings: GeometrySettings, seed: int) -> Iterator[tuple[str, Floats]]:
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    yield "three vectors of a plane at 120 degrees", np.vstack([np.cos(angles), np.sin(angles)])
    angles = 2.0 * np.pi * np.arange(5) / 5.0
    yield "five edges of a pyramid", np.vstack([np.cos(angles), np.sin(angles), np.ones(5)])
    for d in settings.features:
        for K in (*(k for k in settings.bases if k < d), d):
            yield "random", generator(seed, "cone-proper", d, K).standard_normal((d, K))
    # A cone that is learned has as many basis vectors as are asked for, fewer than features.
    population = Population(PopulationSettings(features=5, documents=4))
    sample = population.draw(20, generator(seed, "cone-proper", "sample"))
    yield "learned", cone.fit(sample, 2, method="exact", passes=50, seed=(seed, "cone-proper")).U


def sample_with_pairs(d: int, queries: int, rng: np.random.Generator) -> RankingData:
    """Queries of four documents with d features from a population, drawn anew until some query has a pair."""
    population = Population(PopulationSettings(features=d, documents=4, label_shares=(0.4, 0.3, 0.3)))
    while True:
        data = population.draw(queries, rng)
        if cone.has_pairs(data):
            return data


def of_order(U: Floats) -> bool:
    """Whether no basis vector is a conic combination of the others.

    Example
    -------
    >>> of_order(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])), of_order(np.eye(2))
    (False, True)
    """
    units = U / np.linalg.norm(U, axis=0)
    for k in range(U.shape[1]):
        others = np.delete(units, k, axis=1)
        rest = units[:, k] - others @ cones.project(others, units[:, k]) if others.size else units[:, k]
        if np.linalg.norm(rest) <= NEAR:
            return False
    return True


def is_solid(U: Floats) -> bool:
    """Whether the cone has interior points: its basis spans the space."""
    return bool(np.linalg.matrix_rank(U) == len(U))


def is_pointed(U: Floats) -> bool:
    """Whether the cone has no line: no w >= 0 with sum 1 has U w = 0.

    Example
    -------
    >>> is_pointed(np.array([[1.0, -1.0]])), is_pointed(np.array([[1.0, 2.0]]))
    (False, True)
    """
    units = U / np.linalg.norm(U, axis=0)
    extended = np.vstack([units, np.ones(U.shape[1])])
    goal = np.append(np.zeros(len(U)), 1.0)
    return bool(np.linalg.norm(goal - extended @ cones.project(extended, goal)) > NEAR)


def distances(settings: GeometrySettings, seed: int) -> list[Row]:
    """One row for every d: how far the squared distance to a halfspace is from RankSVM's loss, and from min(0, u'z)^2.

    The halfspace {z: u'z >= 0} is the cone of u and of plus and minus a basis of the plane orthogonal to u; the
    distance is that to its nearest point (1). Points and u have norm 1, and u'z is uniform. ``to_best_hinge`` allows a
    multiple of the hinge and any margin.
    """
    rows = []
    for d in settings.features:
        rng = generator(seed, "cone-halfspace", d)
        along, squared = [], []
        for _ in range(settings.points):
            frame = np.linalg.qr(rng.standard_normal((d, d)))[0]
            u, plane = frame[:, 0], frame[:, 1:]
            height, sideways = rng.uniform(-1.0, 1.0), rng.standard_normal(d - 1)
            z = height * u + np.sqrt(1.0 - height**2) * plane @ (sideways / np.linalg.norm(sideways))
            U = np.column_stack([u, plane, -plane])
            along.append(float(u @ z))
            squared.append(float(np.linalg.norm(z - U @ cones.project(U, z)) ** 2))
        t, found = np.array(along), np.array(squared)
        rows.append(
            {
                "d": d,
                "points": settings.points,
                "to_hinge": float(np.abs(found - np.maximum(0.0, 1.0 - t)).max()),
                "to_best_hinge": _to_best_hinge(t, found),
                "to_squared": float(np.abs(found - np.minimum(0.0, t) ** 2).max()),
                "to_unsquared": float(np.abs(found - np.maximum(0.0, -t)).max()),
                "to_two_sided": float(np.abs(found - t**2).max()),
            }
        )
    return rows


def _to_best_hinge(t: Floats, values: Floats) -> float:
    multiples, margins = np.linspace(0.0, 2.0, 101), np.linspace(-1.0, 1.0, 101)
    hinges = np.maximum(0.0, margins[:, None] - t)
    return min(float(np.abs(a * hinges - values).max(axis=1).min()) for a in multiples)


def solutions(settings: GeometrySettings, seed: int) -> list[Row]:
    """One row for every sample of differences in the plane that no halfspace contains: angles between best directions.

    ``to_ranksvm`` is the least angle, over all values of C, between the halfspace of least mean squared distance and
    RankSVM's u, in degrees; ``to_squared`` is that to the direction of least mean min(0, u'z)^2.
    """
    angles = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    directions = np.vstack([np.cos(angles), np.sin(angles)])
    rng = generator(seed, "cone-halfspace", "solutions")
    rows: list[Row] = []
    while len(rows) < settings.samples:
        Z = rng.standard_normal((settings.differences, 2)) + np.array([0.7, 0.0])
        T = Z @ directions
        squared = (np.minimum(T, 0.0) ** 2).mean(axis=0)
        if squared.min() == 0.0:
            continue
        best = angles[np.argmin([_mean_distance(directions[:, i], Z) for i in range(DIRECTIONS)])]
        hinges = np.stack([np.maximum(0.0, 1.0 - r * T).mean(axis=0) for r in LENGTHS])
        trained = [angles[np.argmin((hinges + 0.5 * C * LENGTHS[:, None] ** 2).min(axis=0))] for C in PENALTIES]
        rows.append(
            {
                "sample": len(rows),
                "differences": settings.differences,
                "to_ranksvm": min(_between(best, angle) for angle in trained),
                "to_squared": _between(best, float(angles[np.argmin(squared)])),
            }
        )
    return rows


def _mean_distance(u: Floats, Z: Floats) -> float:
    # The mean squared distance to the halfspace, by projection onto its cone.
    U = np.column_stack([u, [-u[1], u[0]], [u[1], -u[0]]])
    return float(np.mean([np.sum((z - U @ cones.project(U, z)) ** 2) for z in Z]))


def _between(a: float, b: float) -> float:
    return float(np.degrees(abs((a - b + np.pi) % (2.0 * np.pi) - np.pi)))


def lowered(settings: GeometrySettings) -> list[Row]:
    """One row for every d and K: the least value of (16) over lambda_u, as a share of its value at lambda_u = 1.

    ``share`` keeps lambda_u >= lambda_l = 1, as section 3.3 has it; ``share_below`` lets lambda_l fall as well, and
    lambda_u with it. s_max is a tenth of rho, c = 2 rho.
    """
    rows = []
    for d in settings.features:
        for K in (k for k in settings.bases if k <= d):
            rho = float(np.sqrt(d))
            values = np.array(
                [stability.bound_on_beta(0.1 * rho, K=K, rho=rho, c=2.0 * rho, largest_sum=float(s)) for s in SUMS]
            )
            one = stability.bound_on_beta(0.1 * rho, K=K, rho=rho, c=2.0 * rho, largest_sum=1.0)
            allowed = values[SUMS >= 1.0 - NEAR]
            rows.append({"d": d, "K": K, "share": float(allowed.min()) / one, "share_below": float(values.min()) / one})
    return rows
