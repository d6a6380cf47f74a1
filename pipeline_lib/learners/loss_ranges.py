"""How large, and how steep, can the loss of a query be for a linear ranker in a ball?

With ||w|| <= U, the score of a document lies between -U ||x|| and U ||x||. Every document is given the score in this
range that is worst for it, whatever the others have, so that the numbers are bounds that need not be attained.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import numpy as np

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.ranking_data import RankingData

__all__ = ["KNOWN", "largest", "steepest"]

KNOWN = ("squared", "kl", "ranksvm")
"""The surrogates whose ranges are known here."""

OfQuery = Callable[[Floats, Floats, Floats], float]


@checked(radius=checks.POSITIVE)
def largest(data: RankingData, surrogate: str, radius: float) -> Floats:
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
    return _per_query(data, surrogate, radius, _LARGEST)


@checked(radius=checks.POSITIVE)
def steepest(data: RankingData, surrogate: str, radius: float) -> Floats:
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
    return _per_query(data, surrogate, radius, _STEEPEST)


def _per_query(data: RankingData, surrogate: str, radius: float, known: Mapping[str, OfQuery]) -> Floats:
    if surrogate not in known:
        raise DataError(f"surrogate: expected one of {', '.join(known)}, found {surrogate!r}")
    norms, y = np.linalg.norm(data.X64, axis=1), data.y.astype(np.float64)
    parts = itertools.pairwise(data.offsets)
    return np.array([known[surrogate](radius * norms[i:j], norms[i:j], y[i:j]) for i, j in parts])


def _pairs(y: Floats) -> Floats:
    return np.asarray(y[:, None] > y[None, :])


def _divergence(s: Floats, y: Floats) -> Floats:
    return np.asarray(np.exp(y) * (y - s - 1.0) + np.exp(s))


_LARGEST: Mapping[str, OfQuery] = {
    "squared": lambda reach, _, y: float(np.maximum((-reach - y) ** 2, (reach - y) ** 2).sum()),
    "kl": lambda reach, _, y: float(np.maximum(_divergence(-reach, y), _divergence(reach, y)).sum()),
    "ranksvm": lambda reach, _, y: float((1.0 + reach[:, None] + reach[None, :])[_pairs(y)].sum()),
}
_STEEPEST: Mapping[str, OfQuery] = {
    "squared": lambda reach, norms, y: float((2.0 * (reach + y) * norms).sum()),
    "kl": lambda reach, norms, y: float((np.exp(np.maximum(reach, y)) * norms).sum()),
    "ranksvm": lambda _, norms, y: float((norms[:, None] + norms[None, :])[_pairs(y)].sum()),
}
