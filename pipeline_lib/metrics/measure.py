"""What is a ranking measure?

A measure is an object of :class:`Measure` in a module of ``pipeline_lib/metrics/``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EVERY_RANK = 2**63 - 1
"""The rank of a measure that is not cut off: the largest int64."""


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, for all queries at once.

    Attributes
    ----------
    names : tuple of str
        By which configurations know it; a name that ends with "@K" is that of the measure cut off at a rank K.
    of : callable
        (labels, offsets, cutoffs, y_max) -> float64 array, shape (len(cutoffs), Q). Query q owns the entries
        ``offsets[q]:offsets[q + 1]`` of ``labels``, which are in the order of the ranking, 0 where a document is not
        relevant. The cutoffs increase strictly; a measure that is not cut off has the single cutoff EVERY_RANK.
        ``y_max`` is the largest label of the scale, or None where it is not known.
    formula : str
        What it is, in TeX: y_(i) is the label at rank i, m the number of documents, G the gain and D the discount.
    needs_relevant : bool
        Whether it is undefined for a query without a relevant document, which then gets the value that the caller of
        :func:`pipeline_lib.metrics.per_query` chose.
    """

    names: tuple[str, ...]
    of: Callable[[NDArray[np.uint8], NDArray[np.int64], Sequence[int], int | None], NDArray[np.float64]]
    formula: str
    needs_relevant: bool = False
