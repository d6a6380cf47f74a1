"""What does one job of a rule cost, as a function of the size of its data?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds and MB of a job: a constant, and a rate per million feature values (rows times features) of its data.

    Example
    -------
    >>> Cost(2.0, 3.0, 500.0, 100.0).seconds(2e6)
    8.0
    """

    start_seconds: float
    seconds_per_million_cells: float = 0.0
    start_mb: float = 400.0
    mb_per_million_cells: float = 0.0

    def seconds(self, cells: float) -> float:
        """Estimated seconds of a job on a data set of ``cells`` feature values."""
        return self.start_seconds + self.seconds_per_million_cells * cells / 1e6

    def mb(self, cells: float) -> float:
        """Memory in MB that a job may need on a data set of ``cells`` feature values."""
        return self.start_mb + self.mb_per_million_cells * cells / 1e6
