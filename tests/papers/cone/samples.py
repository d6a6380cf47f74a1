"""Samples of queries for the tests of cones."""

import numpy as np

from pipeline_lib import RankingData
from pipeline_lib.sources.population import Population, PopulationSettings


def sample(n: int, seed: int) -> RankingData:
    return Population(PopulationSettings(features=4, documents=6)).draw(n, np.random.default_rng(seed))


def fold() -> list[RankingData]:
    train, validation, test = np.split(np.arange(36), [14, 24])
    return list(sample(36, 0).divided(train=train, validation=validation, test=test).values())
