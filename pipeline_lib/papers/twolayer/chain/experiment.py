"""By which steps do Theorems 1, 2 and 3 of `twolayer` lead from worst gaps to the numbers that they state?

The population is known (:mod:`pipeline_lib.papers.twolayer.chain.known_pairs`). From every gap the one of the best
ranker is subtracted, whose mean is 0, so that no gap is negative.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Names, Positive, Several, Sizes, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import erm
from pipeline_lib.learners.balls import lowest
from pipeline_lib.papers.chains import ChainLink, ChainSettings
from pipeline_lib.papers.twolayer.chain.known_pairs import Indices, KnownPairs
from pipeline_lib.papers.twolayer.risks import SURROGATES, Loss
from pipeline_lib.theory import chains, pair_losses
from pipeline_lib.theory.chains import Chain, Link
from pipeline_lib.theory.known_population import scaled
from pipeline_lib.theory.two_layer_rademacher import contracted


class TwoLayerChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of queries and documents of every available data set."""

    queries: Sizes = Field((100, 1000), description="values of n, queries of a sample, drawn with replacement")
    documents: Several = Field(8, description="m, documents of every query of a sample, drawn with replacement")
    longest: Several = Field(40, description="longer lists of the data set are cut to so many documents at random")
    radius: Positive = Field(2.5, description="W in ||w|| <= W, for documents scaled to ||x||_2 <= 1")
    losses: Annotated[tuple[Loss, ...], *Names.__metadata__] = Field(("hinge",), description="losses used in training")
    ascent_steps: Whole = Field(12, description="steps of every search for a supremum")
    starts: Whole = Field(2, description="random points where such a search begins")
    own_queries: Whole = Field(30, description="queries of a sample with suprema of their own")


class TwoLayerLink(ChainLink, table="tables/twolayer-chain"):
    """One link of the chain of Theorem 1, 2 or 3, in the mean over samples of n queries."""


class LinkOfLoss(ChainLink, table="slices/twolayer-chain/{dataset}-{loss}"):
    """The same, as measured for one data set and one loss."""


def measure(job: Job) -> Iterator[LinkOfLoss]:
    """The links of every chain for one data set and one loss."""
    settings, seed, name = job.settings, job.seed, str(job.cell["loss"])
    [(dataset, documents)] = job.datasets().items()
    rng = generator(seed, "twolayer-chain", dataset, "documents")
    data = scaled(documents).subsample_documents(settings.longest, rng)
    pairs = KnownPairs(data, pair_losses.get(name), settings.radius)
    for n in progress.counted(settings.queries, f"sizes, {name} on {dataset},"):
        measured = sampled(settings, pairs, n, (seed, "twolayer-chain", dataset, name, n))
        for chain in all_chains(settings, pairs, n, measured):
            yield from map(LinkOfLoss.of, chain.rows(dataset=dataset, loss=name, n=n))


def join(job: Job) -> Iterator[TwoLayerLink]:
    """The links of all chains."""
    return (TwoLayerLink.of(link.plain()) for link in job.rows(LinkOfLoss))


@dataclass(frozen=True)
class Measured:
    """What is measured, one number for every sample.

    The ``trained`` and ``worst`` gaps, and the ``query_layer`` and ``document_layer`` of the worst rankers of either,
    from which those of the best ranker are subtracted; ``query_size``, the largest size of the query-layer error; the
    averages of the losses, ``query_average`` and ``document_average`` (Definition 3), and ``own_average`` with a
    supremum for each query; and those of linear rankers, ``query_linear`` and ``own_linear``.
    """

    trained: Floats
    worst: Floats
    query_layer: Floats
    document_layer: Floats
    query_size: Floats
    query_average: Floats
    document_average: Floats
    own_average: Floats
    query_linear: Floats
    own_linear: Floats


def sampled(settings: TwoLayerChainSettings, pairs: KnownPairs, n: int, axes: tuple[Any, ...]) -> Measured:
    """Everything that the chains need of samples of n queries."""
    rng = generator(*axes)
    best = erm.fit(pairs.data, pairs.loss.objective(), l2=0.0, radius=pairs.radius, tol=1e-6).w
    rows = []
    for _ in range(settings.repetitions):
        drawn = rng.integers(pairs.data.n_queries, size=n)
        rows.append((*_gaps(settings, pairs, drawn, best, rng), *_averages(settings, pairs, drawn, rng)))
    return Measured(*np.array(rows).T)


def _corners(settings: TwoLayerChainSettings, pairs: KnownPairs, rng: np.random.Generator) -> list[Floats]:
    directions = rng.normal(size=(settings.starts, pairs.data.n_features))
    return [w for one in directions if (w := lowest(one, 0.0, pairs.radius)) is not None]


def _gaps(
    settings: TwoLayerChainSettings, pairs: KnownPairs, drawn: Indices, best: Floats, rng: np.random.Generator
) -> tuple[float, ...]:
    n, m, Q = len(drawn), settings.documents, pairs.data.n_queries
    places = pairs.documents(drawn, m, rng)
    first, second = np.triu_indices(m, 1)
    numbers = pairs.numbers(drawn[:, None], places[:, first], places[:, second])
    empirical = pairs.weights(numbers, 2.0 / (n * m * (m - 1.0)))
    middle = pairs.of_queries(np.bincount(drawn, minlength=Q) / n)
    expected = pairs.of_queries(np.full(Q, 1.0 / Q))
    trained = _trained(pairs, drawn, places)
    starts = [trained, best, *_corners(settings, pairs, rng)]

    def supremum(weights: Floats) -> float:
        return pairs.supremum(weights, starts, settings.ascent_steps)[0]

    of_queries, of_documents, gap = expected - middle, middle - empirical, expected - empirical
    return (
        pairs.sum(gap, trained) - pairs.sum(gap, best),
        *(supremum(weights) - pairs.sum(weights, best) for weights in (gap, of_queries, of_documents)),
        pairs.largest_size(of_queries, 0.0, starts, settings.ascent_steps),
    )


def _trained(pairs: KnownPairs, drawn: Indices, places: Indices) -> Floats:
    data, m = pairs.data, places.shape[1]
    rows = (data.offsets[drawn][:, None] + places).ravel()
    offsets = np.arange(0, len(rows) + 1, m, dtype=np.int64)
    sample = RankingData(data.X[rows], data.y[rows], offsets, np.arange(len(drawn)))
    return erm.fit(sample, pairs.loss.objective(), l2=0.0, radius=pairs.radius, tol=1e-6).w


def _averages(
    settings: TwoLayerChainSettings, pairs: KnownPairs, drawn: Indices, rng: np.random.Generator
) -> tuple[float, ...]:
    n, k, loss = len(drawn), settings.documents // 2, pairs.loss
    starts = _corners(settings, pairs, rng)

    def average(numbers: Indices, factor: float) -> tuple[float, float]:
        # Of the losses and of linear rankers, for one draw of signs.
        signs = np.asarray(factor * (2.0 * rng.integers(0, 2, numbers.shape) - 1.0), np.float64)
        weights = pairs.weights(numbers, signs)
        constant = loss.at_zero * float(signs.sum())
        size = pairs.largest_size(weights, constant, starts, settings.ascent_steps)
        return size, pairs.radius * float(np.linalg.norm(pairs.weighted_difference(weights)))

    places = pairs.documents(drawn, 2, rng)
    of_queries, query_linear = average(pairs.numbers(drawn, places[:, 0], places[:, 1]), 2.0 / n)
    places = pairs.documents(drawn, 2 * k, rng)
    numbers = pairs.numbers(drawn[:, None], places[:, :k], places[:, k:])
    of_documents, _ = average(numbers, 2.0 / (n * k))
    own = np.array([average(row, 2.0 / k) for row in numbers[: settings.own_queries]])
    return of_queries, of_documents, float(own[:, 0].mean()), query_linear, float(own[:, 1].mean())


WITH_SIGNS = "Symmetrisation: the Rademacher average of Definition 3 for the losses, found by ascent."
FOR_EACH = "The supremum is taken for each query alone: the mean of suprema in place of the supremum of means."
CONTRACTED = "Contraction: linear rankers in place of losses, twice because of absolute values, and a term with phi(0)."
WORST = "The {}-layer error of the worst ranker is measured, less that of the best one."


def all_chains(settings: TwoLayerChainSettings, pairs: KnownPairs, n: int, of: Measured) -> Iterator[Chain]:
    """The chains of the three theorems."""
    m, loss, radius = settings.documents, pairs.loss, settings.radius
    M, link = loss.largest(radius), chains.estimated
    of_queries = np.array([contracted(one, n, loss, radius) for one in of.query_linear])
    of_documents = np.array([contracted(one, m // 2, loss, radius) for one in of.own_linear])

    def added(parts: float, doubled: str = "this term") -> list[Link]:
        # McDiarmid's inequality gives M sqrt(log(parts/delta) / (2n)); the paper has twice this.
        term = M * math.sqrt(math.log(parts / settings.delta) / (2.0 * n))
        label = "McDiarmid, queries" if parts > 2.0 else "McDiarmid"
        return [
            chains.added("queries", label, "McDiarmid's inequality for queries.", term),
            chains.added("doubled", "doubled term", f"The paper has twice {doubled}.", term),
        ]

    def of_lists(parts: float) -> Link:
        term = M * math.sqrt(2.0 * math.log(parts / settings.delta) / (m * n))
        label = "McDiarmid, documents" if parts > 2.0 else "McDiarmid"
        return chains.added("documents", label, "McDiarmid's inequality for documents.", term)

    of_both = [
        chains.gap_of_minimiser(of.trained),
        link("worst", "worst gap", "The worst ranker of the ball takes the place of the minimiser.", of.worst),
        link(
            "layers",
            "two layers",
            "The worst rankers of the two layers may differ.",
            of.query_layer + of.document_layer,
        ),
        link("symmetrised", "symmetrisation", WITH_SIGNS, of.query_average + of.document_average),
        link("each", "each query alone", FOR_EACH, of.query_average + of.own_average),
        link("contracted", "contraction", CONTRACTED, of_queries + of_documents),
        of_lists(4.0),
        *added(4.0, "the term for queries"),
    ]
    query_layer = [
        link("worst", "worst error", WORST.format("query"), of.query_layer),
        link("absolute", "absolute value", "The error may have either sign.", of.query_size),
        link("symmetrised", "symmetrisation", WITH_SIGNS, of.query_average),
        link("contracted", "contraction", CONTRACTED, of_queries),
        *added(2.0),
    ]
    document_layer = [
        link("worst", "worst error", WORST.format("document"), of.document_layer),
        link("symmetrised", "symmetrisation", WITH_SIGNS, of.document_average),
        link("each", "each query alone", FOR_EACH, of.own_average),
        link("contracted", "contraction", CONTRACTED, of_documents),
        of_lists(2.0),
    ]
    setting = f"{loss.name}, n = {n:,}, m = {m}, W = {radius:g}"
    for number, links in enumerate((of_both, query_layer, document_layer), 1):
        yield chains.of(f"theorem-{number}", f"Theorem {number}", setting, M, links)


def _seconds(settings: TwoLayerChainSettings, cell: Cell) -> float:
    samples = settings.repetitions * len(settings.queries)
    return 0.006 * samples * (settings.starts + 2) * (settings.ascent_steps + 5)


EXPERIMENT = Experiment(
    TwoLayerChainSettings,
    Step(
        "chain_slice",
        measure,
        rows=(LinkOfLoss,),
        divided={"loss": lambda settings: settings.losses},
        surrogates=SURROGATES,
        cost=Cost(0.5, start_mb=700.0),
        seconds=_seconds,
    ),
    Step("chain", join, reads=(LinkOfLoss,), rows=(TwoLayerLink,), cost=Cost(0.3)),
)
