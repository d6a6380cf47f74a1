"""What do the experiments on chains of the papers have in common: their settings, and the columns of their tables?"""

from __future__ import annotations

from pydantic import Field

from pipeline_lib.settings import Probability, Settings, Whole

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("dataset", "loss"), str),
    "n": int,
    **dict.fromkeys(("bound", "place", "setting"), str),
    "trivial": float,
    "position": int,
    **dict.fromkeys(("link", "label", "says"), str),
    **dict.fromkeys(("value", "low", "high", "previous", "previous_low", "previous_high"), float),
    **dict.fromkeys(("proved", "added"), bool),
    **dict.fromkeys(("factor", "factor_low", "factor_high", "without"), float),
    **dict.fromkeys(("costliest", "leads"), bool),
}
"""The columns of a table of chains, one row for each link: those of ``theory.chains`` after three axes."""


class ChainSettings(Settings):
    """What every experiment on chains needs, whatever its bounds."""

    repetitions: Whole = Field(10, ge=2, description="number of samples in the mean of every measured link")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
