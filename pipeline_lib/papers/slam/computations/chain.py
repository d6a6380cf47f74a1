"""By which steps does Theorem 8 of `slam` lead from the measured excess risk to the number that it states?

The population is known: the queries of a data set, drawn with replacement. Stability is measured by replacing queries
of the sample (:mod:`pipeline_lib.theory.regularised_links`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.theory import chains, list_bounds, regularised_links
from pipeline_lib.theory.chains import Chain
from pipeline_lib.theory.known_population import KnownPopulation, scaled

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.chain import SlamChainSettings

_LOG = logging.getLogger(__name__)

BOUND, PLACE = "theorem-8", "Theorem 8"


def run(settings: SlamChainSettings, datasets: dict[str, RankingData], seed: int) -> list[dict[str, Any]]:
    """One row for each link of every chain."""
    rows = []
    for dataset, documents in datasets.items():
        rng = generator(seed, "slam-chain", dataset, "documents")
        data = scaled(documents).subsample_documents(settings.documents, rng)
        for name in settings.surrogates:
            # MAP distinguishes relevant and irrelevant documents only.
            own = data.with_binary_labels() if name == "slam-map" else data
            population = KnownPopulation(own, surrogates.create(name), settings.radius)
            for n in progress.counted(settings.queries, _LOG, f"sizes, {name} on {dataset},"):
                chain = of_population(settings, population, n, (seed, "slam-chain", dataset, name, n))
                rows += chain.rows(dataset=dataset, loss=name, n=n)
    return rows


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
    return chains.of(BOUND, PLACE, setting, float(largest or np.inf), links)
