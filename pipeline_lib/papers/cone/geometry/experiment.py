"""Which cones are proper, what limits their size, and do the smaller statements of `cone` hold? They need no data.

- Section 3.2: a cone of order K, none of whose basis vectors is a conic combination of the others, is proper;
  representations by coefficients, and the properties of inequalities.
- Figures 1 and 2, and what another vector in the basis does to the loss.
- Section 4: the check for properness, and the linear step of EG.
- Section 5: RankSVM's solution is the special case in which the cone approaches a halfspace.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Rising, Settings, Several, Sizes, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, OnlyInterval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.geometry import plane
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import cones

NEAR = 1e-9
"""Distances of unit vectors up to this are rounding."""
DIRECTIONS = 720
"""Directions of the plane among which the best is sought, half a degree apart."""
LENGTHS = np.geomspace(1e-3, 1e3, 301)
"""Lengths of u that RankSVM may choose."""
PENALTIES = np.geomspace(1e-6, 1e4, 41)
"""Values of RankSVM's C."""

WIDTH, NOISE = 25.0, (50.0, 80.0)
"""Differences lie within this angle of the first axis, but for one, which lies between the other two angles."""
LEARNED_PASSES = 10
ON_THE_SURFACE, NOISY, LONG, STARTS = 100, 3, 100.0, 5
"""Differences in a plane, differences anywhere, their length, so that alpha hardly shortens them, and starts."""
SLIGHTLY = 1.02
"""A lambda_u slightly above 1."""

RATES = (0.0005, 0.001, 0.002, 0.004)
"""Values of mu for the exponent, in units in which slopes are about 1."""
CHECKED_PASSES = 5
FEW = 10
"""Inequalities are tried in at most so many dimensions: projections onto cones of many vectors take long."""


class GeometrySettings(Settings):
    """Proper cones, halfspaces, the size of cones, and the statements of sections 3 and 4."""

    features: Sizes = Field((2, 3, 10, 46), description="values of d")
    bases: Rising = Field((2, 3, 10), description="values of K; those above d are left out")
    points: Whole = Field(200, description="random points whose distance to a halfspace is measured, for every d")
    samples: Whole = Field(10, description="samples of differences on which RankSVM is compared")
    differences: Annotated[Whole, Ge(3)] = Field(8, description="differences in each sample")
    draws: Several = Field(10, description="random draws for the statements of sections 3 and 4")
    plane_samples: Whole = Field(3, description="samples of differences for Figures 1 and 2, each")
    learned_queries: Several = Field(10, description="queries from which cones are learned")


class Proper(
    Row,
    table="tables/cone-proper",
    key=("case", "d", "K"),
    always=("proper = (solid AND pointed)", "independent <= of_order", "independent <= (K <= d)"),
):
    """A cone, and which properties it has."""

    case: str = Field(description="how its basis was made")
    d: FromOne = Field(description="dimensions")
    K: FromOne = Field(description="basis vectors")
    of_order: bool = Field(description="whether no basis vector is a conic combination of the others")
    independent: bool = Field(description="whether the basis vectors are linearly independent")
    solid: bool = Field(description="whether it has interior points")
    pointed: bool = Field(description="whether it contains no line")
    proper: bool = Field(description="whether it is solid and pointed")


class Halfspace(Row, table="tables/cone-halfspace", key=("d",)):
    """The largest difference between the squared distance to a halfspace and a function of u'z, over random points."""

    d: FromOne = Field(description="dimensions")
    points: FromOne = Field(description="points of norm 1")
    to_best_hinge: FromZero = Field(description="function: RankSVM's hinge, least over a grid of multiples and margins")
    to_squared: FromZero = Field(description="min(0, u'z)^2")


class Solution(
    Row, table="tables/cone-halfspace-solutions", key=("sample",), always=("to_ranksvm <= 180", "to_squared <= 180")
):
    """How far the halfspace of least mean squared distance to a sample in the plane is from other directions."""

    sample: Count = Field(description="the sample, which no halfspace contains")
    to_ranksvm: FromZero = Field(description="least angle to RankSVM's u over all values of C, in degrees")
    to_squared: FromZero = Field(description="angle to the direction of least mean min(0, u'z)^2, in degrees")


class Size(
    Row, table="tables/cone-plane", key=("sample", "case"), always=("narrowest <= widest", "risk <= largest_loss")
):
    """The best cones of the plane for one sample of differences of norm 1 (Figure 2)."""

    sample: Count = Field(description="the sample")
    case: str = Field(description="largest sum: one, slightly more, enough to reach all; published: c = 2 and one")
    c: FromZero = Field(description="norm of the basis vectors; if it is 2, the largest norm")
    largest_sum: FromZero = Field(description="lambda_u")
    risk: FromZero = Field(description="least mean squared distance")
    largest_loss: FromZero = Field(description="largest squared distance to the narrowest best cone")
    narrowest: FromZero = Field(description="least opening of a best cone, in degrees")
    widest: FromZero = Field(description="largest opening of a best cone, in degrees")
    spread: FromZero = Field(description="angle between the outermost differences, in degrees")


class Nested(Row, table="tables/cone-nested", key=("d", "K", "largest_sum")):
    """The largest rise of a pair's loss, in units of rho^2, when the basis of a learned cone is changed."""

    d: FromOne = Field(description="features")
    K: FromOne = Field(description="basis vectors")
    largest_sum: FromZero = Field(description="lambda_u")
    added: float = Field(description="change: a vector is added")
    replaced: float = Field(description="another vector takes the place of the first")


class Surface(Row, table="tables/cone-surface", key=("sample",)):
    """Mean squared distances, in units of rho^2, of differences to a cone that is learned from them (Figure 1)."""

    sample: Count = Field(description="the sample")
    noisy: FromZero = Field(description="of differences in any direction, to the cone of two vectors")
    to_the_cone: FromZero = Field(description="of differences in a plane, to the same cone")
    to_the_ray: FromZero = Field(description="of differences in a plane, to a single ray that is learned")
    to_the_start: FromZero = Field(description="of differences in a plane, to the cone with which training starts")


class Statement(Row, table="tables/cone-steps", key=("claim", "case", "d", "K", "name")):
    """A number that decides a smaller statement."""

    claim: str = Field(description="claim that reads it")
    case: str = Field(description="what is tried")
    d: Count = Field(description="dimensions")
    K: Count = Field(description="basis vectors")
    name: str = Field(description="name of the number, as the claim uses it")
    value: OnlyInterval = Field(description="the number; a fitted exponent with a 95 % interval")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all seven tables."""
    statements = (representations, inequalities, linear_steps, checks)
    for rows in (proper, distances, solutions, sizes, nested, surfaces, *statements):
        yield from rows(job.settings, job.seed)


def _shapes(settings: GeometrySettings) -> Iterator[tuple[int, int]]:
    # Every d with every K up to it.
    return ((d, K) for d in settings.features for K in settings.bases if d >= K)


def proper(settings: GeometrySettings, seed: int) -> Iterator[Proper]:
    """For every cone: whether its basis is of order K, and whether the cone is solid, pointed, and proper."""
    for case, U in _bases(settings, seed):
        found = {"of_order": of_order(U), "solid": is_solid(U), "pointed": is_pointed(U)}
        found |= {"independent": is_solid(U.T), "proper": found["solid"] and found["pointed"]}
        yield Proper(case=case, d=U.shape[0], K=U.shape[1], **found)


def _bases(settings: GeometrySettings, seed: int) -> Iterator[tuple[str, Floats]]:
    yield "three vectors of a plane at 120 degrees", _around(3)
    yield "five edges of a pyramid", np.vstack([_around(5), np.ones(5)])
    for d in settings.features:
        for K in (*(k for k in settings.bases if k < d), d):
            yield "random", generator(seed, "cone-proper", d, K).standard_normal((d, K))
    # A cone that is learned has as many basis vectors as are asked for, fewer than features.
    population = Population(PopulationSettings(features=5, documents=4))
    sample = population.draw(20, generator(seed, "cone-proper", "sample", role="alone"))
    yield "learned", cone.fit(sample, 2, method="exact", passes=50, seed=(seed, "cone-proper")).U


def _around(n: int) -> Floats:
    # So many unit vectors of the plane at equal angles.
    angles = 2.0 * np.pi * np.arange(n) / n
    return np.vstack([np.cos(angles), np.sin(angles)])


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
    extended = np.vstack([U / np.linalg.norm(U, axis=0), np.ones(U.shape[1])])
    goal = np.append(np.zeros(len(U)), 1.0)
    return bool(np.linalg.norm(goal - extended @ cones.project(extended, goal)) > NEAR)


def distances(settings: GeometrySettings, seed: int) -> Iterator[Halfspace]:
    """For every d: how far the squared distance to a halfspace is from RankSVM's loss, and from min(0, u'z)^2.

    The halfspace {z: u'z >= 0} is the cone of u and of plus and minus a basis of the plane orthogonal to u; the
    distance is that to its nearest point (1). Points and u have norm 1, and u'z is uniform. ``to_best_hinge`` allows a
    multiple of the hinge and any margin.
    """
    for d in settings.features:
        rng = generator(seed, "cone-halfspace", d)
        along, squared = [], []
        for _ in range(settings.points):
            frame = np.linalg.qr(rng.standard_normal((d, d)))[0]
            u, plane = frame[:, 0], frame[:, 1:]
            height, sideways = rng.uniform(-1.0, 1.0), rng.standard_normal(d - 1)
            z = height * u + np.sqrt(1.0 - height**2) * plane @ (sideways / np.linalg.norm(sideways))
            along.append(float(u @ z))
            U = np.column_stack([u, plane, -plane])
            squared.append(float(np.linalg.norm(z - U @ cones.project(U, z)) ** 2))
        t, found = np.array(along), np.array(squared)
        to_squared = np.abs(found - np.minimum(0.0, t) ** 2).max()
        yield Halfspace(d=d, points=settings.points, to_best_hinge=_to_best_hinge(t, found), to_squared=to_squared)


def _to_best_hinge(t: Floats, values: Floats) -> float:
    multiples, margins = np.linspace(0.0, 2.0, 101), np.linspace(-1.0, 1.0, 101)
    hinges = np.maximum(0.0, margins[:, None] - t)
    return min(float(np.abs(a * hinges - values).max(axis=1).min()) for a in multiples)


def solutions(settings: GeometrySettings, seed: int) -> Iterator[Solution]:
    """For samples of differences in the plane that no halfspace contains: the angles between best directions."""
    angles, directions = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS, _around(DIRECTIONS)
    rng = generator(seed, "cone-halfspace", "solutions")
    sample = 0
    while sample < settings.samples:
        Z = rng.standard_normal((settings.differences, 2)) + np.array([0.7, 0.0])
        T = Z @ directions
        squared = (np.minimum(T, 0.0) ** 2).mean(axis=0)
        if squared.min() == 0.0:
            continue
        best = angles[np.argmin([_mean_distance(directions[:, i], Z) for i in range(DIRECTIONS)])]
        hinges = np.stack([np.maximum(0.0, 1.0 - r * T).mean(axis=0) for r in LENGTHS])
        trained = [angles[np.argmin((hinges + 0.5 * C * LENGTHS[:, None] ** 2).min(axis=0))] for C in PENALTIES]
        yield Solution(
            sample=sample,
            to_ranksvm=min(_between(best, angle) for angle in trained),
            to_squared=_between(best, float(angles[np.argmin(squared)])),
        )
        sample += 1


def _mean_distance(u: Floats, Z: Floats) -> float:
    # The mean squared distance to the halfspace, by projection onto its cone.
    return float(_squared_distances(np.column_stack([u, [-u[1], u[0]], [u[1], -u[0]]]), Z).mean())


def _between(a: float, b: float) -> float:
    return float(np.degrees(abs((a - b + np.pi) % (2.0 * np.pi) - np.pi)))


def sizes(settings: GeometrySettings, seed: int) -> Iterator[Size]:
    """For every sample, c and lambda_u: the least risk, and the openings of the cones that attain it.

    c = 1 and equal norms are those of Figure 2, c = 2 and (18) those of section 6. ``enough`` is lambda_u = 1 / cos(h)
    where 2 h is the angle between the outermost differences.
    """
    for sample in range(settings.plane_samples):
        rng = generator(seed, "cone-plane", sample)
        angles = np.radians(np.append(rng.uniform(-WIDTH, WIDTH, settings.differences - 1), rng.uniform(*NOISE)))
        spread = float(np.ptp(angles))
        enough = 1.0 / float(np.cos(0.5 * spread))
        cases = {"one": (1.0, 1.0), "slightly": (1.0, SLIGHTLY), "enough": (1.0, enough), "published": (2.0, 1.0)}
        for case, (c, high) in cases.items():
            best = plane.best(angles, c, high)
            yield Size(sample=sample, case=case, c=c, largest_sum=high, **best, spread=np.degrees(spread))


def nested(settings: GeometrySettings, seed: int) -> Iterator[Nested]:
    """For every d, K and band of a learned cone: the largest rise of a pair's loss when its basis is changed."""
    for d in settings.features:
        data = sample_with_pairs(
            d, settings.learned_queries, generator(seed, "cone-nested", d, "queries", role="alone")
        )
        shapes = sorted({1, *(K for K in settings.bases if d >= K)})
        yield from (_nested(data, K, high, seed) for K, high in product(shapes, (1.0, 2.0)))


def _nested(data: RankingData, K: int, high: float, seed: int) -> Nested:
    d, problem = data.n_features, cone.Problem(weighted=False, band=(1.0, high))
    axes = (seed, "cone-nested", d, K, high)
    U = cone.fit(data, K, method="exact", problem=problem, passes=LEARNED_PASSES, traced=False, seed=axes).U
    other = cone.started(d, 1, problem, (*axes, "other"))
    changed = {"added": np.hstack([U, other]), "replaced": np.hstack([other, U[:, 1:]])}
    before = cone.pair_losses(data, U, problem)
    unit = problem.rho_of(d) ** 2
    rises = {name: (cone.pair_losses(data, V, problem) - before).max() / unit for name, V in changed.items()}
    return Nested(d=d, K=K, largest_sum=high, **rises)


def surfaces(settings: GeometrySettings, seed: int) -> Iterator[Surface]:
    """For every sample of Figure 1: how far differences are from a cone that is learned from them.

    In three dimensions, most differences lie in a plane, between two directions; a few point anywhere. Measured are
    mean squared distances of both to the cone of two vectors with the least risk (18) of several starts, in units of
    rho^2, and those of the former to a single ray and to the cone of a start.
    """
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
        clean, noise = np.split((Z / np.linalg.norm(Z, axis=0)).T, [ON_THE_SURFACE])
        learned = {"cone": fits[2], "ray": fits[1], "start": start}
        on_it = {f"to_the_{name}": _squared_distances(U, clean).mean() for name, U in learned.items()}
        yield Surface(sample=sample, noisy=_squared_distances(fits[2], noise).mean(), **on_it)


def _least_risk(data: RankingData, K: int, axes: tuple[Any, ...]) -> Floats:
    fits = [
        cone.fit(data, K, method="exact", problem=cone.Problem(weighted=False), passes=200, seed=(*axes, start))
        for start in range(STARTS)
    ]
    return min(fits, key=lambda fit: float(fit.objective[-1])).U


def _squared_distances(U: Floats, points: Iterable[Floats]) -> Floats:
    # To the cone of U, by projection.
    return np.array([np.sum((z - U @ cones.project(U, z)) ** 2) for z in points])


def _statements(claim: str, case: str, d: int, K: int, values: Mapping[str, float | Interval]) -> Iterator[Statement]:
    for name, value in values.items():
        interval = value if isinstance(value, Interval) else Interval(float(value), float(value), float(value))
        yield Statement(claim=claim, case=case, d=d, K=K, name=name, value=interval)


def representations(settings: GeometrySettings, seed: int) -> Iterator[Statement]:
    """Section 3.2: the largest difference between coefficients w >= 0 and those found again from U w alone."""
    for d in settings.features:
        for K in sorted({*(k for k in settings.bases if k <= d), d, d + 2}):
            rng = generator(seed, "cone-unique", d, K)
            drawn = [(rng.standard_normal((d, K)), rng.exponential(size=K)) for _ in range(settings.draws)]
            worst = max(np.abs(cones.project(U, U @ w) - w).max() for U, w in drawn)
            yield from _statements("cone-unique", "K <= N" if d >= K else "K > N", d, K, {"difference": worst})


def inequalities(settings: GeometrySettings, seed: int) -> Iterator[Statement]:
    """Section 3.2: how often random vectors violate a property of the inequality x >= y, that is, x - y in the cone.

    Proper cones are those of N independent vectors. In a cone that is not pointed, here one that is generated by N + 1
    vectors with the sum 0, every vector lies together with its negative.
    """
    for d in (d for d in settings.features if d <= FEW):
        rng = generator(seed, "cone-inequality", d)
        for case in ("proper", "not pointed"):
            U = rng.standard_normal((d, d))
            U = U if case == "proper" else np.column_stack([U, -U.sum(axis=1)])
            violated = [_violated(U, rng) for _ in range(settings.draws)]
            counts = {name: sum(one[name] for one in violated) for name in violated[0]}
            yield from _statements("cone-inequality", case, d, U.shape[1], counts)


def _violated(U: Floats, rng: np.random.Generator) -> dict[str, bool]:
    K = U.shape[1]
    a, b = U @ rng.exponential(size=K), U @ rng.exponential(size=K)
    y, factor = rng.standard_normal(len(U)), float(rng.exponential())
    # The points b + a/n of the cone converge to b on a facet of it.
    edge = U[:, 1:] @ rng.exponential(size=K - 1)
    return {
        "reflexive": not inside(U, y - y),
        # x - y = a and y - z = b, or x - y = a and u - v = b: the sum of the two is a + b.
        "transitive": not inside(U, a + b),
        "additive": not inside(U, (a + y + b) - y),
        "scaled": not inside(U, factor * a),
        "limits": not all(inside(U, edge + a / n) for n in (1.0, 1e3, 1e6, np.inf)),
        "antisymmetric": inside(U, a) and inside(U, -a),
    }


def inside(U: Floats, x: Floats) -> bool:
    """Whether x is in the cone, up to rounding."""
    rest = x - U @ cones.project(U, x)
    return float(np.linalg.norm(rest)) <= NEAR * max(1.0, float(np.linalg.norm(x)))


def linear_steps(settings: GeometrySettings, seed: int) -> Iterator[Statement]:
    """Section 4.2: the distance of EG's linear step from the step with exponentials; ``half_rate`` takes half of mu."""
    for d, K in _shapes(settings):
        rng = generator(seed, "cone-eg", d, K)
        far, half = np.zeros((2, settings.draws, len(RATES)))
        for sample in range(settings.draws):
            U = rng.standard_normal((d, K)) / np.sqrt(d)
            z, w = rng.standard_normal(d) / np.sqrt(d), rng.dirichlet(np.ones(K))
            slope = -2.0 * (z - U @ w)
            g, centred = slope @ U, slope @ (U - (U @ w)[:, None])
            for i, mu in enumerate(RATES):
                step, exponential = w * (1.0 - mu * centred), w * np.exp(-mu * g)
                exponential /= exponential.sum()
                far[sample, i] = np.abs(step - exponential).sum()
                half[sample, i] = np.abs(w * (1.0 - 0.5 * mu * centred) - exponential).sum()
        fits = {"exponent": fit_exponent(RATES, far), "exponent_of_half_rate": fit_exponent(RATES, half)}
        slopes = {name: Interval(fit.slope, fit.low, fit.high) for name, fit in fits.items()}
        yield from _statements("cone-eg-rate", "random", d, K, slopes)


def checks(settings: GeometrySettings, seed: int) -> Iterator[Statement]:
    """Section 4.1: the shares of learned cones, after every pass, that pass each part of a check for properness."""
    for d, K in _shapes(settings):
        data = sample_with_pairs(d, settings.learned_queries, generator(seed, "cone-check", d, role="alone"))
        for method in cone.METHODS:
            fit = cone.fit(data, K, method=method, passes=CHECKED_PASSES, traced=False, seed=(seed, "cone-check", d, K))
            passed = np.array([(of_order(U), is_pointed(U), is_solid(U)) for U in fit.path])
            shares = dict(zip(("of_order", "pointed", "solid"), passed.mean(axis=0), strict=True))
            yield from _statements("cone-check", method, d, K, {**shares, "proper": passed.all(axis=1).mean()})


EXPERIMENT = Experiment(
    GeometrySettings,
    Step("geometry", measure, rows=(Proper, Halfspace, Solution, Size, Nested, Surface, Statement), cost=Cost(8.0)),
)
