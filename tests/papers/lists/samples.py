"""Rows of the grid that are made up."""

from pipeline_lib.papers.lists.grid.settings import Measured


def made_row(
    loss: str, m: int, n: int, repetition: int, learner: str, growth: float = 0.25, **changes: object
) -> Measured:
    """A row of the grid whose gap is m^growth / sqrt(n)."""
    measured = {"risk": 0.5 + m**growth * n**-0.5, "risk_error": 0.01, "excess": 1.0 / n, "excess_error": 0.001}
    optimum = {"optimal_risk": 0.1, "optimal_risk_error": 0.001, "certified_gap": None}
    axes = {"loss": loss, "population": "noisy", "m": m, "n": n, "repetition": repetition, "learner": learner}
    return Measured.model_validate({**axes, "empirical": 0.5, **measured, **optimum, **changes})
