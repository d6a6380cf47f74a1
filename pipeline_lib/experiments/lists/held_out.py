"""What are the risks of many rankers on one large sample, and how sure are they?

Rankers of all repetitions are measured on the same queries, in one pass over blocks of them: memory holds one block of
scores, whatever the number of rankers. Differences from one ranker (the best one known) are measured query by query,
so that they are far more certain than the risks themselves.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.errors import DataError
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.base import Floats, Surrogate

DOCUMENTS_PER_BLOCK = 20_000


def floor(loss: Surrogate, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
    """The smallest value of phi over all scores, for every query; shape (Q,).

    ListNet's is the entropy of the labels' softmax, attained at s = y; all other surrogates measured here reach 0, or
    (RankSVM, SLAM, SmoothDCG) come as near as one likes.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> floor(surrogates.create("listnet"), np.zeros(2, np.int32), np.array([0, 2])).round(3)
    array([0.693])
    """
    if loss.name == "listnet":
        return loss.unchecked(y.astype(np.float64), y, offsets)[0]
    return np.zeros(len(offsets) - 1)


def losses(loss: Surrogate, data: RankingData, w: Floats) -> Floats:
    """phi less its smallest value, for every query; shape (Q,)."""
    return loss.unchecked(data.X64 @ w, data.y, data.offsets)[0] - floor(loss, data.y, data.offsets)


@dataclass(frozen=True)
class Risks:
    """Means of the loss of each ranker, and of its difference from the reference ranker, with standard errors."""

    value: Floats
    standard_error: Floats
    difference: Floats
    difference_error: Floats
    n_queries: int


def risks(loss: Surrogate, data: RankingData, weights: Floats, reference: Floats) -> Risks:
    """Measure rankers on a sample: arrays of shape (k,).

    Parameters
    ----------
    loss : Surrogate
    data : RankingData
        At least two queries.
    weights : shape (d, k)
        A ranker a column.
    reference : shape (d,)
        The ranker that differences are taken from.

    Raises
    ------
    DataError
        When there are fewer than two queries.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0], [1, 1, 2, 2])
    >>> found = risks(surrogates.create("ranksvm"), data, np.array([[0.0, 1.0]]), np.zeros(1))
    >>> found.value, found.standard_error, found.difference
    (array([1., 1.]), array([0., 1.]), array([0., 0.]))
    """
    if data.n_queries < 2:
        raise DataError(f"held-out sample: expected at least two queries, found {data.n_queries}")
    columns = np.column_stack([reference, weights])
    sums = np.zeros((4, weights.shape[1]))
    for block in _blocks(data.offsets):
        rows = slice(int(data.offsets[block.start]), int(data.offsets[block.stop]))
        offsets = data.offsets[block.start : block.stop + 1] - data.offsets[block.start]
        y = data.y[rows]
        scores = np.ascontiguousarray((data.X[rows].astype(np.float64) @ columns).T)
        values = np.array([loss.unchecked(row, y, offsets)[0] for row in scores])
        own, apart = values[1:] - floor(loss, y, offsets), values[1:] - values[0]
        sums += [own.sum(axis=1), (own**2).sum(axis=1), apart.sum(axis=1), (apart**2).sum(axis=1)]
    n = data.n_queries
    value, difference = sums[0] / n, sums[2] / n
    return Risks(value, _error(sums[1], value, n), difference, _error(sums[3], difference, n), n)


def _error(squares: Floats, mean: Floats, n: int) -> Floats:
    return np.asarray(np.sqrt(np.maximum(squares / n - mean**2, 0.0) / (n - 1)))


def _blocks(offsets: NDArray[np.int64]) -> list[slice]:
    # Runs of whole queries with about DOCUMENTS_PER_BLOCK documents.
    blocks = max(1, math.ceil(int(offsets[-1]) / DOCUMENTS_PER_BLOCK))
    edges = np.unique(np.searchsorted(offsets, np.linspace(0, int(offsets[-1]), blocks + 1)))
    return [slice(a, b) for a, b in itertools.pairwise(edges.tolist())]
