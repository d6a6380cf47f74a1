"""What are the risks of many rankers on one large sample, and how precise are they?

Rankers of all repetitions are measured on the same queries, in one pass over blocks of them: memory holds one block of
scores, whatever the number of rankers. Differences from one ranker (the best one known) are measured query by query,
so that they are far more certain than the risks themselves.

How relevant a query's documents are on the whole, its level b, decides most of its loss when lists are long. Where b is
known and uniform on [-1, 1], as for the population, it serves as a control variate: the loss is regressed on Legendre
polynomials of b, whose means are 0, and the intercept is the risk. With 320 documents that makes the standard error of
ListNet, SmoothDCG and RankSVM several times smaller, at no cost.

The loss of the reference ranker is a further control, once its risk is known from a far larger sample (which only one
ranker has to score): with beta the slope of a loss on it, and the two samples independent,

    standard error^2 = that of the regression's intercept^2 + (beta times that of the reference's risk)^2.

Rankers near the reference then have its accuracy; one whose losses have nothing in common with it loses nothing.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import Role, required
from pipeline_lib.data import query_blocks
from pipeline_lib.data.query_blocks import Block
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.surrogates.base import Surrogate

POLYNOMIALS = 8
"""Degree up to which a loss is regressed on the level."""
LEAST_QUERIES = 10 * (POLYNOMIALS + 1)
"""So many queries must a sample with levels have: ten for each control."""
DOCUMENTS_PER_BLOCK = 20_000
RANKERS_AT_ONCE = 16
SINGULAR = 1e-12
"""Directions of the controls with so little of their variance are left out: one control repeats others there."""


def losses(loss: Surrogate, data: RankingData, w: Floats) -> Floats:
    """phi less its smallest value, for every query; shape (Q,)."""
    return loss.unchecked(data.X64 @ w, data.y, data.offsets)[0] - loss.least(data.y, data.offsets)


@dataclass(frozen=True)
class Risks:
    """Means of the loss of each ranker, and of its difference from the reference ranker, with standard errors."""

    value: Floats
    standard_error: Floats
    difference: Floats
    difference_error: Floats


@dataclass(frozen=True)
class Known:
    """The risk of one ranker with its standard error, from another sample."""

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Scored:
    """A block of queries with the scores of k + 1 rankers, that of the reference ranker first.

    ``scores``, k + 1 rows of shape (D,); ``y``, shape (D,); ``offsets``, shape (Q + 1,), from 0; ``role``, what the
    queries were drawn for; ``levels``, shape (Q,), where they are known.
    """

    scores: Iterable[Floats]
    y: NDArray[np.int32]
    offsets: NDArray[np.int64]
    role: Role | None
    levels: Floats | None = None


def risks(
    loss: Surrogate,
    data: RankingData,
    weights: Floats,
    reference: Floats,
    levels: ArrayLike | None = None,
    known: Known | None = None,
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
    known : Known, optional
        The risk of the reference ranker from another, larger sample: makes those of all others smaller too.

    Raises
    ------
    DataError
        When the data were not drawn for the role ``test``, there are fewer than two queries, or with levels fewer than
        ten for each polynomial.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0], [1, 1, 2, 2])
    >>> data = data.divided(test=[0, 1])["test"]
    >>> both = risks(surrogates.create("ranksvm"), data, np.array([[0.0, 1.0]]), np.zeros(1))
    >>> both.value, both.standard_error, both.difference
    (array([1., 1.]), array([0., 1.]), array([0., 0.]))
    """
    b = None if levels is None else np.asarray(levels, np.float64)
    if b is not None and b.shape != (data.n_queries,):
        raise DataError(f"levels: expected one for each of {data.n_queries} queries, found shape {b.shape}")
    return of_scores(loss, _scored(data, np.column_stack([reference, weights]), b), known)


def of_scores(loss: Surrogate, blocks: Iterable[Scored], known: Known | None = None) -> Risks:
    """Measure the rankers that scored ``blocks`` of queries; arguments and errors otherwise as in :func:`risks`."""
    risk, difference = _Regression(), _Regression()
    for block in blocks:
        required("held-out queries", block.role, "test")
        evaluated = loss.on(block.y, block.offsets)
        values = np.array([evaluated(row)[0] for row in block.scores])
        above = values - loss.least(block.y, block.offsets)
        controls = _controls(block)
        difference.add(controls, (values[1:] - values[0]).T)
        if known is not None:
            controls = np.column_stack([controls, above[0] - known.value])
        risk.add(controls, above[1:].T)
    value, error = risk.intercepts()
    if known is not None:
        error = np.hypot(error, risk.slopes()[-1] * known.standard_error)
    return Risks(value, error, *difference.intercepts())


def risk_of_one(loss: Surrogate, blocks: Iterable[Scored]) -> Known:
    """The risk of the first ranker that scored ``blocks``, which are for ``truth``; errors as in :func:`risks`.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> y, offsets = np.array([0, 1, 1, 0], np.int32), np.array([0, 2, 4])
    >>> risk_of_one(surrogates.create("ranksvm"), [Scored(np.array([[0.0, 1.0, 0.0, 1.0]]), y, offsets, "truth")])
    Known(value=1.0, standard_error=1.0)
    """
    risk = _Regression()
    for block in blocks:
        required("queries of a known risk", block.role, "truth")
        scores = next(iter(block.scores))
        values = loss.unchecked(scores, block.y, block.offsets)[0] - loss.least(block.y, block.offsets)
        risk.add(_controls(block), values[:, None])
    value, error = risk.intercepts()
    return Known(float(value[0]), float(error[0]))


def _scored(data: RankingData, columns: Floats, levels: Floats | None) -> Iterator[Scored]:
    for block in blocks_of(data.offsets):
        scores = _rows(columns, data.X[block.rows].astype(np.float64))
        of_block = None if levels is None else levels[block.queries]
        yield Scored(scores, data.y[block.rows], block.offsets, data.role, of_block)


def _rows(columns: Floats, X: Floats) -> Iterator[Floats]:
    # A few rankers at a time, whose scores stay in the processor's cache.
    for first in range(0, columns.shape[1], RANKERS_AT_ONCE):
        yield from columns[:, first : first + RANKERS_AT_ONCE].T @ X.T


def _controls(block: Scored) -> Floats:
    # A column of ones, and with levels the Legendre polynomials of degree 1 to POLYNOMIALS.
    if block.levels is None:
        return np.ones((len(block.offsets) - 1, 1))
    return np.asarray(np.polynomial.legendre.legvander(block.levels, POLYNOMIALS))


class _Regression:
    """Least squares of k columns on the same controls, a block of rows at a time; the first control is 1."""

    def __init__(self) -> None:
        self._n = 0

    def add(self, A: Floats, values: Floats) -> None:
        if not self._n:
            (_, controls), (_, k) = A.shape, values.shape
            self._gram = np.zeros((controls, controls))
            self._products, self._squares, self._first = np.zeros((controls, k)), np.zeros(k), values[0].copy()
        # The first row is subtracted, so that sums of squares do not cancel, however large the values.
        centred = values - self._first
        self._gram += A.T @ A
        self._products += A.T @ centred
        self._squares += (centred**2).sum(axis=0)
        self._n += len(values)

    def intercepts(self) -> tuple[Floats, Floats]:
        """The intercepts and their standard errors."""
        slopes = self.slopes()
        rest = np.maximum(self._squares - (slopes * self._products).sum(axis=0), 0.0)
        variance = rest / (self._n - len(self._gram)) * self._inverse()[0, 0]
        return self._first + slopes[0], np.sqrt(variance)

    def slopes(self) -> Floats:
        """Of the columns, less their first row, on the controls: shape (controls, k)."""
        return np.asarray(self._inverse() @ self._products)

    def _inverse(self) -> Floats:
        if self._n < 2:
            raise DataError(f"held-out sample: expected at least two queries, found {self._n}")
        if len(self._gram) > POLYNOMIALS and self._n < LEAST_QUERIES:
            raise DataError(
                f"held-out sample: expected at least {LEAST_QUERIES} queries with levels, found {self._n} queries"
            )
        # Controls of one scale; a reference ranker whose loss never changes controls nothing.
        scale = np.sqrt(np.diag(self._gram))
        scale[scale == 0.0] = 1.0
        even = np.linalg.pinv(self._gram / np.outer(scale, scale), rcond=SINGULAR, hermitian=True)
        return np.asarray(even / np.outer(scale, scale))


def blocks_of(offsets: NDArray[np.int64]) -> list[Block]:
    """Runs of whole queries with about :data:`DOCUMENTS_PER_BLOCK` documents, whose scores stay in the cache."""
    blocks = max(1, math.ceil(int(offsets[-1]) / DOCUMENTS_PER_BLOCK))
    edges = np.unique(np.searchsorted(offsets, np.linspace(0, int(offsets[-1]), blocks + 1)))
    return [query_blocks.block(offsets, first, last) for first, last in itertools.pairwise(edges.tolist())]
