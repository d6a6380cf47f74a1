"""How much more does one ranker reach than another on the same queries?"""

from collections.abc import Mapping
from typing import Any

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.rows import Interval
from pipeline_lib.statistics import bootstrap_interval

FILE_ORDER = "file-order"
"""The ranker of score 0, which leaves documents in the order of the file."""


def difference(a: Floats, b: Floats, statistics: Mapping[str, Any], axes: tuple[Any, ...]) -> Interval:
    """The mean of a - b with its bootstrap interval; both ends are 0 if a is b.

    ``statistics`` has the study's ``level`` and ``resamples``, ``axes`` seed the bootstrap.

    Example
    -------
    >>> import numpy as np
    >>> ones = np.ones(3)
    >>> difference(ones + 0.5, ones, {"level": 0.95, "resamples": 100}, (1, "doctest"))
    Interval(value=0.5, low=0.5, high=0.5, freedom=None)
    """
    if a is b:
        return Interval(0.0, 0.0, 0.0)
    mean = float((a - b).mean())
    low, high = bootstrap_interval(a - b, **statistics, rng=generator(*axes))
    # Where all differences are nearly equal, rounding may put an end on the wrong side of the mean.
    return Interval(mean, min(low, mean), max(high, mean))
