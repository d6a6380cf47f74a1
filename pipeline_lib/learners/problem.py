"""What does regularised empirical risk minimisation minimise, and how far is a point from the minimum?

F(w) = l2/2 ||w||^2 + L(w),   L(w) = (1/Q) sum_q phi(X_q w, y_q),   over ||w||_2 or ||w||_1 <= radius (if there is one).

Where X is large, losses, gradients and second derivatives are computed block by block of whole queries, by several
threads, and added in the order of the blocks (:mod:`pipeline_lib.data.query_blocks`). A :class:`DesignMatrix` then
stands for the matrix X of the documents, in double precision, wherever a solver has ``X @ w`` or ``X.T @ g``.
"""

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.data import query_blocks
from pipeline_lib.data.query_blocks import Block
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.balls import Ball, lowest
from pipeline_lib.surrogates.base import MinorantSurrogate, SmoothSurrogate, Surrogate

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)
_LOG = logging.getLogger(__name__)

Result = TypeVar("Result")
Prepared = Callable[[Floats], tuple[Floats, ...]]
"""What a surrogate gives for the scores of some lists."""

# So many columns of a block's features are multiplied by second derivatives at a time, which limits the memory.
COLUMNS_AT_ONCE = 64
# In relative gaps, an objective below this fraction of its value at w = 0 counts as this much, so that relative gaps
# are also defined for a minimum of 0.
NEGLIGIBLE = 1e-6


class DesignMatrix:
    """Features (N, d) as stored, in blocks of queries; or their products with a matrix (d, r), which are never stored.

    Example
    -------
    >>> data = RankingData.from_arrays([[1.0, 2.0], [3.0, 4.0]], [0, 1], [1, 1])
    >>> X = DesignMatrix(data.X, query_blocks.of(data.offsets, 2))
    >>> X @ np.array([1.0, 1.0]), X.T @ np.array([1.0, -1.0]), X.times(np.eye(2)).shape
    (array([3., 7.]), array([-2., -2.]), (2, 2))
    """

    def __init__(self, stored: NDArray[np.float32], blocks: list[Block], mapped: Floats | None = None) -> None:
        self._stored, self.blocks, self._mapped = stored, blocks, mapped

    @property
    def shape(self) -> tuple[int, int]:
        """N and the number of columns."""
        d = self._stored.shape[1] if self._mapped is None else self._mapped.shape[1]
        return len(self._stored), d

    def block(self, block: Block) -> Floats:
        """The rows of one block in double precision."""
        wide = self._stored[block.rows].astype(np.float64, order="C")
        return wide if self._mapped is None else wide @ self._mapped

    def __matmul__(self, w: Floats) -> Floats:
        """X w, shape (N,)."""
        scores = np.empty(len(self._stored))
        for block, found in zip(self.blocks, self.each(lambda _, X: X @ w), strict=True):
            scores[block.rows] = found
        return scores

    def times(self, matrix: Floats) -> "DesignMatrix":
        """The products with a matrix (d, r), as a design matrix."""
        return DesignMatrix(self._stored, self.blocks, matrix if self._mapped is None else self._mapped @ matrix)

    def each(self, function: Callable[[Block, Floats], Result]) -> Iterator[Result]:
        """function(block, its rows) for every block, in their order, by several threads; results should be small."""
        return query_blocks.in_order(lambda block: function(block, self.block(block)), self.blocks)

    @property
    def T(self) -> "_Transposed":
        """X', which multiplies vectors."""
        return _Transposed(self)


class _Transposed:
    """X' of a :class:`DesignMatrix`."""

    def __init__(self, matrix: DesignMatrix) -> None:
        self._matrix = matrix

    def __matmul__(self, g: Floats) -> Floats:
        """X' g, shape (d,)."""
        return query_blocks.total(self._matrix.each(lambda block, X: X.T @ g[block.rows]))


def design_matrix(data: RankingData) -> Floats | DesignMatrix:
    """The features of the documents in double precision: an array where they are small, else a design matrix."""
    if not query_blocks.is_large(data.n_documents, data.n_features):
        return data.X64
    return DesignMatrix(data.X, query_blocks.of(data.offsets, data.n_features))


@dataclass(frozen=True)
class Problem:
    """Features (N, d) in double precision, labels, offsets, surrogate, l2 >= 0, radius (may be inf) and its norm.

    With weights c > 0 of the queries, shape (Q,), of mean 1, c_q phi(X_q w, y_q) takes the place of phi(X_q w, y_q): a
    query counts like c_q copies of it.
    """

    X: Floats | DesignMatrix
    y: NDArray[np.int32]
    offsets: NDArray[np.int64]
    surrogate: Surrogate
    l2: float
    radius: float = math.inf
    ball: Ball = "l2"
    weights: Floats | None = None

    @property
    def blocks(self) -> list[Block]:
        """The blocks of queries that are worked on one by one: all of them, where X is an array."""
        return self.X.blocks if isinstance(self.X, DesignMatrix) else [query_blocks.whole(self.offsets)]

    def rows_of(self, block: Block) -> Floats:
        """The documents of a block in double precision."""
        return self.X.block(block) if isinstance(self.X, DesignMatrix) else self.X[block.rows]

    def each(self, function: Callable[[Block, Floats], Result]) -> Iterator[Result]:
        """function(block, its documents) for every block, in their order; results should be small."""
        return query_blocks.in_order(lambda block: function(block, self.rows_of(block)), self.blocks)

    def times(self, matrix: Floats) -> "Problem":
        """The same problem for documents that are mapped by a matrix (d, r)."""
        X = self.X.times(matrix) if isinstance(self.X, DesignMatrix) else self.X @ matrix
        return replace(self, X=X)

    def evaluated(self, scores: Floats, surrogate: Surrogate | None = None) -> tuple[Floats, Floats]:
        """Values (Q,) and gradient in the scores (N,) of the surrogate, or of another one."""
        each = self._evaluations if surrogate is None else self._prepared(surrogate.on)
        values, gradient = self._by_blocks(each, scores)
        return values, gradient

    def minorant(self, scores: Floats, surrogate: MinorantSurrogate) -> tuple[Floats, Floats, Floats]:
        """Values (Q,), gradient (N,) and intercepts (Q,) of a surrogate's ``minorant``."""
        each = self._prepared(lambda y, offsets: lambda scores: surrogate.minorant(scores, y, offsets))
        values, gradient, intercepts = self._by_blocks(each, scores)
        return values, gradient, intercepts

    @cached_property
    def _evaluations(self) -> list[tuple[Block, Prepared]]:
        return self._prepared(self.surrogate.on)

    def _prepared(self, on: Callable[[NDArray[np.int32], NDArray[np.int64]], Prepared]) -> list[tuple[Block, Prepared]]:
        return [(block, on(self.y[block.rows], block.offsets)) for block in self.blocks]

    def _by_blocks(self, each: list[tuple[Block, Prepared]], scores: Floats) -> tuple[Floats, ...]:
        # What a surrogate gives for queries and documents, weighted
        def of_block(prepared: tuple[Block, Prepared]) -> tuple[Floats, ...]:
            block, function = prepared
            return function(scores[block.rows])

        parts = [of_block(each[0])] if len(each) == 1 else list(query_blocks.in_order(of_block, each))
        found = parts[0] if len(parts) == 1 else tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        if self.weights is None:
            return found
        sizes = np.diff(self.offsets)
        return tuple((self.weights if len(x) == len(sizes) else np.repeat(self.weights, sizes)) * x for x in found)

    def loss(self, scores: Floats) -> tuple[float, Floats]:
        """L at w and its gradient in the scores, for scores = X w: a number and shape (N,)."""
        values, gradient = self.evaluated(scores)
        return float(values.mean()), gradient / len(values)

    def objective(self, w: Floats, loss: float) -> float:
        """F(w), given L(w)."""
        return 0.5 * self.l2 * float(w @ w) + loss

    def hessian(self, scores: Floats, surrogate: SmoothSurrogate) -> Floats:
        """Second derivative of F with ``surrogate``, shape (d, d): l2 I + X' D^2 phi X / Q."""

        def of_block(block: Block, X: Floats) -> Floats:
            y, weights = self.y[block.rows], None if self.weights is None else self.weights[block.queries]

            def product_with(V: Floats) -> Floats:
                product = surrogate.hessian_product(scores[block.rows], y, block.offsets, V)
                return product if weights is None else np.repeat(weights, np.diff(block.offsets))[:, None] * product

            return _lower_half(X, product_with)

        lower = query_blocks.total(self.each(of_block))
        hessian = np.tril(lower) / (len(self.offsets) - 1)
        hessian += np.tril(hessian, -1).T
        hessian[np.diag_indices(len(hessian))] += self.l2
        return hessian

    @cached_property
    def negligible(self) -> float:
        """The smallest objective in relative gaps: a millionth of the objective at w = 0."""
        values, _ = self.evaluated(np.zeros(len(self.y)))
        return max(NEGLIGIBLE * abs(float(values.mean())), float(np.finfo(float).tiny))

    def relative(self, gap: float, objective: float) -> float:
        """The gap as a fraction of the objective (of ``negligible``, if the objective is smaller)."""
        return gap / max(abs(objective), self.negligible)


def _lower_half(X: Floats, product_with: Callable[[Floats], Floats]) -> Floats:
    # X' H X on and below the diagonal, from products H V; what is far above the diagonal is 0.
    d = X.shape[1]
    lower = np.zeros((d, d))
    for start in range(0, d, COLUMNS_AT_ONCE):
        columns = slice(start, start + COLUMNS_AT_ONCE)
        product = product_with(np.ascontiguousarray(X[:, columns]))
        # Few documents are on a narrow rounded kink: leave the others out of the matrix product.
        rows = np.flatnonzero(product.any(axis=1))
        if 2 * len(rows) < len(product):
            lower[start:, columns] = X[rows, start:].T @ product[rows]
        else:
            lower[start:, columns] = X[:, start:].T @ product
    return lower


def minorant_gap(problem: Problem, w: Floats, loss: float, intercept: float, slope: Floats) -> float:
    """Bound F(w) - min F from above, given an affine function below L: L(v) >= intercept + <slope, v> for all v.

    The bound is F(w) - min over ||v|| <= radius of l2/2 ||v||^2 + intercept + <slope, v>, whose minimiser is the
    projection of -slope/l2 onto the ball. Several known certificates are instances:

    - the tangent of a smooth L at w, without a ball: ||l2 w + grad L||^2 / (2 l2), which is also the Fenchel duality
      gap at the dual point grad L;
    - the tangent with l2 = 0 in a ball: the Frank-Wolfe gap max over ||v|| <= radius of <grad L, w - v>;
    - an average of subgradients, a cutting-plane model's or the dual weights of a hinge: the duality gap of an SVM.

    It is infinite without a ball when l2 = 0 and the slope is not 0.
    """
    outside = max(loss - intercept - float(slope @ w), 0.0)
    best = lowest(slope, problem.l2, problem.radius, problem.ball)
    if best is None and slope.any():
        return math.inf
    away = w - (w if best is None else best)
    best = w - away
    # q(w) - q(best) for the quadratic q(v) = l2/2 ||v||^2 + <slope, v>, free of cancellation
    return outside + max(float((problem.l2 * best + slope) @ away), 0.0) + 0.5 * problem.l2 * float(away @ away)


@dataclass(frozen=True)
class Solution:
    """The result of a solver: the point, its certified gap (inf if none), the certificate, and the number of steps.

    ``reason`` states why the solver stopped early, if it did.
    """

    w: Floats
    gap: float
    certificate: str
    iterations: int
    reason: str = ""


class Watch:
    """Logs the progress of a solver that takes at most ``most`` steps."""

    def __init__(self, problem: Problem, most: int) -> None:
        self._problem, self._most, self._pace = problem, most, progress.Pace()

    def at(self, step: int, gap: float, objective: float) -> None:
        """Log the number of the step and the relative gap, if a line is due."""
        if self._pace.due():
            problem, relative = self._problem, self._problem.relative(gap, objective)
            _LOG.info(
                f"{problem.surrogate.name}, l2 = {problem.l2:g}: step {step} of at most {self._most}, "
                f"relative gap {relative:.1e}"
            )
