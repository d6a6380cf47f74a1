"""Is the average over all pairs of documents an average over permutations of averages over disjoint pairs?

`twolayer`, equation (6): with k = floor(m/2),

    (1 / (m (m - 1))) sum over j != l of L_jl = (1/m!) sum over permutations p of (1/k) sum_(j <= k) L_p(j) p(k+j).

It holds for every matrix L, not only in distribution: each ordered pair occurs at each of the k places equally often.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError

LONGEST = 9


@checked
def over_pairs(losses: ArrayLike) -> float:
    """The left side: the mean of the entries off the diagonal of a matrix (m, m).

    Example
    -------
    >>> over_pairs([[9.0, 1.0], [2.0, 9.0]])
    1.5
    """
    matrix = _matrix(losses)
    m = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (m * (m - 1)))


@checked
def over_permutations(losses: ArrayLike) -> float:
    """The right side, by enumeration of all m! permutations.

    Raises
    ------
    DataError
        When the matrix is not square with 2 <= m <= 9, or not finite.

    Example
    -------
    >>> over_permutations([[9.0, 1.0], [2.0, 9.0]])
    1.5
    """
    matrix = _matrix(losses)
    k = len(matrix) // 2
    total = 0.0
    for order in itertools.permutations(range(len(matrix))):
        total += float(matrix[list(order[:k]), list(order[k : 2 * k])].mean())
    return total / math.factorial(len(matrix))


def _matrix(losses: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(losses, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not 2 <= len(matrix) <= LONGEST:
        raise DataError(f"losses: expected a square matrix of 2 to {LONGEST} documents, found shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise DataError("losses: expected finite numbers, found NaN or infinity")
    return matrix
