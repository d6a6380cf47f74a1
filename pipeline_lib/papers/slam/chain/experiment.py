"""By which steps does Theorem 8 of `slam` lead from the measured excess risk to the number that it states?

The population is known: the queries of a data set, drawn with replacement. Stability is measured by replacing queries
of the sample (:mod:`pipeline_lib.theory.regularised_links`).
"""

import logging
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Names, Positive, Rising, Whole, at_least
from pipeline_lib.data.rows import Field
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.papers.chains import ChainLink, ChainSettings
from pipeline_lib.theory import chains, list_bounds, regularised_links
from pipeline_lib.theory.chains import Chain
from pipeline_lib.theory.known_population import KnownPopulation, scaled

_LOG = logging.getLogger(__name__)

Surrogate = Literal["slam-ndcg", "slam-map", "listnet"]


class SlamChainSettings(ChainSettings):
    """What every step of the proof of Theorem 8 costs, on samples of the queries of every available data set."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (100, 1000), description="values of n, the number of queries in a sample, drawn with replacement"
    )
    radius: Positive = Field(5.0, description="B in ||w||_2 <= B, for documents scaled to ||x||_2 <= 1")
    documents: Annotated[Whole, Ge(2)] = Field(
        8,
        description="longer lists are cut to so many documents at random: on long ones with noisy labels, w = 0 has "
        "the least SLAM risk",
    )
    repetitions: Whole = Field(6, ge=2, description="number of samples in the mean of every measured link")
    replaced: Whole = Field(2, description="number of queries of every sample that are replaced, one at a time")
    surrogates: Annotated[tuple[Surrogate, ...], *Names.__metadata__] = Field(
        ("slam-ndcg",), description="losses used in training"
    )


class SlamLink(ChainLink, table="tables/slam-chain"):
    """One link of the chain of Theorem 8, in the mean over samples of n queries."""


def measure(job: Job) -> Iterator[SlamLink]:
    """The links of every chain."""
    settings, seed = job.settings, job.seed
    for dataset, documents in job.datasets().items():
        rng = generator(seed, "slam-chain", dataset, "documents")
        data = scaled(documents).subsample_documents(settings.documents, rng)
        for name in settings.surrogates:
            # MAP distinguishes relevant and irrelevant documents only.
            own = data.with_binary_labels() if name == "slam-map" else data
            population = KnownPopulation(own, surrogates.create(name), settings.radius)
            for n in progress.counted(settings.queries, _LOG, f"sizes, {name} on {dataset},"):
                chain = of_population(settings, population, n, (seed, "slam-chain", dataset, name, n))
                yield from map(SlamLink.of, chain.rows(dataset=dataset, loss=name, n=n))


def of_population(settings: SlamChainSettings, population: KnownPopulation, n: int, axes: tuple[Any, ...]) -> Chain:
    """The chain of one loss and number of queries."""
    data, loss, radius = population.data, population.loss, settings.radius
    m, y_max = int(data.documents_per_query.max()), int(data.y.max())
    lipschitz = loss.lipschitz(m, y_max, score_bound=radius)
    l2 = list_bounds.rerm_l2(n, radius=radius, lipschitz=lipschitz, feature_norm=1.0)
    best = population.fitted(np.ones(data.n_queries, np.int64))
    rng = generator(*axes)
    samples = [
        regularised_links.measured(population, population.sample(n, rng), best, l2, settings.replaced, rng)
        for _ in range(settings.repetitions)
    ]
    largest = loss.excess_bound(m, y_max, radius)
    links = regularised_links.links(samples, n, l2, radius, lipschitz)
    setting = f"{loss.name}, n = {n:,}, m = {m}, B = {radius:g}"
    return chains.of("theorem-8", "Theorem 8", setting, float(largest or np.inf), links)


EXPERIMENT = Experiment(
    SlamChainSettings,
    (
        Step(
            "chain",
            measure,
            rows=(SlamLink,),
            documents=EVERY,
            surrogates=lambda settings: settings.surrogates,
            cost=Cost(3.0, start_mb=500.0),
            seconds=lambda settings, cell: (
                0.1 * settings.repetitions * (1 + settings.replaced) * len(settings.queries) * len(settings.surrogates)
            ),
        ),
    ),
)
