"""How precise is a number that was measured on several samples and one held-out sample?

Repetitions differ by their samples; the held-out sample is the same for all, so that its error does not average out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.claims.evidence import Interval
from pipeline_lib.statistics import over_folds

NORMAL = 1.959963984540054
"""The quantile of a 95 % interval."""


def of_mean(values: ArrayLike, held_out_error: float) -> Interval:
    """Mean over repetitions with a 95 % interval: Student's over repetitions and the held-out error, in quadrature.

    Example
    -------
    >>> of_mean([1.0, 3.0], 0.0).value, of_mean([1.0, 1.0], 0.1).low.__round__(3)
    (2.0, 0.804)
    """
    x = np.asarray(values, np.float64)
    mean = float(x.mean())
    over_repetitions = over_folds(x).high - mean if len(x) > 1 else 0.0
    half = math.hypot(over_repetitions, NORMAL * held_out_error)
    return Interval(mean, mean - half, mean + half)


def of_largest(rows: Sequence[Mapping[str, Any]], value: str, error: str) -> Interval:
    """The largest ``value`` of the rows, with the 95 % interval of its own ``error``."""
    row = max(rows, key=lambda row: row[value])
    half = NORMAL * row[error]
    return Interval(row[value], row[value] - half, row[value] + half)
