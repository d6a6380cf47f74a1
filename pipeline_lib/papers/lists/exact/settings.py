"""What is asked of the experiment `exact` of `lists`, and what are the rows of its tables?"""

from typing import Annotated, Self

from pydantic import model_validator

from pipeline_lib.core.settings import Positives, Probability, Rising, Settings, Sizes, Whole, at_least, demand
from pipeline_lib.data.rows import Field, FromOne, FromZero, Interval, OnlyInterval, Row
from pipeline_lib.papers.lists.intervals import FITTED
from pipeline_lib.statistics import needed_for_quantile

EvenLengths = Annotated[
    Rising, at_least(2), demand("even numbers of documents", lambda values: not any(value % 2 for value in values))
]


class ExactSettings(Settings):
    """Bounds where they say something: small classes, many queries, and the worst cases that are known exactly."""

    queries: Annotated[Rising, FITTED] = Field(
        (10**4, 10**6, 10**8, 10**10, 10**12, 10**15), description="values of n for Theorems 9 and 17"
    )
    draws: Whole = Field(4000, ge=100, description="samples for every n")
    directions: Whole = Field(100, ge=2, description="d of the populations with many directions")
    lengths: Annotated[EvenLengths, FITTED] = Field((2, 10, 100, 1000), description="lengths m of compared lists")
    features: Annotated[Sizes, FITTED] = Field((10, 100, 1000, 10000), description="values of d for Theorem 12")
    sparse_queries: Rising = Field((10**8, 10**10, 10**12), description="values of n for Theorem 12")
    sparse_draws: Whole = Field(400, ge=100, description="samples for every n and d there")
    delta: Probability = Field(0.05, le=0.05, description="bounds hold with probability 1 - delta")
    even_lengths: EvenLengths = Field((2, 64), description="values of m for the learners")
    rounds: Rising = Field((2, 3, 5, 10, 20, 100, 1000, 10000), description="values of n for online gradient descent")
    simulated_up_to: Whole = Field(1000, description="largest n for gradient descent on noisy labels")
    batches: Rising = Field((100, 1000, 10**4, 10**6, 10**8), description="values of n for the regularised minimiser")
    packing_dimensions: Rising = Field((1, 2, 10, 100, 1000, 10000), description="values of d for packings")
    packing_norms: Rising = Field((1, 2, 4, 16), description="largest squared lengths, and l1 norms, of their points")
    compared_queries: Rising = Field((1000, 10000, 10**5, 10**6), description="values of n beside Chapelle and Wu")
    compared_lengths: Rising = Field((100, 300, 1000), description="values of m for that comparison")
    slack_radii: Positives = Field((0.01, 0.1, 0.5, 1.0, 2.0, 5.0), description="radii where the nearest gap is sought")
    slack_lengths: Rising = Field((10**2, 10**6, 10**12, 10**18), description="m of the highest irrelevant document")
    slack_features: Rising = Field((2, 10, 1000, 10**6), description="values of d for the l1 ball")

    @model_validator(mode="after")
    def _draws_suffice_for_quantiles(self) -> Self:
        needed = needed_for_quantile(1.0 - self.delta)
        for name, draws in (("draws", self.draws), ("sparse_draws", self.sparse_draws)):
            if draws < needed:
                raise ValueError(f"{name}: expected at least {needed} for delta = {self.delta:g}, found {draws}")
        return self


class Uniform(
    Row,
    table="tables/lists-uniform",
    key=("case", "labels", "ball", "loss", "d", "n"),
    always=("excess_high <= largest_excess", "small_excess_high <= largest_small_excess"),
):
    """The largest gap of a ball on a population of opposite halves, and the bounds for all its rankers.

    Excess risks are those of the minimiser of the empirical risk. A quantile is exceeded by a sample with the stated
    probability; its interval is that of order statistics over samples.
    """

    case: str = Field(description="population: loss and number of directions, or size of the ball")
    labels: str = Field(description="random, nearly random (nearer to 1/2 the larger n), or clear")
    ball: str = Field(description="l2 or l1, the norm of the ball of rankers")
    loss: str = Field(description="surrogate")
    m: FromOne = Field(description="documents of each query")
    d: FromOne = Field(description="directions, or features in the l1 ball")
    radius: FromZero = Field(description="radius of the ball, for documents of norm 1 (l1: of largest entry 1)")
    n: FromOne = Field(description="queries of the sample")
    gap: Interval = Field(description="quantile of the largest gap of the ball, exceeded with probability delta")
    largest_gap: float = Field(description="what the gap of no sample exceeds for random labels, times 2 p")
    bound: FromZero = Field(description="Theorem 9, in the l1 ball Theorem 12")
    one_ranker: FromZero = Field(description="Hoeffding's bound, for one ranker that does not depend on the sample")
    loss_bound: FromZero = Field(description="B, the largest loss of the class")
    excess: Interval | None = Field(None, description="quantile exceeded with probability 2 delta; no random labels")
    largest_excess: FromZero | None = Field(None, description="largest excess risk of a ranker of the ball")
    excess_bound: FromZero | None = Field(None, description="second half of the theorem, for the excess risk")
    bound_optimistic: FromZero | None = Field(None, description="Theorem 17 for the worst ranker, for smooth losses")
    fast_terms: FromZero | None = Field(None, description="45 r* + 20 r0 of Theorem 17, for smooth losses")
    optimal_risk: FromZero | None = Field(None, description="smallest risk of the ball, for ListNet")
    small_excess: Interval | None = Field(None, description="quantile exceeded with probability 2 delta, for ListNet")
    largest_small_excess: FromZero | None = Field(None, description="excess risk of the worst ranker, for ListNet")
    small_excess_bound: FromZero | None = Field(None, description="second half of Theorem 17, for ListNet")
    printed_m1: float | None = Field(None, description="right side of appendix M.1 as printed, for ListNet")
    corrected_m1: float | None = Field(None, description="right side of appendix M.1 as corrected, for ListNet")


class Growth(Row, table="tables/lists-growth", key=("axis", "loss", "case", "ball", "fixed")):
    """A power law fitted to exact gaps, or to the excess risk of a learner."""

    axis: str = Field(description="what grows: n, m, or ln d")
    loss: str = Field(description="surrogate, with its normalisation along m")
    case: str = Field(description="population")
    ball: str = Field(description="l2 or l1; empty for a learner")
    fixed: FromOne = Field(description="the number that stays: m along n, n along the others")
    slope: OnlyInterval = Field(description="fitted exponent with its 95 % interval")


class Expectation(
    Row,
    table="tables/lists-expectations",
    key=("statement", "case", "loss", "m", "n"),
    always=("excess_high <= largest_excess", "never <= largest_excess", "slow_terms <= bound"),
):
    """The expected excess risk of one learner of one feature, and its bound."""

    statement: str = Field(description="the bound: ogd (Theorem 5), rerm (Theorem 6) or smooth-ogd (equation 8)")
    case: str = Field(description="with noise or without, or whether the optimal risk L* is 0")
    loss: str = Field(description="surrogate")
    m: FromOne = Field(description="documents of each query")
    n: FromOne = Field(description="queries of the sample")
    radius: FromZero = Field(description="W2, with R_X = 1")
    excess: Interval = Field(description="expected excess risk; with a 95 % interval where it is simulated")
    bound: FromZero = Field(description="the bound")
    bound_euclidean: FromZero = Field(description="what it would be with the constants in the Euclidean norm of scores")
    never: FromZero = Field(description="excess risk of w = 0")
    largest_excess: FromZero = Field(description="excess risk of the worst ranker")
    slow_terms: FromZero | None = Field(None, description="the bound without 8 H W2^2 / n, for equation 8")


class Packing(Row, table="tables/lists-packings", key=("class", "points", "d", "n")):
    """A packing of a class whose number of points is known by counting, and bounds on covering numbers."""

    class_: str = Field(description="ball of rankers: l2 or l1")
    points: str = Field(description="which points: signs, integer vectors up to a norm, or unit vectors")
    d: FromOne = Field(description="features")
    n: FromOne = Field(description="queries")
    m: FromOne = Field(description="documents of each query")
    eps: FromZero = Field(description="scale; points are further apart than 2 eps")
    log2_packing: FromZero = Field(description="binary logarithm of the number of points")
    log2_covering_bound: FromZero = Field(description="that of the bound on covering numbers: Proposition 7, for l1 10")
    log2_by_volume: FromZero = Field(description="that of (1 + 2 G W R_X / eps)^d, by volume")
    squared_ratio: FromZero = Field(description="(G W R_X / eps)^2")


class Sentence(Row, table="tables/lists-sentences", key=("claim", "case", "m", "n", "statistic")):
    """One number that decides a short statement of the paper."""

    claim: str = Field(description="id of the claim that reads it")
    case: str = Field(description="instance on which the statement is tried; may be empty")
    m: FromOne | None = Field(description="documents of each query, where the statement has any")
    n: FromOne | None = Field(description="queries, or samples, where the statement has any")
    statistic: str = Field(description="name of the value in the claim")
    value: float = Field(description="the number")


class Slack(
    Row,
    table="tables/lists-slack",
    key=("statement", "case", "radius", "m", "d"),
    always=("gap <= largest_gap", "printed <= largest_gap"),
):
    """The first n at which a bound is below the largest gap of any sample, and the gap there."""

    statement: str = Field(description="the bound, such as theorem 9")
    case: str = Field(description="population: its loss, and for learners its noise")
    radius: FromZero = Field(description="radius of the ball")
    m: FromOne = Field(description="documents of each query")
    d: FromOne = Field(description="features; 1 for learners")
    n: FromOne = Field(description="queries of the sample")
    gap: FromZero = Field(description="the gap exceeded with probability delta; for learners the expected excess risk")
    printed: FromZero = Field(description="bound as printed")
    largest_gap: FromZero = Field(description="largest gap of any sample; for learners the largest excess risk")
