"""Small samples without any structure."""

import numpy as np

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.lists.grid.settings import Measured


def small(n: int = 40, m: int = 5, d: int = 3, seed: int = 0) -> RankingData:
    """n queries with m documents of d normal features, and random labels up to 2."""
    rng = np.random.default_rng(seed)
    return RankingData.from_arrays(rng.normal(size=(n * m, d)), rng.integers(0, 3, n * m), np.repeat(np.arange(n), m))


def made_row(
    loss: str, m: int, n: int, repetition: int, learner: str, growth: float = 0.25, **changes: object
) -> Measured:
    """A row of the grid whose gap is m^growth / sqrt(n)."""
    measured = {"risk": 0.5 + m**growth * n**-0.5, "risk_error": 0.01, "excess": 1.0 / n, "excess_error": 0.001}
    optimum = {"optimal_risk": 0.1, "optimal_risk_error": 0.001, "certified_gap": None}
    axes = {"loss": loss, "population": "noisy", "m": m, "n": n, "repetition": repetition, "learner": learner}
    return Measured.model_validate({**axes, "empirical": 0.5, **measured, **optimum, **changes})
