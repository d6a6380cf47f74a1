"""What is a ranking measure?

A measure is an object of :class:`Measure` in a module of ``pipeline_lib/metrics/``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EVERY_RANK = 2**63 - 1
"""The rank of a measure that is not cut off: the largest int64."""


Labels = NDArray[np.uint8]
Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, for all queries at once.

    No measure is lowered by exchanging two documents of which the lower one in the ranking has the larger label.

    Attributes
    ----------
    names : tuple of str
        By which configurations know it; a name that ends with "@K" is that of the measure cut off at a rank K.
    of : callable
        (labels, offsets, cutoffs, y_max) -> float64 array, shape (len(cutoffs), Q). Query q owns the entries
        ``offsets[q]:offsets[q + 1]`` of ``labels``, which are in the order of the ranking, 0 where a document is not
        relevant. The cutoffs increase strictly; a measure that is not cut off has the single cutoff EVERY_RANK.
        ``y_max`` is the largest label of the scale, or None where it is not known.
    mean : callable
        (labels, offsets, groups, cutoffs, y_max) -> float64 array, shape (len(cutoffs), Q): the mean over all orders
        of the documents within groups of equal scores. Group g owns the entries ``groups[g]:groups[g + 1]``, and no
        group has documents of two queries. Where every group is a single document, the mean equals ``of``.
    formula : str
        What it is, in TeX: y_(i) is the label at rank i, m the number of documents, G the gain and D the discount.
    needs_relevant : bool
        Whether it is undefined for a query without a relevant document, which then gets the value that the caller of
        :func:`pipeline_lib.metrics.per_query` chose.
    binary : bool
        Whether it asks of a label only if the document is relevant. Then both functions receive label 0 for documents
        below the label from which documents are relevant.
    """

    names: tuple[str, ...]
    of: Callable[[Labels, Offsets, Sequence[int], int | None], NDArray[np.float64]]
    mean: Callable[[Labels, Offsets, Offsets, Sequence[int], int | None], NDArray[np.float64]]
    formula: str
    needs_relevant: bool = False
    binary: bool = False
