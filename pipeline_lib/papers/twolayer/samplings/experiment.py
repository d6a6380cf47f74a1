"""How do the gaps under two-layer sampling differ from those under (n, m)-sampling?

`twolayer`, section 3.1, names two differences: queries may have different numbers of documents, and documents of one
query are not independent as feature vectors. Each is examined separately:

- *lengths*: m_i uniform on 2..2m - 2, so that the mean is m, compared with m documents for every query;
- *dependence*: the documents of a query, compared with lists whose elements are independent, each from another query.
  The expected risk is then over pairs of independent elements, too.

Given its task, the elements of an (n, m)-sample are independent as the documents of a query are. With equal lengths,
and queries as tasks, the two samplings are therefore the same.
"""

import itertools
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Settings, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import LOW_HIGH, Field, Interval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.risks import POPULATION, SURROGATES, Loss, Several
from pipeline_lib.sources.population_settings import WithoutDocuments
from pipeline_lib.statistics import mean_interval
from pipeline_lib.theory import pair_losses

_LOG = logging.getLogger(__name__)

TWO_LAYER, UNEVEN, INDEPENDENT = "m documents a query", "2 to 2m − 2 documents a query", "independent elements"
# What each difference compares: (two-layer sampling, (n, m)-sampling).
DIFFERENCES = {"lengths": (UNEVEN, TWO_LAYER), "dependence": (TWO_LAYER, INDEPENDENT)}


class SamplingsSettings(Settings):
    """Two-layer sampling compared with (n, m)-sampling: the effects of unequal lengths and of shared queries."""

    population: WithoutDocuments = Field(
        POPULATION, description="overrides of the population's defaults, as for the gaps"
    )
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W")
    loss: Loss = Field("logistic", description="loss used in training")
    queries: Rising = Field((10, 40), description="values of n, the number of queries")
    documents: Annotated[Rising, at_least(3)] = Field(
        (4, 16), description="values of m, the number of documents per query"
    )
    repetitions: Several = Field(100, description="number of samples of every size")
    risk_queries: Several = Field(50000, description="number of fresh queries on which every expected risk is measured")
    reference_queries: Whole = Field(
        20000, description="number of queries from which the best ranker is computed, whose gap is subtracted"
    )


class Gap(Row, table="tables/twolayer-samplings"):
    """The gap under one way of sampling, or the difference between two of them, at n queries with m documents each."""

    queries: int = Field(description="n, queries of the training sample")
    documents: int = Field(description="m, documents of each query, in the mean where lengths differ")
    repetitions: int = Field(description="samples in the mean")
    what: str = Field(description="way of sampling; or lengths or dependence, for a difference of two")
    value: Annotated[Interval, LOW_HIGH] = Field(description="mean gap less that of the best ranker, or difference")


def measure(job: Job) -> Iterator[Gap]:
    """Measure the gap under every sampling at every n and m, and the differences."""
    settings = job.settings
    targets = {name: Target(settings, name, job.seed) for name in (TWO_LAYER, UNEVEN, INDEPENDENT)}
    for n, m in itertools.product(settings.queries, settings.documents):
        gaps = {name: target.gaps(n, m) for name, target in targets.items()}
        differences = {what: gaps[two_layer] - gaps[nm] for what, (two_layer, nm) in DIFFERENCES.items()}
        for what, measured in {**gaps, **differences}.items():
            mean = mean_interval(measured)
            yield Gap(queries=n, documents=m, repetitions=settings.repetitions, what=what, value=mean)


class Target:
    """One way of sampling with its expected risk and its best ranker."""

    def __init__(self, settings: SamplingsSettings, name: str, seed: int) -> None:
        self._settings, self._name, self._seed = settings, name, seed
        self._population = risks.population(settings.population)
        self._loss = pair_losses.get(settings.loss)
        # The expected risk does not depend on lengths: even and uneven lists share pool and best ranker.
        shared = TWO_LAYER if name == UNEVEN else name
        rng = generator(seed, "twolayer-samplings", "pool", shared, role="truth")
        self._pool = risks.Pool.of(self.draw(settings.risk_queries, 2, rng, shared))
        rng = generator(seed, "twolayer-samplings", "best", shared, role="reference")
        reference = self.draw(settings.reference_queries, 2, rng, shared)
        self._best, _ = risks.fitted(reference, self._loss, settings.radius)

    def gaps(self, n: int, m: int) -> Floats:
        """Gaps minus those of the best ranker, one for every repetition."""
        gaps, words = [], f"{self._name} samples, n = {n} and m = {m},"
        for repetition in progress.counted(range(self._settings.repetitions), _LOG, words):
            rng = generator(self._seed, "twolayer-samplings", self._name, n, m, repetition, role="train")
            data = self.draw(n, m, rng, self._name).in_role("train")
            w, _ = risks.fitted(data, self._loss, self._settings.radius)
            expected, _ = self._pool.risk(self._loss, np.column_stack([w, self._best]))
            empirical = [risks.empirical(data, self._loss, one) for one in (w, self._best)]
            gaps.append(expected[0] - expected[1] - (empirical[0] - empirical[1]))
        return np.array(gaps)

    def draw(self, n: int, m: int, rng: np.random.Generator, name: str) -> RankingData:
        """n lists of m documents, sampled in the way ``name``."""
        if name == INDEPENDENT:
            data = self._population.draw(n * m, rng, 1)
            return replace(data, offsets=np.arange(0, n * m + 1, m, dtype=np.int64), qids=np.arange(1, n + 1))
        lengths = rng.integers(2, 2 * m - 2, n, endpoint=True) if name == UNEVEN else m
        return self._population.draw(n, rng, lengths)


EXPERIMENT = Experiment(
    SamplingsSettings,
    (
        Step(
            "samplings",
            measure,
            rows=(Gap,),
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: (
                4e-5 * settings.repetitions * sum(settings.queries) * sum(settings.documents)
            ),
        ),
    ),
)
