"""How much worse is regularised risk minimisation than the best ranker in a ball, and how much worse may it be?

`slam`, Theorem 8 (= 11), which is Theorem 6 of `lists` too: with phi convex and L-Lipschitz in w, and

    w_hat = argmin over ||w|| <= B of lambda/2 ||w||^2 + (1/n) sum_i phi(X_i w, y_i),
    lambda = sqrt( (4 L^2 / n) / (B^2/2 + 4 B^2/n) ),

    E[L(w_hat)] - min over ||w|| <= B of L(w) <= 2 L B (8/n + sqrt(2/n)).

Here L = G R_X with G = sup ||grad_s phi||_1. The risk L(w) is the mean over one large fresh sample, which all rankers
share. Its minimum over the ball is found by a certified solve on the same sample, which can only make the excess
larger.

Where the theorem says something are populations of two points, small balls, and samples as large as one likes. Lists
have two documents at -R and R; the second is the relevant one with probability p, else the first. Where 2 R B <= 1 the
hinges are active in the whole ball, and the risk of SLAM is linear. The number of lists of the first kind in a sample
is binomial, so that an expectation over samples is a sum over its values. The signal s = 2 p - 1 is fixed, or
c / sqrt(n), near which a sample decides as badly as possible between -B and B.

Beside the minimiser of the theorem stand rankers that its bound should not allow: w = 0, the minimiser with the
opposite sign, and one whose lambda does not fall with n.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from scipy.stats import binom

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import Role, generator
from pipeline_lib.core.settings import Jobs, Positives, Range, Settings, Several, Sizes, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, OnlyInterval, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import erm
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import mean_interval
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

SURROGATES = ("slam-ndcg", "slam-map", "listnet")
TOLERANCE = 1e-6
RADIUS = NORM = 0.5
"""B and R in populations of two points."""
DEVIATIONS = 7.5
"""Beyond so many standard deviations the binomial distribution has a mass of less than 1e-12."""
HALVINGS = 45
"""Of the interval in which a minimiser is sought."""
SIGNALS = (0.5,)
RELATIVE_SIGNALS = (0.5, 1.5, 3.0)
"""The values of c in the signals c / sqrt(n)."""
FIXED_SHARE = 0.1
"""lambda of the minimiser whose lambda does not fall, in units of L / B."""


class RiskSettings(Settings):
    """Excess risk of regularised risk minimisation, and Theorem 8."""

    sizes: Sizes = Field((30, 100, 300, 1000), description="values of n, the number of queries in a training sample")
    radii: Positives = Field((10.0,), description="values of B, radius of the ball in which the best ranker is sought")
    repetitions: Several = Field(20, description="training samples for every n")
    parts: Jobs = Field(1, description="jobs among which the repetitions for one surrogate are divided")
    truth: Annotated[Whole, Ge(100)] = Field(5000, description="queries in the sample that represents the population")
    documents: Range = Field((5, 15), description="smallest and largest number of documents per query")
    features: Whole = Field(10, description="features in the population")
    finite_sizes: Sizes = Field(
        (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000),
        description="values of n for populations of two points, whose risks are exact",
    )


class Minimised(Row):
    """What is minimised, the risk of a surrogate over a ball, and from how many queries."""

    surrogate: str = Field(description="loss of training and of the risk")
    radius: FromZero = Field(description="B, the radius of the ball")
    n: FromOne = Field(description="queries of the training sample")


class Excess(Minimised, table="slices/slam-risk/{surrogate}-{part}", key=("surrogate", "radius", "n", "repetition")):
    """The excess risk of one ranker, trained in one repetition on n queries."""

    repetition: Count = Field(description="the repetition, from 0")
    l2: FromZero = Field(description="lambda")
    lipschitz: FromZero = Field(description="L, the Lipschitz constant of the loss in w")
    excess: float = Field(description="risk minus the least that the best ranker's risk can be")
    truth_error: FromZero = Field(description="standard error of the excess over queries that stand for the population")
    certified: bool = Field(description="whether this ranker and the best one are minimisers up to the asked gap")
    bound: FromZero = Field(description="Theorem 8")
    zero_excess: float = Field(description="excess risk of w = 0")
    gap: float = Field(
        description="risk minus training risk, less the same of w = 0, whose expectation is 0: less noise, and on "
        "average the gap"
    )
    gap_error: FromZero = Field(description="standard error of the gap over the queries that stand for the population")


class Mean(Minimised, table="tables/slam-risk", key=("surrogate", "radius", "n")):
    """The excess risk of rankers trained on n queries: means over the repetitions with their intervals.

    The standard error over the sample that stands for the population, which all repetitions share, is included.
    """

    excess_risk: OnlyInterval = Field(description="risk minus that of the best ranker of the ball")
    bound: FromZero = Field(description="Theorem 8")
    l2: FromZero = Field(description="lambda")
    certified: bool = Field(description="whether all rankers are minimisers up to the asked gap")
    zero_excess: float = Field(description="excess risk of w = 0")
    gap: Interval = Field(description="risk minus training risk, less the same of w = 0, whose expectation is 0")


class Finite(Row, table="tables/slam-finite-risk", key=("surrogate", "radius", "signal", "relative", "n")):
    """The expected excess risk of rankers trained on n queries of a population of two points."""

    surrogate: str = Field(description="loss of training and of the risk")
    radius: FromZero = Field(description="B, the radius of the ball")
    signal: FromZero = Field(description="signal s, or c where s is c / sqrt(n)")
    relative: bool = Field(description="whether the signal falls with n")
    n: FromOne = Field(description="queries of a training sample")
    excess_risk: FromZero = Field(description="expected excess risk with the lambda of Theorem 8")
    zero_excess: FromZero = Field(description="excess risk of w = 0")
    reversed_excess: FromZero = Field(description="expected excess risk of the same rankers with the opposite sign")
    fixed_excess: FromZero = Field(description="expected excess risk with a lambda that does not fall with n")
    bound: FromZero = Field(description="Theorem 8")
    lipschitz: FromZero = Field(description="L, the Lipschitz constant of the loss in w")


def measure(job: Job) -> Iterator[Excess]:
    """The excess risks of one surrogate for the repetitions of one part: those congruent to it modulo ``parts``."""
    settings, seed, surrogate, part = job.settings, job.seed, job.cell["surrogate"], int(job.cell["part"])
    population = Population(PopulationSettings(features=settings.features, documents=settings.documents))
    loss, m, longest = surrogates.create(surrogate), max(settings.documents), population.feature_norm
    lipschitz = loss.lipschitz(m, population.settings.y_max)
    # MAP distinguishes relevant and irrelevant documents only.
    binary = surrogate == "slam-map"
    truth = population.draw(settings.truth, generator(seed, "slam-risk", "truth", role="truth"))
    truth = truth.with_binary_labels() if binary else truth
    best = {B: erm.fit(truth, loss, l2=0.0, radius=B, tol=TOLERANCE) for B in settings.radii}
    at_zero = losses_of(loss, truth, np.zeros(truth.n_features), "truth")
    least = {B: losses_of(loss, truth, fit.w, "truth") for B, fit in best.items()}
    for repetition in progress.counted(range(part, settings.repetitions, settings.parts), "repetitions"):
        for n in settings.sizes:
            # Every surrogate and radius has the same samples, so that they can be compared.
            sample = population.draw(n, generator(seed, "slam-risk", "sample", n, repetition, role="train"))
            sample = sample.with_binary_labels() if binary else sample
            own_at_zero = losses_of(loss, sample, np.zeros(sample.n_features), "train").mean()
            for B in settings.radii:
                given = {"radius": B, "lipschitz": lipschitz, "feature_norm": longest}
                l2 = erm.lipschitz_l2(n, **given)
                fit = erm.fit(sample, loss, l2=l2, radius=B, tol=TOLERANCE)
                values, own = losses_of(loss, truth, fit.w, "truth"), losses_of(loss, sample, fit.w, "train")
                yield Excess(
                    surrogate=surrogate,
                    radius=B,
                    n=n,
                    repetition=repetition,
                    l2=l2,
                    lipschitz=lipschitz * longest,
                    excess=float(values.mean()) - best[B].objective + best[B].gap,
                    truth_error=standard_error(values - least[B]),
                    certified=fit.certified and best[B].certified,
                    bound=list_bounds.evaluate("rerm", n=n, m=m, **given),
                    zero_excess=float(at_zero.mean()) - best[B].objective,
                    gap=float((values.mean() - at_zero.mean()) - (own.mean() - own_at_zero)),
                    gap_error=standard_error(values - at_zero),
                )


def losses_of(loss: Surrogate, data: RankingData, w: Floats, role: Role) -> Floats:
    """The loss of every query, of data that were drawn for this role."""
    data.in_role(role)
    return loss.value(data.X64 @ w, data.y, data.offsets)


def standard_error(values: Floats) -> float:
    """Of the mean of independent values."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def join(job: Job) -> Iterator[Mean]:
    """The means over the repetitions of all parts."""
    return summarised(job.rows(Excess), job.facts["statistics"]["level"])


def summarised(rows: Iterable[Excess], level: float) -> Iterator[Mean]:
    """Means with intervals from the rows of all repetitions."""
    axes_of = attrgetter(*Minimised.model_fields)
    in_order = sorted(rows, key=lambda row: (*axes_of(row), row.repetition))
    for axes, of_cell in groupby(in_order, axes_of):
        found = list(of_cell)
        yield Mean(
            **dict(zip(Minimised.model_fields, axes, strict=True)),
            excess_risk=mean_interval([row.excess for row in found], level, max(row.truth_error for row in found)),
            bound=found[0].bound,
            l2=found[0].l2,
            certified=all(row.certified for row in found),
            zero_excess=found[0].zero_excess,
            gap=mean_interval([row.gap for row in found], level, max(row.gap_error for row in found)),
        )


def finite(job: Job) -> Iterator[Finite]:
    """The excess risks and bounds in all populations of two points."""
    for name in progress.counted(SURROGATES, "surrogates, two points"):
        loss = surrogates.create(name)
        for n in job.settings.finite_sizes:
            yield from (of_two_points(loss, n, s, s) for s in SIGNALS)
            for c in RELATIVE_SIGNALS:
                if c**2 < n:
                    yield of_two_points(loss, n, c / math.sqrt(n), c, relative=True)


def counts(n: int, p: float) -> tuple[NDArray[np.int64], Floats]:
    """How many of n lists may have a relevant second document, and the probability of each number."""
    deviation = DEVIATIONS * math.sqrt(n * p * (1.0 - p)) + 1.0
    k = np.arange(max(0, math.floor(n * p - deviation)), min(n, math.ceil(n * p + deviation)) + 1)
    return k, binom.pmf(k, n, p)


def risk(loss: Surrogate, w: Floats, p: float) -> Floats:
    """The risk of every w where lists whose second document is relevant have the probability p; shape of ``w``."""
    (first, _), (second, _) = _evaluated(loss, w, 1), _evaluated(loss, w, 0)
    return p * first + (1.0 - p) * second


def minimiser(loss: Surrogate, shares: Floats, l2: float, radius: float) -> Floats:
    """argmin over |w| <= B of l2/2 w^2 + the mean loss, for each share of lists whose second document is relevant.

    By bisection on the derivative, which does not fall.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> minimiser(surrogates.create("slam-map"), np.array([0.5, 0.6, 1.0]), 0.5, 0.5).round(6).tolist()
    [0.0, 0.2, 0.5]
    """
    low, high = np.full(len(shares), -radius), np.full(len(shares), radius)
    for _ in range(HALVINGS):
        w = (low + high) / 2.0
        (_, first), (_, second) = _evaluated(loss, w, 1), _evaluated(loss, w, 0)
        rising = l2 * w + shares * first + (1.0 - shares) * second > 0.0
        low, high = np.where(rising, low, w), np.where(rising, w, high)
    return np.asarray((low + high) / 2.0)


def _evaluated(loss: Surrogate, w: Floats, relevant: int) -> tuple[Floats, Floats]:
    """The loss of a list, and its derivative in w, for every w."""
    x = NORM * np.array([-1.0, 1.0])
    y = np.zeros((len(w), 2), np.int32)
    y[:, relevant] = 1
    offsets = np.arange(0, 2 * len(w) + 1, 2)
    values, gradient = loss.unchecked(np.outer(w, x).ravel(), y.ravel(), offsets)
    return values, gradient.reshape(-1, 2) @ x


def of_two_points(loss: Surrogate, n: int, signal: float, shown: float, relative: bool = False) -> Finite:
    """The exact expectations in a population of two points; ``shown`` is the signal, or its c."""
    given: dict[str, Any] = {"radius": RADIUS, "lipschitz": loss.lipschitz(2, 1), "feature_norm": NORM}
    L = given["lipschitz"] * NORM
    p = (1.0 + signal) / 2.0
    k, mass = counts(n, p)
    least = risk(loss, minimiser(loss, np.array([p]), 0.0, RADIUS), p)[0]

    def excess(w: Floats) -> float:
        return float(mass @ (risk(loss, w, p) - least))

    w = minimiser(loss, k / n, erm.lipschitz_l2(n, **given), RADIUS)
    return Finite(
        surrogate=loss.name,
        radius=RADIUS,
        signal=shown,
        relative=relative,
        n=n,
        excess_risk=excess(w),
        zero_excess=float(risk(loss, np.zeros(1), p)[0] - least),
        reversed_excess=excess(-w),
        fixed_excess=excess(minimiser(loss, k / n, FIXED_SHARE * L / RADIUS, RADIUS)),
        bound=list_bounds.evaluate("rerm", n=n, m=2, **given),
        lipschitz=L,
    )


def _seconds(settings: RiskSettings, cell: Cell) -> float:
    # A fit takes some time whatever the number of queries.
    rounds = len(settings.radii) * settings.repetitions / settings.parts
    return rounds * (0.01 * len(settings.sizes) + 2.2e-5 * sum(settings.sizes))


EXPERIMENT = Experiment(
    RiskSettings,
    Step(
        "risk",
        measure,
        rows=(Excess,),
        divided={"surrogate": lambda settings: SURROGATES, "part": lambda settings: range(settings.parts)},
        surrogates=SURROGATES,
        cost=Cost(0.5, start_mb=800.0),
        seconds=_seconds,
    ),
    Step("rates", join, reads=(Excess,), rows=(Mean,), facts=["statistics"]),
    Step("finite", finite, rows=(Finite,), surrogates=SURROGATES, cost=Cost(5.0, start_mb=400.0)),
)
