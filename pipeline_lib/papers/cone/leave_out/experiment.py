"""How stable is a cone that is trained until it has converged, and what bounds the change of its basis?

The claims are Theorems 1 and 2 of `cone` and the open question of section 3.4. The queries are of finitely many kinds
(:mod:`pipeline_lib.papers.cone.kinds`), so that Theorems 1 and 2 can be tried where they say something, and s_max up to
many queries. How often Theorem 1 fails is computed exactly (:mod:`pipeline_lib.papers.cone.leave_out.failures`), s_max
where several bases are equally good (:mod:`pipeline_lib.papers.cone.leave_out.ties`), and what lambda_u changes over
all samples (:mod:`pipeline_lib.papers.cone.leave_out.tradeoff`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise, product
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Le

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import (
    Positive,
    Positives,
    Probability,
    Rising,
    Settings,
    Several,
    Whole,
    at_least,
    at_most,
    no_fewer_than,
)
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, OnlyInterval, Proportion, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.common import grouped, without
from pipeline_lib.papers.cone.kinds import RHO, Kinds, accurate_losses, largest_change, moved, trained, worst_change
from pipeline_lib.papers.cone.leave_out import failures
from pipeline_lib.papers.cone.leave_out.failures import GAMMA, TWINS, Sample, Twins
from pipeline_lib.papers.cone.leave_out.ties import Tied, apart
from pipeline_lib.papers.cone.leave_out.tradeoff import of_all_samples
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import cones, stability

LAST_STEP = 0.01
"""mu of the player "constant-step", in units in which rho is 1."""
RARE = 0.02
"""Share of the kind "line" whose difference points the other way."""
RARE_AXIS = 3
"""So many times as often occur the other axes where the last one is rare."""


class LeaveOutSettings(Settings):
    """Stability of converged cones, on queries of finitely many kinds."""

    queries: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (100, 1000, 10000, 100000), description="values of P, the number of training queries"
    )
    repetitions: Several = Field(6, description="samples for every P")
    kinds: Several = Field(10, description="kinds of queries in the population")
    features: Whole = Field(3, description="features of the random kinds")
    documents: Several = Field(3, description="documents of the random kinds")
    bases: Rising = Field((1, 2, 3), description="values of K, the number of basis vectors")
    c: Positive = Field(1.0, description="largest norm of a basis vector, in units of rho")
    epsilon: Probability = Field(0.05, description="Theorem 1 holds with probability 1 - epsilon")
    tail_queries: Rising = Field((2, 10, 100, 1000, 10000), description="values of P for exact failure probabilities")
    tail_epsilons: tuple[Probability, ...] = Field((0.05, 0.25), description="values of epsilon for these")
    tied_queries: Rising = Field(
        (5, 50, 500, 5000), description="queries of each kind in samples for which two bases are equally good"
    )
    tied_features: Annotated[tuple[Annotated[Whole, Ge(2), Le(6)], ...], *Rising.__metadata__] = Field(
        (2, 3), description="values of N = K for these, at most 6, because all orders of the basis vectors are tried"
    )
    tied_sums: Annotated[tuple[Annotated[Positive, Gt(1)], ...], *Positives.__metadata__] = Field(
        (1.5, 2.0, 4.0), description="values of lambda_u above 1 for such samples with N = K = 1"
    )
    tradeoff_queries: Annotated[Rising, at_least(4)] = Field(
        (4, 8, 20), description="values of P for which lambda_u is varied and samples are enumerated"
    )
    tradeoff_sums: Annotated[Positives, at_least(1), at_most(2), no_fewer_than(2, "to be compared")] = Field(
        (1.0, 1.25, 1.5, 1.75, 2.0), description="values of lambda_u for these"
    )


class LeaveOut(
    Row,
    table="tables/cone-leave-out",
    key=("population", "K", "P", "repetition", "method"),
    always=(
        "beta <= beta_worst",
        "risk <= gamma",
        "empirical_risk <= gamma",
        "with_pairs <= P",
        "largest_possible_loss = (rho + c) * (rho + c)",
    ),
):
    """A converged cone for P queries, next to those without one query; risks and suprema are over all kinds."""

    population: str = Field(description="random kinds, or the two kinds of the line")
    K: FromOne = Field(description="basis vectors")
    P: FromOne = Field(description="training queries")
    repetition: Count = Field(description="the sample, from 0")
    method: str = Field(description="exact, or constant-step: with one step more at the query that is left out")
    rho: FromZero = Field(description="largest norm of a difference")
    c: FromZero = Field(description="largest norm of a basis vector")
    s_max: FromZero = Field(description="largest spectral norm of the change of the basis, over all queries left out")
    beta: FromZero = Field(description="largest change of the loss of a pair of any kind, over all queries left out")
    beta_worst: FromZero = Field(
        description="the same over all differences of norm rho at most, as far as found; >= beta"
    )
    beta_bound: FromZero = Field(description="Theorem 2: the bound (16) with s_max, for lambda_u = 1")
    gamma: FromZero = Field(description="largest loss of a pair of any kind")
    empirical_risk: FromZero = Field(description="mean loss of the training queries")
    risk: FromZero = Field(description="expected loss of a query, exact")
    bound: FromZero = Field(description="Theorem 1: the bound (15) on the risk, with beta")
    largest_possible_loss: FromZero = Field(description="(rho + c)^2")
    with_pairs: Count | None = Field(None, description="training queries that have a pair; missing for constant-step")
    growth: float | None = Field(
        None,
        description="twice the rise of the risk from one basis to the other over their squared distance, mean of both "
        "risks; of the query whose change is nearest to change_by_growth; missing if nothing is implied by any",
    )
    change: FromZero | None = Field(None, description="spectral norm of that query's change of the basis")
    change_by_growth: float | None = Field(None, description="what the growth of the risks implies for it at most")


class Exponent(Row, table="tables/cone-leave-out-exponents", key=("population", "K", "method")):
    """The power of P with which s_max falls."""

    population: str = Field(description="random kinds, or the two kinds of the line")
    K: FromOne = Field(description="basis vectors")
    method: str = Field(description="exact, or constant-step: with one step more at the query that is left out")
    slope: OnlyInterval = Field(description="exponent in P of the mean of s_max over repetitions")


class Tail(Row, table="tables/cone-tails", key=("P", "epsilon")):
    """The largest probability that Theorem 1 fails where beta is 0, over the share of queries that have a loss."""

    P: FromOne = Field(description="training queries")
    epsilon: Proportion = Field(description="what the probability may be")
    failure: Proportion = Field(description="that of the theorem, exact")
    failure_of_half: Proportion = Field(description="with half of gamma")
    failure_of_root: Proportion = Field(description="with 2 P outside of the root")
    failure_of_decimal: Proportion = Field(description="with the decimal logarithm")


class TwinsFailure(Row, table="tables/cone-twins", key=("kinds", "P", "c", "epsilon")):
    """How often Theorem 1 fails on samples of kinds with orthogonal differences of equal length, exact."""

    kinds: FromOne = Field(description="kinds of queries, each as probable as the others")
    P: FromOne = Field(description="training queries")
    c: FromZero = Field(description="largest norm of the basis vector")
    epsilon: Proportion = Field(description="what the probability may be")
    largest_beta: FromZero = Field(description="largest beta of (12) of a sample")
    failure_with_own_beta: Proportion = Field(description="probability with the beta of the sample at hand")
    failure_with_largest_beta: Proportion = Field(description="with the largest beta of all samples")
    failure_without_beta: Proportion = Field(description="with beta = 0")
    failure_without_twice_beta: Proportion = Field(description="with the largest beta, but without the term 2 beta")
    failure_with_mean_beta: Proportion = Field(description="with the largest mean change of a loss in place of beta")


class Tie(Row, table="tables/cone-ties", key=("case", "K", "P", "largest_sum")):
    """The distance of best bases without one query each, on a sample with several bases that are equally good."""

    case: str = Field(description="axes, axes with one of them rare, or sums: K = 1 and lambda_u > 1")
    K: FromOne = Field(description="basis vectors, as many as features")
    P: FromOne = Field(description="training queries")
    largest_sum: FromZero = Field(description="lambda_u")
    s_max: FromZero = Field(description="half the spectral norm of the difference of two bases, each without one query")
    least_s_max: FromZero = Field(description="what s_max exceeds however large P is, in the cases axes and sums")
    beta: FromZero = Field(description="half the largest difference of a loss between the two bases")
    above_the_bound: float = Field(description="excess of their risks over a lower bound of all risks, the larger one")


class Traded(Row, table="tables/cone-tradeoff", key=("P", "lambda_u"), always=("lambda_u <= next_lambda_u",)):
    """What lowering lambda_u to its neighbour changes, over samples with differences 1 and 2 twice or more, exact."""

    P: FromOne = Field(description="training queries")
    lambda_u: FromZero = Field(description="the lower lambda_u")
    next_lambda_u: FromZero = Field(description="the higher one")
    beta: FromZero = Field(description="beta of (12) over these samples, for the lower lambda_u")
    next_beta: FromZero = Field(description="that for the higher one")
    mean_empirical_risk: FromZero = Field(description="expected empirical risk, for the lower lambda_u")
    next_mean_empirical_risk: FromZero = Field(description="that for the higher one")
    mean_risk: FromZero = Field(description="expected risk, for the lower lambda_u")
    next_mean_risk: FromZero = Field(description="that for the higher one")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all six tables."""
    rows = list(left_out(job.settings, job.seed))
    settings = job.settings
    yield from chain(rows, exponents(rows), tails(settings), map(twins, TWINS), ties(settings), tradeoff(settings))


def populations(settings: LeaveOutSettings, seed: int) -> Iterator[Kinds]:
    """Those with random queries, for every K, and the one with two kinds on a line, where Theorem 2 is nearly sharp."""
    rng = generator(seed, "cone-leave-out", "kinds", role="truth")
    d, shares = settings.features, np.full(settings.kinds, 1.0 / settings.kinds)
    population = Population(PopulationSettings(features=d, documents=settings.documents, label_shares=(0.4, 0.3, 0.3)))
    # Coordinates of documents, of size feature_norm / sqrt(d), become of size 1.
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


def left_out(settings: LeaveOutSettings, seed: int) -> Iterator[LeaveOut]:
    """One row for every population, method, P and repetition."""
    planned = list(product(populations(settings, seed), settings.queries))
    for kinds, P in progress.counted(planned, "sizes"):
        for repetition in range(settings.repetitions):
            yield from _left_out(settings, kinds, P, repetition, seed)


def _left_out(settings: LeaveOutSettings, kinds: Kinds, P: int, repetition: int, seed: int) -> Iterator[LeaveOut]:
    axes = (seed, "cone-leave-out", kinds.name, kinds.K, P, repetition)
    counts = _sample(kinds, P, generator(*axes, "sample", role="train"))
    start = cone.started(kinds.data.n_features, kinds.K, kinds.problem, (*axes[:4], repetition))
    U = trained(kinds, counts, start)
    drawn = np.flatnonzero(counts)
    others = [trained(kinds, without(counts, kind), start) for kind in drawn]
    data, problem, c = kinds.data, kinds.problem, kinds.c
    every, gamma = cone.losses(data, U, problem)[0], float(cone.pair_losses(data, U, problem).max())
    empirical = float(counts @ every) / P

    def measured(method: str, whole: Sequence[Floats], **growth: Any) -> LeaveOut:
        # ``whole`` are the bases with the query that is left out, one for every kind.
        bases = list(zip(whole, others, strict=True))
        s_max = max(float(np.linalg.norm(a - b, ord=2)) for a, b in bases)
        beta = largest_change(data, whole, others, problem)
        worst = max(worst_change(a, b, RHO, axes) for a, b in bases)
        return LeaveOut(
            population=kinds.name,
            K=kinds.K,
            P=P,
            repetition=repetition,
            method=method,
            rho=RHO,
            c=c,
            s_max=s_max,
            beta=beta,
            beta_worst=max(worst, beta),
            beta_bound=stability.bound_on_beta(s_max, K=kinds.K, rho=RHO, c=c, largest_sum=1.0),
            gamma=gamma,
            empirical_risk=empirical,
            risk=float(kinds.shares @ every),
            bound=stability.risk_bound(empirical, beta, gamma, P, settings.epsilon),
            largest_possible_loss=(RHO + c) ** 2,
            **growth,
        )

    yield measured("exact", [U] * len(others), **grown(kinds, counts, U, drawn, others))
    if kinds.name == "random":
        yield measured("constant-step", [np.add(U, moved(kinds, U, int(kind), LAST_STEP)) for kind in drawn])


def _sample(kinds: Kinds, P: int, rng: np.random.Generator) -> Floats:
    # Queries of every kind; on the line their expected numbers, because without the rare kind nothing would change.
    if kinds.name == "line":
        rare = max(1.0, float(round(RARE * P)))
        return np.array([P - rare, rare])
    return rng.multinomial(P, kinds.shares).astype(np.float64)


def grown(kinds: Kinds, counts: Floats, U: Floats, left_out: Iterable[int], others: Sequence[Floats]) -> dict[str, Any]:
    """How fast the risk grows from U to the basis without a query, and what this implies for the change of the basis.

    The values are those of the query whose change is nearest to :func:`pipeline_lib.theory.stability.growth_change`.
    Where the basis without the query is better on the whole sample, nothing is implied; if that is so for every query,
    and where no query moves the basis, all are missing.
    """
    pairs = cones.pairs_of(kinds.data)
    P = int(counts[pairs > 0].sum())
    found: dict[str, Any] = {}
    most = 0.0
    at_whole = accurate_losses(kinds.data, U)
    for kind, V in zip(left_out, others, strict=True):
        change = float(np.linalg.norm(U - V, ord=2))
        if not pairs[kind] or change == 0.0 or P < 2:
            continue
        more = accurate_losses(kinds.data, V) - at_whole
        total = float(counts @ more)
        growth, rest = (2.0 * x / change**2 for x in (total / P, -(total - float(more[kind])) / (P - 1)))
        limit = stability.growth_change(P, growth, rest, rho=RHO, c=kinds.problem.c_of(kinds.data.n_features))
        if change / limit > most:
            most = change / limit
            growth = (P * growth + (P - 1) * rest) / (2 * P - 1)
            found = {"growth": growth, "change": change, "change_by_growth": limit}
    return {"with_pairs": P, **found}


def exponents(rows: Sequence[LeaveOut]) -> Iterator[Exponent]:
    """Exponents of s_max in P for every population, K and method, with intervals over repetitions."""
    for (population, K, method), chosen in grouped(rows, "population", "K", "method").items():
        by_size = grouped(chosen, "P")
        fit = fit_exponent(
            [P for (P,) in by_size], np.transpose([[row.s_max for row in same] for same in by_size.values()])
        )
        yield Exponent(population=population, K=K, method=method, slope=Interval(fit.slope, fit.low, fit.high))


def tails(settings: LeaveOutSettings) -> Iterator[Tail]:
    """For every P and epsilon the largest probability that the theorem fails, and that misprints of it do."""
    for P, epsilon in product(settings.tail_queries, settings.tail_epsilons):
        margins = {
            "failure": stability.risk_bound(0.0, 0.0, GAMMA, P, epsilon),
            "failure_of_half": stability.risk_bound(0.0, 0.0, GAMMA / 2.0, P, epsilon),
            "failure_of_root": GAMMA * math.sqrt(-math.log(epsilon)) / (2.0 * P),
            "failure_of_decimal": GAMMA * math.sqrt(-math.log10(epsilon) / (2.0 * P)),
        }
        yield Tail(P=P, epsilon=epsilon, **{name: failures.failure(P, margin) for name, margin in margins.items()})


def twins(case: Twins) -> TwinsFailure:
    """How often does Theorem 1 fail with the beta of each sample, with the worst one, and misprinted?

    gamma is the largest loss after any sample.
    """
    samples = failures.samples(case)
    gamma, beta, mean_beta = (max(getattr(one, name) for one in samples) for name in ("gamma", "beta", "mean_beta"))

    def with_beta(value: float) -> float:
        return stability.risk_bound(0.0, value, gamma, case.P, case.epsilon)

    margins: dict[str, Callable[[Sample], float]] = {
        "failure_with_own_beta": lambda sample: with_beta(sample.beta),
        "failure_with_largest_beta": lambda sample: with_beta(beta),
        "failure_without_beta": lambda sample: with_beta(0.0),
        "failure_without_twice_beta": lambda sample: with_beta(beta) - 2.0 * beta,
        "failure_with_mean_beta": lambda sample: with_beta(mean_beta),
    }
    failed: dict[str, Any] = {
        name: math.fsum(one.probability for one in samples if one.risk > one.empirical_risk + margin(one) + 1e-12)
        for name, margin in margins.items()
    }
    return TwinsFailure(**vars(case), largest_beta=beta, **failed)


def ties(settings: LeaveOutSettings) -> Iterator[Tie]:
    """One row for every sample: how far its best bases without one query are from each other, and what this implies."""
    for n in settings.tied_queries:
        for N in settings.tied_features:
            yield _tie("axes", Tied(np.full(2 * N, n)), 2)
            yield _tie("axes, one of them rare", Tied(np.repeat([RARE_AXIS * n, n], [2 * N - 2, 2])), 2)
        for high in settings.tied_sums:
            yield _tie("sums", Tied(np.array([n, n]), high), 1)


def _tie(case: str, tied: Tied, other: int) -> Tie:
    # The queries that are left out are the first one, and the one with number ``other``.
    P, high = int(tied.counts.sum()), tied.largest_sum
    found = {**apart(tied, 0, other), "least_s_max": stability.tied_change(1.0, 1.0, high)}
    return Tie(case=case, K=tied.N, P=P, largest_sum=high, **found)


def tradeoff(settings: LeaveOutSettings) -> Iterator[Traded]:
    """For every P and two neighbouring values of lambda_u: what the lower one does to beta and to the risk."""
    sums = sorted(settings.tradeoff_sums)
    for P in settings.tradeoff_queries:
        values = [of_all_samples(P, Fraction(high)) for high in sums]
        for (lower, low), (higher, high) in pairwise(zip(sums, values, strict=True)):
            found = {**low, **{f"next_{name}": value for name, value in high.items()}}
            numbers = {name: float(value) for name, value in found.items()}
            yield Traded(P=P, lambda_u=lower, next_lambda_u=higher, **numbers)


def _seconds(settings: LeaveOutSettings, cell: Cell) -> float:
    # The number of trainings, each of which takes a pass over all kinds until it has converged.
    trainings = len(settings.queries) * settings.repetitions * settings.kinds * sum(settings.bases)
    return 1e-3 * trainings * settings.kinds


EXPERIMENT = Experiment(
    LeaveOutSettings,
    Step(
        "leave_out",
        measure,
        rows=(LeaveOut, Exponent, Tail, TwinsFailure, Tie, Traded),
        cost=Cost(4.0),
        seconds=_seconds,
    ),
)
