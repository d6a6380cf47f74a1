"""How close do the gaps come to the bounds of Theorems 1, 2 and 3 where both are known exactly?

The four distributions, with closed forms of their errors and averages, are in
:mod:`pipeline_lib.papers.twolayer.extremes.distributions`.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

from annotated_types import Lt

from pipeline_lib.core.cost import Cost
from pipeline_lib.core.settings import FallingProbabilities, Probability, Rising, Settings, at_least, no_fewer_than
from pipeline_lib.data.rows import Field, FromOne, FromZero, Proportion, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.twolayer.extremes.distributions import Extreme, Lists, extremes, quantile
from pipeline_lib.theory import two_layer

# The sample with a long list: queries and documents of the short lists, and the long one.
SHORT_AND_LONG = Lists(((3, 50), (1, 4000)))
# Averages over more documents than these would take long to add up.
MOST_POOLED = 10**8


class ExtremesSettings(Settings):
    """Distributions whose gaps come close to the bounds of Theorems 1, 2 and 3, by exact computation."""

    share: Annotated[Probability, Lt(0.5)] = Field(
        0.2, description="rho, the share of pairs that a class with a memory can order correctly at will"
    )
    sizes: Annotated[Rising, at_least(4), no_fewer_than(2, "to compare")] = Field(
        (100, 10000, 1000000), description="values of n and of m, the numbers of queries and of documents per query"
    )
    deltas: FallingProbabilities = Field((0.05, 1e-12, 1e-100), description="falling values of delta")


class Exact(
    Row,
    table="tables/twolayer-extremes",
    key=("population", "queries", "documents", "longest", "total", "delta"),
    always=(
        "documents <= longest <= total",
        "queries <= total",
        "bound = query_complexity + query_concentration + document_complexity + document_concentration",
        "query_bound = query_bound_complexity + query_bound_concentration",
        "document_bound = document_bound_complexity + document_bound_concentration",
    ),
):
    """The errors of the worst ranker on one distribution that are exceeded with probability delta, and the bounds."""

    population: str = Field(description="name of the distribution with its class")
    queries: FromOne = Field(description="n, queries of the sample")
    documents: FromOne = Field(description="documents of its shortest list")
    longest: FromOne = Field(description="documents of its longest list")
    total: FromOne = Field(description="documents of all its lists together")
    delta: Proportion = Field(description="bounds hold with probability 1 - delta")
    gap: float = Field(description="least number that the largest gap exceeds with probability delta or less, to 1e-12")
    query_complexity: FromZero = Field(description="first term of Theorem 1, D(n)")
    query_concentration: FromZero = Field(description="second term of Theorem 1, of the fluctuation between queries")
    document_complexity: FromZero = Field(
        description="third term of Theorem 1, the mean of D(floor(m/2)) over the lists"
    )
    document_concentration: FromZero = Field(
        description="fourth term of Theorem 1, of the fluctuation between documents"
    )
    bound: float = Field(description="Theorem 1, the sum of the four terms")
    query_error: float = Field(description="as gap, of the query-layer error")
    query_bound: float = Field(description="Theorem 2, the sum of its two terms")
    query_bound_complexity: FromZero = Field(description="first term of Theorem 2")
    query_bound_concentration: FromZero = Field(description="second term of Theorem 2")
    document_error: float = Field(description="as gap, of the document-layer error")
    document_failure: Proportion = Field(
        description="probability that the largest document-layer error exceeds Theorem 3"
    )
    document_bound: float = Field(description="Theorem 3, the sum of its two terms")
    document_bound_complexity: FromZero = Field(description="first term of Theorem 3")
    document_bound_concentration: FromZero = Field(description="second term of Theorem 3")
    document_level: FromZero | None = Field(
        description="bound as if all documents were of one query, up to 1e8 of them"
    )


def measure(job: Job) -> Iterator[Exact]:
    """For every distribution, sample and delta: the errors that are exceeded with probability delta, and the bounds."""
    for extreme, lists in samples(job.settings):
        for delta in job.settings.deltas:
            yield _exact(extreme, lists, delta)


def samples(settings: ExtremesSettings) -> Iterator[tuple[Extreme, Lists]]:
    """Every distribution with the lists that are drawn from it.

    Coins of documents have a distribution in closed form for lists of two documents, for a single query, and for a few
    short lists with a long one.
    """
    coins, of_documents, *memories = extremes(settings.share)
    few, many = settings.sizes[0], settings.sizes[-1]
    grid = [Lists(((n, m),)) for n in settings.sizes for m in settings.sizes]
    half = Lists(((many // 2, few), (many // 2, many)))
    for extreme in (coins, *memories):
        yield from ((extreme, lists) for lists in (*grid, half))
    for size in settings.sizes:
        yield of_documents, Lists(((size, 2),))
        yield of_documents, Lists(((1, size),))
    yield of_documents, SHORT_AND_LONG


def _exact(extreme: Extreme, lists: Lists, delta: float) -> Exact:
    lengths = [documents for _, documents in lists.groups]
    bound = two_layer.bound(lists.lengths, extreme.queries, 1.0, delta, extreme.documents)
    of_queries = two_layer.query_layer(lists.queries, extreme.queries, 1.0, delta)
    of_documents = two_layer.document_layer(lists.lengths, extreme.documents, 1.0, delta)
    document_level = None
    if lists.documents <= MOST_POOLED:  # all documents together as if they were documents of one query
        document_level = two_layer.document_layer([lists.documents], extreme.queries, 1.0, delta).total
    layers: dict[str, Any] = {}
    for name, error, layer in (
        ("query", extreme.query_error, of_queries),
        ("document", extreme.document_error, of_documents),
    ):
        layers |= {f"{name}_error": quantile(error, lists, delta), f"{name}_bound": layer.total}
        layers |= {f"{name}_bound_{term}": value for term, value in asdict(layer).items()}
    return Exact(
        population=extreme.name,
        queries=lists.queries,
        documents=min(lengths),
        longest=max(lengths),
        total=lists.documents,
        delta=delta,
        gap=quantile(extreme.gap, lists, delta),
        document_failure=extreme.document_error(lists, of_documents.total),
        **asdict(bound),
        bound=bound.total,
        **layers,
        document_level=document_level,
    )


EXPERIMENT = Experiment(ExtremesSettings, Step("extremes", measure, rows=(Exact,), cost=Cost(1.0, start_mb=500.0)))
