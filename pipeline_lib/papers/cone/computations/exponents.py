"""How do measured quantities grow or fall with the number P of queries?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline_lib.statistics import fit_exponent


def exponents_of(
    rows: Sequence[Mapping[str, Any]], groups: Sequence[str], statistics: Sequence[str]
) -> list[dict[str, Any]]:
    """The exponent of every statistic in P, for every group of rows, with its interval over repetitions.

    Example
    -------
    >>> rows = [{"P": P, "repetition": r, "s": (1 + r) / P} for P in (10, 20, 40) for r in (0, 1)]
    >>> [round(row["slope"], 6) for row in exponents_of(rows, (), ("s",))]
    [-1.0]
    """
    fits: list[dict[str, Any]] = []
    for group in dict.fromkeys(tuple(row[name] for name in groups) for row in rows):
        chosen = [row for row in rows if tuple(row[name] for name in groups) == group]
        grid = sorted({row["P"] for row in chosen})
        repetitions = sorted({row["repetition"] for row in chosen})
        for statistic in statistics:
            values = {(row["repetition"], row["P"]): row[statistic] for row in chosen}
            fit = fit_exponent(grid, np.array([[values[r, P] for P in grid] for r in repetitions]))
            fits.append(
                {**dict(zip(groups, group, strict=True)), "statistic": statistic}
                | {"slope": fit.slope, "low": fit.low, "high": fit.high}
            )
    return fits
