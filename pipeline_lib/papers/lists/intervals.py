"""How precise is a number that was measured on several samples and one held-out sample?

Repetitions differ by their samples; the held-out sample is the same for all, so that its error does not average out.
"""

from collections.abc import Sequence
from operator import itemgetter

from numpy.typing import ArrayLike

from pipeline_lib import statistics
from pipeline_lib.core.settings import no_fewer_than
from pipeline_lib.statistics import Interval

FITTED = no_fewer_than(3, "to fit an exponent")
"""Settings to whose values a power is fitted."""
NORMAL = 1.959963984540054
"""The quantile of a 95 % interval."""


def of_largest(values: Sequence[float], errors: Sequence[float]) -> Interval:
    """The largest of the values, with the 95 % interval of its own standard error."""
    value, error = max(zip(values, errors, strict=True), key=itemgetter(0))
    half = NORMAL * error
    return Interval(value, value - half, value + half)


def of_power(x: ArrayLike, y: ArrayLike) -> Interval:
    """The exponent of the power law y = c x^exponent, as :func:`pipeline_lib.statistics.fit_exponent` fits it.

    Example
    -------
    >>> of_power([1.0, 10.0, 100.0], [5.0, 0.5, 0.05]).value.__round__(6)
    -1.0
    """
    fitted = statistics.fit_exponent(x, y)
    return Interval(fitted.slope, fitted.low, fitted.high)
