"""What are the risks of many rankers on one large sample, and how sure are they?

Rankers of all repetitions are measured on the same queries, in one pass over blocks of them: memory holds one block of
scores, whatever the number of rankers. Differences from one ranker (the best one known) are measured query by query,
so that they are far more certain than the risks themselves.

How relevant a query's documents are on the whole, its level b, decides most of its loss when lists are long. Where b is
known and uniform on [-1, 1], as for the population, it serves as a control variate: the loss is regressed on Legendre
polynomials of b, whose means are 0, and the intercept is the risk. With 320 documents that makes the standard error of
ListNet, SmoothDCG and RankSVM about eight times smaller, at no cost.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.errors import DataError
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.base import Floats, Surrogate

DOCUMENTS_PER_BLOCK = 20_000
POLYNOMIALS = 8
"""Degree up to which a loss is regressed on the level."""


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


def risks(
    loss: Surrogate, data: RankingData, weights: Floats, reference: Floats, levels: ArrayLike | None = None
) -> Risks:
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
    levels : shape (Q,), optional
        The level of every query, independent and uniform on [-1, 1]: makes the standard errors smaller.

    Raises
    ------
    DataError
        When there are fewer than two queries, or with levels fewer than ten for each polynomial.

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
    known = _controls(levels, data.n_queries)
    columns = np.column_stack([reference, weights])
    own, apart = (_Regression(known.shape[1], weights.shape[1]) for _ in range(2))
    for block in _blocks(data.offsets):
        rows = slice(int(data.offsets[block.start]), int(data.offsets[block.stop]))
        offsets = data.offsets[block.start : block.stop + 1] - data.offsets[block.start]
        y = data.y[rows]
        scores = np.ascontiguousarray((data.X[rows].astype(np.float64) @ columns).T)
        values = np.array([loss.unchecked(row, y, offsets)[0] for row in scores])
        own.add(known[block], (values[1:] - floor(loss, y, offsets)).T)
        apart.add(known[block], (values[1:] - values[0]).T)
    return Risks(*own.intercepts(), *apart.intercepts(), data.n_queries)


def _controls(levels: ArrayLike | None, n: int) -> Floats:
    # A column of ones, and with levels the Legendre polynomials of degree 1 to POLYNOMIALS.
    if levels is None:
        return np.ones((n, 1))
    b = np.asarray(levels, np.float64)
    if n < 10 * (POLYNOMIALS + 1) or b.shape != (n,):
        raise DataError(
            f"held-out sample: expected one level for each of at least {10 * (POLYNOMIALS + 1)} queries, found {n} "
            f"queries and levels of shape {b.shape}"
        )
    return np.asarray(np.polynomial.legendre.legvander(b, POLYNOMIALS))


class _Regression:
    """Least squares of k columns on the same controls, a block of rows at a time; the first control is 1."""

    def __init__(self, controls: int, k: int) -> None:
        self._gram = np.zeros((controls, controls))
        self._products, self._squares, self._first = np.zeros((controls, k)), np.zeros(k), np.zeros(k)
        self._n = 0

    def add(self, A: Floats, values: Floats) -> None:
        if not self._n:
            self._first = values[0].copy()
        # Less the first row: squares of what is left do not cancel, however large the values.
        centred = values - self._first
        self._gram += A.T @ A
        self._products += A.T @ centred
        self._squares += (centred**2).sum(axis=0)
        self._n += len(values)

    def intercepts(self) -> tuple[Floats, Floats]:
        """The intercepts and their standard errors."""
        inverse = np.linalg.inv(self._gram)
        slopes = inverse @ self._products
        rest = np.maximum(self._squares - (slopes * self._products).sum(axis=0), 0.0)
        variance = rest / (self._n - len(self._gram)) * inverse[0, 0]
        return self._first + slopes[0], np.sqrt(variance)


def _blocks(offsets: NDArray[np.int64]) -> list[slice]:
    # Runs of whole queries with about DOCUMENTS_PER_BLOCK documents.
    blocks = max(1, math.ceil(int(offsets[-1]) / DOCUMENTS_PER_BLOCK))
    edges = np.unique(np.searchsorted(offsets, np.linspace(0, int(offsets[-1]), blocks + 1)))
    return [slice(a, b) for a, b in itertools.pairwise(edges.tolist())]
