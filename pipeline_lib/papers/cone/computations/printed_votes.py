"""How does Algorithm 2 of `cone` rank if folding in is the printed step without step 1b alone?

Algorithm 2 performs "folding-in to estimate the coefficients without the non-negativity constraints". Folding in is
step 1 of Algorithm 1; its step 1b is the only one that concerns signs. Left are a random start w >= 0 with sum 1,
steps w - mu g along the gradient of ||z - U w||^2 (1a), and the division by ||w||_1 (1c). The sum of these coefficients
is not linear in z, nor does it change its sign with z, because the start does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.arrays import Floats

FOLD_STEPS, FOLD_TOL = 10, 1e-3
"""As in training: the largest number of steps, and the movement (sum of sizes) at which they end."""


def printed_votes(
    X: Floats, U: Floats, *, step: float, alpha: float, rho: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The points A_l of a query's documents, shape (m,), for X (m, d) and U (d, K).

    Example
    -------
    The start decides: the coefficients of every pair remain positive, so that the first document of a pair wins.

    >>> rng = np.random.default_rng(0)
    >>> printed_votes(np.array([[0.0], [2.0], [1.0]]), np.array([[1.0]]), step=0.001, alpha=1.0, rho=1.0, rng=rng)
    array([2, 1, 0])
    """
    first, second = np.triu_indices(len(X), 1)
    z = X[first] - X[second]
    z *= (rho / (alpha + np.linalg.norm(z, axis=1)))[:, None]
    G, b = U.T @ U, z @ U
    w = rng.random((len(z), U.shape[1]))
    w /= w.sum(axis=1, keepdims=True)
    moving = np.arange(len(z))
    for _ in range(FOLD_STEPS):
        before = w[moving]
        after = before - 2.0 * step * (before @ G - b[moving])
        after /= np.maximum(np.abs(after).sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        w[moving] = after
        moving = moving[np.abs(after - before).sum(axis=1) > FOLD_TOL]
        if not len(moving):
            break
    wins = w.sum(axis=1) > 0.0
    points: NDArray[np.int64] = np.bincount(np.where(wins, first, second), minlength=len(X))
    return points
