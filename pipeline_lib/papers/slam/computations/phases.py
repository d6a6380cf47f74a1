"""For which lengths of lists and how much noise is SLAM's risk smallest at w = 0?

The criterion of :mod:`pipeline_lib.theory.zero_minimiser`, that no direction has a lead above its spread, is compared
with certified minimisers of the risk, for several margins:

- *gaussian*: one feature, which is normal with variance 1 and has the mean ``separation`` for the r relevant documents
  of m and 0 for the others. The spread per unit of weight is e(m - r), the expected maximum of m - r normal variables,
  so that w = 0 minimises the population's risk up to the separation e(m - r), whatever the weights are.
- *population*: lists of the two-layer population without tastes. Its features orthogonal to the utility are
  symmetric about 0 given the utility and the labels, so that by convexity the population's risk is smallest along the
  utility: one feature is enough.
- data sets, standardised, whole and with their lists cut at random into short ones.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.learners import erm, sublists
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.surrogates.slam import SlamMAP, SlamNDCG, weights_of_all
from pipeline_lib.surrogates.slam_tight import tight_weights_of_all
from pipeline_lib.theory import zero_minimiser

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.weights import WeightsSettings

_LOG = logging.getLogger(__name__)

GAUSSIAN, POPULATION = "gaussian", "population"
NDCG, TIGHT, MAP = "ndcg", "ndcg, tight", "map"
KINDS = (NDCG, TIGHT, MAP)
FACTORS = (0.9, 1.1)
"""The separations of the normal documents, in units of e(m - r)."""
LEAST_QUERIES = 400
NORMAL_QUERIES = 1000
"""The least numbers of queries in a sample; means of normal documents have to be accurate to a few per cent."""
TOL = 1e-4
"""The relative gap to which risks are minimised, and the absolute one of directions; a tenth of it for one feature."""

Row = dict[str, Any]


def run(settings: WeightsSettings, datasets: Mapping[str, RankingData], seed: int) -> list[Row]:
    """One row for every sample, kind of weights and margin.

    Returns
    -------
    rows
        source, kind (of weights), m (documents per list; null for whole lists of a data set), relevant, noise,
        separation and threshold (e(m - r)) where they apply, lead, spread and ratio at the direction with the largest
        ratio that was found, margin, l2, norm of the minimiser, and whether the minimiser is certified.
    """
    rows = []
    for setting, kind, data in progress.counted(list(_samples(settings, datasets, seed)), _LOG, "samples"):
        labelled = data.with_binary_labels() if kind == MAP else data
        y, offsets = labelled.y.astype(np.int32), labelled.offsets
        v = tight_weights_of_all(y, offsets) if kind == TIGHT else weights_of_all(y, offsets, kind)
        tol = TOL if labelled.n_features > 1 else TOL / 10
        best = zero_minimiser.best_direction(labelled, v, tol)
        found = {"lead": best.lead, "spread": best.spread, "ratio": best.ratio}
        for margin in settings.margins:
            fit = erm.fit(labelled, _loss(kind, margin), l2=settings.l2, tol=tol)
            fitted = {"margin": margin, "l2": settings.l2, "norm": float(np.linalg.norm(fit.w))}
            rows.append({**setting, "kind": kind, **found, **fitted, "certified": fit.certified})
    return rows


def _loss(kind: str, margin: float) -> SlamNDCG | SlamMAP:
    return SlamMAP(margin) if kind == MAP else SlamNDCG(margin, "tight" if kind == TIGHT else "printed")


def _samples(
    settings: WeightsSettings, datasets: Mapping[str, RankingData], seed: int
) -> Iterator[tuple[Row, str, RankingData]]:
    nothing = dict.fromkeys(("m", "relevant", "noise", "separation", "threshold"))
    for m in settings.lengths:
        for r in sorted({1, m // 2}):
            threshold = zero_minimiser.expected_maximum(m - r)
            for factor in FACTORS:
                rng = generator(seed, "slam-weights", GAUSSIAN, m, r)
                data = gaussian(max(NORMAL_QUERIES, settings.documents // m), m, r, factor * threshold, rng)
                separation = {"separation": factor * threshold, "threshold": threshold}
                yield {**nothing, "source": GAUSSIAN, "m": m, "relevant": r, **separation}, NDCG, data
    for m, noise, data in populations(settings, seed):
        yield {**nothing, "source": POPULATION, "m": m, "noise": noise}, NDCG, data
    for name, raw in datasets.items():
        whole = Standardisation.of(raw).apply(raw)
        for m in settings.sublists:
            rng = generator(seed, "slam-weights", name, m)
            yield {**nothing, "source": name, "m": m}, NDCG, sublists.cut(whole, m, rng)
        for kind in KINDS:
            yield {**nothing, "source": name}, kind, whole


def gaussian(n: int, m: int, r: int, separation: float, rng: np.random.Generator) -> RankingData:
    """n queries with r relevant documents of m, and one feature: normal, with mean ``separation`` where relevant.

    Example
    -------
    >>> gaussian(2, 3, 1, 1.0, np.random.default_rng(0))
    RankingData(2 queries, 6 documents, 1 features, labels 0..1)
    """
    relevant = np.tile(np.arange(m) < r, n)
    X = rng.standard_normal(n * m) + separation * relevant
    return RankingData.from_arrays(X[:, None], relevant.astype(int), np.repeat(np.arange(n), m))


def populations(settings: WeightsSettings, seed: int) -> Iterator[tuple[int, float, RankingData]]:
    """Length, noise and a sample of the population with one feature, for all of the settings."""
    for noise in settings.noises:
        population = Population(PopulationSettings(features=1, noise=noise, query_noise=0.0))
        for m in settings.lengths:
            rng = generator(seed, "slam-weights", POPULATION, noise, m)
            n = max(LEAST_QUERIES, settings.documents // m)
            yield m, noise, population.draw(n, rng, documents=m)
