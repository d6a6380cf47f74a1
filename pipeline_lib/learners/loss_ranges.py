"""How large, and how steep, can the loss of a query be for a linear ranker in a ball?

With ||w|| <= U, the score of a document lies between -U ||x|| and U ||x||. Every document is given the score in this
range that is worst for it, whatever the others have, so that the numbers are bounds that need not be attained. As in
:mod:`pipeline_lib.learners.top_k_kernels`, e^300 stands for every larger exponential.
"""

import itertools
from collections.abc import Callable, Mapping

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Positive, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.top_k_kernels import LARGEST_EXPONENT

__all__ = ["KNOWN", "largest", "steepest"]

KNOWN = ("squared", "kl", "ranksvm")
"""The surrogates whose ranges are known here."""

OfDocuments = Callable[[Floats, Floats, Floats], Floats]
OfPairs = Callable[[Floats, Floats], Floats]


@checked
def largest(data: RankingData, surrogate: str, radius: Positive) -> Floats:
    """For every query, a number that phi(X w, y) does not exceed for any ||w|| <= radius, shape (n,).

    Raises
    ------
    DataError
        When the surrogate is not one of :data:`KNOWN`.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.5], [-0.5]], [1, 0], [1, 1])
    >>> largest(data, "ranksvm", 2.0).tolist(), largest(data, "squared", 2.0).tolist()
    ([3.0], [5.0])
    """
    return _per_query(data, surrogate, radius, _LARGEST, lambda reach, _: np.add.outer(1.0 + reach, reach))


@checked
def steepest(data: RankingData, surrogate: str, radius: Positive) -> Floats:
    """For every query, a Lipschitz constant of w -> phi(X w, y) on ||w|| <= radius in the Euclidean norm, shape (n,).

    Raises
    ------
    DataError
        When the surrogate is not one of :data:`KNOWN`.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.5], [-0.5]], [1, 0], [1, 1])
    >>> steepest(data, "ranksvm", 2.0).tolist(), steepest(data, "squared", 2.0).tolist()
    ([1.0], [3.0])
    """
    return _per_query(data, surrogate, radius, _STEEPEST, lambda _, norms: np.add.outer(norms, norms))


def _per_query(
    data: RankingData, surrogate: str, radius: float, documents: Mapping[str, OfDocuments], pairs: OfPairs
) -> Floats:
    if surrogate not in KNOWN:
        raise DataError(f"surrogate: expected one of {', '.join(KNOWN)}, found {surrogate!r}")
    norms, y = np.linalg.norm(data.X64, axis=1), data.y.astype(np.float64)
    reach = radius * norms
    if surrogate in documents:
        return np.asarray(np.add.reduceat(documents[surrogate](reach, norms, y), data.offsets[:-1]))
    parts = itertools.pairwise(data.offsets)
    return np.array([pairs(reach[i:j], norms[i:j])[y[i:j, None] > y[None, i:j]].sum() for i, j in parts])


def _divergence(s: Floats, y: Floats) -> Floats:
    return np.asarray(np.exp(y) * (y - s - 1.0) + np.exp(np.minimum(s, LARGEST_EXPONENT)))


_LARGEST: Mapping[str, OfDocuments] = {
    "squared": lambda reach, _, y: np.maximum((-reach - y) ** 2, (reach - y) ** 2),
    "kl": lambda reach, _, y: np.maximum(_divergence(-reach, y), _divergence(reach, y)),
}
_STEEPEST: Mapping[str, OfDocuments] = {
    "squared": lambda reach, norms, y: 2.0 * (reach + y) * norms,
    "kl": lambda reach, norms, y: np.exp(np.minimum(np.maximum(reach, y), LARGEST_EXPONENT)) * norms,
}
