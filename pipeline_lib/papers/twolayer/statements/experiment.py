"""Do the paper's definitions and formulas agree with plain computations of the same numbers?

`twolayer`: Definition 3 and its two reductions, equation (6), the remark after Theorem 1, and the bound of Theorem 1 if
some lists are short (discussion 2). Wrong readings of a definition are computed as well: the checks of the claims have
to tell them from the right one.

The remark states D(k) = c2 B phi'(B) sqrt(V/k) for a surrogate phi and scores in [-B, B]. It is compared with the
averages of pairs with one feature, V = 1, over all signs.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Positives, Probability, Settings, Whole, no_fewer_than
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Proportion, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.twolayer.risks import SURROGATES
from pipeline_lib.papers.twolayer.statements.loss_averages import LOSSES, average
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses, two_layer
from pipeline_lib.theory import two_layer_rademacher as rademacher

LENGTHS_OF_EQUATION_6 = (2, 3, 4, 5, 6)
# Numbers of queries for the bound with short lists.
LIST_SIZES = (100, 10_000, 1_000_000)
# Cases of Definition 3: documents of every query. The reduced ones come first.
REDUCED = {"document layer reduced, 200 queries": (2,) * 200, "query layer reduced, 101 documents": (101,)}
TINY = {"3 queries": (2, 5, 4), "1 query": (9,), "6 queries": (2,) * 6, "4 queries": (4, 7, 2, 10)}
# Samples for the remark have one, two, or so many pairs.
RANDOM_PAIRS = 10


class StatementsSettings(Settings):
    """Definition 3 and equation 6 compared with direct computations, and the bound of Theorem 1 with short lists."""

    draws: Annotated[Whole, Ge(100)] = Field(20000, description="draws of random signs for every Rademacher average")
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W")
    matrices: Whole = Field(20, description="random loss matrices for every m in equation 6")
    score_bounds: Annotated[Positives, no_fewer_than(2, "to compare")] = Field(
        (0.01, 0.1, 1.0), description="values of B, the bound on the scores, for the averages of the losses"
    )
    vc_dimension: Whole = Field(5, description="V, the VC dimension, for the bound with short lists")
    delta: Probability = Field(0.01, description="delta there; the bound holds with probability 1 - delta")
    c1: Positive = Field(0.5, description="c1 in D(k) = c1 sqrt(V/k), which the paper leaves open")


class Identity(Row, table="tables/twolayer-identities", key=("statement", "case", "m")):
    """A number by its definition and by a direct computation: an average of Definition 3, or a mean of equation 6."""

    statement: str = Field(description="definition 3 or equation 6")
    case: str = Field(description="sample of Definition 3, or number of random matrices of losses for equation 6")
    m: FromOne | None = Field(None, description="documents of the list; for equation 6 only")
    two_layer: float | None = Field(None, description="average of Definition 3 of linear rankers, by random signs")
    two_layer_error: FromZero | None = Field(None, description="standard error of two_layer")
    ordinary: float | None = Field(None, description="the same, ordinary where one layer is reduced, else by all signs")
    ordinary_error: FromZero | None = Field(None, description="standard error of ordinary, 0 for all signs")
    difference: FromZero = Field(description="in standard errors for Definition 3, else the largest of all")
    signs_of_queries: float | None = Field(None, description="the average if all pairs of a query had one sign")
    equal_weights: float | None = Field(None, description="the average if all pairs had one weight")
    over_pairs: float | None = Field(None, description="mean loss over all pairs of the list; for equation 6 only")
    over_permutations: float | None = Field(None, description="the same over the disjoint pairs of all permutations")


class Remark(
    Row,
    table="tables/twolayer-remarks",
    key=("loss", "case", "steps_below"),
    always=("2 * with_half_the_constant = without_constant + contracted",),
):
    """The Rademacher average of one loss on one sample of pairs, and what is said to bound it."""

    loss: str = Field(description="surrogate loss phi")
    case: str = Field(description="sample of pairs")
    steps_below: Count = Field(description="larger bounds on the scores that are tried")
    score_bound: FromZero = Field(description="B, the bound on the scores")
    average: FromZero = Field(description="average of the loss, over all signs")
    centred_average: float = Field(description="average of phi - phi(0)")
    contracted: FromZero = Field(description="bound on the average by contraction from linear rankers, and phi(0)")
    without_constant: FromZero = Field(description="contracted without the term for phi(0)")
    with_half_the_constant: FromZero = Field(description="contracted with half of that term")
    printed: FromZero = Field(description="B phi'(B) sqrt(V/k), the remark's bound for c2 = 1")
    largest: FromZero = Field(description="twice the largest loss, which no average exceeds")


class ShortList(Row, table="tables/twolayer-short-lists", key=("queries", "which"), always=("short <= queries",)):
    """Theorem 1 for n queries with n documents each, some of which have two documents only."""

    queries: FromOne = Field(description="n, queries of the sample")
    which: str = Field(description="queries with two documents: one query, half of the queries, or all queries")
    short: Count = Field(description="their number")
    vc_dimension: FromOne = Field(description="V, the VC dimension of the class")
    delta: Proportion = Field(description="bounds hold with probability 1 - delta")
    c1: FromZero = Field(description="c1 in D(k) = c1 sqrt(V/k)")
    bound: FromZero = Field(description="Theorem 1 with M = 1")


def measure(job: Job) -> Iterator[Row]:
    """Compute everything."""
    yield from _averages(job.settings, job.seed)
    yield from _equation_6(job.settings, job.seed)
    yield from remarks(job.settings, job.seed)
    yield from _short_lists(job.settings)


def _averages(settings: StatementsSettings, seed: int) -> Iterator[Identity]:
    population = Population(PopulationSettings())
    for case, lengths in {**REDUCED, **TINY}.items():
        rng = generator(seed, "twolayer-statements", "average", case, role="alone")
        data = population.draw(len(lengths), rng, np.array(lengths))
        # Labels may agree; the averages are compared on differences of features alone.
        order = np.arange(data.n_documents, dtype=np.int32)
        pairs = rademacher.disjoint_pairs(data.X64, order, data.offsets)
        estimate = rademacher.two_layer(pairs, settings.radius, settings.draws, rng)
        if case in REDUCED:
            other = rademacher.ordinary(pairs.differences, settings.radius, settings.draws, rng)
        else:
            other = rademacher.Estimate(rademacher.exactly(pairs.differences, pairs.weights, settings.radius), 0.0)
        error = math.hypot(estimate.standard_error, other.standard_error)
        wrong: dict[str, Any] = {
            name: rademacher.ordinary(d, settings.radius, settings.draws, rng).estimate
            for name, d in misread(pairs).items()
        }
        yield Identity(
            statement="definition 3",
            case=case,
            two_layer=estimate.estimate,
            two_layer_error=estimate.standard_error,
            ordinary=other.estimate,
            ordinary_error=other.standard_error,
            difference=abs(estimate.estimate - other.estimate) / error,
            **wrong,
        )


def misread(pairs: rademacher.Pairs) -> dict[str, Floats]:
    """Vectors whose ordinary average is Definition 3 with one sign per query, or with one weight for all pairs."""
    queries = int(pairs.owner[-1]) + 1
    sums = np.zeros((queries, pairs.differences.shape[1]))
    np.add.at(sums, pairs.owner, pairs.differences * pairs.weights[:, None])
    return {"signs_of_queries": sums * queries / 2.0, "equal_weights": pairs.differences}


def _equation_6(settings: StatementsSettings, seed: int) -> Iterator[Identity]:
    for m in LENGTHS_OF_EQUATION_6:
        rng = generator(seed, "twolayer-statements", "equation 6", m)
        losses = [rng.exponential(size=(m, m)) for _ in range(settings.matrices)]
        sides = [(two_layer.over_pairs(one), two_layer.over_permutations(one)) for one in losses]
        pairs, permutations = max(sides, key=lambda both: abs(both[1] - both[0]))
        yield Identity(
            statement="equation 6",
            case=f"{settings.matrices} matrices",
            m=m,
            difference=abs(permutations - pairs),
            over_pairs=pairs,
            over_permutations=permutations,
        )


def remarks(settings: StatementsSettings, seed: int) -> Iterator[Remark]:
    """For every loss, sample of pairs and B: the average, that of the centred loss, and what is said to bound it."""
    rng = generator(seed, "twolayer-statements", "remarks")
    bounds = list(enumerate(sorted(settings.score_bounds, reverse=True)))
    samples = {
        "one pair": np.ones(1),
        "two opposite pairs": np.array([1.0, -1.0]),
        f"{RANDOM_PAIRS} equal pairs": np.ones(RANDOM_PAIRS),
        f"{RANDOM_PAIRS} random pairs": rng.uniform(-1.0, 1.0, RANDOM_PAIRS),
    }
    for name, (case, d), (step, score_bound) in itertools.product(LOSSES, samples.items(), bounds):
        # Features in [-1/2, 1/2]: differences d are in [-1, 1], and |w| <= 2 B keeps scores in [-B, B].
        loss, k, radius = pair_losses.get(name), len(d), 2.0 * score_bound
        linear = rademacher.exactly(d[:, None], np.full(k, 2.0 / k), radius)
        plain, centred = (2.0 / k * average(loss, d, np.ones(k), radius, centre) for centre in (0.0, loss.at_zero))
        constant = rademacher.contracted(0.0, k, loss, score_bound)
        contracted = rademacher.contracted(linear, k, loss, score_bound)
        yield Remark(
            loss=name,
            case=case,
            steps_below=step,
            score_bound=score_bound,
            average=plain,
            centred_average=centred,
            contracted=contracted,
            without_constant=contracted - constant,
            with_half_the_constant=contracted - constant / 2.0,
            # phi' of the hinge is 1 on the positive half-line.
            printed=score_bound * float(loss.derivative(np.array([score_bound]))[0]) * math.sqrt(1 / k),
            largest=2.0 * loss.largest(score_bound),
        )


def _short_lists(settings: StatementsSettings) -> Iterator[ShortList]:
    """The bound where one, half or all of the queries have two documents only."""
    v, delta, c1 = settings.vc_dimension, settings.delta, settings.c1
    for n in LIST_SIZES:
        for which, short in (("one query", 1), ("half of the queries", n // 2), ("all queries", n)):
            bound = two_layer.bound(np.repeat([2, n], [short, n - short]), two_layer.vc(v, c1), 1.0, delta).total
            yield ShortList(queries=n, which=which, short=short, vc_dimension=v, delta=delta, c1=c1, bound=bound)


EXPERIMENT = Experiment(
    StatementsSettings,
    Step(
        "statements",
        measure,
        rows=(Identity, Remark, ShortList),
        surrogates=SURROGATES,
        cost=Cost(0.5, start_mb=500.0),
        seconds=lambda settings, cell: 5e-5 * settings.draws,
    ),
)
