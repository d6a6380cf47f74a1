"""Samples of queries for the tests of cones."""

import numpy as np

from pipeline_lib import RankingData
from pipeline_lib.sources.population import Population, PopulationSettings


def sample(n: int, seed: int) -> RankingData:
    return Population(PopulationSettings(features=4, documents=6)).draw(n, np.random.default_rng(seed))


def fold() -> list[RankingData]:
    queries = np.arange(36).reshape(3, 12)
    return list(sample(36, 0).divided(train=queries[0], validation=queries[1], test=queries[2]).values())
