"""How much more does one ranker reach than another on the same queries?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline_lib import statistics
from pipeline_lib.arrays import Floats
from pipeline_lib.seeds import generator


def compared(name: str, a: Floats, b: Floats, level: Mapping[str, Any], axes: tuple[Any, ...]) -> dict[str, float]:
    """The mean of a - b with the ends of its bootstrap interval, as columns of a row; both ends are 0 if a is b.

    ``level`` has the study's ``level`` and ``resamples``, ``axes`` seed the bootstrap.

    Example
    -------
    >>> import numpy as np
    >>> ones = np.ones(3)
    >>> compared("over", ones + 0.5, ones, {"level": 0.95, "resamples": 100}, (1, "doctest"))
    {'over': 0.5, 'over_low': 0.5, 'over_high': 0.5}
    """
    low = high = 0.0
    if a is not b:
        low, high = statistics.bootstrap_difference(
            a, b, level=level["level"], resamples=level["resamples"], rng=generator(*axes)
        )
    return {name: float((a - b).mean()), f"{name}_low": low, f"{name}_high": high}
