"""How do the gaps under two-layer sampling differ from those under (n, m)-sampling?

`twolayer`, section 3.1, names two differences: queries may have different numbers of documents, and documents of one
query are not independent as feature vectors. Each is examined separately:

- *lengths*: m_i uniform on 2..2m - 2, so that the mean is m, compared with m documents for every query;
- *dependence*: the documents of a query, compared with lists whose elements are independent, each from another query.
  The expected risk is then over pairs of independent elements, too.

Given its task, the elements of an (n, m)-sample are independent as the documents of a query are. With equal lengths,
and queries as tasks, the two samplings are therefore the same.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.papers.twolayer.computations import risks
from pipeline_lib.papers.twolayer.computations.intervals import mean_interval
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory.pair_losses import PairLoss

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.samplings import SamplingsSettings

_LOG = logging.getLogger(__name__)

TWO_LAYER, UNEVEN, INDEPENDENT = "m documents a query", "2 to 2m − 2 documents a query", "independent elements"
# What each difference compares: (two-layer sampling, (n, m)-sampling).
DIFFERENCES = {"lengths": (UNEVEN, TWO_LAYER), "dependence": (TWO_LAYER, INDEPENDENT)}


def run(settings: SamplingsSettings, seed: int) -> list[dict[str, Any]]:
    """Measure the gap under every sampling at every n and m, and the differences: the rows of the table."""
    population = Population(PopulationSettings.from_mapping(settings.population))
    loss = pair_losses.get(settings.loss)
    rows = []
    targets = {name: _Target(settings, population, loss, name, seed) for name in (TWO_LAYER, UNEVEN, INDEPENDENT)}
    for n in settings.queries:
        for m in settings.documents:
            gaps = {name: target.gaps(n, m) for name, target in targets.items()}
            differences = {what: gaps[two_layer] - gaps[nm] for what, (two_layer, nm) in DIFFERENCES.items()}
            place = {"queries": n, "documents": m, "repetitions": settings.repetitions}
            for what, measured in {**gaps, **differences}.items():
                rows.append({**place, "what": what, **_columns(mean_interval(measured))})
    return rows


def _columns(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


class _Target:
    """One way of sampling with its expected risk and its best ranker."""

    def __init__(
        self, settings: SamplingsSettings, population: Population, loss: PairLoss, name: str, seed: int
    ) -> None:
        self._settings, self._population, self._loss, self._name, self._seed = settings, population, loss, name, seed
        # The expected risk does not depend on lengths: even and uneven lists share pool and best ranker.
        shared = TWO_LAYER if name == UNEVEN else name
        rng = generator(seed, "twolayer-samplings", "pool", shared, role="truth")
        self._pool = risks.Pool.of(self._draw(settings.risk_queries, 2, rng, shared))
        rng = generator(seed, "twolayer-samplings", "best", shared, role="reference")
        self._best, _ = risks.fitted(self._draw(settings.reference_queries, 2, rng, shared), loss, settings.radius)

    def gaps(self, n: int, m: int) -> Floats:
        """Gaps minus those of the best ranker, one for every repetition."""
        gaps = []
        repetitions = range(self._settings.repetitions)
        for repetition in progress.counted(repetitions, _LOG, f"{self._name} samples, n = {n} and m = {m},"):
            rng = generator(self._seed, "twolayer-samplings", self._name, n, m, repetition, role="train")
            data = self._draw(n, m, rng, self._name).in_role("train")
            w, _ = risks.fitted(data, self._loss, self._settings.radius)
            expected, _ = self._pool.risk(self._loss, np.column_stack([w, self._best]))
            empirical = [risks.empirical(data, self._loss, one) for one in (w, self._best)]
            gaps.append(expected[0] - expected[1] - (empirical[0] - empirical[1]))
        return np.array(gaps)

    def _draw(self, n: int, m: int, rng: np.random.Generator, name: str) -> RankingData:
        if name == INDEPENDENT:
            data = self._population.draw(n * m, rng, 1)
            return replace(data, offsets=np.arange(0, n * m + 1, m, dtype=np.int64), qids=np.arange(1, n + 1))
        lengths = rng.integers(2, 2 * m - 2, n, endpoint=True) if name == UNEVEN else m
        return self._population.draw(n, rng, lengths)
