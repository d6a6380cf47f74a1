"""How are the risks of linear rankers measured on the two-layer population without bias?

The expected risk (2) is over two independent documents of a fresh query, so that a pool of queries with two documents
each gives it with its standard error. The middle risk, over all documents of the queries that were sampled, is measured
on fresh documents of the same queries.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import Role, required
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import erm
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory.pair_losses import PairLoss
from pipeline_lib.theory.two_layer_rademacher import disjoint_pairs

Loss = Literal["hinge", "logistic", "exponential"]
"""The losses of the paper that rankers are trained with."""
SURROGATES = ("ranksvm", "ranknet", "rankboost")
"""The surrogates that compute them."""
# Queries that differ much in what makes a document relevant.
POPULATION = {"features": 10, "label_shares": [0.5, 0.3, 0.2], "noise": 0.1, "query_noise": 1.0, "query_spread": 0.45}
# Losses of rankers on the pool are computed in blocks of about this many: 8 MB.
LOSSES_PER_BLOCK = 2**20
TOLERANCE = 1e-6


def population(described: Mapping[str, Any]) -> Population:
    """The population with these settings."""
    return Population(PopulationSettings.from_mapping(described))


@dataclass(frozen=True)
class Pool:
    """Independent pairs of documents, one of every query.

    ``differences`` sgn(y - y') (x - x') of those with different labels, shape (P, d); ``size`` counts all pairs;
    ``role`` is what they were drawn for.
    """

    differences: Floats
    size: int
    role: Role | None

    @classmethod
    def of(cls, data: RankingData) -> "Pool":
        """The first floor(m/2) disjoint pairs of every query."""
        differences = disjoint_pairs(data.X64, data.y, data.offsets).differences
        return cls(differences[differences.any(axis=1)], len(differences), data.role)

    def risk(self, loss: PairLoss, weights: Floats) -> tuple[Floats, Floats]:
        """The expected risks of the rankers in the columns of ``weights``, shape (d, K), and their standard errors."""
        required("pool", self.role, "truth")
        total, squares = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
        step = max(1, LOSSES_PER_BLOCK // weights.shape[1])
        for start in range(0, len(self.differences), step):
            values = loss.of_difference(-(self.differences[start : start + step] @ weights))
            total += values.sum(axis=0)
            squares += (values**2).sum(axis=0)
        equal = self.size - len(self.differences)
        mean = (total + equal * loss.at_zero) / self.size
        square = (squares + equal * loss.at_zero**2) / self.size
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0) / self.size)


def first(data: RankingData, queries: int, documents: int) -> RankingData:
    """The first ``documents`` documents of the first ``queries`` queries."""
    rows = (data.offsets[:queries, None] + np.arange(documents)).ravel()
    offsets = np.arange(0, queries * documents + 1, documents, dtype=np.int64)
    return replace(data, X=data.X[rows], y=data.y[rows], offsets=offsets, qids=data.qids[:queries].copy())


def fitted(data: RankingData, loss: PairLoss, radius: float) -> tuple[Floats, bool]:
    """Empirical risk minimisation over ||w|| <= radius: the weights, and whether their gap is certified."""
    fit = erm.fit(data.in_role("train", "reference"), loss.objective(), l2=0.0, radius=radius, tol=TOLERANCE)
    return fit.w, fit.certified


def empirical(data: RankingData, loss: PairLoss, w: Floats, role: Role) -> float:
    """The mean loss of one ranker on data that were drawn for this role."""
    data.in_role(role)
    return float(loss.values(data.X64 @ w, data.y, data.offsets).mean())


def best_ranker(
    population: Population, loss: PairLoss, radius: float, queries: int, rng: np.random.Generator
) -> Floats:
    """A ranker of nearly the least expected risk: fitted to ``queries`` queries with two documents each."""
    return fitted(population.draw(queries, rng, 2), loss, radius)[0]
