"""How do measured quantities grow or fall with the number P of queries?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from pipeline_lib.statistics import Interval, fit_exponent


def exponents_of(
    rows: Sequence[Any], groups: Sequence[str], statistics: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], str, Interval]]:
    """For every group of rows and statistic its exponent in P, with its interval over repetitions.

    Rows have attributes ``P`` and ``repetition``, those named by ``groups``, and the statistics.

    Example
    -------
    >>> from types import SimpleNamespace as Measured
    >>> rows = [Measured(method="sg", P=P, repetition=r, s=(1 + r) / P) for P in (10, 20, 40) for r in (0, 1)]
    >>> [[group, statistic, slope]] = [*exponents_of(rows, ("method",), ("s",))]
    >>> group, statistic, round(slope.value, 6)
    (('sg',), 's', -1.0)
    """
    key = attrgetter("P", *groups)
    for group in dict.fromkeys(key(row)[1:] for row in rows):
        chosen = [row for row in rows if key(row)[1:] == group]
        grid = sorted({row.P for row in chosen})
        repetitions = sorted({row.repetition for row in chosen})
        for statistic in statistics:
            values = {(row.repetition, row.P): getattr(row, statistic) for row in chosen}
            fit = fit_exponent(grid, np.array([[values[r, P] for P in grid] for r in repetitions]))
            yield group, statistic, Interval(fit.slope, fit.low, fit.high)
