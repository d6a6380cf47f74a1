"""How are features multiplied that are too many to be all in double precision at once?

A :class:`DesignMatrix` stands for the matrix X of the documents, in double precision, wherever a solver has ``X @ w``
or ``X.T @ g``. It holds the features as they are stored, and converts a block of queries when it is used
(:mod:`pipeline_lib.data.query_blocks`). A matrix that is small is a plain array instead.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data import query_blocks
from pipeline_lib.data.query_blocks import Block
from pipeline_lib.data.ranking_data import RankingData

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

Result = TypeVar("Result")


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


def of(data: RankingData) -> Floats | DesignMatrix:
    """The features of the documents in double precision: an array where they are small, else a design matrix."""
    if not query_blocks.is_large(data.n_documents, data.n_features):
        return data.X64
    return DesignMatrix(data.X, query_blocks.of(data.offsets, data.n_features))
