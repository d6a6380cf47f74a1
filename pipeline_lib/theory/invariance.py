"""How many linear maps from a query's documents to their scores respect every reordering of the documents?

`slam` (Theorem 10) states at most d, `lists` (Theorem 3) exactly 2 d: X -> X w + (1' X v) 1. Here the dimension is
computed from the definition alone, as the rank of the constraints that all m! reorderings impose on a linear map.
"""

import itertools
from typing import Literal

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, checked
from pipeline_lib.core.errors import DataError

Target = Literal["scores", "number"]


@checked
def dimension(m: Count, d: Natural, target: Target = "scores") -> int:
    """The dimension of the space of permutation-invariant linear maps of m x d matrices X.

    Parameters
    ----------
    m : int in 1..6
        Documents.
    d : int >= 1
        Features.
    target : "scores" or "number"
        "scores": maps f to R^m with f(P X) = P f(X) for all permutation matrices P, as both theorems define
        permutation invariance. The dimension is 2 d for m >= 2, and d for m = 1, where 1' X v = X v.
        "number": maps to R with f(P X) = f(X), the target that the text of `slam`, Theorem 10 names. The dimension is
        d: X -> 1' X v.

    Raises
    ------
    DataError
        When m or d is out of range (all m! reorderings are enumerated).

    Example
    -------
    >>> [dimension(m, d) for m in (2, 3, 4) for d in (1, 2)]
    [2, 4, 2, 4, 2, 4]
    >>> [dimension(3, d, "number") for d in (1, 2)]
    [1, 2]
    """
    return len(basis(m, d, target))


@checked
def basis(m: Count, d: Natural, target: Target = "scores") -> Floats:
    """An orthonormal basis of these maps as coefficients W, shape (dimension, m, m, d) or (dimension, m, d).

    f(X)_i = sum over j, c of W[i, j, c] X[j, c], without i for a map to R. Arguments and errors as in ``dimension``.

    Example
    -------
    >>> basis(3, 2).shape
    (4, 3, 3, 2)
    """
    if not (1 <= m <= 6 and d >= 1):
        raise DataError(f"expected 1 <= m <= 6 documents and d >= 1 features, found m = {m}, d = {d}")
    shape = (m, m, d) if target == "scores" else (m, d)
    # (P X)_j = X_perm(j): f(P X) = P f(X) for all X means W[perm(i), perm(j), c] = W[i, j, c].
    coefficients = np.arange(np.prod(shape)).reshape(shape)
    identity = np.eye(coefficients.size)
    squared = np.zeros_like(identity)  # sum of C' C over the constraints C vec(W) = 0: as many rows as coefficients
    for order in itertools.permutations(range(m)):
        moved = coefficients[np.ix_(order, order)] if target == "scores" else coefficients[list(order)]
        constraint = identity - identity[moved.ravel()]
        squared += constraint.T @ constraint
    values, vectors = np.linalg.eigh(squared)
    return vectors[:, values < 1e-9 * max(1.0, values[-1])].T.reshape(-1, *shape)
