"""Do the projection and the alternating steps behave as stated, and how are differences spread?

The claims are those of `cone` on (1), the spectrum of the pair differences in Figure 4, and the descent of the
objective (18) in section 4. Data sets are traced over their first passes. A small synthetic sample is traced over
many more, with folding-in that converges and folding-in that is cut short: near a stationary point a pass gains so
little that the error which random starts of the coefficients leave can exceed the gain.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import nnls

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Rising, Settings, Several, Whole
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Proportion, Row
from pipeline_lib.experiment import EVERY, Cell, Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import cones

INSIDE = 1e-9
"""Points whose relative distance from the cone is at most this are in it."""

SMALL = "small sample"
SMALL_QUERIES, SMALL_BASIS, SMALL_STEP = 8, 2, 0.02
SMALL_POPULATION = PopulationSettings(features=5, documents=3, label_shares=(0.2,) * 5)
FOLD_STEPS_OF_STUDIES = 10
FOLD_TOL = 1e-10
"""Folding-in that may take all its steps ends at a step that moves the coefficients by no more than this."""
RISE = 1e-9
"""Relative increases up to this count as rounding, as in the claim's rule."""


class ConesSettings(Settings):
    """Projections onto cones, the spectrum of pair differences, and the descent of the objective."""

    cones: Whole = Field(20, description="random cones of every shape")
    features: Rising = Field((3, 10, 46), description="values of d for the cones")
    bases: Rising = Field((1, 2, 5, 10), description="values of K for the cones, up to d, and the smallest d")
    pairs: Whole = Field(2000, description="about so many pairs of a data set for the traces of the objective")
    basis: Whole = Field(10, description="K in the traces")
    # The objective of a trace with one pass could not rise.
    passes: Several = Field(10, description="passes in each trace")
    fold_steps: Whole = Field(200, description="most steps of a folding-in where the basis is updated once per pass")
    small_passes: Several = Field(2500, description="passes of a trace of a small sample, until it converges")
    small_fold_steps: Rising = Field(
        (10, 20000),
        description="largest numbers of steps of each folding-in on the small sample, one cut short and one converged; "
        "each has a trace",
    )


class Identity(Row, table="tables/cone-identities", key=("claim", "case", "d", "K")):
    """One property of projections onto random cones, in the worst of them."""

    claim: str = Field(description="claim that reads it")
    case: str = Field(description="kind of cones, acute or any, and what is measured, relative to the projected point")
    d: FromOne = Field(description="dimensions")
    K: FromOne = Field(description="basis vectors")
    value: FromZero = Field(description="largest value over the cones; 0 or 1 for outside_off_the_facets")


class Eigenvalue(
    Row,
    table="tables/cone-spectrum",
    key=("dataset", "index"),
    always=(
        "index <= COUNT(*) OVER (PARTITION BY dataset)",
        "cumulative = SUM(eigenvalue) OVER (PARTITION BY dataset ORDER BY index) / "
        "SUM(eigenvalue) OVER (PARTITION BY dataset)",
        "eigenvalue <= LAG(eigenvalue) OVER (PARTITION BY dataset ORDER BY index)",
    ),
):
    """An eigenvalue of the second moment, about 0, of the differences of pairs of a standardised data set."""

    dataset: str = Field(description="data set")
    index: FromOne = Field(description="its place, from 1 for the largest")
    eigenvalue: FromZero = Field(description="the eigenvalue, at least 0")
    cumulative: Proportion = Field(description="share of all eigenvalues up to this one, in [0, 1]")


class Training(Row):
    """One training of a basis."""

    dataset: str = Field(description="data set of which some queries are trained on, or the small sample")
    method: str = Field(description="method of training")
    updates: str = Field(description="basis steps: query, one for each query; whole, one per pass; long, too long ones")
    fold_steps: Count | None = Field(description="largest number of steps of a folding-in; missing for exact blocks")
    step: float | None = Field(description="mu; missing for exact blocks")


class Trace(Training, table="tables/cone-descent", key=("dataset", "method", "updates", "fold_steps", "pass")):
    """The objective (18) after one pass of one training."""

    pass_: Count = Field(description="passes, 0 before the first")
    objective: FromZero = Field(description="objective at the best coefficients")
    met: FromZero | None = Field(description="objective at the algorithm's own coefficients in the pass; missing for 0")
    gap: FromZero | None = Field(description="bound on what the last basis could gain (basis_gap); missing before")


class Descent(
    Training,
    table="tables/cone-descent-summary",
    key=("dataset", "method", "updates", "fold_steps"),
    always=(
        "increases <= steps",
        "gap = relative_gap * last",
        "(increases = 0) = (largest_relative_increase <= 0.000000001)",
    ),
):
    """How one training descends: increases from pass to pass, and the error of folding-in."""

    first: FromZero = Field(description="objective before the first pass")
    last: FromZero = Field(description="objective after the last pass")
    gap: FromZero = Field(description="bound on what the last basis could gain at its best coefficients, see basis_gap")
    largest_relative_increase: float = Field(
        description="largest change from pass to pass over the value before: of the objective at the algorithm's own "
        "coefficients, but with one step per query of that at the best ones"
    )
    increases: FromZero = Field(description="these above 1e-9")
    steps: FromZero = Field(description="changes")
    largest_fold_excess: float | None = Field(
        description="largest relative excess of the objective at the algorithm's coefficients over that at the best "
        "ones; missing with one step per query"
    )
    relative_gap: FromZero = Field(description="gap / last")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all four tables; the features of every data set are standardised over all of its documents."""
    settings, datasets = job.settings, job.datasets()
    standardised = {name: Standardisation.of(data).apply(data) for name, data in datasets.items()}
    yield from projections(settings, job.seed)
    for name, data in standardised.items():
        yield from eigenvalues(name, data)
    for name, data, K, run, passes in progress.counted(_planned(settings, standardised, job.seed), "traces"):
        rows = trace(name, data, K, run, passes, job.seed)
        yield from rows
        yield summary(rows)


def projections(settings: ConesSettings, seed: int) -> Iterator[Identity]:
    """The worst violation of every property of projections, for random cones of every shape."""
    # One shape at least has as many basis vectors as dimensions, so that its cones are solid.
    least = min(settings.features)
    for d in settings.features:
        for K in sorted({k for k in settings.bases if k <= d} | ({d} if d == least else set())):
            for kind in ("acute", "any"):
                rng = generator(seed, "cone-project", d, K, kind)
                found = [_projected(random_cone(d, K, kind, rng), rng) for _ in range(settings.cones)]
                for name in found[0]:
                    worst = max(one[name] for one in found)
                    yield Identity(claim="cone-project", case=f"{kind}: {name}", d=d, K=K, value=worst)


def random_cone(d: int, K: int, kind: str, rng: np.random.Generator) -> Floats:
    """K random unit vectors in d dimensions; the kind "acute" has no negative entries and hence no obtuse angles."""
    U = rng.standard_normal((d, K))
    return (np.abs(U) if kind == "acute" else U) / np.linalg.norm(U, axis=0)


def _projected(U: Floats, rng: np.random.Generator) -> dict[str, float]:
    inside = U @ rng.exponential(size=U.shape[1])
    size = float(np.linalg.norm(inside))
    anywhere = rng.standard_normal(len(U))
    w = cones.project(U, anywhere)
    projection, reference = U @ w, U @ nnls(U, anywhere)[0]
    free = np.linalg.lstsq(U, anywhere, rcond=None)[0]
    rest = anywhere - projection

    def relative(difference: Floats) -> float:
        return float(np.linalg.norm(difference) / np.linalg.norm(anywhere))

    return {
        "largest_difference_inside": float(np.linalg.norm(U @ cones.project(U, inside) - inside)) / size,
        "largest_norm_on_the_negative": float(np.linalg.norm(U @ cones.project(U, -inside))) / size,
        "largest_difference_to_nnls": relative(projection - reference),
        # What is left of a point is in the polar cone {z: U'z <= 0}; points of the cone leave nothing.
        "largest_norm_on_the_polar": relative(U @ cones.project(U, rest)),
        # Points outside whose nearest point is on no facet: all coefficients are positive.
        "outside_off_the_facets": float(relative(rest) > INSIDE and bool((w > 0.0).all())),
        # What other operations give in place of the projection: least squares, and its coefficients cut at 0.
        "largest_difference_of_the_span": relative(U @ free - reference),
        "largest_difference_of_the_cut": relative(U @ np.maximum(free, 0.0) - reference),
    }


def eigenvalues(name: str, data: RankingData) -> Iterator[Eigenvalue]:
    """The eigenvalues of the second moment of pair differences, largest first, with their cumulative share."""
    values = np.maximum(np.linalg.eigvalsh(cones.second_moment(data))[::-1], 0.0)
    shares = np.minimum(np.cumsum(values) / values.sum(), 1.0)
    for i, (value, share) in enumerate(zip(values, shares, strict=True), 1):
        yield Eigenvalue(dataset=name, index=i, eigenvalue=value, cumulative=share)


@dataclass(frozen=True)
class Run:
    """One training to trace: the method, how often the basis moves, the largest number of fold steps, and mu."""

    method: cone.Method
    updates: Literal["query", "whole", "long"]
    fold_steps: int | None
    step: float | None


TOO_LONG = Run("sg", "long", 200, 0.2)
"""One basis step per pass, with steps too long for the coefficients: a player that does not descend."""
LONG_PASSES = 50


def runs(fold_steps: Sequence[int], step: float | None = None) -> Iterator[Run]:
    """Every method with one basis step per query, as in the studies, and one per pass for each number of fold steps."""
    for method in cone.METHODS:
        if method == "exact":
            yield Run(method, "whole", None, None)
            continue
        mu = step or cone.PUBLISHED_STEPS[method]
        yield Run(method, "query", FOLD_STEPS_OF_STUDIES, mu)
        yield from (Run(method, "whole", largest, mu) for largest in fold_steps)


Planned = tuple[str, RankingData, int, Run, int]
"""Name of a sample, the sample, K, what is trained, and the number of passes."""


def _planned(settings: ConesSettings, standardised: Mapping[str, RankingData], seed: int) -> list[Planned]:
    # The first passes on every data set that has pairs, and all passes on the small sample.
    planned: list[Planned] = [
        (name, sample, settings.basis, run, settings.passes)
        for name, data in standardised.items()
        if cone.has_pairs(sample := some_queries(data, settings.pairs, generator(seed, "cone-descent", name)))
        for run in runs((settings.fold_steps,))
    ]
    sample = drawn(seed)
    small = runs(settings.small_fold_steps, SMALL_STEP)
    planned += [(SMALL, sample, SMALL_BASIS, run, settings.small_passes) for run in small]
    return [*planned, (SMALL, sample, SMALL_BASIS, TOO_LONG, LONG_PASSES)]


def drawn(seed: int) -> RankingData:
    """Draw the small sample and standardise its features."""
    rng = generator(seed, "cone-descent", SMALL, "sample", role="alone")
    data = Population(SMALL_POPULATION).draw(SMALL_QUERIES, rng)
    return Standardisation.of(data).apply(data)


def some_queries(data: RankingData, pairs: int, rng: np.random.Generator) -> RankingData:
    """Random queries of ``data``, in their order: as many as have ``pairs`` pairs together, or all."""
    order = rng.permutation(data.n_queries)
    enough = int(np.searchsorted(np.cumsum(cones.pairs_of(data)[order]), pairs)) + 1
    return data.take(np.sort(order[:enough]))


def trace(name: str, data: RankingData, K: int, run: Run, passes: int, seed: int) -> list[Trace]:
    """Train and follow the objective: one row before the first pass and one after every pass."""
    at_once = run.updates != "query"
    fit = cone.fit(
        data,
        min(K, data.n_features),
        method=run.method,
        step=run.step,
        passes=passes,
        fold_steps=run.fold_steps or 1,
        fold_tol=FOLD_TOL if at_once else 1e-3,
        tol=0.0,
        at_once=at_once,
        seed=(seed, "cone-descent", name),
    )
    gap = cone.basis_gap(data, fit.U)
    return [
        Trace(
            dataset=name,
            **vars(run),
            pass_=t,
            objective=fit.objective[t],
            met=None if t == 0 else fit.met[t - 1],
            gap=gap if t == fit.passes else None,
        )
        for t in range(fit.passes + 1)
    ]


def summary(rows: Sequence[Trace]) -> Descent:
    """Summarise one trace: first and last objective, last gap, increases, error of folding-in.

    Increases with one basis step per pass are those of the objective at the algorithm's own coefficients. With one step
    per query they are those at the best coefficients, because the basis moves within the pass.
    """
    one, gap = rows[0], rows[-1].gap
    assert gap is not None
    training = {name: getattr(one, name) for name in Training.model_fields}
    objective = np.array([row.objective for row in rows])
    met = np.array([row.met for row in rows[1:]])
    at_once = one.updates != "query"
    return Descent(
        **training,
        first=objective[0],
        last=objective[-1],
        gap=gap,
        **increases(met if at_once else objective),
        largest_fold_excess=_relative(met - objective[:-1], objective).max() if at_once else None,
        relative_gap=gap / max(float(objective[-1]), np.finfo(np.float64).tiny),
    )


def increases(values: Floats) -> dict[str, Any]:
    """The largest relative increase, the number of increases, and that of all changes."""
    change = _relative(np.diff(values), values)
    return {
        "largest_relative_increase": float(change.max(initial=-1.0)),
        "increases": float((change > RISE).sum()),
        "steps": float(len(change)),
    }


def _relative(differences: Floats, values: Floats) -> Floats:
    # Relative to the previous value; a value near 0 is replaced by the rounding error of the first one.
    scale = np.maximum(values[:-1], max(1e-12 * float(values[0]), np.finfo(np.float64).tiny))
    return differences / scale


def _seconds(settings: ConesSettings, cell: Cell) -> float:
    # The first passes over a data set, and the fold steps of the small sample.
    fold_steps = SMALL_QUERIES * settings.small_passes * sum(settings.small_fold_steps)
    return 1e-4 * settings.pairs * settings.passes + 1e-8 * fold_steps


EXPERIMENT = Experiment(
    ConesSettings,
    Step(
        "cones",
        measure,
        documents=EVERY,
        rows=(Identity, Eigenvalue, Trace, Descent),
        cost=Cost(2.0, start_mb=800.0),
        seconds=_seconds,
    ),
)
